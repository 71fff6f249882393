//! Why a call was refused. Every message says what would work.

use std::fmt;

use windlass_protocol::{
    AnswerError, ConditionError, HandleId, HandleState, InputError, ParseError,
};

/// A handle in one line, so that an assistant that lost track finds it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandleSummary {
    /// The handle.
    pub id: HandleId,
    /// Its tool.
    pub tool: String,
    /// Its state.
    pub state: HandleState,
}

impl fmt::Display for HandleSummary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, tool, state } = self;
        write!(formatter, "{id} ({tool}, {})", state.as_str())
    }
}

/// Why a call was refused: nothing was done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// There is no such tool.
    #[error("there is no tool `{name}`; the tools are {}", .tools.join(", "))]
    UnknownTool {
        /// What was called.
        name: String,
        /// What could have been.
        tools: Vec<String>,
    },
    /// There should be such a tool, and there is not.
    #[error("`{name}` cannot be used: {why}")]
    Unavailable {
        /// What was called.
        name: String,
        /// Why, and what would work.
        why: String,
    },
    /// The arguments cannot be read.
    #[error("{error}{}", listed(.handles))]
    Unreadable {
        /// What is wrong with them.
        error: ParseError,
        /// The session's handles, when an id is missing.
        handles: Vec<HandleSummary>,
    },
    /// An argument does not fit its parameter.
    #[error("{0}")]
    Invalid(String),
    /// No handle has this id.
    #[error("Handle `{id}` not found{}", listed(.handles))]
    NotFound {
        /// What was asked for.
        id: String,
        /// What there is.
        handles: Vec<HandleSummary>,
    },
    /// The handle belongs to another tool.
    #[error("handle `{id}` belongs to `{tool}`; call `{tool}` with this id")]
    OtherTool {
        /// The handle.
        id: HandleId,
        /// Its tool.
        tool: String,
    },
    /// The id is taken.
    #[error("handle `{0}` is already active; choose another ID")]
    Taken(HandleId),
    /// Two spawns of one batch want the same id.
    #[error("handle `{0}` is spawned twice in this batch; choose another ID for one of them")]
    Twice(HandleId),
    /// Input for something that has ended.
    #[error("handle `{0}` has stopped and takes no input; fetch it to read its result")]
    Ended(HandleId),
    /// The tool could not take the input.
    #[error(transparent)]
    Unfit(#[from] InputError),
    /// The handle cannot take the input.
    #[error("{0}")]
    Input(String),
    /// The answer does not fit the question, which stays open.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// `await` was given nothing to wait for.
    #[error("At least one handle ID required{}", listed(.0))]
    NothingToAwait(Vec<HandleSummary>),
    /// A condition of `await` cannot be read.
    #[error(transparent)]
    Condition(#[from] ConditionError),
    /// A person said no.
    #[error("{0}")]
    Rejected(String),
    /// The session has ended.
    #[error("the session has ended; begin another one")]
    Closed,
    /// The caller gave up on the batch.
    #[error("cancelled")]
    Cancelled,
}

fn listed(handles: &[HandleSummary]) -> String {
    if handles.is_empty() {
        return String::new();
    }
    let handles: Vec<String> = handles.iter().map(ToString::to_string).collect();
    format!("; handles: {}", handles.join(", "))
}
