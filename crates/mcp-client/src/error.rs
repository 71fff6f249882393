//! Why a server is of no use just now.

use std::sync::Arc;

/// A server that cannot be reached, or is gone. Cloned, since several calls
/// may wait for one server.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ServerError {
    /// Its program could not be started.
    #[error("MCP server `{server}` could not be started: {why}")]
    Start {
        /// The server.
        server: String,
        /// What went wrong, with its causes.
        why: Arc<str>,
    },
    /// It said nothing that makes it a server.
    #[error("MCP server `{server}` did not come up: {why}")]
    Handshake {
        /// The server.
        server: String,
        /// What went wrong, with its causes.
        why: Arc<str>,
    },
    /// It took too long.
    #[error(
        "MCP server `{server}` did not answer within {seconds} s; \
         `startup_timeout_secs` in its table gives it more time"
    )]
    Slow {
        /// The server.
        server: String,
        /// How long it had.
        seconds: f64,
    },
    /// A header of its configuration cannot be sent.
    #[error("MCP server `{server}` cannot be sent the header `{header}`; rename or remove it")]
    Header {
        /// The server.
        server: String,
        /// The header.
        header: String,
    },
    /// It would not tell its tools.
    #[error("MCP server `{server}` does not tell its tools: {why}")]
    List {
        /// The server.
        server: String,
        /// What it said instead.
        why: Arc<str>,
    },
    /// It has ended.
    #[error("MCP server `{server}` has ended: {why}")]
    Gone {
        /// The server.
        server: String,
        /// How.
        why: Arc<str>,
    },
}

/// An error with its causes, as one line.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> Arc<str> {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        // Many errors repeat their cause.
        if !text.contains(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text.into()
}
