//! Google Gemini.

use serde_json::{Value, json};
use windlass_protocol::{Said, ToolCall, TurnEvent};

use super::{
    ReadError, ReplyReader, WireRequest, arguments_value, called, error_message, new_call_id,
    notices_text, number, parse,
};
use crate::model::{Effort, Finish, ModelEvent, Usage};

/// The placeholder signature for a call that Gemini did not make itself.
const UNSIGNED: &str = "skip_thought_signature_validator";

pub(super) fn body(ask: &WireRequest<'_>) -> Value {
    let request = ask.request;
    let mut body = json!({"contents": contents(ask)});
    if !request.system.is_empty() {
        body["systemInstruction"] = json!({"parts": [{"text": request.system}]});
    }
    let tools: Vec<Value> = ask
        .tools()
        .map(|(name, description, schema)| {
            json!({
                "name": name, "description": description, "parametersJsonSchema": schema,
            })
        })
        .collect();
    if !tools.is_empty() {
        body["tools"] = json!([{"functionDeclarations": tools}]);
    }
    if let Some(tokens) = request.max_tokens {
        body["generationConfig"]["maxOutputTokens"] = json!(tokens);
    }
    if let Some(effort) = request.effort {
        let level = match effort {
            Effort::Low => "low",
            Effort::Medium | Effort::High => "high",
        };
        body["generationConfig"]["thinkingConfig"] =
            json!({"thinkingLevel": level, "includeThoughts": true});
    }
    if let Some(format) = request.format {
        body["generationConfig"]["responseMimeType"] = json!("application/json");
        body["generationConfig"]["responseJsonSchema"] = format.schema.clone();
    }
    body
}

fn contents(ask: &WireRequest<'_>) -> Vec<Value> {
    let names = ask.called();
    let mut contents = Vec::new();
    for event in ask.request.events {
        match &**event {
            TurnEvent::User { text, notices } => {
                let notices = notices_text(notices);
                let parts = [notices.as_str(), text].into_iter().filter_map(text_part);
                push(&mut contents, "user", parts.collect());
            }
            TurnEvent::Assistant { model, said, .. } => {
                let own = ask.is_own(model);
                push(&mut contents, "model", said_parts(said, own));
            }
            TurnEvent::Replies { replies, notices } => {
                let mut parts: Vec<Value> = replies
                    .iter()
                    .map(|reply| {
                        let key = if reply.is_error { "error" } else { "output" };
                        let name = names.get(reply.id.as_str()).copied().unwrap_or_default();
                        json!({"functionResponse": {
                            "name": name, "response": {key: reply.content.to_text()},
                        }})
                    })
                    .collect();
                parts.extend(text_part(&notices_text(notices)));
                push(&mut contents, "user", parts);
            }
            TurnEvent::Notices { notices } => {
                let part = text_part(&notices_text(notices));
                push(&mut contents, "user", part.into_iter().collect());
            }
            TurnEvent::TurnEnded => {}
        }
    }
    contents
}

fn push(contents: &mut Vec<Value>, role: &str, parts: Vec<Value>) {
    if parts.is_empty() {
        return;
    }
    if let Some(last) = contents.last_mut()
        && last["role"] == role
        && let Some(held) = last["parts"].as_array_mut()
    {
        held.extend(parts);
        return;
    }
    contents.push(json!({"role": role, "parts": parts}));
}

fn text_part(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| json!({"text": text}))
}

/// Only the first call of several carries a signature.
fn said_parts(said: &[Said], own: bool) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut calls = 0;
    for said in said {
        match said {
            Said::Text { text } => parts.extend(text_part(text)),
            Said::Reasoning { seal, .. } => {
                if let Some(signature) = seal.as_ref().filter(|_| own) {
                    parts.push(json!({"text": "", "thoughtSignature": signature}));
                }
            }
            Said::Call { call, seal } => {
                let mut part = json!({"functionCall": {"name": call.tool, "args": call.arguments}});
                let signature = seal.clone().filter(|_| own);
                let unsigned = || (calls == 0).then(|| json!(UNSIGNED));
                if let Some(signature) = signature.or_else(unsigned) {
                    part["thoughtSignature"] = signature;
                }
                calls += 1;
                parts.push(part);
            }
        }
    }
    parts
}

/// Reads the stream. Calls arrive complete, and the last chunk has the reason
/// for the end.
#[derive(Default)]
pub(super) struct GeminiReader {
    finish: Option<Finish>,
    finished: bool,
    /// The last frame with a call, to detect repetition.
    last_call: Option<String>,
}

impl ReplyReader for GeminiReader {
    fn read(&mut self, frame: &str, events: &mut Vec<ModelEvent>) -> Result<(), ReadError> {
        let chunk = parse(frame)?;
        if !chunk["error"].is_null() {
            let message = error_message(&chunk).unwrap_or_else(|| chunk["error"].to_string());
            return Err(ReadError::Reported(message));
        }
        if let Some(reason) = chunk["promptFeedback"]["blockReason"].as_str() {
            self.finish = Some(Finish::Refused(reason.to_owned()));
        }
        let candidate = &chunk["candidates"][0];
        let parts = candidate["content"]["parts"].as_array();
        let holds_call =
            parts.is_some_and(|parts| parts.iter().any(|part| part["functionCall"].is_object()));
        if holds_call {
            if self.last_call.as_deref() == Some(frame) {
                return Ok(());
            }
            self.last_call = Some(frame.to_owned());
        }
        for part in parts.into_iter().flatten() {
            read_part(part, events)?;
        }
        let usage = &chunk["usageMetadata"];
        if usage.is_object() {
            events.push(ModelEvent::Spent(Usage {
                input: number(&usage["promptTokenCount"]),
                cached: number(&usage["cachedContentTokenCount"]),
                output: number(&usage["candidatesTokenCount"])
                    + number(&usage["thoughtsTokenCount"]),
            }));
        }
        match candidate["finishReason"].as_str() {
            None => {}
            Some("STOP") => self.finish = Some(Finish::Done),
            Some("MAX_TOKENS") => self.finish = Some(Finish::Length),
            // It wrote a call that is none; another try may be better.
            Some(reason @ ("MALFORMED_FUNCTION_CALL" | "OTHER")) => {
                return Err(ReadError::malformed(reason.to_lowercase()));
            }
            Some(reason) => self.finish = Some(Finish::Refused(reason.to_lowercase())),
        }
        Ok(())
    }

    fn end(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), ReadError> {
        if self.finished {
            return Ok(());
        }
        let finish = self.finish.clone().ok_or(ReadError::Cut)?;
        self.finished = true;
        events.push(ModelEvent::Finished(finish));
        Ok(())
    }
}

fn read_part(part: &Value, events: &mut Vec<ModelEvent>) -> Result<(), ReadError> {
    let signature = part
        .get("thoughtSignature")
        .filter(|value| value.is_string());
    if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
        let tool = call["name"].as_str().unwrap_or_default().to_owned();
        let arguments = arguments_value(&tool, &call["args"])?;
        let id = call["id"].as_str().filter(|id| !id.is_empty());
        let id = id.map_or_else(new_call_id, str::to_owned);
        events.push(ModelEvent::Calling { tool: tool.clone() });
        let call = ToolCall {
            id,
            tool,
            arguments,
        };
        events.push(called(call, signature.cloned()));
        return Ok(());
    }
    if let Some(text) = part["text"].as_str().filter(|text| !text.is_empty()) {
        let text = text.to_owned();
        events.push(if part["thought"] == true {
            ModelEvent::Reasoning(text)
        } else {
            ModelEvent::Text(text)
        });
    }
    if let Some(signature) = signature {
        events.push(ModelEvent::Sealed(signature.clone()));
    }
    Ok(())
}
