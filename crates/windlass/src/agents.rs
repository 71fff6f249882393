//! The models, sessions and prompts of agents.

use std::sync::Arc;

use async_trait::async_trait;
use windlass_assistant::{AgentSource, Effort, Model, OpenError, Providers};
use windlass_config::{AssistantConfig, ReasoningEffort};
use windlass_runtime::{Conversations, Runtime, Session, SessionOptions};

use crate::build::Windlass;

/// The reasoning effort.
pub(crate) fn effort(config: &AssistantConfig) -> Option<Effort> {
    config.reasoning.map(|effort| match effort {
        ReasoningEffort::Low => Effort::Low,
        ReasoningEffort::Medium => Effort::Medium,
        ReasoningEffort::High => Effort::High,
    })
}

/// Creates agents with a runtime's tools, and with this model unless they name
/// another.
pub(crate) struct ConfiguredAgents {
    pub(crate) windlass: Arc<Windlass>,
    pub(crate) providers: Providers,
    pub(crate) model: Arc<dyn Model>,
}

#[async_trait]
impl AgentSource for ConfiguredAgents {
    fn runtime(&self) -> &Runtime {
        self.windlass.runtime()
    }

    async fn model(&self, name: Option<&str>) -> Result<Arc<dyn Model>, OpenError> {
        match name {
            Some(name) => self.providers.open(name).await,
            None => Ok(Arc::clone(&self.model)),
        }
    }

    fn session(&self, runtime: &Runtime, options: SessionOptions) -> Session {
        self.windlass.session_of(runtime, options)
    }

    fn conversations(&self) -> Option<Arc<dyn Conversations>> {
        let record = self
            .windlass
            .config()
            .record
            .then(|| self.windlass.record());
        Some(Arc::new(record?.ok()?.clone()))
    }

    fn system_prompt(&self) -> Option<&str> {
        self.windlass.config().assistant.system_prompt.as_deref()
    }

    fn max_tokens(&self) -> Option<u32> {
        self.windlass.config().assistant.max_tokens
    }

    fn effort(&self) -> Option<Effort> {
        effort(&self.windlass.config().assistant)
    }
}
