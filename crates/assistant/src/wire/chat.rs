//! `OpenAI` Chat Completions, and compatible APIs.

use serde_json::{Value, json};
use windlass_protocol::{Notice, Said, ToolCall, TurnEvent};

use super::{
    ReadError, ReplyReader, WireRequest, arguments, called, error_message, new_call_id,
    notices_text, number, parse,
};
use crate::model::{Finish, ModelEvent, Usage};

pub(super) fn body(ask: &WireRequest<'_>) -> Value {
    let request = ask.request;
    let provider = ask.model.provider.as_str();
    let mut body = json!({
        "model": ask.model.name,
        "stream": true,
        "messages": messages(ask),
    });
    // Mistral reports usage without a request and refuses unknown keys.
    if provider != "mistral" {
        body["stream_options"] = json!({"include_usage": true});
    }
    if let Some(functions) = ask.functions() {
        body["tools"] = functions;
    }
    if let Some(effort) = request.effort {
        match provider {
            "openrouter" => body["reasoning"] = json!({"effort": effort.as_str()}),
            _ => body["reasoning_effort"] = json!(effort.as_str()),
        }
    }
    if let Some(tokens) = request.max_tokens {
        let key = match provider {
            "openai" => "max_completion_tokens",
            _ => "max_tokens",
        };
        body[key] = json!(tokens);
    }
    if let Some(format) = request.format {
        body["response_format"] = match provider {
            // It knows JSON and no schemas; the question says the form.
            "deepseek" => json!({"type": "json_object"}),
            _ => json!({"type": "json_schema", "json_schema": {
                "name": format.name, "schema": format.schema, "strict": true,
            }}),
        };
    }
    body
}

fn messages(ask: &WireRequest<'_>) -> Vec<Value> {
    let provider = ask.model.provider.as_str();
    let mut messages = Vec::new();
    if !ask.request.system.is_empty() {
        messages.push(json!({"role": "system", "content": ask.request.system}));
    }
    // Templates of open models know no developer, and no system in between.
    let role = match provider {
        "openai" => "developer",
        _ => "user",
    };
    let tell = |messages: &mut Vec<Value>, notices: &[Notice]| {
        if !notices.is_empty() {
            messages.push(json!({"role": role, "content": notices_text(notices)}));
        }
    };
    for event in ask.request.events {
        match &**event {
            TurnEvent::User { text, notices } => {
                tell(&mut messages, notices);
                messages.push(json!({"role": "user", "content": text}));
            }
            TurnEvent::Assistant { model, said, .. } => {
                messages.extend(assistant(said, provider, ask.is_own(model)));
            }
            TurnEvent::Replies { replies, notices } => {
                for reply in replies {
                    messages.push(json!({
                        "role": "tool", "tool_call_id": call_id(&reply.id, provider),
                        "content": reply.content.to_text(),
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

fn assistant(said: &[Said], provider: &str, own: bool) -> Option<Value> {
    let mut text = String::new();
    let mut reasoning = String::new();
    let mut details = Vec::new();
    let mut calls = Vec::new();
    for said in said {
        match said {
            Said::Text { text: more } => text.push_str(more),
            Said::Reasoning { text: more, seal } => {
                reasoning.push_str(more);
                details.extend(seal.iter().filter_map(Value::as_array).flatten().cloned());
            }
            Said::Call { call, .. } => calls.push(json!({
                "id": call_id(&call.id, provider), "type": "function",
                "function": {
                    "name": call.tool,
                    "arguments": Value::Object(call.arguments.clone()).to_string(),
                },
            })),
        }
    }
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
        // Within a turn DeepSeek wants its reasoning back.
        if own && provider == "deepseek" && !reasoning.is_empty() {
            message["reasoning_content"] = json!(reasoning);
        }
    }
    if own && !details.is_empty() {
        message["reasoning_details"] = json!(details);
    }
    Some(message)
}

/// Converts an id for Mistral, which requires nine letters and digits. Other
/// providers accept any id.
fn call_id(id: &str, provider: &str) -> String {
    let fits = |id: &str| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if provider != "mistral" || fits(id) {
        return id.to_owned();
    }
    // FNV-1a, so that a call and its reply get the same one.
    let mut hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let letters = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut short = String::new();
    for _ in 0..9 {
        short.push(char::from(letters[(hash % 36) as usize]));
        hash /= 36;
    }
    short
}

/// Reads the stream. Calls are complete only at its end.
#[derive(Default)]
pub(super) struct ChatReader {
    calls: Vec<PartialCall>,
    /// Data that `OpenRouter` needs back with the reasoning.
    details: Vec<Value>,
    finish: Option<Finish>,
    finished: bool,
}

struct PartialCall {
    index: u64,
    id: String,
    tool: String,
    json: String,
}

impl ReplyReader for ChatReader {
    fn read(&mut self, frame: &str, events: &mut Vec<ModelEvent>) -> Result<(), ReadError> {
        if self.finished {
            return Ok(());
        }
        if frame.trim() == "[DONE]" {
            return self.end(events);
        }
        let chunk = parse(frame)?;
        if !chunk["error"].is_null() {
            let message = error_message(&chunk).unwrap_or_else(|| chunk["error"].to_string());
            return Err(ReadError::Reported(message));
        }
        if chunk["usage"].is_object() {
            let usage = &chunk["usage"];
            events.push(ModelEvent::Spent(Usage {
                input: number(&usage["prompt_tokens"]),
                cached: number(&usage["prompt_tokens_details"]["cached_tokens"]),
                output: number(&usage["completion_tokens"]),
            }));
        }
        let choice = &chunk["choices"][0];
        self.delta(&choice["delta"], events);
        if self.finish.is_none() {
            self.finish = match choice["finish_reason"].as_str() {
                None => None,
                Some("length") => Some(Finish::Length),
                Some("content_filter") => Some(Finish::Refused("content filter".to_owned())),
                Some("error") => {
                    return Err(ReadError::Reported("the provider gave up".to_owned()));
                }
                Some(_) => Some(Finish::Done),
            };
        }
        Ok(())
    }

    fn end(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), ReadError> {
        if self.finished {
            return Ok(());
        }
        let finish = self.finish.clone().ok_or(ReadError::Cut)?;
        if !self.details.is_empty() {
            let details = std::mem::take(&mut self.details);
            events.push(ModelEvent::Sealed(Value::Array(details)));
        }
        for call in std::mem::take(&mut self.calls) {
            match arguments(&call.tool, &call.json) {
                Ok(arguments) => {
                    let id = if call.id.is_empty() {
                        new_call_id()
                    } else {
                        call.id
                    };
                    let tool = call.tool;
                    events.push(called(
                        ToolCall {
                            id,
                            tool,
                            arguments,
                        },
                        None,
                    ));
                }
                // At the limit, the call that was being written is not one.
                Err(_) if finish == Finish::Length => {}
                Err(error) => return Err(error),
            }
        }
        self.finished = true;
        events.push(ModelEvent::Finished(finish));
        Ok(())
    }
}

impl ChatReader {
    fn delta(&mut self, delta: &Value, events: &mut Vec<ModelEvent>) {
        let reasoning = delta["reasoning_content"]
            .as_str()
            .or_else(|| delta["reasoning"].as_str());
        if let Some(text) = reasoning.filter(|text| !text.is_empty()) {
            events.push(ModelEvent::Reasoning(text.to_owned()));
        }
        if let Some(details) = delta["reasoning_details"].as_array() {
            self.details.extend(details.iter().cloned());
        }
        if let Some(text) = delta["content"].as_str().filter(|text| !text.is_empty()) {
            events.push(ModelEvent::Text(text.to_owned()));
        }
        for piece in delta["tool_calls"].as_array().into_iter().flatten() {
            self.piece(piece, events);
        }
    }

    fn piece(&mut self, piece: &Value, events: &mut Vec<ModelEvent>) {
        let id = piece["id"].as_str().unwrap_or_default();
        let index = piece["index"].as_u64();
        let known = self.calls.iter_mut().rev().find(|call| {
            // Some give every call the same index and tell them apart by id.
            index.is_none_or(|index| index == call.index) && (id.is_empty() || call.id == id)
        });
        let function = &piece["function"];
        let json = match &function["arguments"] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        if let Some(call) = known {
            call.json.push_str(&json);
            return;
        }
        let tool = function["name"].as_str().unwrap_or_default().to_owned();
        events.push(ModelEvent::Calling { tool: tool.clone() });
        self.calls.push(PartialCall {
            index: index.unwrap_or(self.calls.len() as u64),
            id: id.to_owned(),
            tool,
            json,
        });
    }
}
