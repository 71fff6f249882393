//! Questions to the person at the terminal.

use async_trait::async_trait;
use dialoguer::{Confirm, Input, Select};
use serde_json::Value;
use windlass_protocol::{AnswerType, Ask, PermissionReply, PermissionRequest, Question};
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

fn permit(request: &PermissionRequest) -> Option<PermissionDecision> {
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
        .items(["once", "always", "reject"])
        .default(0)
        .interact_opt()
        .ok()??;
    let reply = match choice {
        0 => PermissionReply::Once,
        1 => PermissionReply::Always,
        _ => PermissionReply::Reject,
    };
    Some(PermissionDecision {
        reply,
        message: None,
        arguments: None,
    })
}

fn answer(question: &Question) -> Option<Value> {
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
