//! `windlass query`: one turn with a model and all the tools.
//!
//! Start at [`run`]. The turn itself is `windlass-assistant`'s; this sets it
//! up, shows it, and carries what the user says in between.

mod markdown;
mod message;
mod plain;
mod screen;
mod show;
mod terminal;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use serde_json::json;
use tokio::sync::mpsc;
use windlass::Windlass;
use windlass_assistant::{
    Assistant, Conversation, Effort, Interjection, Model, ModelInquirer, TurnError, TurnOutcome,
    system_prompt,
};
use windlass_config::ReasoningEffort;
use windlass_protocol::SessionId;
use windlass_runtime::{Conversations, Session, SessionOptions};

use self::plain::Form;
use self::show::{Show, Shower};
use crate::args::{Global, QueryArgs};
use crate::control;
use crate::exit;
use crate::providers;
use crate::setup;
use crate::signals::Signals;

/// How a turn is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Terminal,
    Plain(Form),
}

pub(crate) async fn run(global: &Global, args: QueryArgs) -> anyhow::Result<ExitCode> {
    let windlass = setup::windlass(global).await?;
    let _reachable = control::listen(&windlass, "query");
    let model = open_models(&windlass, args.model.as_deref()).await?;
    let at_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let interactive = at_terminal && !args.non_interactive && !global.json;
    let words = args.message;
    let message = tokio::task::spawn_blocking(move || message::read(&words, interactive)).await??;
    let manner = match std::io::stdout().is_terminal() {
        _ if global.json => Manner::Plain(Form::Json),
        true => Manner::Terminal,
        false => Manner::Plain(Form::Text),
    };
    let (sender, shows) = mpsc::unbounded_channel();
    let shower = Shower(sender);
    let (id, conversation) = conversation(&windlass, args.go_on, args.session).await?;
    let options = SessionOptions {
        id: Some(id),
        person: interactive.then(|| Arc::new(shower.clone()) as _),
        ..SessionOptions::default()
    };
    let assistant = assistant(&windlass, model, conversation, options);
    let (interject, interjections) = mpsc::channel(8);
    let session = assistant.session.clone();
    let looking = match manner {
        Manner::Terminal => {
            let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
            tokio::spawn(terminal::run(
                shows,
                session.clone(),
                interject.clone(),
                colour,
            ))
        }
        Manner::Plain(form) => tokio::spawn(plain::run(form, shows)),
    };
    let terminal_modes = rustix::termios::tcgetattr(std::io::stdin()).ok();
    let asks = manner == Manner::Terminal && interactive;
    let turn = Turn {
        assistant: &assistant,
        interject,
        interjections,
        shower: shower.clone(),
        asks,
    };
    let (ended, signals, code) = turn.run(&message).await?;
    shower.show(Show::Over);
    let _ = looking.await;
    if let Err(error) = assistant.keep_notices().await {
        tracing::warn!(%error, "what the assistant was not told is lost");
    }
    signals.finish(session.close()).await;
    if let Some(modes) = terminal_modes {
        // A prompt that was left open has changed them.
        let _ = rustix::termios::tcsetattr(
            std::io::stdin(),
            rustix::termios::OptionalActions::Now,
            &modes,
        );
    }
    Ok(report(global, ended, code))
}

/// The model of the conversation, and the one that answers inquiries.
async fn open_models(
    windlass: &Windlass,
    asked: Option<&str>,
) -> anyhow::Result<(Arc<dyn Model>, Arc<dyn Model>)> {
    let config = &windlass.config().assistant;
    let providers = providers::providers(windlass);
    let name = asked.or(config.model.as_deref()).context(
        "no model is chosen; give --model provider/name, set WINDLASS_MODEL, or `model` under \
         [assistant]; `windlass models` lists the providers",
    )?;
    let model = providers.open(name).await?;
    let inquiry = match &config.inquiry_model {
        Some(name) => providers.open(name).await?,
        None => Arc::clone(&model),
    };
    Ok((model, inquiry))
}

/// A new conversation, or the one that is to go on.
async fn conversation(
    windlass: &Windlass,
    newest: bool,
    session: Option<String>,
) -> anyhow::Result<(SessionId, Conversation)> {
    let record = windlass.config().record.then(|| windlass.record());
    if !newest && session.is_none() {
        let id = Session::new_id();
        let conversation = match record {
            Some(Ok(record)) => Conversation::kept(Arc::new(record.clone()), id.clone()),
            // It is not kept, and the session says so.
            _ => Conversation::new(),
        };
        return Ok((id, conversation));
    }
    let record = match record {
        Some(Ok(record)) => Arc::new(record.clone()),
        Some(Err(error)) => bail!("the record cannot be opened: {error}"),
        None => bail!("sessions are not recorded, so there is nothing to go on with"),
    };
    let id = match session {
        Some(id) => SessionId::new(id)?,
        None => Conversations::newest(&*record, &windlass.project_id())
            .await?
            .context("there is no conversation of this project to go on with")?,
    };
    let conversation = Conversation::load(record, id.clone()).await?;
    if conversation.events().is_empty() {
        bail!("session `{id}` holds no conversation; `windlass sessions` lists what there is");
    }
    Ok((id, conversation))
}

fn assistant(
    windlass: &Windlass,
    (model, inquiry): (Arc<dyn Model>, Arc<dyn Model>),
    conversation: Conversation,
    options: SessionOptions,
) -> Assistant {
    let config = &windlass.config().assistant;
    let conversation = Arc::new(conversation);
    let inquirer = ModelInquirer::new(inquiry, Arc::clone(&conversation));
    let tools = Assistant::offered(windlass.runtime().tools());
    let own = config.system_prompt.as_deref();
    Assistant {
        model,
        system: system_prompt(own, &windlass.config().root, &tools),
        max_tokens: config.max_tokens,
        effort: config.reasoning.map(|effort| match effort {
            ReasoningEffort::Low => Effort::Low,
            ReasoningEffort::Medium => Effort::Medium,
            ReasoningEffort::High => Effort::High,
        }),
        tools,
        session: windlass.session(SessionOptions {
            inquirer: Some(Arc::new(inquirer)),
            front_end: Some("query".to_owned()),
            ..options
        }),
        conversation,
    }
}

/// A turn and whoever may interrupt it.
struct Turn<'a> {
    assistant: &'a Assistant,
    interject: mpsc::Sender<Interjection>,
    interjections: mpsc::Receiver<Interjection>,
    shower: Shower,
    /// Ctrl-C asks what to do, instead of ending the turn.
    asks: bool,
}

impl Turn<'_> {
    /// The first Ctrl-C asks or aborts; the second leaves.
    async fn run(
        mut self,
        message: &str,
    ) -> anyhow::Result<(Result<TurnOutcome, TurnError>, Signals, Option<u8>)> {
        let mut signals = Signals::new()?;
        let mut code = None;
        let mut interrupted = false;
        let turn = self
            .assistant
            .turn(message, &self.shower, &mut self.interjections);
        tokio::pin!(turn);
        let ended = loop {
            tokio::select! {
                ended = &mut turn => break ended,
                signal = signals.next() => {
                    if signal == exit::INTERRUPTED && self.asks && !interrupted {
                        self.shower.show(Show::Interrupted);
                    } else {
                        code = Some(signal);
                        let _ = self.interject.try_send(Interjection::Abort);
                    }
                    interrupted = !interrupted;
                }
            }
        };
        Ok((ended, signals, code))
    }
}

fn report(global: &Global, ended: Result<TurnOutcome, TurnError>, code: Option<u8>) -> ExitCode {
    match ended {
        Ok(outcome) => {
            if global.json {
                let usage = outcome.usage;
                let line = json!({
                    "event": "finished", "text": outcome.text, "aborted": outcome.aborted,
                    "usage": {
                        "input": usage.input, "cached": usage.cached, "output": usage.output,
                    },
                });
                plain::write(&format!("{line}\n"));
            }
            match code {
                Some(code) => ExitCode::from(code),
                None if outcome.aborted => ExitCode::from(exit::INTERRUPTED),
                None => ExitCode::SUCCESS,
            }
        }
        Err(error) => {
            let error = anyhow::Error::from(error);
            if global.json {
                plain::write(&format!(
                    "{}\n",
                    json!({"event": "error", "error": format!("{error:#}")})
                ));
            } else {
                eprintln!("windlass: {error:#}");
            }
            ExitCode::from(exit::FAILED)
        }
    }
}
