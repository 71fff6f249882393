//! A conversation as it is recorded: what was said and what was answered, in
//! order.
//!
//! A conversation is the list of its events, and going on with it is reading
//! them again. Nothing here knows a provider: what one of them wants back
//! with what it said is a `seal`, which nobody else reads.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallReply, Notice, ToolCall};

/// One thing that happened in a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TurnEvent {
    /// The user's message.
    User {
        /// What the user said.
        text: String,
        /// What the assistant was told with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notices: Vec<Notice>,
    },
    /// What the assistant said in one go.
    Assistant {
        /// The model that said it, as `provider/name`; empty where the
        /// assistant's words were put down for it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        model: String,
        /// What it said, in order.
        said: Vec<Said>,
        /// It was interrupted and had not finished.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        interrupted: bool,
    },
    /// The replies to its calls.
    Replies {
        /// One per call, in call order.
        replies: Vec<CallReply>,
        /// What the assistant was told with them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notices: Vec<Notice>,
    },
    /// What the assistant was told by itself.
    Notices {
        /// What it was told.
        notices: Vec<Notice>,
    },
    /// The turn ended.
    TurnEnded,
}

/// One piece of what the assistant said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Said {
    /// Text for the user.
    Text {
        /// The text.
        text: String,
    },
    /// Reasoning, as far as the provider shows it.
    Reasoning {
        /// The text.
        text: String,
        /// What the provider wants back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<Value>,
    },
    /// A call of a tool.
    Call {
        /// The call, with its arguments as the model wrote them.
        call: ToolCall,
        /// What the provider wants back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<Value>,
    },
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
