//! The MCP server: offers tools and their handles to any agent that speaks MCP.
//!
//! Start at [`McpServer`], then `call.rs`: a `tools/call` becomes a batch of
//! one, and questions of its tool are sent to the client in the way that the
//! client supports. [`serve_stdio`] serves one client over pipes,
//! [`http_router`] any number over HTTP. Both support every version of the
//! protocol from `initialize` to the stateless ones. The tools, their execution
//! and access control are not part of this crate.

mod blocks;
mod call;
mod clients;
mod conversation;
mod form;
mod grace;
mod http;
mod listen;
mod offer;
mod options;
mod passing;
mod progress;
mod relay;
mod reply;
mod rounds;
mod seats;
mod secret;
mod server;
mod status;
mod stdio;
mod task;
mod upstream;
mod wording;

pub use conversation::{SessionFactory, SessionSuccession};
pub use http::{ClientIdentity, HttpOptions, HttpSessions, http_router, serve_router};
pub use offer::offered;
pub use options::{McpOptions, TaskPolicy};
pub use server::McpServer;
pub use stdio::{StdioError, serve_stdio};
pub use upstream::{Upstream, UpstreamNews, UpstreamRequest};
