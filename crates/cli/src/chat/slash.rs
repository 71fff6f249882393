//! The commands of a chat, which begin with a slash.

use serde_json::json;
use windlass::Windlass;
use windlass::config::nearest;
use windlass_protocol::SessionId;
use windlass_runtime::{Archive, Page, Session};

use crate::ages::{self, ago};
use crate::print::{Listing, Printer, cell, column};
use crate::ps;
use crate::query::show::{Show, Shower};
use crate::reach;
use crate::send;

/// How many conversations are listed.
const LISTED: usize = 10;

/// A command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Slash {
    Ps,
    Attach(String),
    Kill(String),
    Model(Option<String>),
    Tools,
    Resume(Option<String>),
    Help,
    Quit,
}

/// An unknown command.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SlashError {
    #[error("there is no command `{0}`; did you mean `{1}`?")]
    Near(String, String),
    #[error("there is no command `{0}`; /help lists them")]
    Unknown(String),
    #[error("give a handle, such as `{0} web`; /ps lists them")]
    NoHandle(String),
}

/// The commands, with one line of help each.
const HELP: [(&str, &str); 8] = [
    ("/ps", "list the handles of this chat"),
    (
        "/attach ID",
        "show a handle's terminal in this terminal; Ctrl-] detaches",
    ),
    ("/kill ID", "end a handle and everything it started"),
    (
        "/model [PROVIDER/NAME]",
        "show the model, or choose another",
    ),
    ("/tools", "list the tools of the model"),
    (
        "/resume [ID]",
        "list earlier conversations, or continue one",
    ),
    ("/help", "this list"),
    ("/quit", "leave; so does Ctrl-D"),
];

const KEYS: [&str; 5] = [
    "Enter sends; Alt-Enter, Ctrl-J or a backslash at the end starts a new line.",
    "A message during a turn is sent to the model together with the results of its calls.",
    "Up and Down browse earlier messages, Ctrl-R searches them for the text, Ctrl-G opens your editor.",
    "Ctrl-O shows the output of all calls. Ctrl-C interrupts a turn, or clears the message.",
    "Handles keep running between messages and end with the chat.",
];

impl Slash {
    pub(super) fn read(text: &str) -> Result<Self, SlashError> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let argument = words.next().map(str::to_owned);
        let handle = |argument: Option<String>| {
            argument.ok_or_else(|| SlashError::NoHandle(name.to_owned()))
        };
        Ok(match name {
            "/ps" => Self::Ps,
            "/attach" => Self::Attach(handle(argument)?),
            "/kill" => Self::Kill(handle(argument)?),
            "/model" => Self::Model(argument),
            "/tools" => Self::Tools,
            "/resume" => Self::Resume(argument),
            "/help" | "/?" => Self::Help,
            "/quit" | "/exit" => Self::Quit,
            name => {
                let names = HELP.iter().filter_map(|(usage, _)| usage.split(' ').next());
                return Err(match nearest(name, names) {
                    Some(near) => SlashError::Near(name.to_owned(), near.to_owned()),
                    None => SlashError::Unknown(name.to_owned()),
                });
            }
        })
    }
}

/// Executes a command that inspects the session or ends a handle. Returns the
/// lines to show.
pub(super) async fn look(
    command: Slash,
    session: &Session,
    shower: &Shower,
    printer: Printer,
) -> Vec<String> {
    match command {
        Slash::Ps => handles(session, printer),
        Slash::Attach(id) => match session.handle(&id) {
            Ok(handle) => {
                shower.show(Show::Attach(Box::new(handle)));
                Vec::new()
            }
            Err(_) => vec![unknown(session, &id)],
        },
        Slash::Kill(id) => match session.handle(&id) {
            Ok(handle) => {
                let outcome = match handle.abort().await {
                    Ok(receipt) => send::processes(&json!(receipt.ended)),
                    Err(refusal) => refusal.to_string(),
                };
                vec![format!("{id}: {outcome}")]
            }
            Err(_) => vec![unknown(session, &id)],
        },
        Slash::Tools => tools(session, printer),
        Slash::Model(_) | Slash::Resume(_) | Slash::Quit | Slash::Help => help(),
    }
}

fn help() -> Vec<String> {
    let commands = HELP
        .iter()
        .map(|(usage, about)| format!("  {usage:<24}{about}"));
    let keys = KEYS.iter().map(|line| (*line).to_owned());
    commands.chain([String::new()]).chain(keys).collect()
}

fn unknown(session: &Session, id: &str) -> String {
    let handles = session.handles();
    if handles.is_empty() {
        return format!(
            "there is no handle `{id}`, and no other handle; ask the model to start something"
        );
    }
    let names = handles.iter().map(|handle| handle.id.as_str());
    if let Some(near) = nearest(id, names.clone()) {
        return format!("there is no handle `{id}`; did you mean `{near}`?");
    }
    let names: Vec<&str> = names.collect();
    format!(
        "there is no handle `{id}`; the handles are {}",
        names.join(", ")
    )
}

fn handles(session: &Session, printer: Printer) -> Vec<String> {
    let columns = [
        column("HANDLE"),
        column("STATE").cut_to(8),
        column("TIME"),
        column("COMMAND").cut_to(12).spare(1),
        column("LAST LINE").cut_to(16),
    ];
    let mut listing = Listing::new(
        columns,
        "There are no handles; ask the model to start something.",
    );
    for handle in session.handle_infos() {
        let time = std::time::Duration::try_from_secs_f64(handle.elapsed_secs);
        let last = match (&handle.question, &handle.last_line) {
            (Some(question), _) => format!("? {}", question.text),
            (None, line) => line.clone().unwrap_or_default(),
        };
        listing.row([
            cell(handle.id.as_str()),
            ps::state(&handle),
            cell(ages::length(time.unwrap_or_default())),
            cell(handle.command.as_deref().unwrap_or_default()),
            cell(last),
        ]);
    }
    printer.lines(&listing)
}

fn tools(session: &Session, printer: Printer) -> Vec<String> {
    let columns = [column("TOOL"), column("SUMMARY").cut_to(20)];
    let mut listing = Listing::new(columns, "There are no tools.");
    for tool in session.tools().offered() {
        let tool = tool.definition();
        let summary = tool.summary.as_deref().unwrap_or_default();
        listing.row([cell(&tool.name), cell(summary)]);
    }
    printer.lines(&listing)
}

/// The newest conversations of the project, except this one.
pub(super) async fn conversations(
    windlass: &Windlass,
    this: &SessionId,
    printer: Printer,
) -> anyhow::Result<Vec<String>> {
    let store = windlass::open_record()?;
    let page = Page {
        before: None,
        limit: LISTED * 10,
    };
    let sessions = store.sessions(page).await?;
    let directory = windlass.config().root.display().to_string();
    let own = sessions.iter().filter(|session| {
        session.id != *this
            && session.directory == directory
            && matches!(session.front_end.as_str(), "chat" | "query")
    });
    let columns = [column("SESSION"), column("AGE"), column("TITLE").cut_to(20)];
    let mut listing = Listing::new(columns, "There is no earlier conversation of this project.");
    for session in own.take(LISTED) {
        listing.row([
            cell(reach::short(session.id.as_str())),
            cell(ago(session.time.updated)),
            cell(&session.title),
        ]);
    }
    if !listing.is_empty() {
        listing.note("/resume ID continues one.");
    }
    Ok(printer.lines(&listing))
}

#[cfg(test)]
#[path = "slash_tests.rs"]
mod tests;
