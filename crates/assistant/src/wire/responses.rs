//! `OpenAI` Responses.

use std::collections::HashMap;

use serde_json::{Value, json};
use windlass_protocol::{Notice, Said, ToolCall, TurnEvent};

use super::{
    ReadError, ReplyReader, WireRequest, arguments, called, error_message, notices_text, number,
    parse,
};
use crate::model::{Finish, ModelEvent, Usage};

pub(super) fn body(ask: &WireRequest<'_>) -> Value {
    let request = ask.request;
    let mut body = json!({
        "model": ask.model.name,
        "stream": true,
        // The conversation is ours to keep.
        "store": false,
        "input": input(ask),
    });
    if !request.system.is_empty() {
        body["instructions"] = json!(request.system);
    }
    let tools: Vec<Value> = ask
        .tools()
        .map(|(name, description, schema)| {
            json!({
                "type": "function", "name": name, "description": description,
                "parameters": schema, "strict": false,
            })
        })
        .collect();
    if !tools.is_empty() {
        body["tools"] = json!(tools);
    }
    if reasons(&ask.model.name) {
        body["include"] = json!(["reasoning.encrypted_content"]);
    }
    if let Some(effort) = request.effort {
        body["reasoning"] = json!({"effort": effort.as_str(), "summary": "auto"});
    }
    if let Some(tokens) = request.max_tokens {
        body["max_output_tokens"] = json!(tokens);
    }
    if let Some(format) = request.format {
        body["text"] = json!({"format": {
            "type": "json_schema", "name": format.name, "schema": format.schema, "strict": true,
        }});
    }
    body
}

/// Whether the model supports reasoning; other models reject a request for it.
fn reasons(name: &str) -> bool {
    !["gpt-3", "gpt-4", "chatgpt-4"]
        .iter()
        .any(|older| name.starts_with(older))
}

fn input(ask: &WireRequest<'_>) -> Vec<Value> {
    let mut input = Vec::new();
    let tell = |input: &mut Vec<Value>, notices: &[Notice]| {
        if !notices.is_empty() {
            input.push(message("developer", "input_text", &notices_text(notices)));
        }
    };
    for event in ask.request.events {
        match &**event {
            TurnEvent::User { text, notices } => {
                tell(&mut input, notices);
                input.push(message("user", "input_text", text));
            }
            TurnEvent::Assistant { model, said, .. } => {
                let own = ask.is_own(model);
                input.extend(said.iter().filter_map(|said| item(said, own)));
            }
            TurnEvent::Replies { replies, notices } => {
                for reply in replies {
                    input.push(json!({
                        "type": "function_call_output", "call_id": reply.id,
                        "output": reply.content.to_text(),
                    }));
                }
                tell(&mut input, notices);
            }
            TurnEvent::Notices { notices } => tell(&mut input, notices),
            TurnEvent::TurnEnded => {}
        }
    }
    input
}

fn message(role: &str, kind: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

fn item(said: &Said, own: bool) -> Option<Value> {
    match said {
        Said::Text { text } if text.is_empty() => None,
        Said::Text { text } => Some(message("assistant", "output_text", text)),
        Said::Reasoning { seal, .. } => seal.clone().filter(|_| own),
        Said::Call { call, .. } => Some(json!({
            "type": "function_call", "call_id": call.id, "name": call.tool,
            "arguments": Value::Object(call.arguments.clone()).to_string(),
        })),
    }
}

/// Reads the stream. Events are numbered, so that repeated ones are detected.
/// The final state of an item counts.
#[derive(Default)]
pub(super) struct ResponsesReader {
    last: Option<u64>,
    /// Text already sent as events, by item.
    told: HashMap<String, String>,
    finished: bool,
}

impl ReplyReader for ResponsesReader {
    fn read(&mut self, frame: &str, events: &mut Vec<ModelEvent>) -> Result<(), ReadError> {
        if self.finished || frame == "[DONE]" {
            return Ok(());
        }
        let event = parse(frame)?;
        if let Some(number) = event["sequence_number"].as_u64() {
            if self.last.is_some_and(|last| number <= last) {
                return Ok(());
            }
            self.last = Some(number);
        }
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        match event["type"].as_str().unwrap_or_default() {
            "response.output_item.added" if event["item"]["type"] == "function_call" => {
                let tool = event["item"]["name"].as_str().unwrap_or_default();
                events.push(ModelEvent::Calling {
                    tool: tool.to_owned(),
                });
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                let told = self.told.entry(text("item_id")).or_default();
                told.push_str(&text("delta"));
                events.push(ModelEvent::Text(text("delta")));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                events.push(ModelEvent::Reasoning(text("delta")));
            }
            "response.output_item.done" => return self.done(&event["item"], events),
            "response.completed" | "response.incomplete" => {
                self.complete(&event["response"], events);
            }
            "response.failed" | "error" => {
                let message = error_message(&event["response"]).or_else(|| error_message(&event));
                let message = message.unwrap_or_else(|| "the response failed".to_owned());
                return Err(ReadError::Reported(message));
            }
            _ => {}
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

impl ResponsesReader {
    fn done(&mut self, item: &Value, events: &mut Vec<ModelEvent>) -> Result<(), ReadError> {
        let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
        match item["type"].as_str().unwrap_or_default() {
            "message" => {
                let told = self.told.remove(&text("id")).unwrap_or_default();
                let whole: String = item["content"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|part| part["text"].as_str().or(part["refusal"].as_str()))
                    .collect();
                match whole.strip_prefix(&told) {
                    Some("") => {}
                    Some(rest) => events.push(ModelEvent::Text(rest.to_owned())),
                    None => return Err(ReadError::malformed("text came out of order")),
                }
            }
            // Without it there is nothing that could be given back.
            "reasoning" if item["encrypted_content"].is_string() => {
                let mut seal = item.clone();
                if let Some(map) = seal.as_object_mut() {
                    map.shift_remove("status");
                }
                events.push(ModelEvent::Sealed(seal));
            }
            // One that the limit cut is not done.
            "function_call" if item["status"] != "incomplete" => {
                let tool = text("name");
                let arguments = arguments(&tool, &text("arguments"))?;
                let id = text("call_id");
                events.push(called(
                    ToolCall {
                        id,
                        tool,
                        arguments,
                    },
                    None,
                ));
            }
            _ => {}
        }
        Ok(())
    }

    fn complete(&mut self, response: &Value, events: &mut Vec<ModelEvent>) {
        let usage = &response["usage"];
        events.push(ModelEvent::Spent(Usage {
            input: number(&usage["input_tokens"]),
            cached: number(&usage["input_tokens_details"]["cached_tokens"]),
            output: number(&usage["output_tokens"]),
        }));
        let finish = match response["incomplete_details"]["reason"].as_str() {
            None => Finish::Done,
            Some("max_output_tokens") => Finish::Length,
            Some(reason) => Finish::Refused(reason.to_owned()),
        };
        self.finished = true;
        events.push(ModelEvent::Finished(finish));
    }
}
