//! Messages between a server and its successor.
//!
//! ```text
//!  new ──ask──▶ old       its identity, and its address to listen on
//!  new ◀─offer── old      with the listening socket
//!  new ──ready──▶ old     everything is set up
//!  new ◀─yours── old      the old server has released connections and handles
//!  new ──up──▶ old        it serves; the old one ends
//! ```
//!
//! Until the last message the old server can continue. A message is one line of
//! JSON. The two servers may have different versions: unknown fields are
//! ignored.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One word of a server or its successor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "word", rename_all = "snake_case")]
pub(crate) enum HandoverWord {
    /// A process asks for the place.
    Ask(HandoverRequest),
    /// The server would hand it over.
    Offer(HandoverOffer),
    /// The server does not hand it over.
    Refuse {
        /// The reason, and a command that would work.
        why: String,
    },
    /// The successor has set everything up.
    Ready,
    /// The place is the successor's.
    Yours,
    /// The successor serves.
    Up,
}

/// The successor of a server, as it describes itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoverRequest {
    /// The root folder of its project.
    pub root: PathBuf,
    /// The address that it was told to listen on, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listen: Option<SocketAddr>,
    /// It listens on its control socket alone.
    #[serde(default)]
    pub socket_only: bool,
}

/// A server that would hand its place over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoverOffer {
    /// Its process.
    pub pid: u32,
    /// The address that it listens on. The socket is passed along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<SocketAddr>,
}
