//! `windlass chat`: a conversation on the terminal.
//!
//! Start at [`run`]. `query/terminal.rs` shows the turns and the message
//! editor; this module turns messages into turns, interjections and commands.
//! Handles continue between the turns and end with the chat.

pub(crate) mod composer;
mod slash;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use tokio::sync::{mpsc, oneshot};
use windlass::{Assistants, Resume, Succession, Windlass};
use windlass_assistant::{Assistant, Interjection, TurnError, TurnOutcome};
use windlass_protocol::TurnEvent;
use windlass_runtime::{Attendance, BetweenTurns, Session, SessionOptions};

use self::composer::Composer;
use self::slash::{Slash, SlashError};
use crate::args::{ChatArgs, Global};
use crate::print::Printer;
use crate::prompt::{Choice, KeyReader};
use crate::query::remaining::{RemainingHandles, leased_names};
use crate::query::seat::{Message, MessageEditor, TerminalSeat};
use crate::query::show::{self, Show, Shower};
use crate::query::terminal;
use crate::query::{chosen, open_models, resumed};
use crate::signals::Signals;
use crate::stdout::errln;
use crate::{control, reach, setup, trust};

pub(crate) async fn run(global: &Global, args: ChatArgs) -> anyhow::Result<ExitCode> {
    let at_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if !at_terminal || global.json {
        bail!("`chat` needs a terminal; `windlass query` works without one, also with `--json`");
    }
    trust::ask_if_untrusted(global).await?;
    let builder = setup::builder(global)?.agents();
    let windlass = Arc::new(setup::build(builder).await?);
    setup::warn_of_record(&windlass);
    let _reachable = control::listen(&windlass, "chat");
    let assistants = open_models(&windlass, args.model.as_deref()).await?;
    let resume = resumed(args.go_on, args.session).await?;
    let (assistant, greeting) = begin(&windlass, &assistants, resume).await?;
    let (shower, shows) = show::channel();
    let (interrupts, interrupted) = mpsc::unbounded_channel();
    let (messages, inbox) = mpsc::unbounded_channel();
    let first = args.message.join(" ");
    if !first.trim().is_empty() {
        messages.send(Message::Say(first))?;
    }
    let Some(keyboard) = KeyReader::open_in_foreground() else {
        bail!(
            "`chat` runs in the background and cannot use the terminal; bring it to the foreground"
        );
    };
    let history = windlass::state_dir().join("chat_history");
    let seat = TerminalSeat {
        keyboard: Some(keyboard),
        interrupts,
        writing: Some(MessageEditor {
            composer: Composer::new(Some(history)),
            messages,
        }),
    };
    let printer = Printer::new(global);
    let showing = terminal::run(shows, assistant.session.clone(), seat, printer.colour);
    let showing = windlass_task::spawn(showing);
    shower.show(Show::Lines(greeting));
    let mut chat = Chat {
        windlass,
        assistants,
        assistant,
        shower,
        inbox,
        interrupted,
        signals: Signals::new()?,
        printer,
        warned: false,
    };
    let code = chat.converse().await;
    chat.shower.show(Show::Over);
    showing.await?;
    chat.leave().await;
    Ok(ExitCode::from(code))
}

/// A session with its conversation, and the lines that introduce it.
async fn begin(
    windlass: &Windlass,
    assistants: &Assistants,
    resume: Resume,
) -> anyhow::Result<(Assistant, Vec<String>)> {
    let is_new = resume == Resume::New;
    let (id, conversation) = assistants.conversation(resume).await?;
    let events = conversation.events();
    let said = events
        .iter()
        .filter(|event| matches!(***event, TurnEvent::User { .. }));
    let count = said.count();
    let options = SessionOptions {
        id: Some(id.clone()),
        front_end: Some("chat".to_owned()),
        attendance: Attendance::Attended,
        between_turns: BetweenTurns::Keep,
        ..SessionOptions::default()
    };
    let assistant = assistants.begin(conversation, options);
    if !is_new {
        let session = &assistant.session;
        windlass
            .succeed(session, &Succession::Conversation, false)
            .await;
    }
    let model = assistant.model.id();
    let short = reach::short(id.as_str());
    let state = if is_new {
        format!("session {short}")
    } else {
        let messages = if count == 1 { "message" } else { "messages" };
        format!("session {short} continues after {count} {messages}")
    };
    let greeting = vec![format!(
        "{model} · {state} · /help lists commands · Ctrl-D leaves"
    )];
    Ok((assistant, greeting))
}

struct Chat {
    windlass: Arc<Windlass>,
    assistants: Assistants,
    assistant: Assistant,
    shower: Shower,
    inbox: mpsc::UnboundedReceiver<Message>,
    /// Each Ctrl-C during a turn.
    interrupted: mpsc::UnboundedReceiver<()>,
    signals: Signals,
    printer: Printer,
    /// Whether the user was warned after the last message that leaving ends
    /// handles.
    warned: bool,
}

impl Chat {
    /// Handles messages until the person leaves. Returns the exit code.
    async fn converse(&mut self) -> u8 {
        loop {
            let message = tokio::select! {
                message = self.inbox.recv() => message,
                code = self.signals.next() => return code,
            };
            match message {
                None => return 0,
                Some(Message::Leave) => {
                    let was_warned = std::mem::take(&mut self.warned);
                    if self.may_leave(was_warned) {
                        return 0;
                    }
                }
                Some(Message::Say(text)) => {
                    let was_warned = std::mem::take(&mut self.warned);
                    if text.starts_with('/') {
                        match self.command(&text, was_warned).await {
                            Ok(Goes::On) => {}
                            Ok(Goes::Away) => return 0,
                            Err(error) => self.say([format!("{error:#}")]),
                        }
                    } else if let Some(code) = self.turn(&text).await {
                        return code;
                    }
                }
            }
        }
    }

    /// Runs one turn. Messages meanwhile are interjections. Returns the exit
    /// code of a signal that ended it.
    async fn turn(&mut self, text: &str) -> Option<u8> {
        let (interject, mut interjections) = mpsc::channel(64);
        let mut asked: Option<oneshot::Receiver<Choice>> = None;
        let mut code = None;
        // Discard a Ctrl-C that came too late for the previous turn.
        while self.interrupted.try_recv().is_ok() {}
        self.shower.show(Show::Begins);
        let shower = self.shower.clone();
        let turn = self.assistant.turn(text, &shower, &mut interjections);
        tokio::pin!(turn);
        let ended = loop {
            tokio::select! {
                biased;
                ended = &mut turn => break ended,
                choice = chosen(&mut asked) => {
                    asked = None;
                    if let Some(interjection) = choice {
                        let _ = interject.try_send(interjection);
                    }
                }
                Some(message) = self.inbox.recv() => match message {
                    Message::Leave => shower.show(Show::Lines(vec![
                        "a turn is running; Ctrl-C interrupts it".to_owned(),
                    ])),
                    Message::Say(text) if text.starts_with('/') => {
                        let lines = during(&text, &self.assistant.session, &shower, self.printer);
                        shower.show(Show::Lines(lines.await));
                    }
                    Message::Say(text) => {
                        let _ = interject.try_send(Interjection::Say(text));
                    }
                },
                Some(()) = self.interrupted.recv() => {
                    if asked.is_none() {
                        let (reply, choice) = oneshot::channel();
                        shower.show(Show::Interrupted(reply));
                        asked = Some(choice);
                    } else {
                        asked = None;
                        let _ = interject.try_send(Interjection::Abort);
                    }
                }
                signal = self.signals.next() => {
                    code = Some(signal);
                    let _ = interject.try_send(Interjection::Abort);
                }
            }
        };
        self.report(ended);
        self.shower.show(Show::Idle);
        code
    }

    fn report(&self, ended: Result<TurnOutcome, TurnError>) {
        match ended {
            Ok(outcome) if outcome.aborted => self.say(["the turn was ended".to_owned()]),
            Ok(_) => {}
            Err(error) => {
                let error = anyhow::Error::from(error);
                self.say([
                    format!("{error:#}"),
                    "send the message again, or choose another /model".to_owned(),
                ]);
            }
        }
    }

    fn say(&self, lines: impl IntoIterator<Item = String>) {
        self.shower.show(Show::Lines(lines.into_iter().collect()));
    }

    /// Whether the chat may end. Warns first if that ends running handles.
    fn may_leave(&mut self, was_warned: bool) -> bool {
        let remaining = RemainingHandles::of(&self.assistant.session);
        if remaining.ending.is_empty() || was_warned {
            return true;
        }
        self.warned = true;
        let mut lines = vec![format!(
            "still running: {}; leaving ends {}. Ctrl-D or /quit again leaves.",
            remaining.ending_names(),
            if remaining.ending.len() == 1 {
                "it"
            } else {
                "them"
            }
        )];
        if !remaining.kept.is_empty() {
            lines.push(format!("kept: {}", leased_names(&remaining.kept)));
        }
        self.say(lines);
        false
    }

    /// Ends the session and reports its handles.
    async fn leave(self) {
        let session = self.assistant.session.clone();
        let remaining = RemainingHandles::of(&session);
        if let Err(error) = self.assistant.keep_notices().await {
            tracing::warn!(%error, "what the assistant was not told is lost");
        }
        let is_empty = self.assistant.conversation.events().is_empty();
        self.signals.finish(session.close()).await;
        setup::tell_unrecorded(&session);
        if !remaining.ending.is_empty() {
            errln!("ended: {}", remaining.ending_names());
        }
        if !remaining.kept.is_empty() {
            errln!(
                "kept: {}; `windlass kill` ends one sooner",
                leased_names(&remaining.kept)
            );
        }
        if !is_empty && self.windlass.config().record {
            let short = reach::short(session.id().as_str());
            errln!("to continue: windlass chat --session {short}");
        }
    }

    async fn command(&mut self, text: &str, was_warned: bool) -> anyhow::Result<Goes> {
        match Slash::read(text)? {
            Slash::Quit if self.may_leave(was_warned) => return Ok(Goes::Away),
            Slash::Quit => {}
            Slash::Model(None) => {
                let model = self.assistant.model.id();
                self.say([format!(
                    "the model is {model}; /model PROVIDER/NAME chooses another"
                )]);
            }
            Slash::Model(Some(name)) => {
                let opened = self.windlass.providers().open(&name).await;
                self.assistant.model = opened?;
                self.say([format!("the model is {name} from now on")]);
            }
            Slash::Resume(None) => {
                self.say(
                    slash::conversations(&self.windlass, self.assistant.session.id(), self.printer)
                        .await?,
                );
            }
            Slash::Resume(Some(id)) => self.resume(&id, was_warned).await?,
            command => {
                let session = self.assistant.session.clone();
                let lines = slash::look(command, &session, &self.shower, self.printer).await;
                self.say(lines);
            }
        }
        Ok(Goes::On)
    }

    /// Continues another conversation.
    async fn resume(&mut self, id: &str, was_warned: bool) -> anyhow::Result<()> {
        let resume = resumed(false, Some(id.to_owned())).await?;
        let remaining = RemainingHandles::of(&self.assistant.session);
        if !remaining.ending.is_empty() && !was_warned {
            self.warned = true;
            bail!(
                "still running: {}; another conversation ends them. Repeat the command to switch.",
                remaining.ending_names()
            );
        }
        if let Resume::Session(id) = &resume
            && id == self.assistant.session.id().as_str()
        {
            bail!("this is the current conversation");
        }
        let (assistant, greeting) = begin(&self.windlass, &self.assistants, resume).await?;
        let before = std::mem::replace(&mut self.assistant, assistant);
        if let Err(error) = before.keep_notices().await {
            tracing::warn!(%error, "what the assistant was not told is lost");
        }
        before.session.close().await;
        let session = Box::new(self.assistant.session.clone());
        self.shower.show(Show::Switched(session));
        self.say(greeting);
        Ok(())
    }
}

/// Whether the chat continues.
enum Goes {
    On,
    Away,
}

/// A command during a turn: only those that show handles, or end one.
async fn during(text: &str, session: &Session, shower: &Shower, printer: Printer) -> Vec<String> {
    match Slash::read(text) {
        Ok(Slash::Model(Some(_)) | Slash::Resume(Some(_)) | Slash::Quit) => {
            vec!["this command works only between turns; Ctrl-C interrupts the turn".to_owned()]
        }
        Ok(command) => slash::look(command, session, shower, printer).await,
        Err(error) => vec![SlashError::to_string(&error)],
    }
}
