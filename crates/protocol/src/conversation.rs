//! A conversation as it is recorded: messages and replies, in order.
//!
//! A conversation is the list of its events; resuming it means reading them
//! again. Nothing here depends on a provider. Data that a provider needs back
//! with its model's output is a `seal`, which only that provider reads.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallReply, Notice, ToolCall};

/// One thing that happened in a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TurnEvent {
    /// The user's message.
    User {
        /// The user's message.
        text: String,
        /// Notices delivered with the message.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notices: Vec<Notice>,
    },
    /// One reply of the model.
    Assistant {
        /// The model as `provider/name`; empty for text that was written on the
        /// assistant's behalf.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        model: String,
        /// The reply's parts, in order.
        said: Vec<Said>,
        /// It was interrupted and had not finished.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        interrupted: bool,
    },
    /// The replies to its calls.
    Replies {
        /// One per call, in call order.
        replies: Vec<CallReply>,
        /// Notices delivered with the replies.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notices: Vec<Notice>,
    },
    /// Notices delivered on their own.
    Notices {
        /// The notices.
        notices: Vec<Notice>,
    },
    /// The turn ended.
    TurnEnded,
}

/// One part of a model's reply.
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
        /// Data that the provider needs back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<Value>,
    },
    /// A call of a tool.
    Call {
        /// The call, with its arguments as the model wrote them.
        call: ToolCall,
        /// Data that the provider needs back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<Value>,
    },
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
