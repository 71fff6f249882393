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

/// Advice that ends a notice: it names actions that only the assistant has.
pub mod advice {
    /// Of a handle that has stopped.
    pub const READ_RESULT: &str = "; fetch it to read its result";
    /// Of a handle that a person had.
    pub const SEE_CHANGES: &str = "; fetch it to see what changed";
    /// Of a message that was cut.
    pub const READ_MORE: &str = " (fetch it to read more)";
    /// Of a handle that left processes running.
    pub const END_THEM: &str = "; abort it to end them";
    /// Of a one-shot that left processes running.
    pub const SPAWN_INSTEAD: &str = "; action `spawn` would give a handle to watch and end them";

    pub(super) const ALL: [&str; 5] =
        [READ_RESULT, SEE_CHANGES, READ_MORE, END_THEM, SPAWN_INSTEAD];
}

impl Notice {
    /// The sentence for a person: without the advice to the assistant.
    pub fn for_person(&self) -> String {
        let text = self.text.clone();
        advice::ALL
            .iter()
            .fold(text, |text, advice| text.replace(advice, ""))
    }
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
    /// A person lets a handle that its sandbox has denied something run
    /// again.
    Sandbox,
}

#[cfg(test)]
#[path = "notice_tests.rs"]
mod tests;
