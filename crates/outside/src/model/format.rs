//! The formats that there are.

use serde_json::Value;

use super::script::{Fault, Turn};
use super::segment::Segment;
use super::{anthropic, chat, gemini, ollama, responses};

/// The wire format of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderFormat {
    /// Anthropic Messages.
    Anthropic,
    /// `OpenAI` Responses.
    Responses,
    /// `OpenAI` Chat Completions, and compatible APIs.
    Chat,
    /// Google Gemini.
    Gemini,
    /// Ollama.
    Ollama,
}

impl ProviderFormat {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Anthropic,
        Self::Responses,
        Self::Chat,
        Self::Gemini,
        Self::Ollama,
    ];

    /// The format of requests to this path, if they are for a model.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let last = path.rsplit('/').next().unwrap_or(path);
        if path.ends_with("/messages") {
            Some(Self::Anthropic)
        } else if last == "responses" {
            Some(Self::Responses)
        } else if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else if last.ends_with("GenerateContent") || last.ends_with(":generateContent") {
            Some(Self::Gemini)
        } else if path.ends_with("/api/chat") {
            Some(Self::Ollama)
        } else {
            None
        }
    }

    /// The content type of a stream.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Ollama => "application/x-ndjson",
            _ => "text/event-stream",
        }
    }

    /// Whether the request asks for a stream.
    pub(crate) fn wants_stream(self, path: &str, body: &Value) -> bool {
        match self {
            Self::Gemini => path.contains(":streamGenerateContent"),
            Self::Ollama => body["stream"] != Value::Bool(false),
            _ => body["stream"] == Value::Bool(true),
        }
    }

    /// Whether the request asks for structured output.
    pub(crate) fn wants_structure(self, body: &Value) -> bool {
        let format = match self {
            Self::Anthropic => &body["output_config"]["format"],
            Self::Responses => &body["text"]["format"],
            Self::Chat => &body["response_format"],
            Self::Gemini => &body["generationConfig"]["responseJsonSchema"],
            Self::Ollama => &body["format"],
        };
        !format.is_null() && format["type"] != "text"
    }

    pub(crate) fn segments(self, turn: &Turn, number: usize) -> Vec<Segment> {
        match self {
            Self::Anthropic => anthropic::stream(turn, number),
            Self::Responses => responses::stream(turn, number),
            Self::Chat => chat::stream(turn, number),
            Self::Gemini => gemini::stream(turn, number),
            Self::Ollama => ollama::stream(turn, number),
        }
    }

    pub(crate) fn whole(self, turn: &Turn, number: usize) -> Value {
        match self {
            Self::Anthropic => anthropic::whole(turn, number),
            Self::Responses => responses::whole(turn, number),
            Self::Chat => chat::whole(turn, number),
            Self::Gemini => gemini::whole(turn, number),
            Self::Ollama => ollama::whole(turn, number),
        }
    }
}

/// The bytes of a streamed turn. `number` is the request's position, which
/// names its calls. Only faults that change the content are applied.
pub fn stream(format: ProviderFormat, turn: &Turn, number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for segment in format.segments(turn, number) {
        if let Segment::Event(text) = segment {
            bytes.extend_from_slice(text.as_bytes());
        }
    }
    if let Some(Fault::Cut(at) | Fault::End(at) | Fault::Hang(at)) = turn.fault {
        bytes.truncate(at);
    }
    bytes
}
