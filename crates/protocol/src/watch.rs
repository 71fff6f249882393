//! What somebody who looks on sees of sessions and handles, and what they may
//! do. The bodies of the HTTP interface.
//!
//! Start at [`SessionInfo`] and [`HandleInfo`]; [`SessionUpdate`] is what the
//! event stream carries. None of this moves the assistant's cursor.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::null::null_as_default;
use crate::{
    Ask, HandleAction, HandleId, HandleState, Millis, Notice, PermissionId, PermissionReply,
    PermissionRequest, Question, ScreenUpdate, SessionId, ToolPart, Typing,
};

/// A session that is under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionInfo {
    /// The session.
    pub id: SessionId,
    /// How the outside reaches it: `drive`, `mcp`, `query`, `serve`.
    pub front_end: String,
    /// The name that it was given, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The name by which its client introduced itself, such as `claude-code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The process that owns it.
    pub pid: u32,
    /// The project's root folder.
    pub root: PathBuf,
    /// When it began.
    pub created: Millis,
    /// How many handles have not stopped.
    pub active: usize,
    /// How many permissions and questions wait for a person.
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
    /// Why it cannot be written now. Absent once it can be again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How many changes wait to be written.
    pub waiting: u64,
    /// How many changes are lost, since the process began.
    pub lost: u64,
}

/// The body that begins a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSession {
    /// Whoever drives it needs no permission for anything.
    #[serde(default, deserialize_with = "null_as_default")]
    pub trusted: bool,
    /// It ends when nothing was asked of it for this long; an hour unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_secs: Option<u64>,
}

/// A session was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionBegun {
    /// The session.
    pub id: SessionId,
}

/// A handle as somebody sees it who looks on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HandleInfo {
    /// The handle. A one-shot has no handle; this is the id by which a person
    /// reads and ends it while it runs.
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
    /// How long it has run, or ran.
    pub elapsed_secs: f64,
    /// How many bytes it has written.
    pub written: u64,
    /// It has a screen.
    pub terminal: bool,
    /// A person has taken it over.
    pub locked: bool,
    /// The last line of its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_line: Option<String>,
    /// What it asks, when waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    /// Its result of its own or its error message, when stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// It stopped with an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The exit code of its process, when stopped with one other than 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended its process, such as `SIGKILL`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Its use of the machine now, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<HandleUse>,
}

/// The use of the machine by a tool and everything that it has started.
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

/// What a person types into a handle: one of its fields.
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
    /// The lock, by whoever has taken the handle over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<String>,
}

/// How large a terminal is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// How many rows.
    pub rows: u16,
    /// How many columns.
    pub cols: u16,
}

/// How a handle is to be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LockBody {
    /// Takes it even from somebody who has taken it over already.
    #[serde(default)]
    pub anyway: bool,
}

/// A person has taken a handle over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LockInfo {
    /// Names the lock; whoever has it may type and hand back.
    pub lock: String,
    /// The handle is handed back when nothing was typed for this long.
    pub expires_in_secs: u64,
}

/// What a stop ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StopReceipt {
    /// How many processes were ended.
    pub ended: usize,
    /// Those that could not be.
    pub survivors: Vec<String>,
}

/// What was found in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogMatches {
    /// The lines that match, oldest first.
    pub matches: Vec<LogMatch>,
}

/// A line of a log that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogMatch {
    /// Where it begins.
    pub from: u64,
    /// The line, cut where it is long.
    pub line: String,
}

/// How a server is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// `ok`: it answers.
    pub status: String,
}

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// What would work.
    pub error: String,
}

/// An answer to a question, by the question's own address.
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
    /// What is asked.
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
    /// What happened.
    #[serde(flatten)]
    pub update: SessionUpdate,
}

/// What has happened in a session, as far as it is kept. That a tool wrote is
/// left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionHistory {
    /// How many events before these are gone.
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
    /// A call as it is recorded has changed; this is all of it.
    Part {
        /// The part.
        part: Box<ToolPart>,
    },
    /// A tool runs.
    Started(ToolPlace),
    /// A tool wrote.
    Wrote {
        /// Which.
        #[serde(flatten)]
        tool: ToolPlace,
        /// How many bytes.
        bytes: u64,
    },
    /// A tool asks something and waits.
    Asked {
        /// Which.
        #[serde(flatten)]
        tool: ToolPlace,
        /// What it asks.
        question: Question,
    },
    /// A tool's question was answered.
    Answered(ToolPlace),
    /// A tool is being ended.
    Aborting {
        /// Which.
        #[serde(flatten)]
        tool: ToolPlace,
        /// By whom, or why.
        reason: String,
    },
    /// A tool has ended.
    Stopped {
        /// Which.
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
    /// The request was replied to, or withdrawn when there is no reply.
    PermissionReplied {
        /// The request.
        permission: PermissionId,
        /// The reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<PermissionReply>,
    },
    /// A permission was decided without asking anybody.
    PermissionDecided {
        /// What would have been asked.
        request: PermissionRequest,
        /// The reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<PermissionReply>,
    },
    /// A question is on its way to whoever answers it.
    Question(Ask),
    /// A question was answered, or withdrawn.
    QuestionClosed {
        /// The asking.
        ask: String,
    },
    /// The assistant will be told this.
    Noticed {
        /// What.
        notice: Notice,
    },
    /// The assistant has been told, or a reply has made the notices needless.
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

/// Which tool something happened to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolPlace {
    /// Its number within the session; one-shots have one too.
    pub tool_number: u64,
    /// The handle's id, unless it is a one-shot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<HandleId>,
    /// The id by which a person finds it, if it is a one-shot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_shot: Option<HandleId>,
    /// How many bytes of the tool's output preceded the event.
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
    /// How its screen changed.
    #[serde(flatten)]
    pub screen: ScreenUpdate,
}
