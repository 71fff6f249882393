//! Events that a tool reports while it runs.
//!
//! [`ToolReport`] is an event with the offset of the output at which it happened.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use serde_json::Value;

use crate::{Attachment, Question, QuestionForm, ToolError};

/// An event, and the place in the tool's output at which it happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolReport {
    /// How many bytes of output preceded the event.
    pub at: u64,
    /// The event.
    pub event: ToolEvent,
}

/// Something that happened to a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolEvent {
    /// It runs.
    Started,
    /// It wrote this many bytes.
    Wrote {
        /// How many.
        bytes: u64,
    },
    /// It asks something and waits.
    Asked {
        /// What it asks.
        question: Question,
        /// Its words beside the question, such as the hunk that it asks about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// The form that the question is a field of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        form: Option<Box<QuestionForm>>,
    },
    /// Its question was answered.
    Answered,
    /// It is being ended; its end will be told as `reason`.
    Aborting {
        /// Who or what ends it, as a message for the assistant.
        reason: String,
    },
    /// It has ended, and all that it wrote can be read.
    Ended(Ending),
}

impl ToolEvent {
    /// It asks this, and has nothing to say beside it.
    pub fn asked(question: Question) -> Self {
        Self::Asked {
            question,
            content: None,
            form: None,
        }
    }
}

/// How a tool ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// `Ok(None)` when its result is its output, `Ok(Some)` when it reported
    /// a result of its own.
    pub result: Result<Option<String>, ToolError>,
    /// How its process exited, if it was one and exited badly.
    pub exit: Option<Exit>,
    /// How many processes it left running.
    pub left_running: usize,
    /// What came with its output.
    pub attachments: Vec<Attachment>,
    /// The result as data, where the tool gives that beside its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Box<Value>>,
    /// The tool's server refused the call, in these words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Box<ServerRefusal>>,
    /// The tool reported the result itself. Otherwise its executor concluded
    /// it, from an exit code for example.
    #[serde(default)]
    pub reported: bool,
    /// The message of whoever ended the tool, where the tool reported a result
    /// all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aborted: Option<String>,
    /// Denials of its sandbox, as far as they are known, a phrase each. The
    /// error names them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// Wider rules of its sandbox that would allow them, such as `write /srv/out`, for a person to decide on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub widenings: Vec<String>,
    /// Set when the result was too long for a reply and was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Box<ResultCut>>,
}

/// A call that another server answered with an error of its own, rather than
/// with a result of the tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerRefusal {
    /// The error's code.
    pub code: i32,
    /// The error's message.
    pub message: String,
}

/// A result that was too long for a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultCut {
    /// How many bytes of it were left out.
    pub omitted_bytes: u64,
    /// The file with all of it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
}

impl Ending {
    /// It ended well, and its result is its output.
    pub fn output() -> Self {
        Self::with(Ok(None))
    }

    /// It ended with this result or error.
    pub fn with(result: Result<Option<String>, ToolError>) -> Self {
        Self {
            result,
            exit: None,
            left_running: 0,
            attachments: Vec::new(),
            structured: None,
            refused: None,
            reported: false,
            aborted: None,
            denied: Vec::new(),
            widenings: Vec::new(),
            cut: None,
        }
    }

    /// It ended with this result or error, which the tool reported itself.
    pub fn reported(result: Result<String, ToolError>) -> Self {
        Self {
            reported: true,
            ..Self::with(result.map(Some))
        }
    }

    /// It failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::with(Err(ToolError::new(message)))
    }
}

/// How a process exited badly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// With this code, not 0.
    Code(i32),
    /// By this signal, such as `SIGKILL`.
    Signal(String),
}
