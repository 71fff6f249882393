//! The states of a tool: [`ToolState`], and the older [`Outcome`].
//!
//! ```text
//!            ┌────────────── Apply ──────────────┐
//!            ▼                                   │
//!  Pending ─▶ Running ───────────────────────▶ Waiting
//!     │         │                                │
//!     └─────────┴────────▶ Stopped ◀─────────────┘
//! ```
//!
//! `Pending` is a state of the registry, never of a tool, so it is part of
//! [`crate::HandleState`] and not of this module. Reading accepts both wire
//! formats; writing always produces the newer one.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::Question;

/// The state of a tool at any point of its life.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolState {
    /// The tool is running, with its output so far.
    Running {
        /// The tool's output, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
    },
    /// The tool waits for the answer to one question.
    Waiting {
        /// The tool's output, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// The question.
        question: Question,
    },
    /// The tool has ended; nothing follows.
    Stopped {
        /// Its output, or why it failed.
        #[schemars(with = "WireResult")]
        result: Result<String, ToolError>,
    },
}

impl ToolState {
    /// The state is final.
    pub fn is_stopped(&self) -> bool {
        matches!(self, Self::Stopped { .. })
    }
}

/// Why a tool failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// The message for the assistant.
    pub message: String,
    /// The causes, outermost first.
    #[serde(default)]
    pub trace: Vec<String>,
    /// Trying again may help.
    #[serde(default)]
    pub transient: bool,
}

impl ToolError {
    /// A permanent error without a trace.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            trace: Vec::new(),
            transient: false,
        }
    }
}

/// The older form of a tool's answer, still read from tools that print it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Outcome {
    /// The tool succeeded.
    Success {
        /// Its output.
        content: String,
    },
    /// The tool failed.
    Error {
        /// The error message.
        message: String,
        /// The causes, outermost first.
        #[serde(default)]
        trace: Vec<String>,
        /// Trying again may help.
        #[serde(default)]
        transient: bool,
    },
    /// The tool has exited and must be run again with an answer.
    NeedsInput {
        /// The question.
        question: Question,
    },
}

impl From<Outcome> for ToolState {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success { content } => Self::Stopped {
                result: Ok(content),
            },
            Outcome::Error {
                message,
                trace,
                transient,
            } => Self::Stopped {
                result: Err(ToolError {
                    message,
                    trace,
                    transient,
                }),
            },
            Outcome::NeedsInput { question } => Self::Waiting {
                content: None,
                question,
            },
        }
    }
}

/// Both wire formats under one tag.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WireState {
    #[serde(alias = "spawned")]
    Running {
        #[serde(default)]
        content: Option<String>,
    },
    Waiting {
        #[serde(default)]
        content: Option<String>,
        question: Question,
    },
    Stopped {
        result: WireResult,
    },
    Success {
        content: String,
    },
    Error {
        message: String,
        #[serde(default)]
        trace: Vec<String>,
        #[serde(default)]
        transient: bool,
    },
    NeedsInput {
        question: Question,
    },
}

/// `{"Ok": …}` or `{"Err": …}`, read in either case.
#[derive(Deserialize, JsonSchema)]
enum WireResult {
    #[serde(alias = "ok")]
    Ok(String),
    #[serde(alias = "err")]
    Err(ToolError),
}

impl<'de> Deserialize<'de> for ToolState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match WireState::deserialize(deserializer)? {
            WireState::Running { content } => Self::Running { content },
            WireState::Waiting { content, question } => Self::Waiting { content, question },
            WireState::Stopped { result } => Self::Stopped {
                result: match result {
                    WireResult::Ok(output) => Ok(output),
                    WireResult::Err(error) => Err(error),
                },
            },
            WireState::Success { content } => Outcome::Success { content }.into(),
            WireState::Error {
                message,
                trace,
                transient,
            } => Outcome::Error {
                message,
                trace,
                transient,
            }
            .into(),
            WireState::NeedsInput { question } => Outcome::NeedsInput { question }.into(),
        })
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
