//! Clients that want to be answered in their own way.
//!
//! Start at [`KNOWN`]: a client that is not listed there gets the defaults. The
//! options of the server override all of it.

use std::time::Duration;

use crate::server::{McpOptions, TaskPolicy};

/// How a client is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClientTraits {
    /// The name that it introduces itself with begins so, in any case.
    name: &'static str,
    /// It gives its model the text of a result or the structured content. A
    /// client that gives both would let every result cost twice.
    structured: bool,
    /// How long a call stays a call before it becomes a task. `None`: for as
    /// long as a call may block.
    task_after: Option<Duration>,
    /// The least time in which a person can have declined a dialog of it. What
    /// is declined faster was declined by the client itself.
    pub(crate) reading: Duration,
}

const DEFAULT: ClientTraits = ClientTraits {
    name: "",
    structured: true,
    task_after: None,
    reading: Duration::from_secs(1),
};

/// One row per client that differs from the default.
const KNOWN: &[ClientTraits] = &[
    // `codex exec` declines everything by itself, at once unless the machine
    // is busy.
    ClientTraits {
        name: "codex",
        reading: Duration::from_secs(3),
        ..DEFAULT
    },
    ClientTraits {
        name: "cline",
        structured: false,
        ..DEFAULT
    },
    ClientTraits {
        name: "@cline/",
        structured: false,
        ..DEFAULT
    },
    ClientTraits {
        name: "copilot",
        structured: false,
        ..DEFAULT
    },
    ClientTraits {
        name: "qwen",
        structured: false,
        ..DEFAULT
    },
    ClientTraits {
        name: "pi-mcp",
        structured: false,
        ..DEFAULT
    },
];

impl ClientTraits {
    /// The traits of the client that introduces itself with this name.
    pub(crate) fn of(name: Option<&str>) -> Self {
        let name = name.unwrap_or_default().to_ascii_lowercase();
        let mut known = KNOWN.iter();
        let found = known.find(|client| name.starts_with(client.name));
        found.copied().unwrap_or(DEFAULT)
    }

    /// Its results carry structured content.
    pub(crate) fn is_structured(&self, options: &McpOptions) -> bool {
        options.structured.unwrap_or(self.structured)
    }

    /// How long a call of a client that takes tasks stays a call; `None` when
    /// it never becomes a task. A client that asked for progress waits longer
    /// than `max_block` if the configuration says so.
    pub(crate) fn task_after(&self, options: &McpOptions, has_progress: bool) -> Option<Duration> {
        let after = match options.tasks {
            TaskPolicy::Never => return None,
            TaskPolicy::Auto => self.task_after.unwrap_or(options.max_block),
            TaskPolicy::After(after) => after,
        };
        if has_progress {
            Some(after)
        } else {
            Some(after.min(options.max_block))
        }
    }
}

#[cfg(test)]
#[path = "clients_tests.rs"]
mod tests;
