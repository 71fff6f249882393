//! Any number of clients over HTTP, each with a session of its own.
//!
//! [`http_router`] is the service; whoever nests it says with an [`Owner`] in
//! the request's extensions who asks, and has checked that. [`Sessions`] finds
//! the session: by the `Mcp-Session-Id` that its client was given, or, for the
//! stateless versions of the protocol, by the owner and the client's name. One
//! owner never reaches the session of another.

mod router;
mod sessions;

pub use router::{HttpOptions, Owner, http_router};
pub use sessions::Sessions;
pub(crate) use sessions::Visit;
