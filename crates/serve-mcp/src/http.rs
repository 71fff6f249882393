//! The server over HTTP, for any number of clients with a session each.
//!
//! [`http_router`] is the service, and [`serve_router`] serves it on a
//! listener. The embedding server authenticates the client and puts a
//! [`ClientIdentity`] into the request's extensions.
//! [`HttpSessions`] finds the session: by the `Mcp-Session-Id` of the client,
//! or, in stateless versions of the protocol, by the owner and the client's
//! name. An owner never reaches the session of another.

mod router;
mod serving;
mod sessions;

pub use router::{ClientIdentity, HttpOptions, http_router};
pub use serving::serve_router;
pub use sessions::HttpSessions;
pub(crate) use sessions::Visit;
