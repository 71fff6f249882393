//! The resolved configuration, and the options for loading it.

use std::path::{Path, PathBuf};

use windlass_runtime::RecordFailure;
use windlass_sandbox::ResourceLimits;

use crate::assistant::AssistantConfig;
use crate::host::HostConfig;
use crate::keys::{self, BUILTINS};
use crate::mcp::McpServerConfig;
use crate::place::SourceLocation;
use crate::resolve;
use crate::serving::McpServing;
use crate::settings::{RunSettings, ToolSettings};
use crate::tool::{ToolConfig, ToolSource};
use crate::trust::{ProjectState, ProjectTrust};

/// A commented sample file with one line per section and one working tool.
pub const SAMPLE_CONFIG: &str = include_str!("sample.toml");

/// The sources of a configuration.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// The folder to start from; absolute. The nearest folder above it with a
    /// `.windlass` folder is the project.
    pub cwd: PathBuf,
    /// The folder with `windlass/config.toml`; default: from `XDG_CONFIG_HOME`
    /// or `HOME` of `environment`.
    pub config_home: Option<PathBuf>,
    /// Further files, from `--config`. They must exist.
    pub explicit: Vec<PathBuf>,
    /// Variables. `WINDLASS_SET` and `WINDLASS_SET_…` hold assignments, one
    /// per line.
    pub environment: Vec<(String, String)>,
    /// Assignments such as `conversation.tools.shell.run=ask`, from `--set`.
    pub overrides: Vec<String>,
    /// The decision on whether the project's files are used.
    pub trust: ProjectTrust,
}

impl LoadOptions {
    /// The options of a process started in `cwd`, with its own environment and
    /// without flags.
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

    /// The user's own file, whether or not it exists.
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
    /// The project's folder, or the start folder if there is no project.
    pub root: PathBuf,
    /// All tools with a table, in the order of first mention.
    pub tools: Vec<ToolConfig>,
    /// The settings in `conversation.tools."*"`, which apply to every tool.
    pub defaults: ToolSettings,
    /// The assistant and its providers.
    pub assistant: AssistantConfig,
    /// Sessions are recorded.
    pub record: bool,
    /// The fate of calls that cannot be recorded.
    pub record_failure: RecordFailure,
    /// Limits for all tools of a session together: memory, processes and CPU
    /// time.
    pub session_limits: ResourceLimits,
    /// Settings of Windlass' own MCP server.
    pub mcp: McpServing,
    /// The maximum number of handles that outlive their runtime.
    pub kept_max: usize,
    pub mcp_servers: Vec<McpServerConfig>,
    /// Machines that tools run on.
    pub hosts: Vec<HostConfig>,
    /// Warnings for a person, one sentence each, without duplicates.
    pub warnings: Vec<String>,
    /// The files that were read, lowest layer first.
    pub files: Vec<PathBuf>,
    /// Every effective value as written, in the order of the layers.
    pub values: Vec<ConfigValue>,
    /// The state of the project's files.
    pub project: ProjectState,
}

/// A value of the configuration and its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigValue {
    /// The key, such as `conversation.tools.shell.run`.
    pub key: String,
    pub value: serde_json::Value,
    /// Its file and line, variable or flag.
    pub origin: SourceLocation,
}

impl Config {
    /// The tool of that name, if it has a table.
    pub fn tool(&self, name: &str) -> Option<&ToolConfig> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    pub fn offered(&self) -> impl Iterator<Item = &ToolConfig> {
        self.tools.iter().filter(|tool| tool.enabled)
    }

    /// A server's tool without a table, with its default name and the settings
    /// for every tool.
    pub fn mcp_tool(&self, server: &str, tool: &str) -> ToolConfig {
        let name = name_of_mcp_tool(server, tool);
        let source = ToolSource::Mcp {
            server: Some(server.to_owned()),
            tool: Some(tool.to_owned()),
        };
        resolve::untold(&name, source, self.defaults.clone())
    }

    /// A tool of the embedding program, with the settings for every tool.
    pub fn embedded_tool(&self, name: &str) -> ToolConfig {
        resolve::untold_builtin(name, self.defaults.clone())
    }

    /// A built-in tool under its own name, with the settings of its table or of
    /// every tool. `None` if a table gives the name to another tool.
    pub fn builtin(&self, name: &str) -> Option<ToolConfig> {
        match self.tool(name) {
            Some(tool) if matches!(tool.source, ToolSource::Builtin { .. }) => Some(tool.clone()),
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

/// The default name of a server's tool. It includes the server's name, so that
/// no server can replace another tool.
fn name_of_mcp_tool(server: &str, tool: &str) -> String {
    let word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    format!("{server}_{tool}").replace(|letter| !word(letter), "_")
}
