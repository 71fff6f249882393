//! From a configuration to a runtime. `registering.rs` registers its tools.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use windlass_assistant::Agents;
use windlass_config::{
    Config, ConfigError, LoadOptions, ProjectState, ProjectTrust, SourceLocation, ToolConfig,
};
use windlass_executors::{Describer, Launcher, LauncherOptions, SchemaError};
use windlass_kept::KeptStore;
use windlass_mcp_client::UpstreamServer;
use windlass_process::SandboxSupport;
use windlass_runtime::{Catalogue, RegisterError, Runtime, Session, SessionLimits, SessionOptions};

use windlass_store::{Store, StoreError};

use crate::builder::Builder;
use crate::cache::Cache;
use crate::describe::{Answers, DescriptionCaching};
use crate::embedded::{self, NameOwner};
use crate::environment::Environment;
use crate::hosts::Hosts;
use crate::kept;
use crate::late_trust::LateTrust;
use crate::mcp::{ServerSetup, Servers};
use crate::place::{cache_dir, new_log_dir, remove_logs_of_the_dead, state_dir, workspace_id};
use crate::record::Record;
use crate::registering::Build;
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
            let ended = launcher.sweep(&[]);
            tracing::debug!(ended, "the leftovers of dead runtimes are swept");
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
