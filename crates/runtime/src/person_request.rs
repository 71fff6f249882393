//! Requests to a person, and the reasons why a reply is not accepted.
//!
//! Start at [`PersonRequest`]. `pending.rs` has the open requests of a session.

use std::sync::Arc;

use serde_json::json;
use windlass_protocol::{AnswerError, Ask, HandleId, PermissionRequest, RequestRendering};

use crate::refusal::ArgumentMisfit;

/// A request to a person.
#[derive(Debug, Clone, PartialEq)]
pub enum PersonRequest {
    /// Whether something may run.
    Permission(Arc<PermissionRequest>),
    /// A tool's question.
    Question(Arc<Ask>),
    /// Whether to trust a project's own configuration and tools. Front ends
    /// show it as a question; only a person may answer.
    Trust(Arc<Ask>),
}

impl PersonRequest {
    /// The unique id of the request.
    pub fn id(&self) -> &str {
        match self {
            Self::Permission(request) => request.id.as_str(),
            Self::Question(ask) | Self::Trust(ask) => &ask.ask,
        }
    }

    /// The handle that it is about, where there is one.
    pub fn handle(&self) -> Option<&str> {
        match self {
            Self::Permission(request) => request.metadata.get("handle")?.as_str(),
            Self::Question(ask) | Self::Trust(ask) => ask.handle.as_ref().map(HandleId::as_str),
        }
    }

    /// Assigns it to the handle, if it belongs to this call.
    pub(crate) fn hand_over(&mut self, call: &str, handle: &HandleId) -> bool {
        match self {
            Self::Permission(request) => {
                let of = request.tool.as_ref();
                if of.is_none_or(|of| of.call_id != call) {
                    return false;
                }
                let metadata = &mut Arc::make_mut(request).metadata;
                metadata.insert("handle".to_owned(), json!(handle));
            }
            Self::Question(ask) => {
                if ask.call.as_deref() != Some(call) {
                    return false;
                }
                let ask = Arc::make_mut(ask);
                ask.call = None;
                ask.handle = Some(handle.clone());
                ask.rendering = Some(Box::new(RequestRendering::of_question(ask)));
            }
            Self::Trust(_) => return false,
        }
        true
    }
}

/// The reason why a reply was not accepted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReplyError {
    /// There was no such permission request lately.
    #[error("no permission request `{0}` is open; it may have been answered elsewhere")]
    NoPermission(String),
    /// There was no such question lately.
    #[error("no question `{0}` is open; it may have been answered elsewhere")]
    NoQuestion(String),
    /// The request has been answered or withdrawn.
    #[error("`{0}` is no longer open; it was answered elsewhere, or withdrawn")]
    Closed(String),
    /// The question stays open.
    #[error(transparent)]
    Unfit(AnswerError),
    /// The permission request stays open: the tool does not accept the edited
    /// arguments.
    #[error("the edited arguments are invalid: {0}; the request stays open, edit them again")]
    UnfitArguments(ArgumentMisfit),
    /// The question stays open. The message does not repeat the answer.
    #[error("question `{0}` asks for a secret, which must be a string")]
    UnfitSecret(String),
}
