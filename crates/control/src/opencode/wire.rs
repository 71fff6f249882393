//! The messages of opencode's clients, in both generations of its SDK.
//!
//! Start at [`OpencodeEvent`]. Parts, requests and replies are those of the
//! record ([`ToolPart`](windlass_protocol::ToolPart), [`PermissionRequest`]); this module
//! has the envelope around them. If the two generations use different fields
//! for one value, both are written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass_protocol::{
    Arguments, MessageId, MessagePart, MessageTime, Millis, PermissionId, PermissionReply,
    PermissionRequest, SessionId, ToolPart,
};

/// A session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodeSession {
    /// The session's id.
    pub(crate) id: SessionId,
    /// Names it for people.
    pub(crate) slug: String,
    /// The project's id, equal in all of its sessions.
    #[serde(rename = "projectID")]
    pub(crate) project_id: String,
    /// The project's root folder.
    pub(crate) directory: String,
    /// The title to show.
    pub(crate) title: String,
    /// The server's version.
    pub(crate) version: String,
    /// When it began and was last heard of.
    pub(crate) time: OpencodeSessionTime,
}

/// When a session began and was last heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodeSessionTime {
    /// When it began.
    pub(crate) created: Millis,
    /// When something last happened in it.
    pub(crate) updated: Millis,
}

/// The body that creates a session. Other fields that clients send concern
/// models and are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodeNewSession {
    /// The title to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
}

/// A message and its parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodeMessage {
    /// The message's properties.
    pub(crate) info: OpencodeMessageInfo,
    /// Its parts, in order.
    pub(crate) parts: Vec<MessagePart>,
}

/// A message's properties, by author.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(crate) enum OpencodeMessageInfo {
    /// The user wrote it.
    User(OpencodeUserMessage),
    /// The assistant wrote it.
    Assistant(Box<OpencodeAssistantMessage>),
}

/// A message of the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodeUserMessage {
    /// The message's id.
    pub(crate) id: MessageId,
    /// The session it belongs to.
    #[serde(rename = "sessionID")]
    pub(crate) session_id: SessionId,
    /// When it was written.
    pub(crate) time: MessageTime,
    /// The agent that it is addressed to.
    pub(crate) agent: String,
    /// The model it was for.
    pub(crate) model: OpencodeModel,
}

/// A model, as a user's message names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodeModel {
    /// The model's provider.
    #[serde(rename = "providerID")]
    pub(crate) provider_id: String,
    /// Its name.
    #[serde(rename = "modelID")]
    pub(crate) model_id: String,
}

/// A message of the assistant. By default, a batch of calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodeAssistantMessage {
    /// The message's id.
    pub(crate) id: MessageId,
    /// The session it belongs to.
    #[serde(rename = "sessionID")]
    pub(crate) session_id: SessionId,
    /// When it was begun and finished.
    pub(crate) time: MessageTime,
    /// The user's message that it follows.
    #[serde(rename = "parentID")]
    pub(crate) parent_id: MessageId,
    /// The model.
    #[serde(rename = "modelID")]
    pub(crate) model_id: String,
    /// The model's provider.
    #[serde(rename = "providerID")]
    pub(crate) provider_id: String,
    /// The agent's mode.
    pub(crate) mode: String,
    /// The agent that wrote it.
    pub(crate) agent: String,
    /// Its working folder.
    pub(crate) path: OpencodePath,
    /// The cost; 0 if unknown.
    pub(crate) cost: f64,
    /// The tokens used.
    pub(crate) tokens: OpencodeTokens,
}

/// The working folder of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodePath {
    /// The folder.
    pub(crate) cwd: String,
    /// The project's root folder.
    pub(crate) root: String,
}

/// The tokens that a message used; 0 if unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodeTokens {
    /// Input tokens.
    pub(crate) input: u64,
    /// Output tokens.
    pub(crate) output: u64,
    /// Reasoning tokens.
    pub(crate) reasoning: u64,
    /// Cached tokens.
    pub(crate) cache: OpencodeCache,
}

/// Cached tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodeCache {
    /// And was read again.
    pub(crate) read: u64,
    /// And was written.
    pub(crate) write: u64,
}

/// One event of `GET /event`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodeEvent {
    /// The event's id.
    pub(crate) id: String,
    /// The event's content.
    #[serde(flatten)]
    pub(crate) update: OpencodeUpdate,
}

/// The content of an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "properties")]
pub(crate) enum OpencodeUpdate {
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
pub(crate) struct OpencodeSessionNews {
    /// The session.
    #[serde(rename = "sessionID")]
    pub(crate) session_id: SessionId,
    /// The whole session.
    pub(crate) info: OpencodeSession,
}

/// Whether a session is busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum OpencodeStatus {
    /// No call is open.
    Idle,
    /// A call is open.
    Busy,
}

/// A request for permission, for clients of the first generation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodePermission {
    /// The request's id.
    pub(crate) id: PermissionId,
    /// The kind of permission.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The patterns of the requested action.
    pub(crate) pattern: Vec<String>,
    /// The session that asks.
    #[serde(rename = "sessionID")]
    pub(crate) session_id: SessionId,
    /// The message that contains the call; empty without a call.
    #[serde(rename = "messageID")]
    pub(crate) message_id: String,
    /// The call.
    #[serde(rename = "callID", default, skip_serializing_if = "Option::is_none")]
    pub(crate) call_id: Option<String>,
    /// The title to show.
    pub(crate) title: String,
    /// The arguments and whatever else helps to decide.
    pub(crate) metadata: Arguments,
    /// When it was asked.
    pub(crate) time: OpencodePermissionTime,
}

/// When a permission was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodePermissionTime {
    /// When it was asked.
    pub(crate) created: Millis,
}

/// A request was replied to, for both generations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodeReplied {
    /// The session that asked.
    #[serde(rename = "sessionID")]
    pub(crate) session_id: SessionId,
    /// The request.
    #[serde(rename = "requestID")]
    pub(crate) request_id: PermissionId,
    /// The reply.
    pub(crate) reply: PermissionReply,
    /// The request, in the first generation.
    #[serde(rename = "permissionID")]
    pub(crate) permission_id: PermissionId,
    /// The reply, in the first generation.
    pub(crate) response: PermissionReply,
}

/// A reply in the form of the first generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodeResponseBody {
    /// Yes, always or no.
    pub(crate) response: PermissionReply,
}

/// A reply in the form of the second generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodeReplyBody {
    /// Yes, always or no.
    pub(crate) reply: PermissionReply,
    /// A word to the assistant, with a rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
}

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodeError {
    /// The kind of error: `NotFoundError`, `BadRequest` or `UnknownError`.
    pub(crate) name: String,
    /// The details.
    pub(crate) data: OpencodeErrorData,
    /// The kind of error again, where newer clients look for it.
    #[serde(rename = "_tag", default, skip_serializing_if = "Option::is_none")]
    pub(crate) tag: Option<String>,
    /// The permission request that there is not.
    #[serde(rename = "requestID", default, skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<String>,
    /// The message, where newer clients look for it.
    pub(crate) message: String,
}

/// The details of an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpencodeErrorData {
    /// A message that says what would work.
    pub(crate) message: String,
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
