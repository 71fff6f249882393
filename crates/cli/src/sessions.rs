//! `windlass sessions`: the record.

mod outputs;
mod show;

use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context as _, bail};
use serde_json::json;
use windlass::store::{Prune, Store};
use windlass_protocol::{SessionId, SessionRecord};
use windlass_runtime::{Archive, Page};

use crate::ages::{ago, read_age};
use crate::args::{Global, SessionsArgs, SessionsCommand};
use crate::print::{Listing, Printer, Tone, cell, column};
use crate::reach::{self, NoSuchId};

/// Selects the outputs to print.
#[derive(Clone, Copy)]
struct ShownOutputs {
    /// All lines, instead of the first ones.
    full: bool,
    /// The replies, as the assistant read them.
    seen: bool,
    /// The full outputs of digested replies.
    whole: bool,
}

/// How many sessions are searched for the end of an id.
const SEARCHED: usize = 5000;

pub(crate) async fn run(global: &Global, args: SessionsArgs) -> anyhow::Result<ExitCode> {
    let store = windlass::open_record().context("the record cannot be opened")?;
    let printer = Printer::new(global);
    match args.command {
        None => list(&store, args.limit, printer).await?,
        Some(SessionsCommand::Show {
            id,
            full,
            seen,
            whole,
        }) => {
            let session = find(&store, &id).await?;
            let outputs = ShownOutputs { full, seen, whole };
            show::run(&store, &session, outputs, printer).await?;
        }
        Some(SessionsCommand::Prune {
            older_than,
            outputs,
        }) => prune(&store, &older_than, outputs, printer).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(store: &Store, limit: usize, printer: Printer) -> anyhow::Result<()> {
    let page = Page {
        before: None,
        limit,
    };
    let sessions = store.sessions(page).await?;
    let columns = [
        column("SESSION"),
        column("AGE"),
        column("STATE"),
        column("BY"),
        column("PROJECT").cut_to(10).spare(1),
        column("TITLE").cut_to(16),
    ];
    let empty = "No sessions are recorded yet. `windlass chat`, `windlass query` and agents with \
         `windlass mcp` record theirs.";
    let mut listing = Listing::new(columns, empty);
    for session in &sessions {
        let state = match session.time.ended {
            Some(_) => cell("over").tone(Tone::Faint),
            None => cell("runs").tone(Tone::Good),
        };
        listing.row([
            cell(reach::short(session.id.as_str())),
            cell(ago(session.time.updated)),
            state,
            cell(&session.front_end),
            cell(&session.directory),
            cell(&session.title),
        ]);
    }
    printer.list(json!(sessions), &listing)?;
    Ok(())
}

/// Finds a session by its id, the end of it, or `last`.
pub(crate) async fn find(store: &Store, wanted: &str) -> anyhow::Result<SessionRecord> {
    let newest = async |limit| {
        let page = Page {
            before: None,
            limit,
        };
        store.sessions(page).await
    };
    if wanted == "last" {
        let last = newest(1).await?.pop();
        return last.context("no session is recorded yet");
    }
    if let Ok(id) = SessionId::new(wanted)
        && let Some(session) = store.session(&id).await?
    {
        return Ok(session);
    }
    let sessions = newest(SEARCHED).await?;
    let ids = sessions.iter().map(|session| session.id.as_str());
    match reach::by_end(wanted, ids) {
        Ok(id) => {
            let mut sessions = sessions.iter();
            let found = sessions.find(|session| session.id.as_str() == id);
            Ok(found.context("it was there a moment ago")?.clone())
        }
        Err(NoSuchId::None) => {
            bail!("there is no session `{wanted}`; `windlass sessions` lists them")
        }
        Err(NoSuchId::Several(ids)) => bail!(
            "several sessions end in `{wanted}`; give one of {}",
            ids.join(", ")
        ),
    }
}

async fn prune(
    store: &Store,
    older_than: &str,
    outputs: bool,
    printer: Printer,
) -> anyhow::Result<()> {
    let age = read_age(older_than)?;
    let Some(before) = SystemTime::now().checked_sub(age) else {
        bail!("`{older_than}` is before the beginning of time; give a shorter one");
    };
    let scope = if outputs {
        Prune::Outputs
    } else {
        Prune::Sessions
    };
    let pruned = store.prune(scope, before).await?;
    let (sessions, parts) = (pruned.sessions, pruned.parts);
    let of = if outputs { "the outputs of " } else { "" };
    printer.outcome(
        &json!({"sessions": sessions, "parts": parts}),
        format!("removed {of}{sessions} sessions with {parts} calls"),
    )?;
    Ok(())
}
