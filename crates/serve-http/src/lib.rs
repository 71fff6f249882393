//! The interface of `windlass-control` on a port, for scripts, browsers and
//! other machines.
//!
//! Start at [`Server`]. [`Access`] admits requests by their host, origin and
//! [`Token`], [`tls_acceptor`] encrypts, and [`page`] is the page for people.
//! The interface itself, and the sessions behind it, are in `windlass-control`.

mod access;
mod packed;
mod page;
mod rate;
mod server;
mod tls;
mod token;

pub use access::Access;
pub use page::page;
pub use server::Server;
pub use tls::{TlsError, tls_acceptor};
pub use token::{BearerCheck, Token, TokenError};
pub use tokio_rustls::TlsAcceptor;
