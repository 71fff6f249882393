//! Questions to a model, as a front end supplies one, and their answers.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::Value;
use windlass_protocol::{Ask, TurnEndDecision, TurnEndHandle};

/// Asks a model, beside the conversation.
#[async_trait]
pub trait Inquirer: Send + Sync + 'static {
    /// Puts a tool's question. `None` when it cannot be asked.
    async fn answer(&self, ask: &Ask) -> Option<Value>;

    /// Asks what becomes of the handles that still run when the turn ends.
    /// `None` when it cannot be asked; a handle without a decision is ended.
    async fn decide(&self, handles: &[TurnEndHandle]) -> Option<BTreeMap<String, TurnEndDecision>>;
}

/// The outcome of a question.
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
