//! Conversations with a model that a person starts over HTTP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SessionId;

/// A message to a model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskBody {
    /// The message.
    pub message: String,
    /// The model as `provider/name`; default: the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The session whose conversation continues; default: a new session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// The message is with the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AskBegun {
    /// The session of the conversation.
    pub session: SessionId,
    /// The model that answers.
    pub model: String,
    /// A turn was in progress; the message was added to it.
    pub interjected: bool,
}

/// The models that can be asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct AskModels {
    /// The model that the configuration names.
    pub model: Option<String>,
    /// Every provider.
    pub providers: Vec<AskProvider>,
}

/// A provider of models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AskProvider {
    /// The provider's name, the first part of `provider/name`.
    pub name: String,
    /// It has everything that it needs to be asked.
    pub ready: bool,
    /// Where its key comes from, or the variable to set.
    pub note: String,
}

/// The progress of a model's reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AskProgress {
    /// A turn is in progress.
    pub working: bool,
    /// Counts the replies of the model.
    pub reply: u64,
    /// Discard the earlier text of this reply; `text` starts it again.
    pub anew: bool,
    /// More text of the reply.
    pub text: String,
    /// The model that answers.
    pub model: String,
    /// The error that ended the last turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Interrupts a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskStop {
    /// Ends only the tools; the model continues.
    #[serde(default)]
    pub tools: bool,
}

/// A tool as a person can start it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StartableTool {
    /// Its name.
    pub name: String,
    /// A line about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The JSON Schema of its parameters.
    pub schema: serde_json::Value,
    /// It can be started as a handle, with `"action": "spawn"`.
    pub spawns: bool,
}
