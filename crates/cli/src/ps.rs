//! `windlass ps`: every session, handle and running one-shot on this machine
//! with its open requests, and the kept handles without a runtime.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_protocol::{
    HandleInfo, HandleKind, HandleState, HandleUse, HeldHandleInfo, HeldStanding, OpenQuestion,
    PermissionRequest, RequestRendering, SessionInfo,
};

use crate::ages;
use crate::args::{Global, PsArgs};
use crate::held;
use crate::print::{self, ListCell, Listing, Printer, Tone, cell, column};
use crate::reach::{self, Reached};
use crate::screen::TerminalDisplay;
use crate::signals::Signals;
use crate::{questions, replies};

/// How often a watched list is refreshed.
const STEP: Duration = Duration::from_secs(1);

pub(crate) async fn run(global: &Global, args: PsArgs) -> anyhow::Result<ExitCode> {
    let printer = Printer::new(global);
    if args.watch {
        return watch(printer).await;
    }
    let overview = if args.held {
        Overview::of_held().await?
    } else {
        Overview::look().await?
    };
    printer.list(overview.to_json(), &overview.listing(printer))?;
    Ok(ExitCode::SUCCESS)
}

/// Redraws the list until Ctrl-C. With `--json` or in a pipe, prints every
/// change.
async fn watch(printer: Printer) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::new()?;
    let mut screen = TerminalDisplay::stdout();
    let is_live = std::io::IsTerminal::is_terminal(&std::io::stdout()) && !printer.is_json;
    let mut before = None;
    loop {
        let overview = Overview::look().await?;
        if is_live {
            let printer = printer.for_live_area();
            // The shell may have used the terminal while this was stopped.
            screen.invalidate();
            screen.paint(&[], &printer.lines(&overview.listing(printer)));
        } else {
            let now = overview.to_json();
            if before.as_ref() != Some(&without_times(now.clone())) {
                if printer.is_json {
                    print::json_line(&now)?;
                } else {
                    printer.list(now.clone(), &overview.listing(printer))?;
                }
                before = Some(without_times(now));
            }
        }
        tokio::select! {
            () = tokio::time::sleep(STEP) => {}
            code = signals.next() => {
                if is_live {
                    let lines = printer.lines(&overview.listing(printer));
                    screen.paint(&lines, &[]);
                }
                return Ok(ExitCode::from(code));
            }
        }
    }
}

/// The value without fields that change constantly.
fn without_times(mut value: Value) -> Value {
    let sessions = value.as_array_mut().into_iter().flatten();
    for handle in sessions
        .filter_map(|session| session["handles"].as_array_mut())
        .flatten()
    {
        handle["elapsed_secs"] = Value::Null;
        handle["usage"] = Value::Null;
    }
    let rows = value.as_array_mut().into_iter().flatten();
    for left in rows.filter_map(|row| row.pointer_mut("/held/left_secs")) {
        *left = Value::Null;
    }
    value
}

/// All sessions and handles.
struct Overview {
    sessions: Vec<Reached>,
    permissions: Vec<PermissionRequest>,
    questions: Vec<OpenQuestion>,
    /// Kept handles without a runtime.
    held: Vec<HeldHandleInfo>,
    /// The message for an empty list.
    empty: &'static str,
}

const NOTHING_RUNS: &str = "Nothing is running. Agents with `windlass mcp`, `windlass serve`, `windlass chat` and `windlass run` start sessions.";
const NOTHING_HELD: &str = "No kept handle is without a runtime. Handles of a tool with `keep_secs` or `keepable_secs` in `spawn.lifecycle` can outlive their session.";

impl Overview {
    async fn look() -> anyhow::Result<Self> {
        let (sessions, permissions, questions, held) = tokio::join!(
            reach::sessions(),
            replies::waiting(),
            questions::all(),
            held::list()
        );
        let questions = questions?.into_iter();
        // Ended ones are reported to the assistant; `--held` lists them.
        let held = held?.into_iter();
        let held = held.filter(|info| !matches!(info.standing, HeldStanding::Ended { .. }));
        Ok(Self {
            sessions: sessions?,
            permissions: permissions?,
            questions: questions.map(|(_, question)| question).collect(),
            held: held.collect(),
            empty: NOTHING_RUNS,
        })
    }

    async fn of_held() -> anyhow::Result<Self> {
        Ok(Self {
            held: held::list().await?,
            sessions: Vec::new(),
            permissions: Vec::new(),
            questions: Vec::new(),
            empty: NOTHING_HELD,
        })
    }

    fn to_json(&self) -> Value {
        let sessions = self.sessions.iter().map(|reached| {
            let id = &reached.session.id;
            let permissions = self
                .permissions
                .iter()
                .filter(|asked| asked.session_id == *id);
            let questions = self.questions.iter().filter(|open| open.session == *id);
            json!({
                "session": reached.session,
                "handles": reached.handles,
                "permissions": permissions.collect::<Vec<_>>(),
                "questions": questions.collect::<Vec<_>>(),
            })
        });
        let held = self.held.iter().map(|info| json!({ "held": info }));
        sessions.chain(held).collect()
    }

    fn listing(&self, printer: Printer) -> Listing {
        let columns = [
            column("HANDLE").cut_to(20),
            column("STATE"),
            column("TIME"),
            column("AGENT").cut_to(8).spare(2),
            column("PROJECT").cut_to(8).spare(1),
            column("TOOL").cut_to(6).spare(4),
            column("SESSION").spare(3),
            column("PID").spare(5),
            column("CPU").spare(6),
            column("MEMORY").spare(6),
            column("PROCS").spare(7),
            column("LAST LINE").cut_to(20),
        ];
        let mut listing = Listing::new(columns, self.empty);
        for reached in &self.sessions {
            let session = &reached.session;
            for handle in &reached.handles {
                let waits = self.waits(session, handle);
                let (state, last) = match &waits {
                    Some((whom, text)) => (
                        cell(format!("waits for {whom}")).tone(Tone::Waiting),
                        cell(format!("? {text}")).tone(Tone::Waiting),
                    ),
                    None => (state(handle), cell(last_line(handle))),
                };
                let time = Duration::try_from_secs_f64(handle.elapsed_secs);
                let time = ages::length(time.unwrap_or_default());
                let tool = handle.tool.as_str();
                row(
                    &mut listing,
                    session,
                    [
                        cell(handle.id.as_str()),
                        state,
                        cell(time),
                        cell(tool),
                        last,
                    ],
                    handle.usage.as_ref(),
                );
            }
            let asked = self.permissions.iter();
            let is_shown = |asked: &PermissionRequest| {
                let mut handles = reached.handles.iter();
                handles.any(|handle| is_about(asked, session, handle))
            };
            for asked in asked.filter(|asked| asked.session_id == session.id && !is_shown(asked)) {
                let cells = waiting(&asked.permission, &request_text(asked));
                row(&mut listing, session, cells, None);
            }
            let open = self
                .questions
                .iter()
                .filter(|open| open.session == session.id);
            let loose =
                open.filter(|open| !reached.handles.iter().any(|handle| asks(handle, open)));
            for open in loose {
                let cells = waiting(&open.ask.tool, &open.ask.question.text);
                row(&mut listing, session, cells, None);
            }
            if reached.handles.is_empty() && session.pending == 0 {
                let idle = cell("idle").tone(Tone::Faint);
                let none = [cell("-"), idle, cell(""), cell(""), cell("")];
                row(&mut listing, session, none, None);
            }
        }
        for info in &self.held {
            held_row(&mut listing, info);
        }
        self.notes(&mut listing, printer);
        listing
    }

    /// Who must answer the request or question of a waiting handle, and its
    /// text.
    fn waits(&self, session: &SessionInfo, handle: &HandleInfo) -> Option<(&'static str, String)> {
        let mut asked = self.permissions.iter();
        if let Some(asked) = asked.find(|asked| is_about(asked, session, handle)) {
            return Some(("you", request_text(asked)));
        }
        let question = handle.question.as_ref()?;
        let open = self
            .questions
            .iter()
            .filter(|open| open.session == session.id);
        let is_ours = open.into_iter().any(|open| asks(handle, open));
        let whom = if is_ours { "you" } else { "its agent" };
        Some((whom, question.text.clone()))
    }

    /// Commands that answer open requests, and problems of the record.
    fn notes(&self, listing: &mut Listing, printer: Printer) {
        let faint = |text: String| printer.paint(&text, Tone::Faint);
        for asked in &self.permissions {
            let id = reach::short(asked.id.as_str());
            listing.note(faint(format!(
                "reply:  windlass permissions reply {id} once|always|reject"
            )));
        }
        for open in &self.questions {
            let id = reach::short(&open.ask.ask);
            let text = format!("answer: windlass answer {id} ({})", open.ask.tool);
            listing.note(faint(text));
        }
        for Reached { session, .. } in &self.sessions {
            let Some(trouble) = &session.record else {
                continue;
            };
            let id = reach::short(session.id.as_str());
            listing.note(match &trouble.error {
                Some(error) => format!(
                    "{id}: the record cannot be written ({error}); {} changes are waiting, {} are \
                     lost",
                    trouble.waiting, trouble.lost
                ),
                None => format!("{id}: {} changes of the record are lost", trouble.lost),
            });
        }
    }
}

/// A row for a request to the user that has no handle.
fn waiting(tool: &str, text: &str) -> [ListCell; 5] {
    [
        cell("-"),
        cell("waits for you").tone(Tone::Waiting),
        cell(""),
        cell(tool),
        cell(format!("? {text}")).tone(Tone::Waiting),
    ]
}

/// Whether the request concerns this handle.
fn is_about(asked: &PermissionRequest, session: &SessionInfo, handle: &HandleInfo) -> bool {
    let about = asked.metadata.get("handle").and_then(Value::as_str);
    asked.session_id == session.id && about == Some(handle.id.as_str())
}

/// A request on one line.
fn request_text(asked: &PermissionRequest) -> String {
    let text = RequestRendering::of_permission(asked);
    format!("{} {}", text.title, text.body.join(" "))
}

/// Adds a row for a kept handle without a runtime.
fn held_row(listing: &mut Listing, info: &HeldHandleInfo) {
    let (state, left) = held::standing(info);
    let left = left.and_then(|left| Duration::try_from_secs_f64(left).ok());
    let left = left.map_or_else(String::new, |left| format!("{} left", ages::length(left)));
    let agent = info.client.as_ref().or(info.front_end.as_ref());
    let project = info.root.file_name().map(|name| name.to_string_lossy());
    listing.row([
        cell(info.handle.as_str()),
        cell(state).tone(Tone::Waiting),
        cell(left),
        cell(agent.map_or("", String::as_str)),
        cell(project.unwrap_or_default()),
        cell(&info.tool),
        cell(reach::short(info.session.as_str())),
        cell(""),
        cell(""),
        cell(""),
        cell(""),
        cell(info.command.as_deref().unwrap_or_default()),
    ]);
}

fn row(
    listing: &mut Listing,
    session: &SessionInfo,
    cells: [ListCell; 5],
    usage: Option<&HandleUse>,
) {
    let [handle, state, time, tool, last] = cells;
    let project = session.root.file_name().map(|name| name.to_string_lossy());
    let agent = match (&session.client, &session.name) {
        (Some(client), Some(name)) => format!("{client} {name}"),
        (Some(client), None) => client.clone(),
        (None, Some(name)) => format!("{} {name}", session.front_end),
        (None, None) => session.front_end.clone(),
    };
    listing.row([
        handle,
        state,
        time,
        cell(agent),
        cell(project.unwrap_or_default()),
        tool,
        cell(reach::short(session.id.as_str())),
        cell(session.pid.to_string()),
        cell(usage.map_or_else(String::new, |usage| {
            let time = Duration::try_from_secs_f64(usage.cpu_secs);
            ages::length(time.unwrap_or_default())
        })),
        cell(usage.map_or_else(String::new, |usage| size(usage.memory))),
        cell(usage.map_or_else(String::new, |usage| usage.processes.to_string())),
        last,
    ]);
}

fn size(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{}K", bytes >> 10),
        megabytes @ 1..10_240 => format!("{megabytes}M"),
        megabytes => format!("{}G", megabytes >> 10),
    }
}

/// Whether a handle waits for the answer to this question.
fn asks(handle: &HandleInfo, open: &OpenQuestion) -> bool {
    open.ask.handle.as_ref() == Some(&handle.id)
}

/// The last line, or the command of a one-shot without output.
fn last_line(handle: &HandleInfo) -> &str {
    let command = handle.command.as_ref();
    let command = command.filter(|_| handle.kind == HandleKind::OneShot);
    let line = handle.last_line.as_ref().or(command);
    line.map_or("", String::as_str)
}

/// The state, in a word or two.
pub(crate) fn state(handle: &HandleInfo) -> ListCell {
    let (mut text, tone) = match handle.state {
        HandleState::Pending => ("pending".to_owned(), Tone::Waiting),
        HandleState::Running => ("running".to_owned(), Tone::Good),
        HandleState::Waiting => ("waiting".to_owned(), Tone::Waiting),
        HandleState::Stopped => match (&handle.exit_code, &handle.signal) {
            (Some(code), _) => (format!("exit {code}"), Tone::Bad),
            (None, Some(signal)) => (signal.clone(), Tone::Bad),
            (None, None) if handle.failed => ("failed".to_owned(), Tone::Bad),
            (None, None) => ("done".to_owned(), Tone::Faint),
        },
    };
    if handle.locked {
        text.push_str(", taken over");
    }
    if handle.kind == HandleKind::OneShot {
        text.push_str(", one-shot");
    }
    cell(text).tone(tone)
}
