//! The record as it is read back: sessions, messages and permissions.
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

/// A stable id of a project, derived from its root folder.
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
    /// The session's id.
    pub id: SessionId,
    /// The project's id, equal in all of its sessions.
    #[serde(rename = "projectID")]
    pub project_id: String,
    /// The project's root folder.
    pub directory: String,
    /// The parent session, if it is an agent's session.
    #[serde(rename = "parentID", default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<SessionId>,
    /// The title to show.
    pub title: String,
    /// The version of Windlass that recorded it.
    pub version: String,
    /// The front end: `drive`, `mcp`, `query`, `serve`, `call`.
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
    /// The runtime's id, because process ids are reused.
    pub id: String,
    /// The process's number.
    pub pid: u32,
}

/// The times of a session's start, last sign of life and end.
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
    /// The message's properties.
    pub info: MessageInfo,
    /// Its parts, in order.
    pub parts: Vec<MessagePart>,
}

/// A message's properties.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageInfo {
    /// The message's id.
    pub id: MessageId,
    /// The session it belongs to.
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// The author.
    pub role: Role,
    /// When it was begun and finished.
    pub time: MessageTime,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user.
    User,
    /// The assistant. By default, a batch of calls is a message of its own.
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
    /// Text.
    Text(TextPart),
}

/// A text in a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "text")]
#[schemars(rename = "TextPart", transform = crate::part::says_type("text"))]
pub struct TextPart {
    /// The part's id.
    pub id: PartId,
    /// The session it belongs to.
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// The message that holds it.
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    /// The text itself.
    pub text: String,
}

/// An event of a conversation, as its front end wrote it. Only that front end
/// interprets `payload`; `text` is shown to people who read the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConversationEvent {
    /// The message that it belongs to.
    pub message: MessageId,
    /// The author of the message.
    pub role: Role,
    /// Its text, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The event itself, without its replies.
    pub payload: Value,
    /// The replies to the message's calls that are part of the event. Text that
    /// a call's part contains too is stored once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<CallReply>,
    /// When it was written.
    pub at: Millis,
}

/// A permission that is decided or pending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionRecord {
    /// The request.
    pub request: PermissionRequest,
    /// The decision; absent while the request is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionRecord>,
    /// When it was asked and decided.
    pub time: PermissionTime,
}

/// The decision on a permission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionRecord {
    /// The reply; absent if the request was withdrawn or nobody answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<PermissionReply>,
    /// The decider.
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
    /// A decision without further details.
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

/// The party that decided on a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decider {
    /// A person replied.
    Person,
    /// A rule of the configuration, or a remembered one.
    Rule,
    /// A person's reply to another request also settled this one.
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

/// A rule: the action for requests that match its permission and pattern.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct PermissionRule {
    /// The permission, which may itself hold `*`.
    pub permission: String,
    /// The pattern, matched against the requested action.
    pub pattern: String,
    /// The rule's action.
    pub action: RuleAction,
}

/// The action of a rule.
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
    /// The rule's id.
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
    /// The notice.
    pub notice: Notice,
    /// When it was made.
    pub created: Millis,
    /// The time at which the assistant received it, or a reply covered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered: Option<Millis>,
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
