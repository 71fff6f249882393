//! What the agents of a query are made of.

use std::sync::Arc;

use async_trait::async_trait;
use windlass::Windlass;
use windlass_assistant::{AgentLimits, AgentSource, Agents, Effort, Model, Providers};
use windlass_config::{AssistantConfig, Config, ReasoningEffort};
use windlass_runtime::{Conversations, Runtime, Session, SessionOptions};

use crate::providers;

/// The tool `agent`, unless the configuration leaves no room for any.
pub(super) fn agents(config: &Config) -> Option<Arc<Agents>> {
    let usual = AgentLimits::default();
    let limits = AgentLimits {
        depth: config.assistant.max_agent_depth.unwrap_or(usual.depth),
        active: config.assistant.max_active_agents.unwrap_or(usual.active),
    };
    let any = limits.depth > 0 && limits.active > 0;
    any.then(|| Arc::new(Agents::new(limits)))
}

/// What they are made of: this runtime, and this model unless another is named.
pub(super) fn source(windlass: &Arc<Windlass>, model: &Arc<dyn Model>) -> Arc<dyn AgentSource> {
    Arc::new(Source {
        windlass: Arc::clone(windlass),
        providers: providers::providers(windlass),
        model: Arc::clone(model),
    })
}

/// How hard a model should think.
pub(super) fn effort(config: &AssistantConfig) -> Option<Effort> {
    config.reasoning.map(|effort| match effort {
        ReasoningEffort::Low => Effort::Low,
        ReasoningEffort::Medium => Effort::Medium,
        ReasoningEffort::High => Effort::High,
    })
}

struct Source {
    windlass: Arc<Windlass>,
    providers: Providers,
    model: Arc<dyn Model>,
}

#[async_trait]
impl AgentSource for Source {
    fn runtime(&self) -> &Runtime {
        self.windlass.runtime()
    }

    async fn model(&self, name: Option<&str>) -> Result<Arc<dyn Model>, String> {
        let Some(name) = name else {
            return Ok(Arc::clone(&self.model));
        };
        let opened = self.providers.open(name).await;
        opened.map_err(|error| format!("{:#}", anyhow::Error::from(error)))
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
