//! `windlass query`: one turn with a model and all the tools.
//!
//! Start at [`run`]. `windlass-assistant` runs the turn, and
//! [`windlass::Assistants`] sets it up. This module displays it and passes on
//! the user's input.

mod calls;
mod markdown;
mod message;
mod plain;
pub(crate) mod remaining;
pub(crate) mod seat;
pub(crate) mod show;
pub(crate) mod terminal;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use windlass::{Assistants, ChooseModelError, Resume, Succession, Windlass};
use windlass_assistant::{Assistant, Interjection, OpenError, TurnError, TurnOutcome};
use windlass_runtime::{Attendance, SessionOptions};

use self::plain::TurnFormat;
use self::remaining::RemainingHandles;
use self::seat::TerminalSeat;
use self::show::{Show, Shower};
use crate::args::{Global, QueryArgs};
use crate::control;
use crate::exit;
use crate::models;
use crate::print;
use crate::prompt::{Choice, KeyReader};
use crate::sessions;
use crate::setup;
use crate::signals::Signals;
use crate::stdout::errln;
use crate::trust;

/// How a turn is displayed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Terminal,
    Plain(TurnFormat),
}

pub(crate) async fn run(global: &Global, args: QueryArgs) -> anyhow::Result<ExitCode> {
    if !args.non_interactive {
        trust::ask_if_untrusted(global).await?;
    }
    let builder = setup::builder(global)?.agents();
    let windlass = Arc::new(setup::build(builder).await?);
    setup::warn_of_record(&windlass);
    let _reachable = control::listen(&windlass, "query");
    let assistants = open_models(&windlass, args.model.as_deref()).await?;
    let at_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let interactive = at_terminal && !args.non_interactive && !global.json;
    let message = message::read(&args.message, interactive).await?;
    let manner = match std::io::stdout().is_terminal() {
        _ if global.json => Manner::Plain(TurnFormat::Json),
        true => Manner::Terminal,
        false => Manner::Plain(TurnFormat::Text),
    };
    let (shower, shows) = show::channel();
    let resume = resumed(args.go_on, args.session).await?;
    let goes_on = resume != Resume::New;
    let (id, conversation) = assistants.conversation(resume).await?;
    let options = SessionOptions {
        id: Some(id),
        front_end: Some("query".to_owned()),
        attendance: Attendance::when(interactive),
        ..SessionOptions::default()
    };
    let assistant = assistants.begin(conversation, options);
    let session = assistant.session.clone();
    if global.json {
        let model = assistant.model.id().to_string();
        let line = json!({"event": "session", "session": session.id(), "model": model});
        plain::write(&format!("{line}\n"))?;
    }
    if goes_on {
        windlass
            .succeed(&session, &Succession::Conversation, false)
            .await;
    }
    let mut signals = Signals::new()?;
    let (interrupts, interrupted) = mpsc::unbounded_channel();
    let asks = manner == Manner::Terminal && interactive;
    let unread = CancellationToken::new();
    let looking = match manner {
        Manner::Terminal => {
            let colour = print::colour(global.color, true);
            let keyboard = asks.then(KeyReader::open_in_foreground).flatten();
            let seat = TerminalSeat {
                keyboard,
                interrupts,
                writing: None,
            };
            let showing = terminal::run(shows, session.clone(), seat, colour);
            windlass_task::spawn(async move {
                showing.await;
                Ok(0)
            })
        }
        Manner::Plain(form) => {
            let showing = plain::run(form, shows, session.requests().watch());
            let unread = unread.clone().drop_guard();
            windlass_task::spawn(async move {
                let outcome = showing.await;
                if outcome.is_ok() {
                    unread.disarm();
                }
                outcome
            })
        }
    };
    let turn = QueryTurn {
        assistant: &assistant,
        shower: shower.clone(),
        signals: &mut signals,
        interrupted,
        unread,
        asks,
    };
    let (ended, code) = turn.run(&message).await;
    tell_remaining(&shower, RemainingHandles::of(&session));
    shower.show(Show::Over);
    let written = looking.await?;
    if let Err(error) = assistant.keep_notices().await {
        tracing::warn!(%error, "what the assistant was not told is lost");
    }
    signals.finish(session.close()).await;
    setup::tell_unrecorded(&session);
    let refused = written?;
    Ok(report(global, ended, code, refused)?)
}

/// Reports what happens to the handles that still run.
fn tell_remaining(shower: &Shower, remaining: RemainingHandles) {
    if !remaining.ending.is_empty() {
        let ending = remaining.ending.into_iter();
        shower.show(Show::Ended(ending.map(|(id, _)| id).collect()));
    }
    if !remaining.kept.is_empty() {
        shower.show(Show::Kept(remaining.kept));
    }
}

/// The models. If none is named, the error lists the ways to name one.
pub(crate) async fn open_models(
    windlass: &Arc<Windlass>,
    asked: Option<&str>,
) -> anyhow::Result<Assistants> {
    match Assistants::open(windlass, asked).await {
        Err(ChooseModelError::NotNamed) => bail!(
            "no model is chosen; give --model provider/name, set WINDLASS_MODEL, or `model` under \
             [assistant]; `windlass models` lists the providers"
        ),
        Err(ChooseModelError::Open(OpenError::Unknown { name, known })) => {
            bail!("{}", models::unknown(&name, &known))
        }
        opened => Ok(opened?),
    }
}

/// The conversation to begin or continue; a session can be given by the end of
/// its id.
pub(crate) async fn resumed(newest: bool, session: Option<String>) -> anyhow::Result<Resume> {
    Ok(match session {
        Some(id) => {
            let store = windlass::open_record().context("the record cannot be opened")?;
            Resume::Session(sessions::find(&store, &id).await?.id.to_string())
        }
        None if newest => Resume::Newest,
        None => Resume::New,
    })
}

/// A turn, and its sources of interruption.
struct QueryTurn<'a> {
    assistant: &'a Assistant,
    shower: Shower,
    signals: &'a mut Signals,
    /// Each Ctrl-C that is a key, not a signal.
    interrupted: mpsc::UnboundedReceiver<()>,
    /// Cancelled when the output can no longer be written.
    unread: CancellationToken,
    /// Whether Ctrl-C prompts instead of ending the turn.
    asks: bool,
}

impl QueryTurn<'_> {
    /// Runs the turn. Ctrl-C asks or aborts; during that question it leaves.
    async fn run(mut self, message: &str) -> (Result<TurnOutcome, TurnError>, Option<u8>) {
        let (interject, mut interjections) = mpsc::channel(8);
        let mut code = None;
        let mut asked: Option<oneshot::Receiver<Choice>> = None;
        let turn = self
            .assistant
            .turn(message, &self.shower, &mut interjections);
        tokio::pin!(turn);
        let ended = loop {
            let signal = tokio::select! {
                // A choice made before the next Ctrl-C is handled first; then
                // Ctrl-C prompts again.
                biased;
                ended = &mut turn => break ended,
                choice = chosen(&mut asked) => {
                    asked = None;
                    if let Some(interjection) = choice {
                        let _ = interject.try_send(interjection);
                    }
                    continue;
                }
                signal = self.signals.next() => signal,
                Some(()) = self.interrupted.recv() => exit::INTERRUPTED,
                () = self.unread.cancelled(), if code.is_none() => exit::OUTPUT_CLOSED,
            };
            if signal == exit::INTERRUPTED && self.asks && asked.is_none() && code.is_none() {
                let (reply, choice) = oneshot::channel();
                self.shower.show(Show::Interrupted(reply));
                asked = Some(choice);
            } else {
                // Removes the prompt, if there is one.
                asked = None;
                code = Some(signal);
                let _ = interject.try_send(Interjection::Abort);
            }
        };
        (ended, code)
    }
}

/// The person's choice, if they were asked. A prompt that could not be shown
/// counts as abort.
pub(crate) async fn chosen(asked: &mut Option<oneshot::Receiver<Choice>>) -> Option<Interjection> {
    let Some(choice) = asked else {
        return std::future::pending().await;
    };
    match choice.await {
        Ok(Choice::GoOn) => None,
        Ok(Choice::Reply(text)) => Some(Interjection::Say(text)),
        Ok(Choice::StopTools) => Some(Interjection::StopTools),
        Ok(Choice::Abort) | Err(_) => Some(Interjection::Abort),
    }
}

fn report(
    global: &Global,
    ended: Result<TurnOutcome, TurnError>,
    code: Option<u8>,
    refused: usize,
) -> std::io::Result<ExitCode> {
    Ok(match ended {
        Ok(outcome) => {
            if global.json {
                let usage = outcome.usage;
                let line = json!({
                    "event": "finished", "text": outcome.text, "aborted": outcome.aborted,
                    "usage": {
                        "input": usage.input, "cached": usage.cached, "output": usage.output,
                    },
                });
                plain::write(&format!("{line}\n"))?;
            }
            match code {
                Some(code) => ExitCode::from(code),
                None if outcome.aborted => ExitCode::from(exit::INTERRUPTED),
                None if refused > 0 => ExitCode::from(exit::REFUSED),
                None => ExitCode::SUCCESS,
            }
        }
        Err(error) => {
            let error = anyhow::Error::from(error);
            if global.json {
                plain::write(&format!(
                    "{}\n",
                    json!({"event": "error", "error": format!("{error:#}")})
                ))?;
            } else {
                errln!("windlass: {error:#}");
            }
            ExitCode::from(exit::FAILED)
        }
    })
}
