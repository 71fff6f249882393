//! Conversations with a model that a person begins over HTTP.

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
    /// The session whose conversation goes on; default: a new one.
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
    /// A turn was under way, and hears of the message in between.
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
    /// Its name, which is the first part of a model's.
    pub name: String,
    /// It has everything that it needs to be asked.
    pub ready: bool,
    /// Its state: the origin of its key, or the variable to set.
    pub note: String,
}

/// How far a model has come with its reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AskProgress {
    /// A turn is under way.
    pub working: bool,
    /// Counts the replies of the model.
    pub reply: u64,
    /// The text so far is void, and begins anew with this one.
    pub anew: bool,
    /// More text of the reply.
    pub text: String,
    /// The model that answers.
    pub model: String,
    /// The reason why the last turn could not go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Interrupts a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskStop {
    /// Only the tools are ended, and the model goes on.
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
