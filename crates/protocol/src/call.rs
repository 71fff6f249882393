//! Calls in, replies out.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::{
    Arguments, Attachment, AwaitReply, ErrorView, Exit, HandleView, Notice, ServerRefusal,
    ToolError,
};

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// Names the call within its batch.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// What it is given.
    #[serde(default)]
    pub arguments: Arguments,
}

/// The calls of one model reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Names the batch.
    #[serde(rename = "batch")]
    pub id: String,
    /// The calls, answered in this order.
    pub calls: Vec<ToolCall>,
}

/// The replies to a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BatchReply {
    /// The batch they answer.
    pub batch: String,
    /// One reply per call, in call order.
    pub replies: Vec<CallReply>,
    /// What the assistant had not been told yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// The reply to one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallReply {
    /// The call it answers.
    pub id: String,
    /// What the assistant reads.
    pub content: ReplyContent,
    /// The call was refused, or a one-shot failed.
    pub is_error: bool,
    /// The error of a one-shot beside its message. The content says
    /// the same in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorView>,
    /// Details that a front end may tell beside the content. It does not cross a wire.
    #[serde(skip)]
    #[schemars(skip)]
    pub extras: ReplyExtras,
}

/// The parts of a reply that are no text for the assistant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReplyExtras {
    /// How the process of a one-shot exited, if it was one and exited badly.
    pub exit: Option<Exit>,
    /// Files that came with the output.
    pub attachments: Vec<Attachment>,
    /// The result of a one-shot as data, where its tool gives that.
    pub structured: Option<Box<Value>>,
    /// The server of a one-shot's tool refused the call.
    pub refused: Option<Box<ServerRefusal>>,
    /// The call was not carried out.
    pub is_refusal: bool,
}

impl CallReply {
    /// A refusal: nothing was done, and `why` says what would work.
    pub fn refused(id: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            content: ReplyContent::Text(why.into()),
            is_error: true,
            error: None,
            extras: ReplyExtras {
                is_refusal: true,
                ..ReplyExtras::default()
            },
        }
    }
}

impl ErrorView {
    /// The rest of an error, beside its message; `None` when there is none.
    pub fn beyond_message(error: &ToolError) -> Option<Self> {
        let says_more = error.transient || !error.trace.is_empty();
        says_more.then(|| Self {
            transient: error.transient,
            trace: error.trace.clone(),
        })
    }
}

/// What the assistant reads in reply to a call.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ReplyContent {
    /// A one-shot's output, or why a call was refused.
    Text(String),
    /// The handles that an `await` waited for.
    Await(AwaitReply),
    /// How a handle stands.
    Handle(Box<HandleView>),
    /// A structured answer of another kind.
    Value(Value),
}

impl ReplyContent {
    /// The content as the one string that a model's tool result holds.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            other => serde_json::to_string(other)
                .expect("replies hold only strings, numbers, lists and string-keyed maps"),
        }
    }
}

/// Only an object is read as await's reply or as a handle: left to itself,
/// serde would take a list for the fields of either in their order.
impl<'de> Deserialize<'de> for ReplyContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Ok(match value {
            Value::String(text) => Self::Text(text),
            Value::Object(_) => {
                if let Ok(reply) = AwaitReply::deserialize(&value) {
                    Self::Await(reply)
                } else if let Ok(view) = HandleView::deserialize(&value) {
                    Self::Handle(Box::new(view))
                } else {
                    Self::Value(value)
                }
            }
            other => Self::Value(other),
        })
    }
}
