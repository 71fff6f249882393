//! Questions to the person at the terminal.
//!
//! Start at [`Askable`]: a question that can be asked with a [`KeyReader`].
//! Dropping a prompt removes it from the terminal. Callers decide what is asked
//! and when it ends.

mod editor;
mod fill;
mod form;
mod keyboard;
mod line;

use std::io::{self, Write};

use rustix::process::{Signal, getpid, kill_process};
use serde_json::Value;
use windlass_protocol::{
    AnswerType, Arguments, Ask, PermissionAnswer, PermissionReply, PermissionRequest,
    RequestRendering, visible_line,
};
use windlass_runtime::{OpenRequest, PersonRequest, ReplyError, RequestWatch};

use crate::print::{self, shortened};
use crate::screen::TerminalDisplay;
use crate::wrap;
pub(crate) use editor::edit;
pub(crate) use fill::NoAnswer;
use fill::fill;
use form::{Confirm, KeyChoice, Select, TextInput, clean};
pub(crate) use keyboard::{KeyPress, KeyReader};

/// A question for a person.
pub(crate) trait Askable: Sync {
    type Answer: Send;

    /// Asks. Dropping the future removes the prompt.
    fn ask(
        &self,
        keyboard: &mut KeyReader,
    ) -> impl Future<Output = Result<Self::Answer, NoAnswer>> + Send;
}

/// Asks without an open keyboard. Ctrl-C stays a signal, whose handler removes
/// the prompt.
pub(crate) async fn ask<A: Askable>(asking: &A) -> Option<A::Answer> {
    let mut keyboard = KeyReader::open().ok()?;
    match asking.ask(&mut keyboard).await {
        Ok(answer) => Some(answer),
        Err(NoAnswer::Declined | NoAnswer::NoTerminal) => None,
        Err(NoAnswer::Interrupted) => {
            drop(keyboard);
            kill_process(getpid(), Signal::INT).ok()?;
            std::future::pending().await
        }
    }
}

/// Asks all opened requests on the terminal, one after the other, until the
/// session ends. A prompt disappears when it is answered elsewhere.
pub(crate) async fn attend(mut watch: RequestWatch) {
    while let Some(open) = watch.next().await {
        // Invalid edited arguments are edited again.
        while open.is_open() {
            tokio::select! {
                biased;
                () = open.closed() => {}
                typed = ask(open.request()) => deliver(&open, typed),
            }
        }
    }
}

/// Passes the typed reply to a request; without one the request is abandoned.
/// An invalid edit leaves the request open and is reported to the user.
pub(crate) fn deliver(open: &OpenRequest, typed: Option<PromptReply>) {
    let given = match typed {
        Some(PromptReply::Reply(answer)) => open.reply(answer),
        Some(PromptReply::Answer(value)) => open.answer(value),
        None => return open.give_up(),
    };
    match given {
        Ok(()) => {}
        Err(error @ ReplyError::UnfitArguments(_)) => print_line(&visible_line(&error.to_string())),
        // A prompt only returns valid replies, but another client may have
        // replied first.
        Err(error) => tracing::debug!(%error, "what was typed is not wanted"),
    }
}

/// A reply that was typed at a prompt.
pub(crate) enum PromptReply {
    Reply(PermissionAnswer),
    Answer(Value),
}

impl Askable for PersonRequest {
    type Answer = PromptReply;

    async fn ask(&self, keyboard: &mut KeyReader) -> Result<PromptReply, NoAnswer> {
        match self {
            Self::Permission(request) => request.ask(keyboard).await.map(PromptReply::Reply),
            Self::Question(asked) | Self::Trust(asked) => {
                asked.ask(keyboard).await.map(PromptReply::Answer)
            }
        }
    }
}

// ── Permissions ────────────────────────────────────────────────────────────

impl Askable for PermissionRequest {
    type Answer = PermissionAnswer;

    async fn ask(&self, keyboard: &mut KeyReader) -> Result<PermissionAnswer, NoAnswer> {
        let mut decision = PermissionAnswer::from(PermissionReply::Once);
        let rendering = RequestRendering::of_permission(self);
        let colour = print::stderr_colour();
        let always = match rendering.always.as_slice() {
            [] => "always".to_owned(),
            patterns => format!("always ({})", patterns.join(", ")),
        };
        let mut choice = KeyChoice {
            keys: vec![
                ('y', "yes, once".to_owned()),
                ('a', shortened(&always, LONGEST_ALWAYS)),
                ('n', "no".to_owned()),
                ('e', "edit".to_owned()),
            ],
            preset: Some('y'),
            chosen: 'n',
            colour,
        };
        match fill(keyboard, &laid_out(&rendering, colour), &mut choice).await {
            Ok(()) => {}
            Err(NoAnswer::Declined) => {
                decision.reply = PermissionReply::Reject;
                return Ok(decision);
            }
            Err(other) => return Err(other),
        }
        match choice.chosen {
            'y' => {}
            'a' => decision.reply = PermissionReply::Always,
            'e' => {
                decision.arguments = edited(self, keyboard).await?;
                if let Some(arguments) = &decision.arguments {
                    print_line(&format!("runs as: {}", visible_line(&shown(arguments))));
                }
            }
            _ => {
                decision.reply = PermissionReply::Reject;
                let said = line(keyboard, "A message to the assistant (optional)").await?;
                decision.message = said.filter(|said| !said.trim().is_empty());
            }
        }
        Ok(decision)
    }
}

/// The width of the bar before the text of a request.
const BAR_WIDTH: usize = 4;
/// The maximum length of the text about an "always".
const LONGEST_ALWAYS: usize = 40;

/// Lays out a request above its keys: the title, then the command and its
/// details after a bar.
fn laid_out(rendering: &RequestRendering, colour: bool) -> String {
    let styled = |text: &str, code: &str| {
        if colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    };
    let bar = styled("┃", "33");
    let (columns, _) = TerminalDisplay::stderr().size();
    let room = columns.saturating_sub(BAR_WIDTH + 1);
    let mut lines = vec![format!("{bar} {}", styled(&clean(&rendering.title), "1"))];
    let mut add = |text: &str, code: &str| {
        for row in wrap::wrapped(&clean(text), room) {
            lines.push(format!("{bar}   {}", styled(row.trim_end(), code)));
        }
    };
    for lead in &rendering.lead {
        add(lead, "0");
    }
    for body in &rendering.body {
        add(body, "36");
    }
    for field in &rendering.fields {
        for line in &field.lines {
            add(&format!("{}: {line}", field.name), "2");
        }
    }
    lines.join("\n")
}

/// Arguments on one line: the command, or all of them.
fn shown(arguments: &Arguments) -> String {
    match arguments.get("command").and_then(Value::as_str) {
        Some(command) => command.to_owned(),
        None => Value::Object(arguments.clone()).to_string(),
    }
}

/// Lets the person edit the arguments in an editor. `None` leaves them
/// unchanged.
async fn edited(
    request: &PermissionRequest,
    keyboard: &mut KeyReader,
) -> Result<Option<Arguments>, NoAnswer> {
    let arguments = request.metadata.get("arguments");
    let mut text = serde_json::to_string_pretty(&arguments).unwrap_or_default();
    loop {
        match edit(keyboard, &text, ".json").await {
            Ok(None) => return Ok(None),
            Ok(Some(written)) => match serde_json::from_str(&written) {
                Ok(arguments) => return Ok(Some(arguments)),
                Err(error) => {
                    print_line(&format!("not a JSON object: {error}"));
                    text = written;
                }
            },
            Err(error) => {
                print_line(&format!(
                    "the editor cannot be opened: {error:#}; set `EDITOR`"
                ));
                return Err(NoAnswer::NoTerminal);
            }
        }
        let mut again = yes_or_no("Edit it again?", Some(true));
        fill(keyboard, "", &mut again).await?;
        if !again.answer {
            return Err(NoAnswer::Declined);
        }
    }
}

fn print_line(text: &str) {
    // An error here cannot be reported.
    let _ = write!(io::stderr(), "{text}\r\n");
}

// ── Questions ──────────────────────────────────────────────────────────────

impl Askable for Ask {
    type Answer = Value;

    async fn ask(&self, keyboard: &mut KeyReader) -> Result<Value, NoAnswer> {
        let rendering = RequestRendering::of_question(self);
        let RequestRendering {
            lead, body, title, ..
        } = rendering;
        // Only the last line of a text is before the answer. The others are
        // indented, so that none looks like the title.
        let mut lines: Vec<String> = lead.into_iter().chain(body).collect();
        let text = &*lines.pop().unwrap_or_default();
        let lines = lines.iter().map(|line| format!("  {line}"));
        let head: Vec<String> = [title].into_iter().chain(lines).collect();
        let head = clean(&head.join("\n"));
        let question = &self.question;
        let preset = question.default.as_ref();
        match &question.answer_type {
            AnswerType::Boolean => {
                let mut confirm = yes_or_no(text, preset.and_then(Value::as_bool));
                fill(keyboard, &head, &mut confirm).await?;
                Ok(Value::Bool(confirm.answer))
            }
            AnswerType::Select { options } => {
                let preset = preset.and_then(Value::as_str);
                let place = options
                    .iter()
                    .position(|option| Some(option.as_str()) == preset);
                let mut select = Select {
                    text: text.to_owned(),
                    items: options.iter().map(|option| visible_line(option)).collect(),
                    chosen: place.unwrap_or(0),
                };
                fill(keyboard, &head, &mut select).await?;
                let chosen = options.get(select.chosen).cloned();
                chosen.map(Value::String).ok_or(NoAnswer::Declined)
            }
            AnswerType::Text => {
                let mut input = TextInput {
                    preset: preset.and_then(Value::as_str).map(str::to_owned),
                    secret: question.secret,
                    ..TextInput::new(text)
                };
                fill(keyboard, &head, &mut input).await?;
                Ok(Value::String(input.answer()))
            }
        }
    }
}

/// A line of text; `None` if the person cancels.
async fn line(keyboard: &mut KeyReader, text: &str) -> Result<Option<String>, NoAnswer> {
    let mut input = TextInput::new(text);
    match fill(keyboard, "", &mut input).await {
        Ok(()) => Ok(Some(input.answer())),
        Err(NoAnswer::Declined) => Ok(None),
        Err(other) => Err(other),
    }
}

fn yes_or_no(text: &str, preset: Option<bool>) -> Confirm {
    Confirm {
        text: text.to_owned(),
        preset,
        answer: false,
    }
}

/// A yes/no question with yes preselected.
pub(crate) struct Agreement(pub(crate) String);

impl Askable for Agreement {
    type Answer = bool;

    async fn ask(&self, keyboard: &mut KeyReader) -> Result<bool, NoAnswer> {
        let mut confirm = yes_or_no(&clean(&self.0), Some(true));
        fill(keyboard, "", &mut confirm).await?;
        Ok(confirm.answer)
    }
}

/// A yes/no question with no preselected.
pub(crate) struct Confirmation(pub(crate) String);

impl Askable for Confirmation {
    type Answer = bool;

    async fn ask(&self, keyboard: &mut KeyReader) -> Result<bool, NoAnswer> {
        let mut confirm = yes_or_no(&clean(&self.0), Some(false));
        fill(keyboard, "", &mut confirm).await?;
        Ok(confirm.answer)
    }
}

// ── Interruptions ──────────────────────────────────────────────────────────

/// The question after an interrupted turn.
pub(crate) struct Interruption;

/// The choice after an interrupted turn.
#[derive(Debug)]
pub(crate) enum Choice {
    GoOn,
    Reply(String),
    StopTools,
    Abort,
}

impl Askable for Interruption {
    type Answer = Choice;

    async fn ask(&self, keyboard: &mut KeyReader) -> Result<Choice, NoAnswer> {
        let mut choice = Select {
            text: "Interrupted".to_owned(),
            items: ["go on", "reply", "stop tools", "abort"]
                .map(str::to_owned)
                .into(),
            chosen: 0,
        };
        match fill(keyboard, "", &mut choice).await {
            Ok(()) => {}
            Err(NoAnswer::Declined) => return Ok(Choice::GoOn),
            Err(other) => return Err(other),
        }
        Ok(match choice.chosen {
            0 => Choice::GoOn,
            1 => match line(keyboard, "Reply").await? {
                Some(text) if !text.trim().is_empty() => Choice::Reply(text),
                _ => Choice::GoOn,
            },
            2 => Choice::StopTools,
            _ => Choice::Abort,
        })
    }
}
