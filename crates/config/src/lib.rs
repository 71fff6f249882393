//! Configuration: TOML in, resolved tools out.
//!
//! Start at [`load`]: it finds the layers, reads each of them, merges them key
//! by key and gives a [`Config`]. A file that is wrong anywhere is an error
//! that names every mistake with its file and line; nothing falls back to a
//! default in silence. Nothing here starts a program or asks one: a local tool
//! without parameters is only marked as one that must be asked.

mod assistant;
mod command;
mod config;
mod error;
mod expected;
mod keys;
mod layers;
mod mcp;
mod node;
mod overlay;
mod override_parameters;
mod parameter;
mod permissions;
mod place;
mod read;
mod resolve;
mod serving;
mod settings;
mod tables;
mod tool;
mod tool_files;
mod units;
mod variables;

pub use assistant::{AssistantConfig, ProviderConfig, ReasoningEffort, is_known_key};
pub use command::{CommandConfig, CommandError};
pub use config::{Config, LoadOptions, SAMPLE_CONFIG, load};
pub use error::{ConfigError, Problem, ProblemKind};
pub use expected::ExpectedValue;
pub use keys::{BUILTINS, nearest};
pub use mcp::{McpServerConfig, McpTools, McpTransport};
pub use permissions::PermissionSettings;
pub use place::Place;
pub use serving::{McpServing, TaskSetting};
pub use settings::{
    LifecycleSettings, NotificationSettings, QuestionSettings, RunSettings, SpawnSettings,
    ToolSettings,
};
pub use tool::{SecretTarget, Source, ToolConfig};
pub use variables::{TOKEN_VARIABLE, VariableSettings, looks_like_credential};
