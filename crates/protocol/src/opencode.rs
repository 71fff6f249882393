//! The messages of opencode's clients, in both generations of its SDK.
//!
//! Start at [`OpencodeEvent`]. Parts, requests and replies are those of the
//! record ([`ToolPart`](crate::ToolPart), [`PermissionRequest`]); this module
//! has the envelope around them. If the two generations use different fields
//! for one value, both are written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Arguments, MessageId, MessagePart, MessageTime, Millis, PermissionId, PermissionReply,
    PermissionRequest, SessionId, ToolPart,
};

/// A session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeSession {
    /// The session's id.
    pub id: SessionId,
    /// Names it for people.
    pub slug: String,
    /// The project's id, equal in all of its sessions.
    #[serde(rename = "projectID")]
    pub project_id: String,
    /// The project's root folder.
    pub directory: String,
    /// The title to show.
    pub title: String,
    /// The server's version.
    pub version: String,
    /// When it began and was last heard of.
    pub time: OpencodeSessionTime,
}

/// When a session began and was last heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeSessionTime {
    /// When it began.
    pub created: Millis,
    /// When something last happened in it.
    pub updated: Millis,
}

/// The body that creates a session. Other fields that clients send concern
/// models and are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeNewSession {
    /// The title to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// A message and its parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeMessage {
    /// The message's properties.
    pub info: OpencodeMessageInfo,
    /// Its parts, in order.
    pub parts: Vec<MessagePart>,
}

/// A message's properties, by author.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum OpencodeMessageInfo {
    /// The user wrote it.
    User(OpencodeUserMessage),
    /// The assistant wrote it.
    Assistant(Box<OpencodeAssistantMessage>),
}

/// A message of the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeUserMessage {
    /// The message's id.
    pub id: MessageId,
    /// The session it belongs to.
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// When it was written.
    pub time: MessageTime,
    /// The agent that it is addressed to.
    pub agent: String,
    /// The model it was for.
    pub model: OpencodeModel,
}

/// A model, as a user's message names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeModel {
    /// The model's provider.
    #[serde(rename = "providerID")]
    pub provider_id: String,
    /// Its name.
    #[serde(rename = "modelID")]
    pub model_id: String,
}

/// A message of the assistant. By default, a batch of calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeAssistantMessage {
    /// The message's id.
    pub id: MessageId,
    /// The session it belongs to.
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// When it was begun and finished.
    pub time: MessageTime,
    /// The user's message that it follows.
    #[serde(rename = "parentID")]
    pub parent_id: MessageId,
    /// The model.
    #[serde(rename = "modelID")]
    pub model_id: String,
    /// The model's provider.
    #[serde(rename = "providerID")]
    pub provider_id: String,
    /// The agent's mode.
    pub mode: String,
    /// The agent that wrote it.
    pub agent: String,
    /// Its working folder.
    pub path: OpencodePath,
    /// The cost; 0 if unknown.
    pub cost: f64,
    /// The tokens used.
    pub tokens: OpencodeTokens,
}

/// The working folder of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodePath {
    /// The folder.
    pub cwd: String,
    /// The project's root folder.
    pub root: String,
}

/// The tokens that a message used; 0 if unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeTokens {
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Reasoning tokens.
    pub reasoning: u64,
    /// Cached tokens.
    pub cache: OpencodeCache,
}

/// Cached tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeCache {
    /// And was read again.
    pub read: u64,
    /// And was written.
    pub write: u64,
}

/// One event of `GET /event`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeEvent {
    /// The event's id.
    pub id: String,
    /// The event's content.
    #[serde(flatten)]
    pub update: OpencodeUpdate,
}

/// The content of an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "properties")]
pub enum OpencodeUpdate {
    /// The start of the stream; earlier events must be requested.
    #[serde(rename = "server.connected")]
    Connected {},
    /// A keep-alive message.
    #[serde(rename = "server.heartbeat")]
    Heartbeat {},
    /// A session is new to the reader.
    #[serde(rename = "session.created")]
    SessionCreated(OpencodeSessionNews),
    /// A session has changed.
    #[serde(rename = "session.updated")]
    SessionUpdated(OpencodeSessionNews),
    /// A session is gone.
    #[serde(rename = "session.deleted")]
    SessionDeleted(OpencodeSessionNews),
    /// A session has become busy or idle.
    #[serde(rename = "session.status")]
    SessionStatus {
        /// The session.
        #[serde(rename = "sessionID")]
        session_id: SessionId,
        /// The new status.
        status: OpencodeStatus,
    },
    /// A session has ceased to be at work.
    #[serde(rename = "session.idle")]
    SessionIdle {
        /// The session.
        #[serde(rename = "sessionID")]
        session_id: SessionId,
    },
    /// A message was begun or finished.
    #[serde(rename = "message.updated")]
    MessageUpdated {
        /// The session.
        #[serde(rename = "sessionID")]
        session_id: SessionId,
        /// The message.
        info: OpencodeMessageInfo,
    },
    /// A call has changed; this is its whole part.
    #[serde(rename = "message.part.updated")]
    PartUpdated {
        /// The session.
        #[serde(rename = "sessionID")]
        session_id: SessionId,
        /// The part.
        part: Box<ToolPart>,
        /// When.
        time: Millis,
    },
    /// A person is asked for permission.
    #[serde(rename = "permission.asked")]
    PermissionAsked(PermissionRequest),
    /// A request for permission, in the form for clients of the first
    /// generation.
    #[serde(rename = "permission.updated")]
    PermissionUpdated(OpencodePermission),
    /// A request was replied to. A withdrawn request counts as rejected.
    #[serde(rename = "permission.replied")]
    PermissionReplied(OpencodeReplied),
}

/// A session, in an event about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeSessionNews {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// The whole session.
    pub info: OpencodeSession,
}

/// Whether a session is busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum OpencodeStatus {
    /// No call is open.
    Idle,
    /// A call is open.
    Busy,
}

/// A request for permission, for clients of the first generation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodePermission {
    /// The request's id.
    pub id: PermissionId,
    /// The kind of permission.
    #[serde(rename = "type")]
    pub kind: String,
    /// The patterns of the requested action.
    pub pattern: Vec<String>,
    /// The session that asks.
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// The message that contains the call; empty without a call.
    #[serde(rename = "messageID")]
    pub message_id: String,
    /// The call.
    #[serde(rename = "callID", default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The title to show.
    pub title: String,
    /// The arguments and whatever else helps to decide.
    pub metadata: Arguments,
    /// When it was asked.
    pub time: OpencodePermissionTime,
}

/// When a permission was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodePermissionTime {
    /// When it was asked.
    pub created: Millis,
}

/// A request was replied to, for both generations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeReplied {
    /// The session that asked.
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// The request.
    #[serde(rename = "requestID")]
    pub request_id: PermissionId,
    /// The reply.
    pub reply: PermissionReply,
    /// The request, in the first generation.
    #[serde(rename = "permissionID")]
    pub permission_id: PermissionId,
    /// The reply, in the first generation.
    pub response: PermissionReply,
}

/// A reply in the form of the first generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeResponseBody {
    /// Yes, always or no.
    pub response: PermissionReply,
}

/// A reply in the form of the second generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeReplyBody {
    /// Yes, always or no.
    pub reply: PermissionReply,
    /// A word to the assistant, with a rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeError {
    /// The kind of error: `NotFoundError`, `BadRequest` or `UnknownError`.
    pub name: String,
    /// The details.
    pub data: OpencodeErrorData,
    /// The kind of error again, where newer clients look for it.
    #[serde(rename = "_tag", default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The permission request that there is not.
    #[serde(rename = "requestID", default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The message, where newer clients look for it.
    pub message: String,
}

/// The details of an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeErrorData {
    /// A message that says what would work.
    pub message: String,
}
