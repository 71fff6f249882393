//! The script of a model, turn by turn.
//!
//! A script is written in Rust or as JSON:
//!
//! ```json
//! {"turns": [
//!   {"say": [{"text": "I look."}, {"call": {"tool": "shell", "arguments": {"command": "ls"}}}]},
//!   {"fault": {"status": 429, "retry_after": 0}},
//!   {"when": "title", "repeat": true, "say": [{"text": "A title"}]},
//!   {"say": [{"text": "Done."}]}
//! ]}
//! ```

use serde::Deserialize;
use serde_json::{Value, json};

/// The script of a model.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The turns. A request is answered by the first unused turn that matches
    /// it.
    pub turns: Vec<Turn>,
    /// The number of bytes sent at a time; default: whole events.
    #[serde(default)]
    pub chunk: Option<usize>,
}

/// A script that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the script cannot be read: {0}; see `Script` for an example")]
pub struct ScriptError(#[from] serde_json::Error);

impl Script {
    /// These turns, one after the other.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self {
            turns: turns.into_iter().collect(),
            chunk: None,
        }
    }

    /// Reads a script from JSON.
    pub fn read(text: &str) -> Result<Self, ScriptError> {
        Ok(serde_json::from_str(text)?)
    }

    /// Sends the script `bytes` at a time.
    pub fn in_chunks(mut self, bytes: usize) -> Self {
        self.chunk = Some(bytes);
        self
    }
}

/// The answer to one request.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    /// The content of the reply, in order.
    pub say: Vec<Say>,
    /// Only for requests whose body holds this text.
    pub when: Option<String>,
    /// Matches only requests with structured output, or only those without.
    pub structured: Option<bool>,
    /// It is never used up.
    pub repeat: bool,
    /// The reported usage.
    pub usage: Option<Spent>,
    /// The fault to simulate.
    pub fault: Option<Fault>,
    /// The finish reason if it is not the usual one: `length` or `refusal`.
    pub finish: Option<String>,
}

impl Turn {
    /// A turn with this content.
    pub fn new(say: impl IntoIterator<Item = Say>) -> Self {
        Self {
            say: say.into_iter().collect(),
            ..Self::default()
        }
    }

    /// A turn with this text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new([Say::Text(text.into())])
    }

    /// A turn with these calls, as tools and arguments.
    pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        Self::new(
            calls
                .into_iter()
                .map(|(tool, arguments)| Say::call(tool, arguments)),
        )
    }

    /// A turn that fails before any content.
    pub fn fault(fault: Fault) -> Self {
        Self::default().with(fault)
    }

    /// Adds a fault.
    pub fn with(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Matches only requests that contain this text.
    pub fn when(mut self, text: impl Into<String>) -> Self {
        self.when = Some(text.into());
        self
    }

    /// Matches only requests that ask for structured output.
    pub fn structured(mut self) -> Self {
        self.structured = Some(true);
        self
    }

    /// Makes the turn reusable.
    pub fn repeated(mut self) -> Self {
        self.repeat = true;
        self
    }

    pub(crate) fn spent(&self) -> Spent {
        self.usage.unwrap_or(Spent {
            input: 100,
            output: 20,
        })
    }

    pub(crate) fn has_calls(&self) -> bool {
        self.say.iter().any(|say| matches!(say, Say::Call { .. }))
    }
}

/// One part of a scripted reply.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Say {
    /// Text.
    Text(String),
    /// Reasoning, which the provider signs.
    Reasoning(String),
    /// A call of a tool.
    Call {
        /// The tool; `NAMESPACE/TOOL` for one that was offered to Responses
        /// within a namespace.
        tool: String,
        /// The arguments.
        #[serde(default)]
        arguments: Value,
        /// The call's id; made up unless given.
        #[serde(default)]
        id: Option<String>,
    },
    /// A pause until [`ModelServer::release`](super::ModelServer::release).
    /// Without a server that holds, it continues at once.
    Hold(String),
    /// Nothing, for this many milliseconds: for people to watch.
    Pause(u64),
}

impl Say {
    /// A call whose id is made up.
    pub fn call(tool: impl Into<String>, arguments: Value) -> Self {
        Self::Call {
            tool: tool.into(),
            arguments,
            id: None,
        }
    }
}

/// The reported usage of a turn, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub struct Spent {
    /// Read.
    pub input: u64,
    /// Written.
    pub output: u64,
}

/// A fault of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The connection breaks after this many bytes.
    Cut(usize),
    /// The stream ends normally after this many bytes.
    End(usize),
    /// The stream hangs after this many bytes.
    Hang(usize),
    /// Every event is sent twice.
    Duplicate,
    /// Unknown events and fields are interspersed.
    Noise,
    /// The stream reports that the provider is overloaded, after the content.
    Overloaded,
    /// The request is refused.
    #[serde(untagged)]
    Refuse {
        /// With this status.
        status: u16,
        /// And this `Retry-After`, in seconds.
        #[serde(default)]
        retry_after: Option<u64>,
        /// And this message.
        #[serde(default)]
        message: Option<String>,
    },
}

impl Fault {
    /// The request is refused with this status.
    pub fn status(status: u16) -> Self {
        Self::Refuse {
            status,
            retry_after: None,
            message: None,
        }
    }

    /// Too many requests; try again after so many seconds.
    pub fn rate_limit(retry_after: u64) -> Self {
        Self::Refuse {
            status: 429,
            retry_after: Some(retry_after),
            message: None,
        }
    }
}

/// The body of an error, in a form similar enough to all providers.
pub(crate) fn refusal(status: u16, message: Option<&str>) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 | 403 => "authentication_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        _ => "api_error",
    };
    let message = message.unwrap_or(kind);
    json!({"type": "error", "error": {"type": kind, "message": message, "code": status}})
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
