//! What the assistant has not been told yet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::HandleId;

/// One thing the assistant should know, delivered exactly once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// How much it matters.
    pub level: NoticeLevel,
    /// What it is about.
    pub kind: NoticeKind,
    /// The handle it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<HandleId>,
    /// The tool it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A sentence for the assistant.
    pub text: String,
}

/// How much a notice matters.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Something may want attention.
    Warning,
    /// Something failed.
    Error,
    /// The model is interrupted for it.
    Critical,
}

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// A handle stopped well.
    Success,
    /// A handle stopped with an error.
    Failure,
    /// A handle waits for an answer.
    Waiting,
    /// A running handle has new output.
    Content,
    /// A one-shot left processes running.
    LeftRunning,
    /// A handle of an earlier runtime: it runs on, or how it ended.
    Kept,
    /// A server that tools depend on came or went.
    Server,
    /// The record cannot be written, or can be again.
    Record,
    /// A person changed the arguments of a call before it ran.
    Edited,
    /// The project's own tools are not there until the user trusts them, or
    /// are there now.
    Trust,
}
