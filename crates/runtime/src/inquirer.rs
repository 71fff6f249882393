//! Questions to a model or a person, and their outcomes.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::Value;
use windlass_protocol::{Ask, TurnEndDecision, TurnEndHandle};

/// Asks a model outside of the conversation.
#[async_trait]
pub trait Inquirer: Send + Sync + 'static {
    /// Asks a tool's question. `None` if the model cannot be asked.
    async fn answer(&self, ask: &Ask) -> Option<Value>;

    /// Asks about the handles that still run at the end of a turn. `None` if
    /// the model cannot be asked; a handle without a decision is ended.
    async fn decide(&self, handles: &[TurnEndHandle]) -> Option<BTreeMap<String, TurnEndDecision>>;
}

/// The outcome of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// An answer.
    With(Value),
    /// No answer. A one-shot takes the question's default, a handle waits for
    /// the assistant.
    Nobody,
    /// The person declined: the tool is ended with this error.
    Declined(String),
}
