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
    /// The call's id within its batch.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments, as the model wrote them.
    #[serde(default)]
    pub arguments: Arguments,
}

/// The calls of one model reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// The batch's id.
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
    /// Notices that the assistant has not received yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// The reply to one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallReply {
    /// The call it answers.
    pub id: String,
    /// The text or object for the assistant.
    pub content: ReplyContent,
    /// The call was refused, or a one-shot failed.
    pub is_error: bool,
    /// Error details of a one-shot beside its message. The content has them as
    /// text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorView>,
    /// Details that a front end may show beside the content. They are not
    /// serialized.
    #[serde(skip)]
    #[schemars(skip)]
    pub extras: ReplyExtras,
}

/// The parts of a reply that are not text for the assistant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReplyExtras {
    /// The exit status of a one-shot's process, if it failed.
    pub exit: Option<Exit>,
    /// Files that came with the output.
    pub attachments: Vec<Attachment>,
    /// The structured result of a one-shot, if its tool returns one.
    pub structured: Option<Box<Value>>,
    /// The server of a one-shot's tool refused the call.
    pub refused: Option<Box<ServerRefusal>>,
    /// The call was not carried out.
    pub is_refusal: bool,
}

impl CallReply {
    /// A refusal: nothing was done. `why` gives the reason and a call that
    /// would work.
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
    /// The error's details without its message; `None` if it has none.
    pub fn beyond_message(error: &ToolError) -> Option<Self> {
        let says_more = error.transient || !error.trace.is_empty();
        says_more.then(|| Self {
            transient: error.transient,
            trace: error.trace.clone(),
        })
    }
}

/// The content of a reply, for the assistant.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ReplyContent {
    /// A one-shot's output, or why a call was refused.
    Text(String),
    /// The handles that an `await` waited for.
    Await(AwaitReply),
    /// The state of a handle.
    Handle(Box<HandleView>),
    /// A structured answer of another kind.
    Value(Value),
}

impl ReplyContent {
    /// The content as a single string, for a model's tool result.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            other => serde_json::to_string(other)
                .expect("replies hold only strings, numbers, lists and string-keyed maps"),
        }
    }
}

/// Reads only an object as an `await` reply or a handle view. The derived
/// implementation would also accept a list as the fields in order.
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
