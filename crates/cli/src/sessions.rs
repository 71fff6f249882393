//! `windlass sessions`: what was recorded.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, bail};
use serde_json::json;
use windlass::store::{Prune, Store};
use windlass_protocol::{
    FilePart, MessagePart, MessageRecord, Millis, PartState, SessionId, SessionRecord, ToolPart,
};
use windlass_runtime::{Archive, Page};

use crate::args::{Global, SessionsArgs, SessionsCommand};
use crate::stdout::{self, outln, print_json};

pub(crate) async fn run(global: &Global, args: SessionsArgs) -> anyhow::Result<ExitCode> {
    let store = windlass::open_record().context("the record cannot be opened")?;
    let as_json = global.json || !std::io::stdout().is_terminal();
    match args.command {
        None => list(&store, args.limit, as_json).await,
        Some(SessionsCommand::Show { id }) => show(&store, &id, as_json).await,
        Some(SessionsCommand::Prune {
            older_than,
            outputs,
        }) => prune(&store, &older_than, outputs, global.json).await,
    }
}

async fn list(store: &Store, limit: usize, as_json: bool) -> anyhow::Result<ExitCode> {
    let page = Page {
        before: None,
        limit,
    };
    let sessions = store.sessions(page).await?;
    if as_json {
        return print_json(&json!(sessions));
    }
    let mut stdout = stdout::lock();
    for session in sessions {
        let SessionRecord {
            id,
            front_end,
            title,
            directory,
            time,
            ..
        } = session;
        let state = time.ended.map_or("runs", |_| "over");
        let age = ago(time.updated);
        writeln!(
            stdout,
            "{id}  {age:>4}  {state}  {front_end:<6}  {directory}  {title}"
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn show(store: &Store, id: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let session = find(store, id).await?;
    let messages = store
        .messages(
            &session.id,
            Page {
                before: None,
                limit: usize::MAX,
            },
        )
        .await?;
    if as_json {
        let permissions = store.permissions(&session.id).await?;
        let notices = store.notices(&session.id).await?;
        return print_json(&json!({
            "session": session,
            "messages": messages,
            "permissions": permissions,
            "notices": notices,
        }));
    }
    print_session(&session, &messages)
}

async fn find(store: &Store, id: &str) -> anyhow::Result<SessionRecord> {
    let found = if id == "last" {
        let page = Page {
            before: None,
            limit: 1,
        };
        store.sessions(page).await?.pop()
    } else {
        let id = SessionId::new(id)?;
        store.session(&id).await?
    };
    match found {
        Some(session) => Ok(session),
        None => bail!("there is no session `{id}`; `windlass sessions` lists them"),
    }
}

fn print_session(session: &SessionRecord, messages: &[MessageRecord]) -> anyhow::Result<ExitCode> {
    let mut stdout = stdout::lock();
    let SessionRecord {
        id,
        directory,
        front_end,
        ..
    } = session;
    writeln!(stdout, "{id}  {front_end}  {directory}")?;
    for part in messages.iter().flat_map(|message| &message.parts) {
        match part {
            MessagePart::Text(part) => writeln!(stdout, "{}", part.text)?,
            MessagePart::Tool(part) => {
                writeln!(stdout, "{}", line(part))?;
                for file in attached(part) {
                    writeln!(stdout, "{}", file_line(file))?;
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What came with a call's output.
fn attached(part: &ToolPart) -> &[FilePart] {
    match &part.state {
        PartState::Completed(state) => state.attachments.as_deref().unwrap_or_default(),
        _ => &[],
    }
}

/// Where a file is: as a path, where it is one of this machine without
/// letters that an address spells otherwise.
fn file_line(file: &FilePart) -> String {
    let path = file.url.strip_prefix("file://");
    let place = path.filter(|path| !path.contains('%')).unwrap_or(&file.url);
    format!("             {}  {place}", file.mime)
}

/// A call in a line.
fn line(part: &ToolPart) -> String {
    let tool = &part.tool;
    match &part.state {
        PartState::Pending(_) => format!("  pending    {tool}"),
        PartState::Running(state) => {
            let title = state.title.as_deref().unwrap_or("");
            format!("  running    {tool}  {title}")
        }
        PartState::Completed(state) => {
            let duration = state.time.end.0.saturating_sub(state.time.start.0);
            format!("  completed  {tool}  {}  ({duration} ms)", state.title)
        }
        PartState::Error(state) => {
            let first = state.error.lines().next().unwrap_or("");
            format!("  error      {tool}  {first}")
        }
    }
}

async fn prune(
    store: &Store,
    older_than: &str,
    outputs: bool,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let age = read_age(older_than)?;
    let Some(before) = SystemTime::now().checked_sub(age) else {
        bail!("`{older_than}` is longer ago than there was time");
    };
    let what = if outputs {
        Prune::Outputs
    } else {
        Prune::Sessions
    };
    let pruned = store.prune(what, before).await?;
    let (sessions, parts) = (pruned.sessions, pruned.parts);
    if as_json {
        return print_json(&json!({"sessions": sessions, "parts": parts}));
    }
    let what = if outputs { "the outputs of " } else { "" };
    outln!("removed {what}{sessions} sessions with {parts} calls")?;
    Ok(ExitCode::SUCCESS)
}

/// A number and a unit, such as `30d`.
fn read_age(text: &str) -> anyhow::Result<Duration> {
    let units = [
        ("s", 1),
        ("m", 60),
        ("h", 3600),
        ("d", 86_400),
        ("w", 604_800),
    ];
    let age = units.iter().find_map(|(unit, seconds)| {
        let count: u64 = text.strip_suffix(unit)?.parse().ok()?;
        count.checked_mul(*seconds).map(Duration::from_secs)
    });
    age.with_context(|| {
        format!("`{text}` is not a time; give a number and s, m, h, d or w, such as 30d")
    })
}

/// How long ago that was, in a few letters.
fn ago(time: Millis) -> String {
    let seconds = Millis::at(SystemTime::now()).0.saturating_sub(time.0) / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
