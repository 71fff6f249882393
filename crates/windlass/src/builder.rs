//! Sets up a runtime from a configuration and the tools of the embedding
//! program.

use std::sync::Arc;

use windlass_assistant::{AgentLimits, Agents};
use windlass_config::{BUILTINS, Config, ToolSource};
use windlass_executors::Launcher;
use windlass_runtime::{Catalogue, Executor, ToolDefinition};

use crate::build::{BuildError, Windlass};
use crate::describe::DescriptionCaching;
use crate::function::FunctionTool;

/// A runtime that is to be set up. Start at [`Windlass::builder`].
///
/// ```
/// # use windlass::{FunctionTool, Windlass};
/// # use schemars::JsonSchema;
/// # #[derive(serde::Deserialize, JsonSchema)] struct Add { left: i64, right: i64 }
/// # async fn run(config: windlass::config::Config) -> Result<(), windlass::BuildError> {
/// let windlass = Windlass::builder(config)
///     .function(FunctionTool::new("add", |add: Add| async move { Ok(add.left + add.right) }))
///     .build()
///     .await?;
/// # Ok(())
/// # }
/// ```
pub struct Builder {
    pub(crate) config: Config,
    pub(crate) asking: DescriptionCaching,
    pub(crate) agents: Option<Arc<Agents>>,
    pub(crate) embedded: Vec<EmbeddedTool>,
    pub(crate) late_servers: Option<LateReport>,
    /// The launcher and the catalogue to go on with.
    pub(crate) onto: Option<(Launcher, Catalogue)>,
    pub(crate) lends_clients: bool,
}

/// Receives the problems of MCP servers that are not waited for.
pub(crate) type LateReport = Arc<dyn Fn(&str) + Send + Sync>;

/// A tool that the embedding program brings.
pub(crate) enum EmbeddedTool {
    Executor(Box<ToolDefinition>, Arc<dyn Executor>),
    Function(Box<FunctionTool>),
}

impl Windlass {
    /// Creates a builder for this configuration.
    pub fn builder(config: Config) -> Builder {
        Builder {
            config,
            asking: DescriptionCaching::Remembering,
            agents: None,
            embedded: Vec::new(),
            late_servers: None,
            onto: None,
            lends_clients: false,
        }
    }
}

impl Builder {
    /// Says which answers of programs are good enough.
    pub fn asking(mut self, asking: DescriptionCaching) -> Self {
        self.asking = asking;
        self
    }

    /// Does not wait for MCP servers: the tools of each are offered as soon as
    /// it has listed them, in running sessions too. Problems are passed to
    /// `report`.
    pub fn late_servers(mut self, report: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.late_servers = Some(Arc::new(report));
        self
    }

    /// Tells MCP servers that they may ask for the client's model and folders:
    /// sessions have a client that answers, see
    /// [`SessionClient`](windlass_runtime::SessionClient).
    pub fn lends_clients(mut self) -> Self {
        self.lends_clients = true;
        self
    }

    /// Adds a tool that `executor` runs.
    ///
    /// The definition's own policies hold, with what the configuration says of
    /// every tool (`conversation.tools."*"`) laid over them. A name that is a
    /// built-in tool's, another added tool's or a configured tool's is an
    /// error of [`build`](Self::build), and so is a definition that models
    /// could not be given.
    pub fn tool(mut self, definition: ToolDefinition, executor: Arc<dyn Executor>) -> Self {
        let tool = EmbeddedTool::Executor(Box::new(definition), executor);
        self.embedded.push(tool);
        self
    }

    /// Adds a function as a tool, under the same rules as [`tool`](Self::tool).
    pub fn function(mut self, tool: FunctionTool) -> Self {
        self.embedded.push(EmbeddedTool::Function(Box::new(tool)));
        self
    }

    /// Offers the built-in tool `agent`, within the configured limits; if they
    /// allow no agents, the tool is omitted. Agents can be started once
    /// [`Assistants`](crate::Assistants) are open.
    pub fn agents(mut self) -> Self {
        let config = &self.config.assistant;
        let usual = AgentLimits::default();
        let limits = AgentLimits {
            depth: config.max_agent_depth.unwrap_or(usual.depth),
            active: config.max_active_agents.unwrap_or(usual.active),
        };
        let any = limits.depth > 0 && limits.active > 0;
        self.agents = any.then(|| Arc::new(Agents::new(limits)));
        self
    }

    /// Loads only `tool`, so that no other program or server is started.
    /// Servers are kept if the tool may be one of theirs.
    pub fn only(mut self, tool: Option<&str>) -> Self {
        let config = &mut self.config;
        let may_be_a_servers = tool.is_some_and(|name| match config.tool(name) {
            Some(tool) => matches!(tool.source, ToolSource::Mcp { .. }),
            None => !BUILTINS.contains(&name),
        });
        if !may_be_a_servers {
            config.mcp_servers.clear();
            config.tools.retain(|it| Some(it.name.as_str()) == tool);
        }
        self
    }

    /// Sets it up.
    pub async fn build(self) -> Result<Windlass, BuildError> {
        Windlass::build(self).await
    }
}
