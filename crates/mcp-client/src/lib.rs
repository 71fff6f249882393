//! Tools of other MCP servers.
//!
//! Start at [`UpstreamServer`]: it is started on demand, lists its tools, and is
//! restarted after it ended. [`McpTool`] runs one of the tools, and `follow` is
//! the path of a call. Server programs are started by `windlass-process`, so
//! that none of their processes is left behind. Their configuration, and the
//! choice of offered tools, are not part of this crate.

mod announcer;
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
mod tool;

pub use error::ServerError;
pub use handler::ServerNews;
pub use listing::ToolListing;
pub use pass::{PassError, PassedRequest};
pub use server::UpstreamServer;
pub use spec::{Reach, ServerSpec};
pub use tool::McpTool;
