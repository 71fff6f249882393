//! The user, as an agent's tools ask them.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use windlass_protocol::{Ask, HandleId, PermissionRequest};
use windlass_runtime::{Answered, Desk, PermissionDecision, Person};

/// The person of whoever started an agent, who is told which agent it is that
/// asks.
pub(super) struct OfAgent {
    agent: String,
    person: Arc<dyn Person>,
}

impl OfAgent {
    /// The person who sits at this desk, if there is one.
    pub(super) fn of(
        agent: Option<&HandleId>,
        desk: Option<&Arc<Desk>>,
    ) -> Option<Arc<dyn Person>> {
        let person = Arc::clone(desk?.person());
        Some(Arc::new(Self {
            agent: agent.map_or("agent", HandleId::as_str).to_owned(),
            person,
        }))
    }

    fn named(&self, ask: &Ask) -> Ask {
        let mut ask = ask.clone();
        let mut told = format!("Agent `{}`, tool `{}`:", self.agent, ask.tool);
        if let Some(pre_amble) = &ask.question.pre_amble {
            told.push('\n');
            told.push_str(pre_amble);
        }
        ask.question.pre_amble = Some(told);
        ask
    }
}

#[async_trait]
impl Person for OfAgent {
    async fn permit(&self, request: &PermissionRequest) -> Option<PermissionDecision> {
        let mut request = request.clone();
        // An agent of an agent is named by the one that the user knows.
        request
            .metadata
            .insert("agent".to_owned(), json!(self.agent));
        self.person.permit(&request).await
    }

    async fn answer(&self, ask: &Ask) -> Option<Value> {
        self.person.answer(&self.named(ask)).await
    }

    async fn ask(&self, ask: &Ask) -> Answered {
        self.person.ask(&self.named(ask)).await
    }
}
