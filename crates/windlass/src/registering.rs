//! Registers the tools of a configuration: built-in, local, described by their
//! programs, and those of MCP servers.
//!
//! `embedded.rs` registers the tools of the embedding program.

use std::sync::Arc;

use windlass_assistant::Agents;
use windlass_config::{BUILTINS, Config, SecretTarget, ToolConfig, ToolSource};
use windlass_executors::{Git, Kept, Launcher, LocalTool, Shell, TerminalSize};
use windlass_mcp_client::UpstreamServer;
use windlass_runtime::protocol::IoMode;
use windlass_runtime::{
    Await, Catalogue, DescribeTools, Executor, RegisterError, RunMode, RunPolicy, ToolDefinition,
};

use crate::build::ToolProblem;
use crate::builder::LateReport;
use crate::describe::{self, Answers};
use crate::environment::Environment;
use crate::hosts::{Hosts, PlaceError};
use crate::mcp::{Coming, ServerSetup, Servers};
use crate::place::workspace_id;
use crate::sandboxes::Sandboxes;

/// A runtime that is being set up.
pub(crate) struct Build<'a> {
    pub(crate) catalogue: Catalogue,
    pub(crate) launcher: &'a Launcher,
    pub(crate) environment: &'a Environment,
    pub(crate) sandboxes: &'a Sandboxes,
    pub(crate) hosts: &'a Hosts,
    pub(crate) config: &'a Config,
    pub(crate) answers: Answers,
    pub(crate) agents: Option<&'a Arc<Agents>>,
    pub(crate) problems: Vec<ToolProblem>,
    pub(crate) advice: Vec<ToolProblem>,
}

impl Build<'_> {
    /// Those without a table in the configuration.
    pub(crate) fn register_builtins(&mut self) -> Result<(), RegisterError> {
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

    pub(crate) fn register(&mut self, tool: &ToolConfig) -> Result<(), RegisterError> {
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
    pub(crate) fn register_mcp(&mut self, servers: &Servers) -> Vec<String> {
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
    pub(crate) fn await_mcp(
        &mut self,
        report: &LateReport,
        lends_clients: bool,
    ) -> Vec<UpstreamServer> {
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
