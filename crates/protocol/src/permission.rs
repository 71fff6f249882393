//! Asking a person before something runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Arguments, MessageId, PermissionId, SessionId};

/// A request for permission, addressed to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionRequest {
    /// The request's id; begins with `per`.
    pub id: PermissionId,
    /// The session that asks; begins with `ses`.
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// The kind of permission; for a built-in tool, its name.
    pub permission: String,
    /// The patterns of the requested action.
    pub patterns: Vec<String>,
    /// The arguments and whatever else helps to decide.
    pub metadata: Arguments,
    /// The patterns that an "always" would remember.
    pub always: Vec<String>,
    /// The call it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<PermissionToolContext>,
}

/// The call that a permission is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionToolContext {
    /// The message that holds the call.
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    /// The call.
    #[serde(rename = "callID")]
    pub call_id: String,
}

/// A person's reply to a permission request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PermissionReply {
    /// This time.
    Once,
    /// Allow it now, and whenever the request's `always` patterns match.
    Always,
    /// No.
    Reject,
}

/// A person's reply to a permission request. The request is named beside it: by
/// an address, or by a key of the same object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(
    rename = "ReplyBody",
    description = "A person's reply to a permission request, by the request's own address."
)]
pub struct PermissionAnswer {
    /// Yes, always or no.
    pub reply: PermissionReply,
    /// A word to the assistant, with a rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The arguments to run with instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Arguments>,
}

impl From<PermissionReply> for PermissionAnswer {
    /// The reply alone.
    fn from(reply: PermissionReply) -> Self {
        Self {
            reply,
            message: None,
            arguments: None,
        }
    }
}
