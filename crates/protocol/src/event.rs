//! Events that a tool reports while it runs.
//!
//! [`ToolReport`] is an event with the offset of the output at which it happened.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use serde_json::Value;

use crate::{Attachment, Question, QuestionForm, ToolError};

/// An event with the offset in the tool's output at which it happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolReport {
    /// The number of output bytes before the event.
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
        /// The number of bytes.
        bytes: u64,
    },
    /// It asks something and waits.
    Asked {
        /// The question itself.
        question: Question,
        /// The tool's text that belongs to the question, such as the hunk that
        /// it asks about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// The form that the question is a field of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        form: Option<Box<QuestionForm>>,
    },
    /// Its question was answered.
    Answered,
    /// It is being ended; `reason` becomes its result.
    Aborting {
        /// The cause, as a message for the assistant.
        reason: String,
    },
    /// It has ended, and all of its output can be read.
    Ended(Ending),
}

impl ToolEvent {
    /// A question without further text.
    pub fn asked(question: Question) -> Self {
        Self::Asked {
            question,
            content: None,
            form: None,
        }
    }
}

/// The end of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// `Ok(None)` if the output is the result, `Ok(Some)` if the tool reported
    /// a result of its own.
    pub result: Result<Option<String>, ToolError>,
    /// The exit status of its process, if it failed.
    pub exit: Option<Exit>,
    /// The number of processes that it left running.
    pub left_running: usize,
    /// Files that belong to its output.
    pub attachments: Vec<Attachment>,
    /// The structured result, if the tool returns one beside its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Box<Value>>,
    /// The tool's server refused the call with this error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Box<ServerRefusal>>,
    /// The tool reported the result itself. Otherwise its executor derived it,
    /// for example from an exit code.
    #[serde(default)]
    pub reported: bool,
    /// The message of whoever ended the tool, if the tool reported a result
    /// nevertheless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aborted: Option<String>,
    /// Known denials of its sandbox, one phrase each. The error names them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// Wider sandbox rules that would allow them, such as `write /srv/out`, for
    /// a person to decide on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub widenings: Vec<String>,
    /// Set when the result was too long for a reply and was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Box<ResultCut>>,
}

/// Another server answered the call with a protocol error instead of a tool
/// result.
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
    /// The number of bytes that were cut.
    pub omitted_bytes: u64,
    /// The file with the complete result, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
}

impl Ending {
    /// It finished successfully, and its output is its result.
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

/// The exit status of a process that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// With this code, not 0.
    Code(i32),
    /// By this signal, such as `SIGKILL`.
    Signal(String),
}
