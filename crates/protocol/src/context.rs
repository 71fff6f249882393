//! What a local program is told when it is run: the context and the tool.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Arguments;

/// What a program is run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Do the work.
    Run,
    /// Show the arguments as a person would like to read them.
    FormatArguments,
    /// Describe the tools of the program.
    Schema,
}

/// The `{{context}}` of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Context {
    /// What the program is run for.
    pub action: Action,
    /// The project's root folder.
    pub root: PathBuf,
    /// Names the project, the same across runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// Names the session that calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// Names the handle, when the call is one that lasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle_id: Option<String>,
}

/// The `{{tool}}` of a command.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// The tool's name.
    pub name: String,
    /// What the assistant gave.
    #[serde(default)]
    pub arguments: Arguments,
    /// Answers to the tool's earlier questions, by question id.
    #[serde(default)]
    pub answers: Arguments,
    /// What the configuration sets for the tool.
    #[serde(default)]
    pub options: Arguments,
}
