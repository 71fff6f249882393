//! `windlass sessions show`: the messages and calls of a session.

use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;
use windlass::store::Store;
use windlass_protocol::{
    Arguments, FilePart, MessagePart, PartState, PartTimeWithEnd, SessionRecord, ToolPart,
    visible_line, visible_lines,
};
use windlass_runtime::{Archive, Page};

use super::ShownOutputs;
use super::outputs::{print_seen, print_whole};
use crate::ages::{self, ago};
use crate::print::{self, Printer, Tone};
use crate::stdout;

/// How many lines of a call's output are shown.
const FIRST_LINES: usize = 4;

pub(super) async fn run(
    store: &Store,
    session: &SessionRecord,
    outputs: ShownOutputs,
    printer: Printer,
) -> anyhow::Result<()> {
    let page = Page {
        before: None,
        limit: usize::MAX,
    };
    let messages = store.messages(&session.id, page).await?;
    if printer.is_json {
        let permissions = store.permissions(&session.id).await?;
        let notices = store.notices(&session.id).await?;
        print::json(&json!({
            "session": session,
            "messages": messages,
            "permissions": permissions,
            "notices": notices,
        }))?;
        return Ok(());
    }
    let mut stdout = stdout::lock();
    let SessionRecord {
        id,
        directory,
        front_end,
        time,
        ..
    } = session;
    let head = format!("{id}  {front_end}  {directory}  {} ago", ago(time.updated));
    writeln!(stdout, "{}", printer.paint(&head, Tone::Heading))?;
    if messages.iter().all(|message| message.parts.is_empty()) {
        writeln!(stdout, "The session has no messages and no calls.")?;
    }
    for part in messages.iter().flat_map(|message| &message.parts) {
        for line in lines(part, outputs.full, printer) {
            writeln!(stdout, "{line}")?;
        }
        let MessagePart::Tool(part) = part else {
            continue;
        };
        if outputs.seen {
            print_seen(&mut stdout, part)?;
        }
        if outputs.whole {
            print_whole(&mut stdout, part)?;
        }
    }
    Ok(())
}

fn lines(part: &MessagePart, full: bool, printer: Printer) -> Vec<String> {
    match part {
        MessagePart::Text(part) => visible_lines(&part.text),
        MessagePart::Tool(part) => CallLine::of(part).lines(full, printer),
    }
}

/// A call in the display.
#[derive(Debug, Default, PartialEq)]
struct CallLine {
    outcome: CallOutcome,
    tool: String,
    action: String,
    handle: String,
    title: String,
    exit: String,
    time: String,
    output: String,
    files: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum CallOutcome {
    #[default]
    Under,
    Done,
    Failed,
}

impl CallLine {
    fn of(part: &ToolPart) -> Self {
        let call = Self {
            tool: part.tool.clone(),
            ..Self::default()
        };
        match &part.state {
            PartState::Pending(_) => call.about(part.metadata.as_ref()),
            PartState::Running(state) => Self {
                title: state.title.clone().unwrap_or_default(),
                ..call.about(state.metadata.as_ref())
            },
            PartState::Completed(state) => {
                let said = RepliedText::of(&state.output);
                let call = call.about(Some(&state.metadata));
                let exit = [call.exit, said.exit];
                let exit = exit.into_iter().find(|exit| !exit.is_empty());
                let exit = exit.unwrap_or_default();
                Self {
                    outcome: if exit.is_empty() && !said.failed {
                        CallOutcome::Done
                    } else {
                        CallOutcome::Failed
                    },
                    exit,
                    title: state.title.clone(),
                    time: length(&state.time),
                    output: said.text,
                    files: attached(state.attachments.as_deref().unwrap_or_default()),
                    ..call
                }
            }
            PartState::Error(state) => Self {
                outcome: CallOutcome::Failed,
                title: title(&state.input),
                time: length(&state.time),
                output: state.error.clone(),
                ..call.about(state.metadata.as_ref())
            },
        }
    }

    /// Adds the handle, the action and the exit code from the metadata.
    fn about(self, metadata: Option<&Arguments>) -> Self {
        let text = |key: &str| {
            let value = metadata.and_then(|metadata| metadata.get(key));
            value.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let code = metadata.and_then(|metadata| metadata.get("exit_code"));
        Self {
            action: text("action"),
            handle: text("handle"),
            exit: match code {
                Some(code) => format!("exit {code}"),
                None => text("signal"),
            },
            ..self
        }
    }

    fn lines(&self, full: bool, printer: Printer) -> Vec<String> {
        let (mark, tone) = match self.outcome {
            CallOutcome::Under => ("…", Tone::Waiting),
            CallOutcome::Done => ("✓", Tone::Good),
            CallOutcome::Failed => ("✗", Tone::Bad),
        };
        let words = [&self.tool, &self.action, &self.handle, &self.title];
        let words = words.into_iter().filter(|word| !word.is_empty());
        let words: Vec<&str> = words.map(String::as_str).collect();
        let ends = [&self.exit, &self.time];
        let ends = ends.into_iter().filter(|word| !word.is_empty());
        let ends: Vec<&str> = ends.map(String::as_str).collect();
        let ends = match ends.join(", ") {
            ends if ends.is_empty() => ends,
            ends => format!("({ends})"),
        };
        let words = visible_line(&words.join(" "));
        // On a terminal a call is one line, with its result.
        let words = if full {
            words
        } else {
            printer.cut(&words, "  ✓  ".width() + ends.width())
        };
        let mut head = format!("  {} {words}", printer.paint(mark, tone));
        if !ends.is_empty() {
            let tone = match self.outcome {
                CallOutcome::Failed => Tone::Bad,
                _ => Tone::Faint,
            };
            head.push(' ');
            head.push_str(&printer.paint(&ends, tone));
        }
        let output: Vec<&str> = self.output.lines().collect();
        let shown = if full { output.len() } else { FIRST_LINES };
        let more = output.len().saturating_sub(shown);
        let mut lines = vec![head];
        let output = output.iter().take(shown);
        lines.extend(output.map(|line| {
            let line = format!("      {}", visible_line(line));
            let line = if full { line } else { printer.cut(&line, 0) };
            printer.paint(&line, Tone::Faint)
        }));
        if more > 0 {
            let line = match more {
                1 => "      … 1 more line; `--full` shows it".to_owned(),
                more => format!("      … {more} more lines; `--full` shows them"),
            };
            lines.push(printer.paint(&line, Tone::Faint));
        }
        lines.extend(self.files.iter().map(|file| format!("      {file}")));
        lines
    }
}

/// The text of a reply, extracted from the JSON of a handle's reply.
#[derive(Default)]
struct RepliedText {
    text: String,
    exit: String,
    failed: bool,
}

impl RepliedText {
    fn of(output: &str) -> Self {
        let value: Option<Value> = serde_json::from_str(output).ok();
        let value = value.filter(|value| {
            let is_handle = value["state"].is_string() && value["id"].is_string();
            is_handle || value["completed"].is_array()
        });
        let Some(value) = value else {
            return Self {
                text: output.to_owned(),
                ..Self::default()
            };
        };
        let views: Vec<&Value> = match value["completed"].as_array() {
            Some(completed) => completed.iter().collect(),
            None => vec![&value],
        };
        let text = |view: &Value| {
            let texts = ["content", "result"].iter();
            let mut texts = texts.filter_map(|key| view[*key].as_str());
            texts.find(|text| !text.is_empty()).map(str::to_owned)
        };
        let exits = views.iter().filter_map(|view| match &view["exit_code"] {
            Value::Null => view["signal"].as_str().map(str::to_owned),
            code => Some(format!("exit {code}")),
        });
        Self {
            exit: exits.collect::<Vec<_>>().join(", "),
            failed: views.iter().any(|view| !view["error"].is_null()),
            text: views
                .iter()
                .filter_map(|view| text(view))
                .collect::<Vec<_>>()
                .join("\n"),
        }
    }
}

/// The significant argument, for a call without a title.
fn title(input: &Arguments) -> String {
    let command = input.get("command").and_then(Value::as_str);
    let line = command.and_then(|command| command.lines().next());
    line.unwrap_or_default().to_owned()
}

fn length(time: &PartTimeWithEnd) -> String {
    let millis = time.end.0.saturating_sub(time.start.0);
    ages::length(Duration::from_millis(millis))
}

fn attached(files: &[FilePart]) -> Vec<String> {
    files.iter().map(file_line).collect()
}

/// A file, as a path if it is on this machine and its URL has no escapes.
fn file_line(file: &FilePart) -> String {
    let path = file.url.strip_prefix("file://");
    let place = path.filter(|path| !path.contains('%')).unwrap_or(&file.url);
    format!("{}  {place}", file.mime)
}

#[cfg(test)]
#[path = "show_tests.rs"]
mod tests;
