//! Notices: news that the assistant has not received yet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::HandleId;

/// One thing the assistant should know, delivered exactly once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// The severity.
    pub level: NoticeLevel,
    /// The subject.
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

/// Advice at the end of a notice. It names actions that only the assistant has.
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
    /// The text for a person, without the advice to the assistant.
    pub fn for_person(&self) -> String {
        let text = self.text.clone();
        advice::ALL
            .iter()
            .fold(text, |text, advice| text.replace(advice, ""))
    }
}

/// The severity of a notice.
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

/// The subject of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// A handle finished successfully.
    Success,
    /// A handle stopped with an error.
    Failure,
    /// A handle waits for an answer.
    Waiting,
    /// A running handle has new output.
    Content,
    /// A one-shot left processes running.
    LeftRunning,
    /// A handle of an earlier runtime: it still runs, or its end.
    Kept,
    /// A server that tools depend on came or went.
    Server,
    /// The record cannot be written, or can be again.
    Record,
    /// A person changed the arguments of a call before it ran.
    Edited,
    /// The project's own tools are unavailable until the user trusts the
    /// project, or are available now.
    Trust,
    /// A person lets a handle run again after its sandbox denied it something.
    Sandbox,
}

#[cfg(test)]
#[path = "notice_tests.rs"]
mod tests;
