//! A configuration: where it is loaded from, and what comes of it.

use std::path::{Path, PathBuf};

use windlass_runtime::RecordFailure;
use windlass_sandbox::ResourceLimits;

use crate::assistant::AssistantConfig;
use crate::host::HostConfig;
use crate::keys::{self, BUILTINS};
use crate::mcp::McpServerConfig;
use crate::place::Place;
use crate::resolve;
use crate::serving::McpServing;
use crate::settings::{RunSettings, ToolSettings};
use crate::tool::{Source, ToolConfig};
use crate::trust::{ProjectState, ProjectTrust};

/// A commented file to begin with: every section in a line, and one tool that
/// works.
pub const SAMPLE_CONFIG: &str = include_str!("sample.toml");

/// Where to look, and what to lay over it.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// The folder to start from; absolute. The nearest folder above it that
    /// has a `.windlass` folder is the project.
    pub cwd: PathBuf,
    /// The folder that holds `windlass/config.toml`; unless given, what
    /// `XDG_CONFIG_HOME` or `HOME` of `environment` say.
    pub config_home: Option<PathBuf>,
    /// Further files, as `--config` gives them. They must be there.
    pub explicit: Vec<PathBuf>,
    /// Variables. `WINDLASS_SET` and `WINDLASS_SET_…` hold assignments, one
    /// per line.
    pub environment: Vec<(String, String)>,
    /// Assignments such as `conversation.tools.shell.run=ask`, as `--set`
    /// gives them.
    pub overrides: Vec<String>,
    /// How it is decided whether the project's files count.
    pub trust: ProjectTrust,
}

impl LoadOptions {
    /// What a process that was started in `cwd` would load, by its own
    /// environment and without flags.
    pub fn for_process(cwd: impl Into<PathBuf>) -> Self {
        Self {
            cwd: cwd.into(),
            // Variables that are not UTF-8 cannot be ours.
            environment: std::env::vars_os()
                .filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
            ..Self::default()
        }
    }

    /// The user's own file, whether it is there or not.
    pub fn user_file(&self) -> Option<PathBuf> {
        let folder = self.config_folder()?;
        Some(folder.join("windlass/config.toml"))
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let mut variables = self.environment.iter();
        let variable = variables.find(|(key, _)| key == name);
        variable.map(|(_, value)| value.as_str())
    }

    /// The folder of the user's configuration files.
    pub(crate) fn config_folder(&self) -> Option<PathBuf> {
        let variable = |name: &str| {
            let value = self.variable(name).map(Path::new);
            // The XDG specification has relative paths ignored.
            value.filter(|path| path.is_absolute())
        };
        self.config_home
            .clone()
            .or_else(|| variable("XDG_CONFIG_HOME").map(Path::to_owned))
            .or_else(|| variable("HOME").map(|home| home.join(".config")))
    }
}

/// The resolved configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The project's folder, or where the search began if there is none.
    pub root: PathBuf,
    /// Every tool that has a table, in the order in which they were first
    /// mentioned.
    pub tools: Vec<ToolConfig>,
    /// What `conversation.tools."*"` says of every tool.
    pub defaults: ToolSettings,
    /// The assistant and its providers.
    pub assistant: AssistantConfig,
    /// Sessions are recorded.
    pub record: bool,
    /// The fate of calls that cannot be recorded.
    pub record_failure: RecordFailure,
    /// Limits of all tools of a session together: memory, processes and CPU time.
    pub session_limits: ResourceLimits,
    /// How our own MCP server answers.
    pub mcp: McpServing,
    /// How many handles outlive their runtime at once.
    pub kept_max: usize,
    /// MCP servers.
    pub mcp_servers: Vec<McpServerConfig>,
    /// Machines that tools run on.
    pub hosts: Vec<HostConfig>,
    /// What a person should know, one sentence each, nothing twice.
    pub warnings: Vec<String>,
    /// The files that were read, lowest layer first.
    pub files: Vec<PathBuf>,
    /// Every value that is in effect as it was written, in the order of the
    /// layers.
    pub values: Vec<ConfigValue>,
    /// How the project's files count.
    pub project: ProjectState,
}

/// A value of the configuration and its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigValue {
    /// The key, such as `conversation.tools.shell.run`.
    pub key: String,
    /// The value.
    pub value: serde_json::Value,
    /// The file and line, the variable or the flag that it comes from.
    pub origin: Place,
}

impl Config {
    /// The tool of that name, if it has a table.
    pub fn tool(&self, name: &str) -> Option<&ToolConfig> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The tools that are offered.
    pub fn offered(&self) -> impl Iterator<Item = &ToolConfig> {
        self.tools.iter().filter(|tool| tool.enabled)
    }

    /// A server's tool that no table speaks of, under the name that it is
    /// offered by and with what holds for every tool.
    pub fn mcp_tool(&self, server: &str, tool: &str) -> ToolConfig {
        let name = name_of_mcp_tool(server, tool);
        let source = Source::Mcp {
            server: Some(server.to_owned()),
            tool: Some(tool.to_owned()),
        };
        resolve::untold(&name, source, self.defaults.clone())
    }

    /// A tool of the program that Windlass is embedded in, with what holds for
    /// every tool.
    pub fn embedded_tool(&self, name: &str) -> ToolConfig {
        resolve::untold_builtin(name, self.defaults.clone())
    }

    /// A built-in tool under its own name: by its table, or by what holds for
    /// every tool. `None` where a table gives the name to another tool.
    pub fn builtin(&self, name: &str) -> Option<ToolConfig> {
        match self.tool(name) {
            Some(tool) if matches!(tool.source, Source::Builtin { .. }) => Some(tool.clone()),
            None if BUILTINS.contains(&name) => {
                let mut settings = self.defaults.clone();
                if keys::START_NOTHING.contains(&name) {
                    settings.run = RunSettings::default();
                    settings.enable = None;
                }
                Some(resolve::untold_builtin(name, settings))
            }
            _ => None,
        }
    }
}

/// What a server's tool is called where no table names it: the server's name
/// and the tool's, so that no server can take the place of another tool.
fn name_of_mcp_tool(server: &str, tool: &str) -> String {
    let word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    format!("{server}_{tool}").replace(|letter| !word(letter), "_")
}
