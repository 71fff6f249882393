//! Ollama.

use serde_json::{Value, json};
use windlass_protocol::{Notice, Said, ToolCall, TurnEvent};

use super::{
    ReadError, ReplyReader, WireRequest, arguments_value, called, error_message, new_call_id,
    notices_text, number, parse,
};
use crate::model::{Finish, ModelEvent, Usage};

pub(super) fn body(ask: &WireRequest<'_>) -> Value {
    let request = ask.request;
    let mut body = json!({
        "model": ask.model.name,
        "stream": true,
        "messages": messages(ask),
    });
    if let Some(functions) = ask.functions() {
        body["tools"] = functions;
    }
    if request.effort.is_some() {
        body["think"] = json!(true);
    }
    if let Some(tokens) = request.max_tokens {
        body["options"]["num_predict"] = json!(tokens);
    }
    if let Some(format) = request.format {
        body["format"] = format.schema.clone();
    }
    body
}

fn messages(ask: &WireRequest<'_>) -> Vec<Value> {
    let names = ask.called();
    let mut messages = Vec::new();
    if !ask.request.system.is_empty() {
        messages.push(json!({"role": "system", "content": ask.request.system}));
    }
    let tell = |messages: &mut Vec<Value>, notices: &[Notice]| {
        if !notices.is_empty() {
            messages.push(json!({"role": "user", "content": notices_text(notices)}));
        }
    };
    for event in ask.request.events {
        match &**event {
            TurnEvent::User { text, notices } => {
                tell(&mut messages, notices);
                messages.push(json!({"role": "user", "content": text}));
            }
            TurnEvent::Assistant { model, said, .. } => {
                messages.extend(assistant(said, ask.is_own(model)));
            }
            TurnEvent::Replies { replies, notices } => {
                for reply in replies {
                    messages.push(json!({
                        "role": "tool", "content": reply.content.to_text(),
                        "tool_name": names.get(reply.id.as_str()).copied().unwrap_or_default(),
                    }));
                }
                tell(&mut messages, notices);
            }
            TurnEvent::Notices { notices } => tell(&mut messages, notices),
            TurnEvent::TurnEnded => {}
        }
    }
    messages
}

fn assistant(said: &[Said], own: bool) -> Option<Value> {
    let mut text = String::new();
    let mut thinking = String::new();
    let mut calls = Vec::new();
    for said in said {
        match said {
            Said::Text { text: more } => text.push_str(more),
            Said::Reasoning { text: more, .. } => thinking.push_str(more),
            Said::Call { call, .. } => calls.push(json!({
                "function": {"name": call.tool, "arguments": call.arguments},
            })),
        }
    }
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
        if own && !thinking.is_empty() {
            message["thinking"] = json!(thinking);
        }
    }
    Some(message)
}

/// Reads the stream. Calls arrive complete, and the last line is marked.
#[derive(Default)]
pub(super) struct OllamaReader {
    finished: bool,
    /// The last line with a call, to detect repetition.
    last_call: Option<String>,
}

impl ReplyReader for OllamaReader {
    fn read(&mut self, frame: &str, events: &mut Vec<ModelEvent>) -> Result<(), ReadError> {
        if self.finished {
            return Ok(());
        }
        let chunk = parse(frame)?;
        if !chunk["error"].is_null() {
            let message = error_message(&chunk).unwrap_or_else(|| chunk["error"].to_string());
            return Err(ReadError::Reported(message));
        }
        let message = &chunk["message"];
        let text = |key: &str| message[key].as_str().filter(|text| !text.is_empty());
        if let Some(text) = text("thinking") {
            events.push(ModelEvent::Reasoning(text.to_owned()));
        }
        if let Some(text) = text("content") {
            events.push(ModelEvent::Text(text.to_owned()));
        }
        if let Some(calls) = message["tool_calls"].as_array()
            && self.last_call.as_deref() != Some(frame)
        {
            self.last_call = Some(frame.to_owned());
            for call in calls {
                let function = &call["function"];
                let tool = function["name"].as_str().unwrap_or_default().to_owned();
                let arguments = arguments_value(&tool, &function["arguments"])?;
                events.push(ModelEvent::Calling { tool: tool.clone() });
                let call = ToolCall {
                    id: new_call_id(),
                    tool,
                    arguments,
                };
                events.push(called(call, None));
            }
        }
        if chunk["done"] == true {
            events.push(ModelEvent::Spent(Usage {
                input: number(&chunk["prompt_eval_count"]),
                cached: 0,
                output: number(&chunk["eval_count"]),
            }));
            self.finished = true;
            events.push(ModelEvent::Finished(match chunk["done_reason"].as_str() {
                Some("length") => Finish::Length,
                _ => Finish::Done,
            }));
        }
        Ok(())
    }

    fn end(&mut self, _events: &mut Vec<ModelEvent>) -> Result<(), ReadError> {
        if self.finished {
            Ok(())
        } else {
            Err(ReadError::Cut)
        }
    }
}
