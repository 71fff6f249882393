//! Why a server is of no use just now.

use std::sync::Arc;

use rmcp::service::ClientInitializeError;
use rmcp::transport::streamable_http_client::InsufficientScopeError;

/// A server that cannot be reached, or has ended. It is cloneable, because
/// several calls may wait for one server.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ServerError {
    /// Its program could not be started.
    #[error("MCP server `{server}` could not be started: {why}")]
    Start {
        server: String,
        /// The error, with its causes.
        why: Arc<str>,
    },
    /// It did not complete the handshake.
    #[error("MCP server `{server}` did not start: {why}")]
    Handshake {
        server: String,
        /// The error, with its causes.
        why: Arc<str>,
    },
    /// It requires authorization.
    #[error(
        "MCP server `{server}` requires authorization ({why}); add the credentials to its table, \
         such as \
         `headers = {{ Authorization = \"Bearer TOKEN\" }}` under [providers.mcp.{server}]. Signing in \
         through a browser (OAuth) is not supported"
    )]
    Unauthorized {
        server: String,
        /// Its refusal.
        why: Arc<str>,
    },
    /// It took too long.
    #[error(
        "MCP server `{server}` did not answer within {seconds} s; \
         raise `startup_timeout_secs` in its table"
    )]
    Slow {
        server: String,
        /// The time limit.
        seconds: f64,
    },
    /// A header of its configuration cannot be sent.
    #[error("MCP server `{server}` cannot be sent the header `{header}`; rename or remove it")]
    Header { server: String, header: String },
    /// It did not list its tools.
    #[error("MCP server `{server}` does not list its tools: {why}")]
    List {
        server: String,
        /// Its error.
        why: Arc<str>,
    },
    /// It has ended.
    #[error("MCP server `{server}` has ended: {why}")]
    Gone {
        server: String,
        /// The reason.
        why: Arc<str>,
    },
}

/// The error of a server with a URL that did not start.
pub(crate) fn not_reached(server: &str, error: &(dyn std::error::Error + 'static)) -> ServerError {
    let why = chain(error);
    let server = server.to_owned();
    let refusals = [
        ("Auth required", "HTTP 401"),
        ("HTTP 401", "HTTP 401"),
        ("HTTP 403", "HTTP 403"),
        (
            "Insufficient scope",
            "HTTP 403: the credentials lack a scope",
        ),
    ];
    if let Some(scope) = missing_scope(error) {
        let why = format!("HTTP 403: the credentials lack the scope `{scope}`");
        return ServerError::Unauthorized {
            server,
            why: why.into(),
        };
    }
    let refused = refusals.iter().find(|(text, _)| why.contains(text));
    match refused {
        Some((_, status)) => ServerError::Unauthorized {
            server,
            why: (*status).into(),
        },
        None => ServerError::Handshake { server, why },
    }
}

/// The scope that a server named when it refused access.
fn missing_scope(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let mut cause = match error.downcast_ref::<ClientInitializeError>() {
        Some(ClientInitializeError::TransportError { error, .. }) => {
            Some(&*error.error as &(dyn std::error::Error + 'static))
        }
        _ => Some(error),
    };
    while let Some(error) = cause {
        if let Some(refused) = error.downcast_ref::<InsufficientScopeError>() {
            return refused.required_scope.clone();
        }
        cause = error.source();
    }
    None
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
    without_types(&text).into()
}

/// Removes the names of Rust types, which transports put into their errors.
fn without_types(text: &str) -> String {
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("Transport [") {
        let Some((_, after)) = after.split_once("] error: ") else {
            break;
        };
        left.push_str(before);
        rest = after;
    }
    left.push_str(rest);
    let left = left.strip_prefix("Send message error ").unwrap_or(&left);
    left.replace(", when send initialize request", "")
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
