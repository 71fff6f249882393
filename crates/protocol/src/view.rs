//! The assistant's view of a handle: one flat object.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{HandleId, Question};

/// The state of a handle, and its new output. Absent fields are omitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HandleView {
    /// The handle.
    pub id: HandleId,
    /// Its state.
    pub state: HandleState,
    /// Output that was not delivered yet. The output of a handle that finished
    /// successfully is its `result`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The question, when waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    /// Set while the user is asked. Names the command by which the user
    /// answers.
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
    /// The cause of its abort, if the tool reported a result nevertheless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aborted: Option<String>,
    /// The number of processes that an abort ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<usize>,
    /// The number of omitted bytes of output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted_bytes: Option<u64>,
    /// The file with the whole output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
    /// The program is blocked at a prompt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaiting_input: bool,
    /// The cursor's row and column, from 1, while the program uses the whole
    /// screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<(u16, u16)>,
    /// The proportion of the output that is shown, for the record.
    #[serde(skip)]
    pub digest: Option<Box<ShownInPart>>,
}

/// The size of an output and of the shown part. It goes into the record, not
/// into the reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShownInPart {
    /// The bytes of output that are shown.
    pub shown: u64,
    /// The bytes that would have been shown without a digest, within the limit.
    /// 0 if the lines had been omitted by an earlier reply.
    pub whole: u64,
    /// The file that has all of the output.
    pub log: Option<PathBuf>,
}

impl HandleView {
    /// A view with only an id and a state.
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

/// The name of a handle's state.
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

/// Details of a tool's error, beside its message. The message is the `result`
/// of a handle's view, or the text of a one-shot's reply.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ErrorView {
    /// Trying again may help.
    pub transient: bool,
    /// The causes, where the tool reports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<String>,
}
