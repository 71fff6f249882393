//! Configuration: TOML in, resolved tools out.
//!
//! Start at [`load`]: it finds the layers, reads and merges them key by key,
//! and returns a [`Config`]. Any mistake in a file is an error, and the error
//! lists every mistake with its file and line; there is no silent fallback to a
//! default. A project's files are used only if exactly their content is trusted
//! ([`ProjectTrust`]), and never override the user's rules. This crate starts
//! no program: a local tool without parameters is only marked as one whose
//! program must describe them.

mod assistant;
mod command;
mod config;
mod default_values;
mod error;
mod expected;
mod host;
mod keys;
mod layers;
mod load;
mod mcp;
mod node;
mod overlay;
mod override_parameters;
mod parameter;
mod permissions;
mod place;
mod plain_file;
mod programs;
mod project;
mod read;
mod resolve;
mod sandbox;
mod serving;
mod settings;
mod tables;
mod tool;
mod tool_files;
mod trust;
mod units;
mod user_word;
mod variables;
mod wishes;

pub use assistant::{AssistantConfig, ProviderConfig, ReasoningEffort, is_known_key};
pub use command::{CommandConfig, CommandError};
pub use config::{Config, ConfigValue, LoadOptions, SAMPLE_CONFIG};
pub use default_values::{AbsentValue, DefaultValue};
pub use error::{ConfigError, Problem, ProblemKind};
pub use expected::ExpectedValue;
pub use host::{HostConfig, PoolConfig};
pub use keys::{BUILTINS, nearest};
pub use load::load;
pub use mcp::{McpServerConfig, McpTools, McpTransport, ServerConfinement};
pub use permissions::PermissionSettings;
pub use place::SourceLocation;
pub use plain_file::{FileFault, LARGEST_FILE};
pub use serving::{McpServing, TaskSetting};
pub use settings::{
    LifecycleSettings, NotificationSettings, QuestionSettings, RunSettings, SpawnSettings,
    ToolSettings,
};
pub use tool::{SecretTarget, ToolConfig, ToolSource};
pub use trust::{
    ProjectContent, ProjectProgram, ProjectState, ProjectText, ProjectTrust, TrustDecision,
    TrustQuestion,
};
pub use variables::{TOKEN_VARIABLE, VariableSettings, looks_like_credential};
