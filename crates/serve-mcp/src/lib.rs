//! The MCP server: any agent that speaks MCP gets tools that last.
//!
//! Start at [`McpServer`], then `call.rs`: a `tools/call` becomes a batch of
//! one, and whatever its tool asks on the way goes to the client by the way
//! that the client declares. [`serve_stdio`] serves one client over pipes,
//! [`http_router`] any number over HTTP. Both speak every version of the
//! protocol from `initialize` to the stateless ones. Which tools there are, how
//! they run and who may come in is decided elsewhere.

mod blocks;
mod call;
mod clients;
mod conversation;
mod form;
mod grace;
mod http;
mod listen;
mod offer;
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
pub use http::{HttpOptions, Owner, Sessions, http_router};
pub use offer::offered;
pub use server::{McpOptions, McpServer, TaskPolicy};
pub use stdio::{StdioError, serve_stdio};
pub use upstream::{Upstream, UpstreamNews, UpstreamRequest};
