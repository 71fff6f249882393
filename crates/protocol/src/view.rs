//! What the assistant reads of a handle: one flat object.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{HandleId, Question};

/// How a handle stands, and what is new about it. Absent fields are left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HandleView {
    /// The handle.
    pub id: HandleId,
    /// Its state.
    pub state: HandleState,
    /// What it said that was not delivered yet. Of a handle that stopped
    /// well, the output is its `result`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// What it asks, when waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    /// Set while the user is asked: that they are waited for, and the command
    /// by which they answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Its output or its error message, when stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Set when it stopped badly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorView>,
    /// The exit code, when not 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Who or what ended it, where the tool reported a result of its own all
    /// the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aborted: Option<String>,
    /// How many processes an abort ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<usize>,
    /// How much of the output was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted_bytes: Option<u64>,
    /// Where all of the output can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
    /// The program is blocked at a prompt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaiting_input: bool,
    /// Where the cursor is, as row and column from 1 on, while the program has
    /// the whole screen to itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<(u16, u16)>,
    /// How much of the output is shown, for the record.
    #[serde(skip)]
    pub digest: Option<Box<ShownInPart>>,
}

/// An output of which a reply shows a part, for the record. It is not part of the reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShownInPart {
    /// The bytes of output that are shown.
    pub shown: u64,
    /// The bytes that would have been shown otherwise: the output within the limit. 0 if
    /// lines were fetched that an earlier reply had left out.
    pub whole: u64,
    /// The file that has all of the output.
    pub log: Option<PathBuf>,
}

impl HandleView {
    /// A view with an id and a state and nothing else.
    pub fn new(id: HandleId, state: HandleState) -> Self {
        Self {
            id,
            state,
            content: None,
            question: None,
            note: None,
            result: None,
            error: None,
            exit_code: None,
            signal: None,
            aborted: None,
            ended: None,
            omitted_bytes: None,
            log: None,
            awaiting_input: false,
            cursor: None,
            digest: None,
        }
    }
}

/// The word for a handle's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HandleState {
    /// The id is taken and nothing runs yet.
    Pending,
    /// It runs.
    Running,
    /// It waits for an answer.
    Waiting,
    /// It has ended.
    Stopped,
}

impl HandleState {
    /// The word as the assistant reads it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Stopped => "stopped",
        }
    }
}

/// How a tool failed, beside its message: that is the `result` of a handle's
/// view, and the text of a one-shot's reply.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ErrorView {
    /// Trying again may help.
    pub transient: bool,
    /// The causes, where the tool reports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<String>,
}
