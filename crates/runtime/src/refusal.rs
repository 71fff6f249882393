//! Reasons for refusing a call. Every message suggests a remedy.
//!
//! Start at [`Refusal`], then [`Refusal::kind`], from which the front ends
//! derive status codes.

use std::fmt;
use std::sync::Arc;

use windlass_protocol::{
    AnswerError, ConditionError, HandleId, HandleState, InputError, ParseError,
};

/// The maximum number of stopped handles in a refusal.
const MOST_STOPPED: usize = 64;

/// A one-line summary of a handle, for an assistant that has lost track of it.
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

/// The reason why a call was refused. Nothing was done.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Refusal {
    /// There is no such tool.
    #[error("there is no tool `{name}`; the tools are {}", .tools.join(", "))]
    UnknownTool {
        /// The name that was called.
        name: String,
        /// The tools that there are.
        tools: Vec<String>,
    },
    /// The tool is configured but not available.
    #[error("`{name}` cannot be used: {why}")]
    Unavailable {
        /// The name that was called.
        name: String,
        /// The registered reason, with a remedy.
        why: String,
    },
    /// The arguments cannot be parsed.
    #[error("{error}{}", listed(.handles))]
    Unreadable {
        /// The fault.
        error: ParseError,
        /// The session's handles, when an id is missing.
        handles: Vec<HandleSummary>,
    },
    /// An argument does not fit its parameter.
    #[error(transparent)]
    Misfit(#[from] ArgumentMisfit),
    /// No handle has this id.
    #[error("Handle `{id}` not found{}", found_instead(*.is_new, .handles))]
    NotFound {
        /// The requested id.
        id: String,
        /// The session has not started anything yet.
        is_new: bool,
        /// The handles that there are.
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
    /// Two spawns of one batch have the same id.
    #[error("handle `{0}` is spawned twice in this batch; choose another ID for one of them")]
    Twice(HandleId),
    /// The batch that holds the call was refused as a whole.
    #[error("{0}; no call of this batch has run")]
    WithBatch(Box<Refusal>),
    /// Input for an ended tool.
    #[error("handle `{0}` has stopped and takes no input; fetch it to read its result")]
    Ended(HandleId),
    /// A person's input for an ended tool.
    #[error("handle `{0}` has stopped and takes no input; its output is in its log")]
    EndedForPerson(HandleId),
    /// The end of a tool whose host does not answer.
    #[error(
        "the host of handle `{0}` is unreachable; the tool is ended when the host is reachable again, or after the \
         host's lease"
    )]
    Unreached(HandleId),
    /// Input for a tool that has not started.
    #[error("handle `{0}` has not started yet")]
    NotStarted(HandleId),
    /// Input other than text for a handle that waits for an answer.
    #[error("handle `{0}` waits for an answer; give it as `input`")]
    WantsAnswer(HandleId),
    /// An answer for a handle without a question.
    #[error("handle `{0}` has no open question; type into it instead")]
    AsksNothing(HandleId),
    /// The assistant types into a handle that a person has taken over.
    #[error(
        "a person has taken over handle `{0}` and is typing; fetch shows its output, and a notice \
         is sent when they hand it back"
    )]
    Locked(HandleId),
    /// Another person has taken the handle over.
    #[error("another client has taken over handle `{0}`; wait until it is handed back")]
    TakenOver(HandleId),
    /// The lock to be handed back is not held.
    #[error("handle `{0}` is not locked under that name; it may have been handed back")]
    NotLocked(HandleId),
    /// The tool did not accept the input.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The answer does not fit the question, which stays open.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// The answer to a question for a secret is not a string. The answer is
    /// not repeated.
    #[error("question `{question}` needs a string")]
    SecretNotString {
        /// The question's id.
        question: String,
    },
    /// The question was answered before.
    #[error("question `{question}` has already been answered")]
    AlreadyAnswered {
        /// The question's id.
        question: String,
    },
    /// The assistant answers a question for a secret of the user.
    #[error(
        "handle `{id}` asks for a secret (\"{text}\"), which only the user can give{}; \
         tell them, and await it", with(.command.as_deref())
    )]
    SecretOfUser {
        /// The handle.
        id: HandleId,
        /// The question.
        text: String,
        /// The command with which the user answers.
        command: Option<String>,
    },
    /// The assistant answers a question for a secret, and there is no user.
    #[error(
        "handle `{id}` asks for a secret (\"{text}\"), which only the user can give, and no user can be asked; abort it, and tell the user"
    )]
    SecretOfNobody {
        /// The handle.
        id: HandleId,
        /// The question.
        text: String,
    },
    /// `await` has nothing to wait for.
    #[error("At least one handle ID required{}", listed(.0))]
    NothingToAwait(Vec<HandleSummary>),
    /// The arguments of `await` cannot be read.
    #[error("await: {0}")]
    Await(Arc<serde_json::Error>),
    /// `await` has an invalid timeout.
    #[error("`timeout_secs` must be a non-negative number of seconds")]
    Timeout(f64),
    /// A condition of `await` cannot be read.
    #[error(transparent)]
    Condition(#[from] ConditionError),
    /// A pattern of `await` is not a regular expression.
    #[error("pattern `{pattern}`: {error}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The fault.
        error: regex::Error,
    },
    /// The tool needs permission, and there is no person.
    #[error(
        "`{tool}` needs the user's permission and no user can be asked, so nothing has run; tell \
         the user"
    )]
    NobodyToAsk {
        /// The tool.
        tool: String,
    },
    /// A rule of the configuration forbids it.
    #[error("the configuration denies `{pattern}` of `{tool}`; nothing has run")]
    Denied {
        /// The tool.
        tool: String,
        /// The rule's pattern.
        pattern: String,
    },
    /// A person said no.
    #[error("the user rejected `{tool}`{}", because(.message.as_deref()))]
    Rejected {
        /// The tool.
        tool: String,
        /// The person's message to the assistant.
        message: Option<String>,
    },
    /// A person rejected another call, which rejects all pending ones.
    #[error("the user rejected another request, and `{tool}` with it; nothing has run")]
    RejectedWithAnother {
        /// The tool.
        tool: String,
    },
    /// The caller was in a hurry, and no person has replied yet.
    #[error(
        "waiting for the user: `{tool}` needs permission for this call, and nothing has run \
         yet{}; make the same call again once they have replied",
        allowed_with(.request.as_deref())
    )]
    Unpermitted {
        /// The tool.
        tool: String,
        /// The id of the open request.
        request: Option<String>,
    },
    /// It cannot be recorded, and unrecorded calls are configured not to run.
    #[error("the record cannot be written ({error}), so nothing has run; tell the user")]
    NotRecorded {
        /// The write error.
        error: String,
    },
    /// The session has ended.
    #[error("the session has ended; start another one")]
    Closed,
    /// The caller gave up on the batch.
    #[error("cancelled")]
    Cancelled,
}

/// An argument that does not fit its parameter's schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", named(.argument))]
pub struct ArgumentMisfit {
    /// The argument's dotted path; empty if it concerns all of them.
    pub argument: String,
    /// The violated rule of the schema, with the given value.
    pub problem: String,
}

/// The kind of a refusal. Each front end maps it to a status code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefusalKind {
    /// The request cannot be read.
    Unreadable,
    /// A value in the request is invalid.
    Unfit,
    /// The tool, handle, question or permission request is not known.
    Missing,
    /// The name is taken.
    Exists,
    /// The current state does not allow it.
    Conflict,
    /// Too many requests are waiting; a retry may succeed.
    Busy,
    /// The session has ended.
    Gone,
    /// A person or a rule forbids it.
    Forbidden,
    /// A tool, server or person is not there at the moment.
    Unavailable,
    /// The caller cancelled.
    Cancelled,
}

impl Refusal {
    /// The kind of this refusal, for clients.
    pub fn kind(&self) -> RefusalKind {
        match self {
            Self::WithBatch(refusal) => refusal.kind(),
            Self::Unreadable { .. } | Self::Await(_) => RefusalKind::Unreadable,
            Self::Misfit(_)
            | Self::OtherTool { .. }
            | Self::Twice(_)
            | Self::WantsAnswer(_)
            | Self::Answer(_)
            | Self::SecretNotString { .. }
            | Self::NothingToAwait(_)
            | Self::Timeout(_)
            | Self::Condition(_)
            | Self::Pattern { .. } => RefusalKind::Unfit,
            Self::UnknownTool { .. } | Self::NotFound { .. } => RefusalKind::Missing,
            Self::Taken(_) => RefusalKind::Exists,
            Self::Input(error) => input_kind(error),
            Self::Ended(_)
            | Self::EndedForPerson(_)
            | Self::NotStarted(_)
            | Self::AsksNothing(_)
            | Self::Locked(_)
            | Self::TakenOver(_)
            | Self::NotLocked(_)
            | Self::AlreadyAnswered { .. } => RefusalKind::Conflict,
            Self::SecretOfUser { .. }
            | Self::SecretOfNobody { .. }
            | Self::NobodyToAsk { .. }
            | Self::Denied { .. }
            | Self::Rejected { .. }
            | Self::RejectedWithAnother { .. } => RefusalKind::Forbidden,
            Self::Unavailable { .. }
            | Self::Unpermitted { .. }
            | Self::NotRecorded { .. }
            | Self::Unreached(_) => RefusalKind::Unavailable,
            Self::Closed => RefusalKind::Gone,
            Self::Cancelled => RefusalKind::Cancelled,
        }
    }
}

fn input_kind(error: &InputError) -> RefusalKind {
    match error {
        InputError::UnknownKey { .. }
        | InputError::NotThroughPipe { .. }
        | InputError::NotAmongStates { .. }
        | InputError::AgentWantsMessage => RefusalKind::Unfit,
        InputError::QueueFull | InputError::StdinFull { .. } => RefusalKind::Busy,
        _ => RefusalKind::Conflict,
    }
}

fn with(command: Option<&str>) -> String {
    command.map_or_else(String::new, |command| format!(" with `{command}`"))
}

/// The instruction for a person to allow the request.
fn allowed_with(request: Option<&str>) -> String {
    let command = |request| {
        format!(
            "; they allow it with `windlass permissions reply {request} once` or on the page; tell them"
        )
    };
    request.map(command).unwrap_or_default()
}

fn because(message: Option<&str>) -> String {
    match message {
        Some(message) => format!(": {message}"),
        None => "; nothing has run".to_owned(),
    }
}

fn named(argument: &str) -> String {
    match argument {
        "" => String::new(),
        argument => format!("`{argument}`: "),
    }
}

fn found_instead(is_new: bool, handles: &[HandleSummary]) -> String {
    if is_new {
        return "; this session is new, and a handle belongs to the session that spawned it"
            .to_owned();
    }
    listed(handles)
}

fn listed(handles: &[HandleSummary]) -> String {
    if handles.is_empty() {
        return String::new();
    }
    let is_stopped = |handle: &&HandleSummary| handle.state == HandleState::Stopped;
    // All that run, and of those that have stopped the newest.
    let stopped = handles.iter().filter(is_stopped).count();
    let mut hidden = stopped.saturating_sub(MOST_STOPPED);
    let more = hidden;
    let listed = handles.iter().filter(|handle| {
        let hide = hidden > 0 && is_stopped(handle);
        hidden -= usize::from(hide);
        !hide
    });
    let listed: Vec<String> = listed.map(ToString::to_string).collect();
    let listed = listed.join(", ");
    match more {
        0 => format!("; handles: {listed}"),
        more => format!("; handles: {listed}, and {more} older ones that have stopped"),
    }
}
