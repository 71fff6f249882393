//! Clients with special needs.
//!
//! Start at [`KNOWN`]: other clients get the defaults. The options of the
//! server override all of it.

use std::time::Duration;

use crate::options::{McpOptions, TaskPolicy};

/// The treatment of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClientTraits {
    /// The prefix of the client's name, in lower or upper case.
    name: &'static str,
    /// Whether the client passes only one of text and structured content to its
    /// model. For a client that passes both, every result would cost twice.
    structured: bool,
    /// The time after which a call becomes a task. `None`: when it may no
    /// longer block.
    task_after: Option<Duration>,
    /// The minimum time in which a person can decline a dialog of this client.
    /// A faster reply was made by the client itself.
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
    // `codex exec` declines everything, at once unless the machine
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
    /// The traits of the client with this name.
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

    /// The time after which a call becomes a task, for a client that supports
    /// tasks; `None` if never. A client that asked for progress may wait longer
    /// than `max_block` if configured.
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
