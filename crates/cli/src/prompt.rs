//! Questions to the person at the terminal.

use async_trait::async_trait;
use dialoguer::{Confirm, Editor, Input, Password, Select};
use serde_json::Value;
use windlass_protocol::{AnswerType, Arguments, Ask, PermissionReply, PermissionRequest, Question};
use windlass_runtime::{PermissionDecision, Person};

/// Asks on the terminal.
pub(crate) struct Prompt;

#[async_trait]
impl Person for Prompt {
    async fn permit(&self, request: &PermissionRequest) -> Option<PermissionDecision> {
        let request = request.clone();
        let asked = tokio::task::spawn_blocking(move || permit(&request));
        asked.await.ok().flatten()
    }

    async fn answer(&self, ask: &Ask) -> Option<Value> {
        let question = ask.question.clone();
        let asked = tokio::task::spawn_blocking(move || answer(&question));
        asked.await.ok().flatten()
    }
}

pub(crate) fn permit(request: &PermissionRequest) -> Option<PermissionDecision> {
    // The tool's own words for its arguments, where it has any.
    let display = request.metadata.get("display").and_then(Value::as_str);
    match display {
        Some(display) => display.lines().for_each(|line| eprintln!("  {line}")),
        None => {
            for pattern in &request.patterns {
                eprintln!("  {pattern}");
            }
        }
    }
    let choice = Select::new()
        .with_prompt(format!("Run `{}`?", request.permission))
        .items(["once", "always", "reject", "edit"])
        .default(0)
        .interact_opt()
        .ok()??;
    let mut decision = PermissionDecision {
        reply: PermissionReply::Once,
        message: None,
        arguments: None,
    };
    match choice {
        0 => {}
        1 => decision.reply = PermissionReply::Always,
        3 => decision.arguments = Some(edited(request)?),
        _ => {
            decision.reply = PermissionReply::Reject;
            let said = Input::<String>::new()
                .with_prompt("A word to the assistant (or nothing)")
                .allow_empty(true)
                .interact_text()
                .ok()?;
            decision.message = Some(said).filter(|said| !said.trim().is_empty());
        }
    }
    Some(decision)
}

/// The arguments as the person wants them, written in an editor.
fn edited(request: &PermissionRequest) -> Option<Arguments> {
    let arguments = request.metadata.get("arguments").cloned()?;
    let mut text = serde_json::to_string_pretty(&arguments).ok()?;
    loop {
        // Leaving without saving runs it as it is.
        let Some(written) = Editor::new().extension(".json").edit(&text).ok()? else {
            return arguments.as_object().cloned();
        };
        match serde_json::from_str(&written) {
            Ok(arguments) => return Some(arguments),
            Err(error) => eprintln!("not a JSON object: {error}"),
        }
        text = written;
    }
}

/// What to do about a turn that was interrupted.
pub(crate) enum Choice {
    GoOn,
    Reply(String),
    StopTools,
    Abort,
}

/// Asks what to do about a turn that was interrupted. `None` leaves.
pub(crate) fn interrupted() -> Option<Choice> {
    let choice = Select::new()
        .with_prompt("Interrupted")
        .items(["go on", "reply", "stop tools", "abort"])
        .default(0)
        .interact_opt()
        .ok()?;
    Some(match choice {
        None | Some(0) => Choice::GoOn,
        Some(1) => {
            let text = Input::<String>::new()
                .with_prompt("Reply")
                .interact_text()
                .ok()?;
            Choice::Reply(text)
        }
        Some(2) => Choice::StopTools,
        Some(_) => Choice::Abort,
    })
}

pub(crate) fn answer(question: &Question) -> Option<Value> {
    if let Some(pre_amble) = &question.pre_amble {
        eprintln!("{pre_amble}");
    }
    let default = question.default.as_ref();
    match &question.answer_type {
        AnswerType::Boolean => {
            let mut confirm = Confirm::new().with_prompt(&question.text);
            if let Some(default) = default.and_then(Value::as_bool) {
                confirm = confirm.default(default);
            }
            confirm.interact_opt().ok()?.map(Value::Bool)
        }
        AnswerType::Select { options } => {
            let preset = default.and_then(Value::as_str);
            let preset =
                preset.and_then(|preset| options.iter().position(|option| option == preset));
            let choice = Select::new()
                .with_prompt(&question.text)
                .items(options)
                .default(preset.unwrap_or(0))
                .interact_opt()
                .ok()??;
            options.get(choice).cloned().map(Value::String)
        }
        AnswerType::Text if question.secret => Password::new()
            .with_prompt(&question.text)
            .allow_empty_password(true)
            .interact()
            .ok()
            .map(Value::String),
        AnswerType::Text => {
            let mut input = Input::<String>::new()
                .with_prompt(&question.text)
                .allow_empty(true);
            if let Some(default) = default.and_then(Value::as_str) {
                input = input.default(default.to_owned());
            }
            input.interact_text().ok().map(Value::String)
        }
    }
}
