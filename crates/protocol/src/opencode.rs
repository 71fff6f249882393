//! What opencode's clients read and send, in both generations of its SDK.
//!
//! Start at [`OpencodeEvent`]. Parts, requests and replies are the record's
//! own ([`ToolPart`](crate::ToolPart), [`PermissionRequest`]); here is what
//! stands around them. Where the two generations have different fields for
//! one thing, both are written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Arguments, MessageId, MessagePart, MessageTime, Millis, PermissionId, PermissionReply,
    PermissionRequest, SessionId, ToolPart,
};

/// A session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeSession {
    /// Names the session.
    pub id: SessionId,
    /// Names it for people.
    pub slug: String,
    /// Names the project, the same in every session of it.
    #[serde(rename = "projectID")]
    pub project_id: String,
    /// The project's root folder.
    pub directory: String,
    /// What to show for it.
    pub title: String,
    /// The version of what runs it.
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

/// The body that begins a session. What else a client sends is for models,
/// which have no part in it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeNewSession {
    /// What to show for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// A message and its parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeMessage {
    /// What the message is.
    pub info: OpencodeMessageInfo,
    /// What it holds, in order.
    pub parts: Vec<MessagePart>,
}

/// What a message is, by who wrote it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum OpencodeMessageInfo {
    /// The user wrote it.
    User(OpencodeUserMessage),
    /// The assistant wrote it.
    Assistant(Box<OpencodeAssistantMessage>),
}

/// What the user wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeUserMessage {
    /// Names the message.
    pub id: MessageId,
    /// The session it belongs to.
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// When it was written.
    pub time: MessageTime,
    /// Who it was for.
    pub agent: String,
    /// The model it was for.
    pub model: OpencodeModel,
}

/// A model, as a user's message names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeModel {
    /// Whose it is.
    #[serde(rename = "providerID")]
    pub provider_id: String,
    /// Its name.
    #[serde(rename = "modelID")]
    pub model_id: String,
}

/// What the assistant wrote: a batch of calls, where nobody says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeAssistantMessage {
    /// Names the message.
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
    /// Whose it is.
    #[serde(rename = "providerID")]
    pub provider_id: String,
    /// How it worked.
    pub mode: String,
    /// Who wrote it.
    pub agent: String,
    /// Where it worked.
    pub path: OpencodePath,
    /// What it cost; nothing, where that is not known.
    pub cost: f64,
    /// What it took of the model.
    pub tokens: OpencodeTokens,
}

/// Where a message worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodePath {
    /// The folder.
    pub cwd: String,
    /// The project's root folder.
    pub root: String,
}

/// What a message took of its model; nothing, where that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeTokens {
    /// What was read.
    pub input: u64,
    /// What was written.
    pub output: u64,
    /// What was thought.
    pub reasoning: u64,
    /// What was remembered.
    pub cache: OpencodeCache,
}

/// What a model remembered.
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
    /// Names the event.
    pub id: String,
    /// What happened.
    #[serde(flatten)]
    pub update: OpencodeUpdate,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "properties")]
pub enum OpencodeUpdate {
    /// The stream begins here; what was before must be asked for.
    #[serde(rename = "server.connected")]
    Connected {},
    /// Nothing, told so that both sides know that the other is there.
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
    /// A session has begun or ceased to be at work.
    #[serde(rename = "session.status")]
    SessionStatus {
        /// The session.
        #[serde(rename = "sessionID")]
        session_id: SessionId,
        /// How it stands.
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
    /// A call has come further; this is all of its part.
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
    /// The same, for clients of the first generation.
    #[serde(rename = "permission.updated")]
    PermissionUpdated(OpencodePermission),
    /// A request was replied to. One that was withdrawn counts as rejected.
    #[serde(rename = "permission.replied")]
    PermissionReplied(OpencodeReplied),
}

/// A session, in an event about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeSessionNews {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// All of it.
    pub info: OpencodeSession,
}

/// Whether a session is at work.
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
    /// Names the request.
    pub id: PermissionId,
    /// What kind of thing is asked for.
    #[serde(rename = "type")]
    pub kind: String,
    /// What would be done, one pattern each.
    pub pattern: Vec<String>,
    /// The session that asks.
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// The message that holds the call, or nothing where no call asks.
    #[serde(rename = "messageID")]
    pub message_id: String,
    /// The call.
    #[serde(rename = "callID", default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// What to show for it.
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

/// A reply in the first generation's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeResponseBody {
    /// Yes, always or no.
    pub response: PermissionReply,
}

/// A reply in the second generation's words.
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
    /// What kind of refusal it is: `NotFoundError`, `BadRequest` or
    /// `UnknownError`.
    pub name: String,
    /// What there is to say about it.
    pub data: OpencodeErrorData,
    /// The same kind, where newer clients look for it.
    #[serde(rename = "_tag", default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The permission request that there is not.
    #[serde(rename = "requestID", default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// What would work, where newer clients look for it.
    pub message: String,
}

/// What there is to say about a refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpencodeErrorData {
    /// What would work.
    pub message: String,
}
