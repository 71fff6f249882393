//! What a front end or a store supplies: someone to ask, and a record.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::Value;
use windlass_protocol::{
    Arguments, Ask, PermissionReply, PermissionRequest, TurnEndDecision, TurnEndHandle,
};

use crate::journal::Entry;

/// Asks a human. Dropping a future withdraws what it asked.
#[async_trait]
pub trait Person: Send + Sync + 'static {
    /// Asks for permission. `None` when nobody answers.
    async fn permit(&self, request: &PermissionRequest) -> Option<PermissionDecision>;

    /// Puts a tool's question. `None` when nobody answers. An answer that does
    /// not fit the question is asked for again.
    async fn answer(&self, ask: &Ask) -> Option<Value>;

    /// The same, where a person can also say that there will be no answer.
    async fn ask(&self, ask: &Ask) -> Answered {
        self.answer(ask)
            .await
            .map_or(Answered::Nobody, Answered::With)
    }
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// This is the answer.
    With(Value),
    /// Nobody answered. A one-shot takes the question's default, a handle
    /// waits for the assistant.
    Nobody,
    /// Whoever was asked will not have it answered: the tool is ended, with
    /// this as its error.
    Declined(String),
}

/// A person's decision on a permission request.
#[derive(Debug, Clone, PartialEq)]
pub struct PermissionDecision {
    /// Yes, always or no.
    pub reply: PermissionReply,
    /// A word to the assistant.
    pub message: Option<String>,
    /// The arguments to run with instead.
    pub arguments: Option<Arguments>,
}

/// Asks a model, beside the conversation.
#[async_trait]
pub trait Inquirer: Send + Sync + 'static {
    /// Puts a tool's question. `None` when it cannot be asked.
    async fn answer(&self, ask: &Ask) -> Option<Value>;

    /// Asks what becomes of the handles that still run when the turn ends.
    /// `None` when it cannot be asked; a handle without a decision is ended.
    async fn decide(&self, handles: &[TurnEndHandle]) -> Option<BTreeMap<String, TurnEndDecision>>;
}

/// Keeps what happens in one session. Called in the journal's order, from
/// within the runtime's own path, so it must not block;
/// [`Recorder::durable`] is where it may take its time.
#[async_trait]
pub trait Recorder: Send + Sync + 'static {
    /// Something happened. Calls are told as
    /// [`SessionEvent::Part`](crate::SessionEvent::Part).
    fn happened(&self, entry: &Entry) {
        let _ = entry;
    }

    /// Resolves when everything told so far would survive a crash. Awaited
    /// before a batch is answered and when the session closes.
    async fn durable(&self) {}
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {}
