//! The types of the HTTP interface: sessions and handles as an observer sees
//! them, and the observer's requests.
//!
//! Start at [`SessionInfo`] and [`HandleInfo`]; the event stream carries
//! [`SessionUpdate`]. None of this moves the assistant's cursor.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::null::null_as_default;
use crate::{
    Ask, HandleAction, HandleId, HandleState, Millis, Notice, PermissionId, PermissionReply,
    PermissionRequest, Question, ScreenUpdate, SessionId, ToolPart, Typing,
};

/// An open session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionInfo {
    /// The session.
    pub id: SessionId,
    /// The front end: `drive`, `mcp`, `query`, `serve`.
    pub front_end: String,
    /// The name that it was given, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The client's name as given by the client, such as `claude-code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The process that owns it.
    pub pid: u32,
    /// The project's root folder.
    pub root: PathBuf,
    /// When it began.
    pub created: Millis,
    /// The number of handles that have not stopped.
    pub active: usize,
    /// The number of permissions and questions that wait for a person.
    pub pending: usize,
    /// The number of its newest event.
    pub last_event: u64,
    /// The record cannot be written, or has lost something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordTrouble>,
}

/// Trouble with the record of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordTrouble {
    /// The error that prevents writing. Absent once writing works again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The number of changes that wait to be written.
    pub waiting: u64,
    /// The number of changes lost since the process started.
    pub lost: u64,
}

/// The body that begins a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSession {
    /// Whoever drives it needs no permission for anything.
    #[serde(default, deserialize_with = "null_as_default")]
    pub trusted: bool,
    /// The session ends after this many seconds without a request; default:
    /// 3600.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_secs: Option<u64>,
}

/// A session was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionBegun {
    /// The session.
    pub id: SessionId,
}

/// A handle as an observer sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HandleInfo {
    /// The handle's id. A one-shot has no handle; this id identifies it while
    /// it runs.
    pub id: HandleId,
    /// Whether it is a handle or a one-shot.
    #[serde(default)]
    pub kind: HandleKind,
    /// Its tool.
    pub tool: String,
    /// Its state.
    pub state: HandleState,
    /// The command that it runs, or its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its running time.
    pub elapsed_secs: f64,
    /// The number of bytes it has written.
    pub written: u64,
    /// It has a screen.
    pub terminal: bool,
    /// A person has taken it over.
    pub locked: bool,
    /// The last line of its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_line: Option<String>,
    /// The question, when waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    /// Its reported result or its error message, when stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// It stopped with an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The exit code of its process, when stopped with a code other than 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended its process, such as `SIGKILL`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Its current resource usage, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<HandleUse>,
}

/// The resource usage of a tool with all of its child processes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct HandleUse {
    /// CPU time in seconds.
    pub cpu_secs: f64,
    /// Bytes of memory.
    pub memory: u64,
    /// Processes that run.
    pub processes: u64,
}

/// The two kinds of running tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HandleKind {
    /// The assistant drives it.
    #[default]
    Handle,
    /// A call runs it to its end. It is listed only while it runs.
    OneShot,
}

/// A person's input to a handle: exactly one of the fields.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonInput {
    /// Text and keys, as in `apply`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typing: Option<Typing>,
    /// Bytes as a keyboard sends them, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    /// The answer to the handle's open question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// The lock of the person who has taken the handle over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<String>,
}

/// The new size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// The number of rows.
    pub rows: u16,
    /// The number of columns.
    pub cols: u16,
}

/// A request to take a handle over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LockBody {
    /// Takes it even if another person has taken it over.
    #[serde(default)]
    pub anyway: bool,
}

/// A person has taken a handle over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LockInfo {
    /// The lock's id; its owner may type and hand the handle back.
    pub lock: String,
    /// The handle is handed back after this many seconds without input.
    pub expires_in_secs: u64,
}

/// The result of a stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StopReceipt {
    /// The number of processes that were ended.
    pub ended: usize,
    /// Those that could not be.
    pub survivors: Vec<String>,
}

/// The matches in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogMatches {
    /// The lines that match, oldest first.
    pub matches: Vec<LogMatch>,
}

/// A line of a log that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogMatch {
    /// The offset at which it begins.
    pub from: u64,
    /// The line, cut where it is long.
    pub line: String,
}

/// The status of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// `ok`: it answers.
    pub status: String,
}

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// The message, which says what would work.
    pub error: String,
}

/// An answer to a question that the request's address names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerBody {
    /// The answer.
    pub value: Value,
}

/// A question and the session that it belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenQuestion {
    /// The session.
    pub session: SessionId,
    /// The question.
    #[serde(flatten)]
    pub ask: Ask,
}

/// One event of the event stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamedEvent {
    /// The session it happened in.
    pub session: SessionId,
    /// Its place in the session's journal.
    pub number: u64,
    /// When it happened.
    pub at: Millis,
    /// The event's content.
    #[serde(flatten)]
    pub update: SessionUpdate,
}

/// The stored events of a session, without write events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionHistory {
    /// The number of earlier events that are no longer stored.
    pub missed: u64,
    /// The number of the newest event.
    pub last: u64,
    /// The events in order.
    pub events: Vec<StreamedEvent>,
}

/// Something that happened in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SessionUpdate {
    /// A call came in.
    Called {
        /// The call.
        call: String,
        /// Its tool.
        tool: String,
        /// Its action, unless it is a one-shot.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<HandleAction>,
        /// Its handle, unless it is a one-shot.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handle: Option<HandleId>,
    },
    /// A call was answered.
    Replied {
        /// The call.
        call: String,
        /// It was refused or failed.
        is_error: bool,
    },
    /// A recorded call has changed; this is its whole part.
    Part {
        /// The part.
        part: Box<ToolPart>,
    },
    /// A tool runs.
    Started(ToolPlace),
    /// A tool wrote.
    Wrote {
        /// The tool.
        #[serde(flatten)]
        tool: ToolPlace,
        /// The number of bytes.
        bytes: u64,
    },
    /// A tool asks something and waits.
    Asked {
        /// The tool.
        #[serde(flatten)]
        tool: ToolPlace,
        /// The question.
        question: Question,
    },
    /// A tool's question was answered.
    Answered(ToolPlace),
    /// A tool is being ended.
    Aborting {
        /// The tool.
        #[serde(flatten)]
        tool: ToolPlace,
        /// By whom, or why.
        reason: String,
    },
    /// A tool has ended.
    Stopped {
        /// The tool.
        #[serde(flatten)]
        tool: ToolPlace,
        /// It ended badly.
        failed: bool,
        /// Its error's message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A person is asked for permission.
    Permission {
        /// The request.
        request: PermissionRequest,
    },
    /// A request was replied to, or withdrawn if there is no reply.
    PermissionReplied {
        /// The request.
        permission: PermissionId,
        /// The reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<PermissionReply>,
    },
    /// A permission was decided without asking anybody.
    PermissionDecided {
        /// The request that would have been made.
        request: PermissionRequest,
        /// The reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<PermissionReply>,
    },
    /// A question was opened.
    Question(Ask),
    /// A question was answered, or withdrawn.
    QuestionClosed {
        /// The asking.
        ask: String,
    },
    /// A notice for the assistant was queued.
    Noticed {
        /// The notice.
        notice: Notice,
    },
    /// Notices were delivered to the assistant, or became obsolete by a reply.
    Delivered {
        /// The numbers that the notices have in the journal.
        notices: Vec<u64>,
    },
    /// A person has taken a handle over.
    Locked {
        /// The handle.
        handle: HandleId,
    },
    /// A person has handed a handle back.
    Unlocked {
        /// The handle.
        handle: HandleId,
    },
    /// The turn ended.
    TurnEnded,
    /// The session ended; nothing follows.
    Closed,
}

/// The tool that an event is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolPlace {
    /// Its number within the session; one-shots have one too.
    pub tool_number: u64,
    /// The handle's id, unless it is a one-shot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<HandleId>,
    /// The id of a one-shot, by which a person finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_shot: Option<HandleId>,
    /// The number of output bytes before the event.
    #[serde(default)]
    pub offset: u64,
}

/// A screen on the event stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamedScreen {
    /// The session.
    pub session: SessionId,
    /// The handle.
    pub handle: HandleId,
    /// The change of its screen.
    #[serde(flatten)]
    pub screen: ScreenUpdate,
}
