//! From a configuration to a runtime.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use windlass_config::{
    BUILTINS, Config, ConfigError, LoadOptions, SecretTarget, Source, ToolConfig,
};
use windlass_executors::{
    Git, Launcher, LauncherOptions, LocalCommand, LocalTool, Shell, TerminalSize,
};
use windlass_runtime::protocol::IoMode;
use windlass_runtime::{
    Await, Catalogue, DescribeTools, RegisterError, RunMode, RunPolicy, Runtime, Session,
    SessionOptions, ToolDefinition,
};

use crate::place::{new_log_dir, remove_logs_of_the_dead, state_dir, workspace_id};

/// Why there is no runtime.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A tool cannot be offered.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// Nothing can be started.
    #[error("programs cannot be started")]
    Launcher(#[source] io::Error),
}

/// A runtime with the built-in tools and those of a configuration.
pub struct Windlass {
    runtime: Runtime,
    launcher: Launcher,
    config: Config,
    problems: Vec<String>,
    state_dir: PathBuf,
}

impl Windlass {
    /// Loads the configuration and sets everything up.
    pub fn load(options: &LoadOptions) -> Result<Self, Error> {
        Self::new(windlass_config::load(options)?)
    }

    /// Loads the configuration for a front end whose client asks its user by
    /// itself before a tool runs: a tool is asked about again only where the
    /// configuration says so.
    pub fn load_for_client(options: &LoadOptions) -> Result<Self, Error> {
        Self::build(windlass_config::load(options)?, RunMode::Unattended)
    }

    /// Sets everything up by a configuration.
    pub fn new(config: Config) -> Result<Self, Error> {
        Self::build(config, RunMode::Ask)
    }

    /// Where the configuration is silent, tools start by `run`.
    fn build(config: Config, run: RunMode) -> Result<Self, Error> {
        let launcher = Launcher::new(LauncherOptions::default()).map_err(Error::Launcher)?;
        let mut build = Build {
            catalogue: Catalogue::new(),
            launcher: &launcher,
            config: &config,
            run,
            problems: Vec::new(),
        };
        build.register_builtins()?;
        for tool in config.offered() {
            build.register(tool)?;
        }
        let Build {
            catalogue,
            problems,
            ..
        } = build;
        Ok(Self {
            runtime: Runtime::new(catalogue),
            launcher,
            problems,
            config,
            state_dir: state_dir(),
        })
    }

    /// The runtime.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The configuration that it was set up by.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Gives what ends the processes that dead runtimes have left and removes
    /// their logs. It may take a moment, and so is for a thread of its own.
    pub fn sweep(&self) -> impl FnOnce() + Send + 'static {
        let launcher = self.launcher.clone();
        let logs = self.state_dir.join("logs");
        move || {
            launcher.sweep();
            remove_logs_of_the_dead(&logs);
        }
    }

    /// What a person should know: tools that are configured and cannot be
    /// offered, and what the configuration says in vain.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        let warnings = self.config.warnings.iter().chain(&self.problems);
        warnings.map(String::as_str)
    }

    /// Begins a session in the project's root, with its logs in the state
    /// directory, unless the options say otherwise.
    pub fn session(&self, mut options: SessionOptions) -> Session {
        if options.root.as_os_str().is_empty() {
            options.root.clone_from(&self.config.root);
        }
        if options.log_dir.is_none() {
            options.log_dir = Some(new_log_dir(&self.state_dir));
        }
        self.runtime.session(options)
    }
}

/// A runtime that is being set up.
struct Build<'a> {
    catalogue: Catalogue,
    launcher: &'a Launcher,
    config: &'a Config,
    run: RunMode,
    problems: Vec<String>,
}

impl Build<'_> {
    /// Those that no table of the configuration speaks of.
    fn register_builtins(&mut self) -> Result<(), RegisterError> {
        for name in BUILTINS {
            let told = self.config.tool(name).is_some();
            let tool = self.config.builtin(name).filter(|tool| tool.enabled);
            if let Some(tool) = tool.filter(|_| !told && is_built_in(name)) {
                self.register_builtin(&tool)?;
            }
        }
        Ok(())
    }

    fn register(&mut self, tool: &ToolConfig) -> Result<(), RegisterError> {
        match &tool.source {
            Source::Builtin { .. } if is_built_in(tool.source_name()) => {
                self.register_builtin(tool)
            }
            Source::Builtin { .. } => {
                self.cannot_offer(tool, "there is no such built-in tool");
                Ok(())
            }
            Source::Local { .. } => self.register_local(tool),
            Source::Mcp { .. } => {
                self.cannot_offer(tool, "tools of MCP servers are not supported");
                Ok(())
            }
        }
    }

    fn cannot_offer(&mut self, tool: &ToolConfig, why: &str) {
        let place = tool.place.as_ref().map(|place| format!(" ({place})"));
        let place = place.unwrap_or_default();
        let name = &tool.name;
        self.problems
            .push(format!("tool `{name}` is not offered: {why}{place}"));
    }

    fn register_builtin(&mut self, tool: &ToolConfig) -> Result<(), RegisterError> {
        match tool.source_name() {
            Shell::NAME => {
                let definition = self.overlaid(tool, Shell::definition());
                let shell = Shell::new(self.launcher.clone())
                    .log_limit(tool.log_limit)
                    .terminal(size(tool), tool.record);
                self.catalogue.register(definition, Arc::new(shell))
            }
            Git::NAME => {
                let definition = self.overlaid(tool, Git::definition());
                let git = Git::new(self.launcher.clone())
                    .log_limit(tool.log_limit)
                    .terminal(size(tool), tool.record);
                self.catalogue.register(definition, Arc::new(git))
            }
            Await::NAME => self
                .catalogue
                .register_builtin(tool.overlay(Await::definition()), Arc::new(Await)),
            _ => self.catalogue.register_builtin(
                tool.overlay(DescribeTools::definition()),
                Arc::new(DescribeTools),
            ),
        }
    }

    /// What the configuration says of a built-in tool, of its permissions and
    /// of its secrets.
    fn overlaid(&self, tool: &ToolConfig, base: ToolDefinition) -> ToolDefinition {
        let mut definition = tool.overlay(base);
        definition.run = self.permission(tool);
        definition.secrets_to_assistant = tool.secrets == SecretTarget::Assistant;
        definition
    }

    fn permission(&self, tool: &ToolConfig) -> RunPolicy {
        tool.settings.run.over(RunPolicy::starting(self.run))
    }

    fn register_local(&mut self, tool: &ToolConfig) -> Result<(), RegisterError> {
        let Some(command) = &tool.command else {
            self.cannot_offer(tool, "it has no `command`");
            return Ok(());
        };
        let mut definition = tool.definition.clone();
        // Until its program is asked, whatever it is given is passed on.
        definition.shape.parameters.additional |= tool.asks_program;
        definition.shape.typing |= tool.io == IoMode::Terminal;
        definition.run = self.permission(tool);
        definition.secrets_to_assistant = tool.secrets == SecretTarget::Assistant;
        let local = LocalTool {
            launcher: self.launcher.clone(),
            command: LocalCommand {
                program: command.program.clone(),
                args: command.args.clone(),
                shell: command.shell,
            },
            tool: tool.source_name().to_owned(),
            io: tool.io,
            options: tool.options.clone(),
            describes_itself: tool.asks_program,
            workspace_id: Some(workspace_id(&self.config.root)),
            log_limit: tool.log_limit,
            size: size(tool),
            record: tool.record,
        };
        self.catalogue.register(definition, Arc::new(local))
    }
}

fn is_built_in(name: &str) -> bool {
    [Shell::NAME, Git::NAME, Await::NAME, DescribeTools::NAME].contains(&name)
}

fn size(tool: &ToolConfig) -> TerminalSize {
    let usual = TerminalSize::default();
    TerminalSize {
        rows: tool.rows.unwrap_or(usual.rows),
        cols: tool.cols.unwrap_or(usual.cols),
    }
}
