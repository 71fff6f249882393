//! Tools of other MCP servers.
//!
//! Start at [`Server`]: it is started when it is needed, tells its tools and is
//! started again when it has gone. [`McpTool`] runs one of them, and `follow`
//! is the way of a call. Servers that are programs are started by
//! `windlass-process`, so that nothing of them is left. What is configured of
//! them, and which of their tools are offered, is decided elsewhere.

mod call;
mod connection;
mod error;
mod follow;
mod form;
mod handler;
mod listing;
mod pass;
mod result;
mod routes;
mod server;
mod spec;
mod standing;
mod telling;
mod tool;

pub use error::ServerError;
pub use handler::ServerNews;
pub use listing::Listed;
pub use pass::{PassError, PassedRequest};
pub use server::Server;
pub use spec::{Reach, ServerSpec};
pub use tool::McpTool;
