//! The wire formats of providers: a body out, frames in.
//!
//! Start at [`WireFormat`]; each [`ProviderApi`] has a file that writes its requests
//! and a reader that turns frames into events. Everything here is pure:
//! sending, retries and keys are in `remote.rs`.

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;

use std::collections::HashMap;

use serde_json::{Value, json};
use ulid::Ulid;
use windlass_protocol::{Arguments, Notice, Said, ToolCall, TurnEvent};
use windlass_providers::ProviderApi;
use windlass_schema::Dialect;

use crate::frames::Framing;
use crate::model::{ModelEvent, ModelId, ModelRequest};

/// Requests and replies in the format of an [`ProviderApi`].
pub(crate) trait WireFormat {
    /// The framing of its replies.
    fn framing(self) -> Framing;
    /// The path of a request to a model, relative to the provider's base URL.
    fn path(self, model: &ModelId) -> String;
    /// The header for the key, and the prefix of its value.
    fn key_header(self) -> (&'static str, &'static str);
    /// Further headers.
    fn headers(self) -> &'static [(&'static str, &'static str)];
    fn body(self, model: &ModelId, dialect: Dialect, request: &ModelRequest<'_>) -> Value;
    /// The reader of an answer.
    fn reader(self) -> Box<dyn ReplyReader>;
}

impl WireFormat for ProviderApi {
    fn framing(self) -> Framing {
        match self {
            Self::Ollama => Framing::Lines,
            _ => Framing::Events,
        }
    }

    fn path(self, model: &ModelId) -> String {
        match self {
            Self::Anthropic => "/v1/messages".to_owned(),
            Self::Responses => "/responses".to_owned(),
            Self::Chat => "/chat/completions".to_owned(),
            Self::Gemini => {
                let name = &model.name;
                format!("/v1beta/models/{name}:streamGenerateContent?alt=sse")
            }
            Self::Ollama => "/api/chat".to_owned(),
        }
    }

    fn key_header(self) -> (&'static str, &'static str) {
        match self {
            Self::Anthropic => ("x-api-key", ""),
            Self::Gemini => ("x-goog-api-key", ""),
            Self::Responses | Self::Chat | Self::Ollama => ("authorization", "Bearer "),
        }
    }

    fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Anthropic => &[("anthropic-version", "2023-06-01")],
            _ => &[],
        }
    }

    fn body(self, model: &ModelId, dialect: Dialect, request: &ModelRequest<'_>) -> Value {
        let ask = WireRequest {
            model,
            dialect,
            request,
        };
        match self {
            Self::Anthropic => anthropic::body(&ask),
            Self::Responses => responses::body(&ask),
            Self::Chat => chat::body(&ask),
            Self::Gemini => gemini::body(&ask),
            Self::Ollama => ollama::body(&ask),
        }
    }

    fn reader(self) -> Box<dyn ReplyReader> {
        match self {
            Self::Anthropic => Box::<anthropic::AnthropicReader>::default(),
            Self::Responses => Box::<responses::ResponsesReader>::default(),
            Self::Chat => Box::<chat::ChatReader>::default(),
            Self::Gemini => Box::<gemini::GeminiReader>::default(),
            Self::Ollama => Box::<ollama::OllamaReader>::default(),
        }
    }
}

/// Reads the frames of one answer.
pub(crate) trait ReplyReader: Send {
    /// Reads a frame and adds its events to `events`.
    fn read(&mut self, frame: &str, events: &mut Vec<ModelEvent>) -> Result<(), ReadError>;

    /// Ends the stream, finished or not. Returns an error if the reply is
    /// incomplete, and adds the remaining events.
    fn end(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), ReadError>;
}

/// Why an answer is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// It cannot be read.
    Malformed(String),
    /// It ended before it was whole.
    Cut,
    /// The provider reports an error.
    Reported(String),
}

impl ReadError {
    pub(crate) fn malformed(what: impl Into<String>) -> Self {
        Self::Malformed(what.into())
    }
}

/// A request, with its model and dialect.
pub(crate) struct WireRequest<'a> {
    model: &'a ModelId,
    dialect: Dialect,
    request: &'a ModelRequest<'a>,
}

impl WireRequest<'_> {
    /// Whether a seal belongs to this provider; it cannot read those of others.
    fn is_own(&self, model: &str) -> bool {
        let provider = model.split('/').next().unwrap_or_default();
        provider == self.model.provider
    }

    /// The tools, as name, description and schema.
    fn tools(&self) -> impl Iterator<Item = (&str, &str, &Value)> {
        self.request.tools.iter().map(|tool| {
            let schema = tool.shape.schema(self.dialect);
            (tool.name.as_str(), tool.description.as_str(), schema)
        })
    }

    /// The tools in the format of Chat Completions, which Ollama shares; `None`
    /// without tools, because some providers reject an empty list.
    fn functions(&self) -> Option<Value> {
        let functions: Vec<Value> = self
            .tools()
            .map(|(name, description, schema)| {
                json!({"type": "function", "function": {
                    "name": name, "description": description, "parameters": schema,
                }})
            })
            .collect();
        (!functions.is_empty()).then(|| functions.into())
    }

    /// The tools' names by the ids of their calls.
    fn called(&self) -> HashMap<&str, &str> {
        let mut called = HashMap::new();
        for event in self.request.events {
            if let TurnEvent::Assistant { said, .. } = &**event {
                for said in said {
                    if let Said::Call { call, .. } = said {
                        called.insert(call.id.as_str(), call.tool.as_str());
                    }
                }
            }
        }
        called
    }
}

/// The text of notices for a model. A notice may quote a tool's output, which
/// must not be able to imitate another notice.
pub(crate) fn notices_text(notices: &[Notice]) -> String {
    let mut text = String::new();
    for notice in notices {
        if !text.is_empty() {
            text.push('\n');
        }
        let level = word(&json!(notice.level));
        let kind = word(&json!(notice.kind));
        let said = notice.text.replace('&', "&amp;").replace('<', "&lt;");
        let told = format!("<notice level=\"{level}\" kind=\"{kind}\">{said}</notice>");
        text.push_str(&told);
    }
    text
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A frame as JSON.
fn parse(frame: &str) -> Result<Value, ReadError> {
    serde_json::from_str(frame)
        .map_err(|error| ReadError::malformed(format!("a frame is not JSON: {error}")))
}

/// A call's arguments, which must be a complete JSON object; an empty text is
/// an empty object.
fn arguments(tool: &str, text: &str) -> Result<Arguments, ReadError> {
    if text.trim().is_empty() {
        return Ok(Arguments::new());
    }
    serde_json::from_str(text).map_err(|error| {
        ReadError::malformed(format!("the arguments of `{tool}` are incomplete: {error}"))
    })
}

/// Arguments that came as a value.
fn arguments_value(tool: &str, value: &Value) -> Result<Arguments, ReadError> {
    match value {
        Value::Object(map) => Ok(map.clone()),
        Value::Null => Ok(Arguments::new()),
        Value::String(text) => arguments(tool, text),
        _ => Err(ReadError::malformed(format!(
            "the arguments of `{tool}` are not an object"
        ))),
    }
}

/// Creates an id for a call whose provider gives none.
fn new_call_id() -> String {
    format!("call_{}", Ulid::generate())
}

fn called(call: ToolCall, seal: Option<Value>) -> ModelEvent {
    ModelEvent::Called { call, seal }
}

/// The error message in a provider's body, in any of the known places.
pub(crate) fn error_message(body: &Value) -> Option<String> {
    let error = match body {
        Value::Array(list) => &list.first()?["error"],
        other => &other["error"],
    };
    let message = error["message"]
        .as_str()
        .or_else(|| error.as_str())
        .or_else(|| body["message"].as_str())
        .or_else(|| body["detail"].as_str())?;
    Some(message.chars().take(600).collect())
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
