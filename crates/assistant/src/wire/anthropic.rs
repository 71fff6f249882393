//! Anthropic Messages.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_protocol::{Said, ToolCall, TurnEvent};

use super::{
    ReadError, ReplyReader, WireRequest, arguments, called, error_message, notices_text, number,
    parse,
};
use crate::model::{Finish, ModelEvent, Usage};

/// The default limit; the API requires one.
const MAX_TOKENS: u32 = 16_384;

pub(super) fn body(ask: &WireRequest<'_>) -> Value {
    let request = ask.request;
    let mut body = json!({
        "model": ask.model.name,
        "max_tokens": request.max_tokens.unwrap_or(MAX_TOKENS),
        "stream": true,
        "messages": messages(ask),
    });
    if !request.system.is_empty() {
        body["system"] = json!([{
            "type": "text", "text": request.system, "cache_control": {"type": "ephemeral"},
        }]);
    }
    let tools: Vec<Value> = ask
        .tools()
        .map(|(name, description, schema)| {
            json!({"name": name, "description": description, "input_schema": schema})
        })
        .collect();
    if !tools.is_empty() {
        body["tools"] = json!(tools);
    }
    if let Some(effort) = request.effort {
        body["thinking"] = json!({"type": "adaptive"});
        body["output_config"]["effort"] = json!(effort.as_str());
    }
    if let Some(format) = request.format {
        body["output_config"]["format"] = json!({"type": "json_schema", "schema": format.schema});
    }
    body
}

fn messages(ask: &WireRequest<'_>) -> Vec<Value> {
    let mut messages = Vec::new();
    for event in ask.request.events {
        match &**event {
            TurnEvent::User { text, notices } => {
                let notices = notices_text(notices);
                let blocks = [notices.as_str(), text].into_iter().filter_map(text_block);
                push(&mut messages, "user", blocks.collect());
            }
            TurnEvent::Assistant { model, said, .. } => {
                let own = ask.is_own(model);
                let blocks = said.iter().filter_map(|said| said_block(said, own));
                push(&mut messages, "assistant", blocks.collect());
            }
            TurnEvent::Replies { replies, notices } => {
                let mut blocks: Vec<Value> = replies
                    .iter()
                    .map(|reply| {
                        let mut block = json!({
                            "type": "tool_result", "tool_use_id": reply.id,
                            "content": reply.content.to_text(),
                        });
                        if reply.is_error {
                            block["is_error"] = json!(true);
                        }
                        block
                    })
                    .collect();
                blocks.extend(text_block(&notices_text(notices)));
                push(&mut messages, "user", blocks);
            }
            TurnEvent::Notices { notices } => {
                let block = text_block(&notices_text(notices));
                push(&mut messages, "user", block.into_iter().collect());
            }
            TurnEvent::TurnEnded => {}
        }
    }
    // Everything up to here is the same next time.
    if let Some(last) = messages.last_mut()
        && let Some(block) = last["content"]
            .as_array_mut()
            .and_then(|list| list.last_mut())
    {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
    messages
}

/// Merges consecutive messages of one role.
fn push(messages: &mut Vec<Value>, role: &str, blocks: Vec<Value>) {
    if blocks.is_empty() {
        return;
    }
    if let Some(last) = messages.last_mut()
        && last["role"] == role
        && let Some(content) = last["content"].as_array_mut()
    {
        content.extend(blocks);
        return;
    }
    messages.push(json!({"role": role, "content": blocks}));
}

/// Text without anything in it is refused.
fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn said_block(said: &Said, own: bool) -> Option<Value> {
    match said {
        Said::Text { text } => text_block(text),
        Said::Reasoning { text, seal } => {
            let mut block = seal.clone().filter(|_| own)?;
            if block["type"] == "thinking" {
                block["thinking"] = json!(text);
            }
            Some(block)
        }
        Said::Call { call, .. } => Some(json!({
            "type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments,
        })),
    }
}

/// Reads the stream. Blocks are stored by index, because some servers
/// interleave them.
#[derive(Default)]
pub(super) struct AnthropicReader {
    blocks: BTreeMap<u64, Block>,
    usage: Usage,
    finish: Option<Finish>,
    finished: bool,
}

enum Block {
    Text,
    Thinking {
        signature: String,
    },
    Call {
        id: String,
        tool: String,
        json: String,
    },
    /// A block that is passed back unchanged, or an unknown one.
    Other(Option<Value>),
}

impl ReplyReader for AnthropicReader {
    fn read(&mut self, frame: &str, events: &mut Vec<ModelEvent>) -> Result<(), ReadError> {
        if self.finished {
            return Ok(());
        }
        let event = parse(frame)?;
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => self.spend(&event["message"]["usage"], events),
            "content_block_start" => self.begin(&event, events),
            "content_block_delta" => return self.delta(&event, events),
            "content_block_stop" => self.stop(&event, events),
            "message_delta" => {
                self.spend(&event["usage"], events);
                self.finish = match event["delta"]["stop_reason"].as_str() {
                    None => None,
                    Some("max_tokens" | "model_context_window_exceeded") => Some(Finish::Length),
                    Some("refusal") => Some(Finish::Refused("the model declined".to_owned())),
                    Some(_) => Some(Finish::Done),
                };
            }
            "message_stop" => return self.end(events),
            "error" => {
                let message = error_message(&event).unwrap_or_else(|| "an error".to_owned());
                return Err(ReadError::Reported(message));
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), ReadError> {
        if self.finished {
            return Ok(());
        }
        let finish = self.finish.clone().ok_or(ReadError::Cut)?;
        // At the limit, a call that was being written stays unfinished.
        let open_call = |block: &Block| matches!(block, Block::Call { .. });
        if finish != Finish::Length && self.blocks.values().any(open_call) {
            return Err(ReadError::Cut);
        }
        self.finished = true;
        events.push(ModelEvent::Finished(finish));
        Ok(())
    }
}

impl AnthropicReader {
    fn spend(&mut self, usage: &Value, events: &mut Vec<ModelEvent>) {
        if usage["input_tokens"].is_u64() {
            let cached = number(&usage["cache_read_input_tokens"]);
            let written = number(&usage["cache_creation_input_tokens"]);
            self.usage.input = number(&usage["input_tokens"]) + cached + written;
            self.usage.cached = cached;
        }
        self.usage.output = self.usage.output.max(number(&usage["output_tokens"]));
        events.push(ModelEvent::Spent(self.usage));
    }

    fn begin(&mut self, event: &Value, events: &mut Vec<ModelEvent>) {
        let index = number(&event["index"]);
        // Sent again, it begins nothing new.
        if self.blocks.contains_key(&index) {
            return;
        }
        let start = &event["content_block"];
        let text = |key: &str| start[key].as_str().unwrap_or_default().to_owned();
        let block = match start["type"].as_str().unwrap_or_default() {
            "text" => {
                push_text(text("text"), ModelEvent::Text, events);
                Block::Text
            }
            "thinking" => {
                push_text(text("thinking"), ModelEvent::Reasoning, events);
                Block::Thinking {
                    signature: text("signature"),
                }
            }
            "tool_use" => {
                let tool = text("name");
                events.push(ModelEvent::Calling { tool: tool.clone() });
                // Some servers give the whole input at once.
                let json = match &start["input"] {
                    Value::Object(map) if !map.is_empty() => start["input"].to_string(),
                    _ => String::new(),
                };
                Block::Call {
                    id: text("id"),
                    tool,
                    json,
                }
            }
            "redacted_thinking" => Block::Other(Some(start.clone())),
            _ => Block::Other(None),
        };
        self.blocks.insert(index, block);
    }

    fn delta(&mut self, event: &Value, events: &mut Vec<ModelEvent>) -> Result<(), ReadError> {
        let delta = &event["delta"];
        let index = number(&event["index"]);
        let Some(block) = self.blocks.get_mut(&index) else {
            return Err(ReadError::malformed(
                "a delta of a block that was not started",
            ));
        };
        let text = |key: &str| delta[key].as_str().unwrap_or_default();
        match (block, delta["type"].as_str().unwrap_or_default()) {
            (Block::Text, "text_delta") => {
                push_text(text("text").to_owned(), ModelEvent::Text, events);
            }
            (Block::Thinking { .. }, "thinking_delta") => {
                push_text(text("thinking").to_owned(), ModelEvent::Reasoning, events);
            }
            (Block::Thinking { signature }, "signature_delta") => {
                text("signature").clone_into(signature);
            }
            (Block::Call { json, .. }, "input_json_delta") => json.push_str(text("partial_json")),
            _ => {}
        }
        Ok(())
    }

    fn stop(&mut self, event: &Value, events: &mut Vec<ModelEvent>) {
        let index = number(&event["index"]);
        match self.blocks.remove(&index) {
            // Without a signature it would be refused when it is given back.
            Some(Block::Thinking { signature }) if !signature.is_empty() => {
                let seal = json!({"type": "thinking", "signature": signature});
                events.push(ModelEvent::Sealed(seal));
            }
            Some(Block::Other(Some(kept))) => events.push(ModelEvent::Sealed(kept)),
            Some(Block::Call { id, tool, json }) => {
                if let Ok(arguments) = arguments(&tool, &json) {
                    let call = ToolCall {
                        id,
                        tool,
                        arguments,
                    };
                    events.push(called(call, None));
                } else {
                    // Whether the limit cut it is known only at the end.
                    self.blocks.insert(index, Block::Call { id, tool, json });
                }
            }
            Some(Block::Text | Block::Thinking { .. } | Block::Other(None)) | None => {}
        }
    }
}

fn push_text(text: String, event: fn(String) -> ModelEvent, events: &mut Vec<ModelEvent>) {
    if !text.is_empty() {
        events.push(event(text));
    }
}
