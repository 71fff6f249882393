//! From a configuration to a runtime.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use windlass_assistant::Agents;
use windlass_config::{
    BUILTINS, Config, ConfigError, LoadOptions, ProjectState, ProjectTrust, SecretTarget,
    SourceLocation, ToolConfig, ToolSource,
};
use windlass_executors::{
    Describer, Git, Kept, Launcher, LauncherOptions, LocalTool, SchemaError, Shell, TerminalSize,
};
use windlass_kept::KeptStore;
use windlass_mcp_client::UpstreamServer;
use windlass_process::SandboxSupport;
use windlass_runtime::protocol::IoMode;
use windlass_runtime::{
    Await, Catalogue, DescribeTools, Executor, RegisterError, RunMode, RunPolicy, Runtime, Session,
    SessionLimits, SessionOptions, ToolDefinition,
};

use windlass_store::{Store, StoreError};

use crate::builder::{Builder, LateReport};
use crate::cache::Cache;
use crate::describe::{self, Answers, DescriptionCaching};
use crate::embedded::{self, NameOwner};
use crate::environment::Environment;
use crate::hosts::{Hosts, PlaceError};
use crate::kept;
use crate::late_trust::LateTrust;
use crate::mcp::{Coming, ServerSetup, Servers};
use crate::place::{cache_dir, new_log_dir, remove_logs_of_the_dead, state_dir, workspace_id};
use crate::record::Record;
use crate::sandboxes::Sandboxes;
use crate::trust::TrustStore;

/// A runtime that cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A tool cannot be offered.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// A tool of the embedding program has a name that is taken.
    #[error("tool `{name}` cannot be added: {owner}; choose another name")]
    NameTaken {
        /// The name.
        name: String,
        /// The tool that has it.
        owner: NameOwner,
    },
    /// The arguments of a function are not a struct with named fields.
    #[error(
        "the arguments of tool `{tool}` are not a struct with named fields; wrap them in one, or give \
         their schema"
    )]
    NotStruct {
        /// The tool.
        tool: String,
    },
    /// A tool of the embedding program has a schema that models cannot use.
    #[error("tool `{tool}` cannot be added")]
    Unfit {
        /// The tool.
        tool: String,
        /// The reason.
        #[source]
        problem: SchemaError,
    },
    /// The configuration turns every tool off.
    #[error(
        "tool `{tool}` cannot be added: the configuration disables every tool; remove \
         `enable = false` under [conversation.tools.\"*\"]"
    )]
    Disabled {
        /// The tool.
        tool: String,
    },
    /// Nothing can be started.
    #[error("programs cannot be started")]
    Launcher(#[source] io::Error),
}

/// A runtime with the built-in tools and those of a configuration.
pub struct Windlass {
    runtime: Runtime,
    launcher: Launcher,
    environment: Environment,
    config: Config,
    problems: Vec<ToolProblem>,
    advice: Vec<ToolProblem>,
    warnings: Vec<String>,
    pub(crate) agents: Option<Arc<Agents>>,
    servers: Vec<UpstreamServer>,
    pub(crate) hosts: Hosts,
    state_dir: PathBuf,
    pub(crate) kept: KeptStore,
    record: Record,
    pub(crate) late_trust: OnceLock<LateTrust>,
    /// The tools that the program has added.
    pub(crate) embedded: Vec<String>,
}

/// A problem of a tool in the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolProblem {
    /// The tool.
    pub tool: String,
    /// The location of its table.
    pub place: Option<SourceLocation>,
    /// The problem, and what would work.
    pub problem: String,
    /// The tool is offered all the same.
    pub offered: bool,
}

impl fmt::Display for ToolProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, problem, .. } = self;
        let place = self.place.as_ref().map(|place| format!(" ({place})"));
        let place = place.unwrap_or_default();
        if self.offered {
            write!(formatter, "tool `{tool}`: {problem}{place}")
        } else {
            write!(formatter, "tool `{tool}` is not offered: {problem}{place}")
        }
    }
}

impl Windlass {
    /// Loads the configuration and sets everything up. Programs that describe
    /// their tools are run, unless their answers are cached. MCP servers are
    /// always started, and stay.
    ///
    /// A project's files are used only if they are trusted. If
    /// [`LoadOptions::trust`] is unset, the user's [`TrustStore`] decides, as
    /// for the command `windlass`.
    pub async fn load(options: &LoadOptions) -> Result<Self, BuildError> {
        let mut options = options.clone();
        if matches!(options.trust, ProjectTrust::Unsaid) {
            options.trust = TrustStore::of_user().decides();
        }
        Self::new(windlass_config::load(&options)?).await
    }

    /// Sets everything up by a configuration.
    pub async fn new(config: Config) -> Result<Self, BuildError> {
        Self::builder(config).build().await
    }

    /// Like [`Windlass::new`], with a choice of whether descriptions may come
    /// from the cache.
    pub async fn asking(config: Config, asking: DescriptionCaching) -> Result<Self, BuildError> {
        Self::builder(config).asking(asking).build().await
    }

    pub(crate) async fn build(builder: Builder) -> Result<Self, BuildError> {
        let Builder {
            config,
            asking,
            agents,
            embedded,
            late_servers,
            onto,
            lends_clients,
        } = builder;
        let embedded = embedded::checked(embedded, &config)?;
        let environment = Environment::own(&config);
        let sandboxes = Sandboxes::of(&config);
        let hosts = Hosts::of(&config, &environment).map_err(BuildError::Launcher)?;
        let (launcher, mut catalogue) = if let Some(onto) = onto {
            onto
        } else {
            let launcher = Launcher::new(LauncherOptions {
                environment: Some(environment.usual()),
                ..LauncherOptions::default()
            });
            (launcher.map_err(BuildError::Launcher)?, Catalogue::new())
        };
        expect_trust(&config, &mut catalogue);
        let own_tools = catalogue.all().map(|it| it.definition().name.clone());
        let mut own_tools: Vec<String> = own_tools.collect();
        let describer = Describer {
            launcher: launcher.clone(),
            root: config.root.clone(),
            workspace_id: Some(workspace_id(&config.root)),
        };
        let asked = config.offered().filter(|tool| tool.asks_program);
        let cache = Cache::new(cache_dir().join("descriptions"));
        let (answers, servers) = {
            let confine = |launcher, tool: &ToolConfig| sandboxes.confine(launcher, &tool.settings);
            let gather = Answers::gather(describer, asked, asking, &cache, confine);
            futures_util::future::join(gather, async {
                if late_servers.is_some() {
                    return Servers::default();
                }
                let set_up = ServerSetup {
                    config: &config,
                    launcher: &launcher,
                    environment: &environment,
                    sandboxes: &sandboxes,
                    announcer: catalogue.announcer(),
                    lends_clients,
                };
                Servers::ask(&set_up).await
            })
            .await
        };
        let mut build = Build {
            catalogue,
            launcher: &launcher,
            environment: &environment,
            sandboxes: &sandboxes,
            hosts: &hosts,
            config: &config,
            answers,
            agents: agents.as_ref(),
            problems: Vec::new(),
            advice: Vec::new(),
        };
        build.register_builtins()?;
        for tool in config.offered() {
            build.register(tool)?;
        }
        own_tools.extend(embedded.iter().map(|(tool, _)| tool.name.clone()));
        build.register_embedded(embedded)?;
        let (servers, unreached) = match late_servers {
            Some(report) => (build.await_mcp(&report, lends_clients), Vec::new()),
            None => (servers.all(), build.register_mcp(&servers)),
        };
        let Build {
            catalogue,
            problems,
            advice,
            ..
        } = build;
        let told = problems.iter().map(ToString::to_string);
        let told = told.chain(unreached).chain(sandboxes.warnings().await);
        Ok(Self {
            runtime: Runtime::new(catalogue),
            launcher,
            environment,
            warnings: config.warnings.iter().cloned().chain(told).collect(),
            problems,
            advice,
            config,
            agents,
            servers,
            hosts,
            record: Record::new(&state_dir()),
            kept: KeptStore::new(&state_dir()),
            state_dir: state_dir(),
            late_trust: OnceLock::new(),
            embedded: own_tools,
        })
    }

    /// The runtime.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The launcher of its programs.
    pub fn launcher(&self) -> &Launcher {
        &self.launcher
    }

    /// The parts of a sandbox that this system enforces.
    pub async fn sandbox_support(&self) -> SandboxSupport {
        windlass_process::sandbox_support(&self.launcher).await
    }

    /// A launcher for the user's own programs, which get every variable except
    /// the server's token and the keys of providers.
    pub(crate) fn trusted_launcher(&self) -> Launcher {
        self.environment.trusted(&self.launcher)
    }

    /// The variables of this process that are hidden from a tool's program.
    pub fn hidden_variables(&self, tool: &str) -> Vec<String> {
        let own = self.config.tool(tool).map(|tool| &tool.settings);
        let settings = own.unwrap_or(&self.config.defaults);
        self.environment.hidden(&settings.variables)
    }

    /// The MCP servers whose tools are used.
    pub fn mcp_servers(&self) -> &[UpstreamServer] {
        &self.servers
    }

    /// The configuration that it was set up by.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns a function that ends the processes of dead runtimes and removes
    /// their logs. It may take a moment, so run it on a separate thread.
    pub fn sweep(&self) -> impl FnOnce() + Send + 'static {
        let launcher = self.launcher.clone();
        let logs = self.state_dir.join("logs");
        let kept = self.kept.clone();
        move || {
            launcher.sweep(&[]);
            remove_logs_of_the_dead(&logs, &kept::log_folders(&kept));
        }
    }

    /// Warnings for a person: tools that cannot be offered, and keys without
    /// effect.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.warnings.iter().map(String::as_str)
    }

    /// The tools with problems, in the order of the configuration. They are
    /// among the warnings too.
    pub fn problems(&self) -> &[ToolProblem] {
        &self.problems
    }

    /// Warnings for the authors of tools; the tools work.
    pub fn advice(&self) -> &[ToolProblem] {
        &self.advice
    }

    /// The project's id, equal in all of its sessions.
    pub fn project_id(&self) -> String {
        workspace_id(&self.config.root)
    }

    /// The record of all sessions of all runtimes. It is opened on first use,
    /// and created if missing.
    pub fn record(&self) -> Result<&Store, &StoreError> {
        self.record.store()
    }

    /// Starts a session in the project's root, with its logs in the state
    /// directory and a record, unless the options or the configuration say
    /// otherwise. If the record cannot be opened, the session is not recorded.
    pub fn session(&self, options: SessionOptions) -> Session {
        self.session_of(&self.runtime, options)
    }

    /// Like [`Windlass::session`], with the tools of another runtime, such as
    /// one that is [`offering`](Runtime::offering) only some of them.
    pub fn session_of(&self, runtime: &Runtime, mut options: SessionOptions) -> Session {
        if options.root.as_os_str().is_empty() {
            options.root.clone_from(&self.config.root);
        }
        options.record_failure = self.config.record_failure;
        let limits = self.config.session_limits;
        options.limits = SessionLimits {
            memory: limits.memory,
            processes: limits.processes.map(u64::from),
            cpu: limits.cpu,
        };
        if self.config.record && options.recorder.is_none() {
            self.record.keep(&mut options, &self.state_dir);
        }
        if options.log_dir.is_none() {
            // Nothing can be logged in a folder that cannot be marked either.
            options.log_dir = new_log_dir(&self.state_dir).ok();
        }
        let works_for_another = options.on_behalf.is_some();
        if !works_for_another && options.keeper.is_none() {
            options.keeper = Some(self.keeper());
        }
        let session = runtime.session(options);
        if !works_for_another {
            self.tell_of_trust(&session);
        }
        session
    }
}

/// Reserves a place for the tools of a project that is not trusted yet.
fn expect_trust(config: &Config, catalogue: &mut Catalogue) {
    if matches!(config.project, ProjectState::Untrusted(_)) {
        catalogue.expect_replacement();
    }
}

/// A runtime that is being set up.
pub(crate) struct Build<'a> {
    pub(crate) catalogue: Catalogue,
    launcher: &'a Launcher,
    environment: &'a Environment,
    sandboxes: &'a Sandboxes,
    hosts: &'a Hosts,
    pub(crate) config: &'a Config,
    answers: Answers,
    agents: Option<&'a Arc<Agents>>,
    problems: Vec<ToolProblem>,
    advice: Vec<ToolProblem>,
}

impl Build<'_> {
    /// Those without a table in the configuration.
    fn register_builtins(&mut self) -> Result<(), RegisterError> {
        for name in BUILTINS {
            let told = self.config.tool(name).is_some();
            let tool = self.config.builtin(name).filter(|tool| tool.enabled);
            if let Some(tool) = tool.filter(|_| !told && self.is_there(name)) {
                self.register_builtin(&tool)?;
            }
        }
        Ok(())
    }

    /// The built-in tool of that name can be registered.
    fn is_there(&self, name: &str) -> bool {
        let everywhere = [Shell::NAME, Git::NAME, Await::NAME, DescribeTools::NAME];
        everywhere.contains(&name) || (name == Agents::NAME && self.agents.is_some())
    }

    fn register(&mut self, tool: &ToolConfig) -> Result<(), RegisterError> {
        match &tool.source {
            ToolSource::Builtin { .. } if self.is_there(tool.source_name()) => {
                self.register_builtin(tool)
            }
            ToolSource::Builtin { .. } if BUILTINS.contains(&tool.source_name()) => {
                let why = "it is available only in `windlass query` and `windlass chat`";
                self.catalogue.set_unavailable(&tool.name, why);
                Ok(())
            }
            ToolSource::Builtin { .. } => {
                self.cannot_offer(tool, "there is no such built-in tool");
                Ok(())
            }
            ToolSource::Local { .. } => self.register_local(tool),
            // These come last, so that no other tool takes their names.
            ToolSource::Mcp { .. } => Ok(()),
        }
    }

    /// Registers the tools of MCP servers. Their problems do not prevent
    /// Windlass from starting. Returns the problems of servers whose tools are
    /// unknown.
    fn register_mcp(&mut self, servers: &Servers) -> Vec<String> {
        let found = servers.offer(self.config);
        for offered in found.tools {
            let executor = Arc::new(offered.executor);
            let mut definition = offered.definition;
            permit(&offered.tool, &mut definition);
            match self.catalogue.register(definition, executor) {
                Ok(()) => {
                    for problem in offered.problems {
                        self.report(&offered.tool, &problem, true);
                    }
                }
                Err(error) => self.cannot_offer(&offered.tool, &error.to_string()),
            }
        }
        for missing in found.missing {
            if missing.is_told {
                self.cannot_offer(&missing.tool, &missing.why);
            } else {
                let name = &missing.tool.name;
                self.catalogue.set_unavailable(name, missing.why);
            }
        }
        found.unreached
    }

    /// Reserves places for the tools of MCP servers, to be filled once their
    /// servers have started.
    fn await_mcp(&mut self, report: &LateReport, lends_clients: bool) -> Vec<UpstreamServer> {
        let coming = Coming {
            set_up: ServerSetup {
                config: self.config,
                launcher: self.launcher,
                environment: self.environment,
                sandboxes: self.sandboxes,
                announcer: &self.catalogue.announcer().clone(),
                lends_clients,
            },
            report,
        };
        for tool in self.config.offered() {
            if matches!(tool.source, ToolSource::Mcp { .. }) {
                let why = "its MCP server is not ready; the tool is available once the server is";
                self.catalogue.set_unavailable(&tool.name, why);
            }
        }
        coming.begin(|| self.catalogue.late())
    }

    /// Reports a tool that cannot be offered; a call of it is refused with the
    /// reason.
    pub(crate) fn cannot_offer(&mut self, tool: &ToolConfig, why: &str) {
        self.catalogue.set_unavailable(&tool.name, why);
        self.report(tool, why, false);
    }

    fn report(&mut self, tool: &ToolConfig, problem: &str, offered: bool) {
        self.problems.push(ToolProblem {
            tool: tool.name.clone(),
            place: tool.place.clone(),
            problem: problem.to_owned(),
            offered,
        });
    }

    fn register_builtin(&mut self, tool: &ToolConfig) -> Result<(), RegisterError> {
        match tool.source_name() {
            Shell::NAME => {
                let launcher = self.launcher_of(tool);
                let mut definition =
                    sandboxed(Self::overlaid(tool, Shell::definition()), &launcher);
                Shell::describe_digest(&mut definition);
                let make = |launcher| Arc::new(Shell::new(launcher).keeping(kept(tool))) as _;
                let placed = self.hosts.place(tool, launcher, &mut definition, make);
                self.register_placed(tool, definition, placed)
            }
            Git::NAME => {
                let launcher = self.launcher_of(tool);
                let mut definition = sandboxed(Self::overlaid(tool, Git::definition()), &launcher);
                let make = |launcher| Arc::new(Git::new(launcher).keeping(kept(tool))) as _;
                let placed = self.hosts.place(tool, launcher, &mut definition, make);
                self.register_placed(tool, definition, placed)
            }
            Await::NAME => self
                .catalogue
                .register_builtin(tool.overlay(Await::definition()), Arc::new(Await)),
            DescribeTools::NAME => self.catalogue.register_builtin(
                tool.overlay(DescribeTools::definition()),
                Arc::new(DescribeTools),
            ),
            _ => match self.agents {
                Some(agents) => {
                    let definition = Self::overlaid(tool, Agents::definition());
                    self.catalogue.register(definition, Arc::clone(agents) as _)
                }
                None => Ok(()),
            },
        }
    }

    /// A built-in tool with the configuration merged in, including permissions
    /// and secrets.
    fn overlaid(tool: &ToolConfig, base: ToolDefinition) -> ToolDefinition {
        let mut definition = tool.overlay(base);
        permit(tool, &mut definition);
        definition.secrets_to_assistant = tool.secrets == SecretTarget::Assistant;
        definition
    }

    fn register_local(&mut self, tool: &ToolConfig) -> Result<(), RegisterError> {
        if tool.asks_program {
            self.register_described(tool);
            return Ok(());
        }
        let local = self.local(tool, tool.io, tool.settings.format_arguments);
        let mut definition = tool.definition.clone();
        definition.shape.typing |= tool.io == IoMode::Terminal;
        self.register_executor(tool, definition, &local)
    }

    /// Registers a tool that its program describes. Its problems do not affect
    /// other tools.
    fn register_described(&mut self, tool: &ToolConfig) {
        let described = match self.answers.describe(tool) {
            Ok(described) => described,
            Err(error) => {
                let why = error.to_string();
                return self.cannot_offer(tool, &why);
            }
        };
        let local = self.local(tool, described.io, Some(described.formats_arguments));
        match self.register_executor(tool, described.definition, &local) {
            Ok(()) => {
                for problem in described.problems {
                    self.report(tool, &problem, true);
                }
            }
            Err(error) => {
                let why = format!("{error}; add `parameters` to its table, or update the program");
                self.cannot_offer(tool, &why);
            }
        }
    }

    fn register_executor(
        &mut self,
        tool: &ToolConfig,
        mut definition: ToolDefinition,
        local: &LocalTool,
    ) -> Result<(), RegisterError> {
        permit(tool, &mut definition);
        let digest = tool.settings.digest;
        definition.digest.enabled = digest.unwrap_or(local.io == IoMode::Text);
        definition.secrets_to_assistant = tool.secrets == SecretTarget::Assistant;
        let mut definition = sandboxed(definition, &local.launcher);
        let advice = describe::advice(tool, &definition.shape.parameters);
        let launcher = local.launcher.clone();
        let make = |launcher| {
            Arc::new(LocalTool {
                launcher,
                ..local.clone()
            }) as _
        };
        let placed = self.hosts.place(tool, launcher, &mut definition, make);
        self.register_placed(tool, definition, placed)?;
        self.advice.extend(advice);
        Ok(())
    }

    /// Registers a tool on its host. A tool whose host is missing is not
    /// offered.
    fn register_placed(
        &mut self,
        tool: &ToolConfig,
        definition: ToolDefinition,
        placed: Result<Arc<dyn Executor>, PlaceError>,
    ) -> Result<(), RegisterError> {
        match placed {
            Ok(executor) => self.catalogue.register(definition, executor),
            Err(error) => {
                self.cannot_offer(tool, &error.to_string());
                Ok(())
            }
        }
    }

    /// The launcher of a tool's programs, with the variables of its table.
    fn launcher_of(&self, tool: &ToolConfig) -> Launcher {
        let variables = &tool.settings.variables;
        let launcher = self.environment.launcher(self.launcher, variables);
        self.sandboxes.confine(launcher, &tool.settings)
    }

    fn local(&self, tool: &ToolConfig, io: IoMode, formats_arguments: Option<bool>) -> LocalTool {
        LocalTool {
            launcher: self.launcher_of(tool),
            command: describe::command(tool),
            tool: tool.source_name().to_owned(),
            io,
            options: tool.options.clone(),
            takes_call: tool.takes_call(),
            formats_arguments: formats_arguments.unwrap_or(false),
            workspace_id: Some(workspace_id(&self.config.root)),
            kept: kept(tool),
        }
    }
}

/// By default a person is asked before a tool starts, unless the session's
/// client has asked its user already.
pub(crate) fn permit(tool: &ToolConfig, definition: &mut ToolDefinition) {
    let run = tool.settings.run;
    let unattended = RunPolicy::starting(RunMode::Unattended);
    definition.run = run.over(RunPolicy::default());
    definition.run_for_client = Some(run.over(unattended));
}

/// Adds the description of the launcher's sandbox to the definition, for
/// requests to a person.
fn sandboxed(mut definition: ToolDefinition, launcher: &Launcher) -> ToolDefinition {
    definition.sandbox = launcher.confinement().map(|it| it.summary());
    definition
}

fn kept(tool: &ToolConfig) -> Kept {
    let usual = TerminalSize::default();
    Kept {
        log_limit: tool.log_limit,
        size: TerminalSize {
            rows: tool.rows.unwrap_or(usual.rows),
            cols: tool.cols.unwrap_or(usual.cols),
        },
        record: tool.record,
    }
}
