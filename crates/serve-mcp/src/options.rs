//! The options of the server.

use std::time::Duration;

/// Options of the server.
#[derive(Debug, Clone)]
pub struct McpOptions {
    /// The longest time that a call may block its client; default: 50 s, less
    /// than the shortest client timeout.
    pub max_block: Duration,
    /// The interval of progress messages for a caller that asked for progress.
    pub progress_every: Duration,
    /// The condition on which a call becomes a task, for clients that support
    /// tasks.
    pub tasks: TaskPolicy,
    /// The name of the session of a connection over pipes.
    pub session: Option<String>,
    /// Whether results have structured content beside their text. `None`:
    /// depends on the client.
    pub structured: Option<bool>,
}

/// The condition on which a call becomes a task, for clients that support
/// tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskPolicy {
    /// When the call would otherwise become a handle.
    Auto,
    /// Never; tasks are not declared.
    Never,
    /// After this time, and at most `max_block` for a client that asks for no
    /// progress.
    After(Duration),
}

impl Default for McpOptions {
    fn default() -> Self {
        Self {
            max_block: Duration::from_secs(50),
            progress_every: Duration::from_secs(5),
            tasks: TaskPolicy::Auto,
            session: None,
            structured: None,
        }
    }
}
