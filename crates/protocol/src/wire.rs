//! The messages between a local program and Windlass: the answers of a
//! one-shot, and the lines of an `io = "state"` tool.

use std::path::PathBuf;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::answer_fault::{AnswerFault, field_slip, is_type, type_slip};
use crate::{IoMode, ToolState};

/// Runs this program as the handle, in place of the called tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecAnswer {
    /// The program, by name or path.
    pub program: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Pipes or a terminal.
    #[serde(default)]
    pub io: IoMode,
    /// The working folder; default: the project's root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// Variables to add to its environment.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub env: IndexMap<String, String>,
}

/// The stdout of a configured local tool, read as a whole.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolAnswer {
    /// A state, in either wire format.
    State(ToolState),
    /// A program to run instead.
    Exec(ExecAnswer),
}

impl ToolAnswer {
    /// The largest stdout that is parsed.
    pub const MAX_BYTES: usize = 1 << 20;

    /// Reads stdout as protocol; `None` if it is plain text.
    ///
    /// It is protocol only if it is one JSON object with a known `type`. An
    /// object of such a type with missing or misspelt fields is an error,
    /// because its author meant to speak the protocol.
    pub fn read(stdout: &str) -> Option<Result<Self, AnswerFault>> {
        if stdout.len() > Self::MAX_BYTES || !stdout.trim_start().starts_with('{') {
            return None;
        }
        let object: Map<String, Value> = serde_json::from_str(stdout).ok()?;
        let kind = object.get("type")?.as_str()?;
        if !is_type(kind) {
            return type_slip(kind, &object).map(Err);
        }
        if let Some(fault) = field_slip(kind, &object) {
            return Some(Err(fault));
        }
        let read = if kind == "exec" {
            serde_json::from_str(stdout).map(Self::Exec)
        } else {
            serde_json::from_str(stdout).map(Self::State)
        };
        Some(read.map_err(AnswerFault::Form))
    }

    /// The answer as a tool prints it, in one line.
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        #[serde(tag = "type", rename = "exec")]
        struct ExecLine<'a> {
            #[serde(flatten)]
            answer: &'a ExecAnswer,
        }

        let json = match self {
            Self::State(state) => serde_json::to_string(state),
            Self::Exec(answer) => serde_json::to_string(&ExecLine { answer }),
        };
        json.expect("an answer has only strings for keys")
    }
}

/// A line that an `io = "state"` tool reads from its stdin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StateInput {
    /// Input for a running tool.
    Apply {
        /// The assistant's input.
        input: Value,
    },
    /// The answer to the open question.
    Answer {
        /// The question's id.
        question: String,
        /// The answer, checked against the question's type.
        answer: Value,
    },
    /// The tool must stop; if it does not, it is ended by signals.
    Abort,
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
