//! How a runtime is set up: what for, and with which tools beside its own.

use std::collections::HashMap;
use std::sync::Arc;

use windlass_config::Config;
use windlass_runtime::{Executor, ToolDefinition};

use crate::build::{Error, Windlass};
use crate::describe::Asking;

/// Built-in tools that the caller runs, by name.
pub(crate) type OwnTools = HashMap<String, (ToolDefinition, Arc<dyn Executor>)>;

/// A runtime that is to be set up. Start at [`Windlass::builder`].
pub struct Builder {
    pub(crate) config: Config,
    pub(crate) asking: Asking,
    pub(crate) own: OwnTools,
}

impl Windlass {
    /// Sets everything up by a configuration, and as the builder is told.
    pub fn builder(config: Config) -> Builder {
        Builder {
            config,
            asking: Asking::Remembering,
            own: OwnTools::new(),
        }
    }
}

impl Builder {
    /// Says which answers of programs are good enough.
    pub fn asking(mut self, asking: Asking) -> Self {
        self.asking = asking;
        self
    }

    /// Adds a built-in tool that this crate does not have, under a name that
    /// the configuration knows as one, such as `agent`. What the configuration
    /// says of it holds.
    pub fn tool(mut self, definition: ToolDefinition, executor: Arc<dyn Executor>) -> Self {
        self.own
            .insert(definition.name.clone(), (definition, executor));
        self
    }

    /// Sets it up.
    pub async fn build(self) -> Result<Windlass, Error> {
        Windlass::build(self).await
    }
}
