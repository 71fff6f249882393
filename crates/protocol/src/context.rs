//! The input of a local program: its context and its call.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Arguments;

/// The reason why a program is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Do the work.
    Run,
    /// Print the arguments in readable form.
    FormatArguments,
    /// Describe the tools of the program.
    Schema,
}

/// The `{{context}}` of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Context {
    /// The reason why the program is run.
    pub action: Action,
    /// The project's root folder.
    pub root: PathBuf,
    /// The project's id, equal across runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// The id of the calling session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// The handle's id; absent for a one-shot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle_id: Option<String>,
}

/// The `{{tool}}` of a command.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ToolInvocation {
    /// The tool's name.
    pub name: String,
    /// The assistant's arguments.
    #[serde(default)]
    pub arguments: Arguments,
    /// Answers to the tool's earlier questions, by question id.
    #[serde(default)]
    pub answers: Arguments,
    /// The tool's options from the configuration.
    #[serde(default)]
    pub options: Arguments,
}
