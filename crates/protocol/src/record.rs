//! The record: sessions, their messages and what was permitted, as they are
//! read back.
//!
//! Names and spelling follow opencode's wire where it has them. A call in the
//! record is a [`ToolPart`].

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Arguments, CallReply, MessageId, Millis, Notice, PartId, PermissionReply, PermissionRequest,
    SessionId, ToolPart,
};

/// A name for a project that is the same across runs, made of its root folder.
pub fn project_id(root: &Path) -> String {
    // FNV-1a: the same in every version, and good enough for names.
    let bytes = root.as_os_str().as_encoded_bytes();
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// One session in the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRecord {
    /// Names the session.
    pub id: SessionId,
    /// Names the project, the same in every session of it.
    #[serde(rename = "projectID")]
    pub project_id: String,
    /// The project's root folder.
    pub directory: String,
    /// The session that it worked for, as an agent's does.
    #[serde(rename = "parentID", default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<SessionId>,
    /// What to show for it.
    pub title: String,
    /// The version of Windlass that recorded it.
    pub version: String,
    /// How the outside reached it: `drive`, `mcp`, `query`, `serve`, `call`.
    #[serde(rename = "frontEnd")]
    pub front_end: String,
    /// The process that ran it.
    pub runtime: RuntimeRecord,
    /// When it began, was last heard of and ended.
    pub time: SessionTime,
}

/// The process that ran a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuntimeRecord {
    /// Names the runtime; numbers of processes are given again in time.
    pub id: String,
    /// The process's number.
    pub pid: u32,
}

/// When a session began, was last heard of and ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionTime {
    /// When it began.
    pub created: Millis,
    /// When something last happened in it.
    pub updated: Millis,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Millis>,
}

/// One message of a session with its parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageRecord {
    /// What the message is.
    pub info: MessageInfo,
    /// What it holds, in order.
    pub parts: Vec<MessagePart>,
}

/// What a message is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageInfo {
    /// Names the message.
    pub id: MessageId,
    /// The session it belongs to.
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// Who wrote it.
    pub role: Role,
    /// When it was begun and finished.
    pub time: MessageTime,
}

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user.
    User,
    /// The assistant. A batch of calls is a message of its own where nobody
    /// says otherwise.
    Assistant,
}

/// When a message was begun and finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageTime {
    /// When it was begun.
    pub created: Millis,
    /// When all of its calls were answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed: Option<Millis>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MessagePart {
    /// A call.
    Tool(Box<ToolPart>),
    /// What somebody said.
    Text(TextPart),
}

/// What somebody said in a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "text")]
#[schemars(rename = "TextPart", transform = crate::part::says_type("text"))]
pub struct TextPart {
    /// Names the part.
    pub id: PartId,
    /// The session it belongs to.
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// The message that holds it.
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    /// What was said.
    pub text: String,
}

/// One event of a conversation, as the front end that holds it wrote it. What
/// `payload` means is that front end's business; `text` is what a person who
/// reads the record is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConversationEvent {
    /// The message that it belongs to.
    pub message: MessageId,
    /// Who wrote the message.
    pub role: Role,
    /// What was said, if anything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The event itself, without its replies.
    pub payload: Value,
    /// The replies to the message's calls that the event tells. Where a call's
    /// part says the same, the record stores the text once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<CallReply>,
    /// When it was written.
    pub at: Millis,
}

/// A permission that was decided, or is being asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionRecord {
    /// What was asked.
    pub request: PermissionRequest,
    /// How it was decided; missing while it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionRecord>,
    /// When it was asked and decided.
    pub time: PermissionTime,
}

/// How a permission was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionRecord {
    /// The reply; missing when the request was withdrawn or nobody answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<PermissionReply>,
    /// Who decided.
    pub by: Decider,
    /// A word to the assistant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The arguments that it ran with instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Arguments>,
    /// The rule that decided, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<PermissionRule>,
}

impl DecisionRecord {
    /// Decided so by this one, and nothing else to say.
    pub fn new(by: Decider, reply: Option<PermissionReply>) -> Self {
        Self {
            reply,
            by,
            message: None,
            arguments: None,
            rule: None,
        }
    }
}

/// Who decided on a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decider {
    /// A person replied.
    Person,
    /// A rule of the configuration, or a remembered one.
    Rule,
    /// A person's reply to another request settled this one too.
    Another,
    /// Nobody could be asked, or nobody answered.
    Nobody,
    /// The call was withdrawn first.
    Withdrawn,
}

/// When a permission was asked and decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionTime {
    /// When it was asked.
    pub asked: Millis,
    /// When it was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<Millis>,
}

/// A rule: what becomes of a request whose permission and pattern it matches.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct PermissionRule {
    /// The permission, which may itself hold `*`.
    pub permission: String,
    /// The pattern of what would be done.
    pub pattern: String,
    /// What becomes of it.
    pub action: RuleAction,
}

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleAction {
    /// It runs.
    Allow,
    /// A person is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// A rule that an "always" has made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuleRecord {
    /// Names the rule.
    pub id: i64,
    /// The rule.
    #[serde(flatten)]
    pub rule: PermissionRule,
    /// The project it holds for, as its root folder.
    pub directory: String,
    /// When it was made.
    pub created: Millis,
}

/// A notice in the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoticeRecord {
    /// What the assistant should know.
    pub notice: Notice,
    /// When it was made.
    pub created: Millis,
    /// When it was given to the assistant, or a reply had told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered: Option<Millis>,
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
