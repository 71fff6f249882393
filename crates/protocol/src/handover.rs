//! The words between a server and the one that takes its place.
//!
//! ```text
//!  new ──ask──▶ old       who it is, and where it would listen
//!  new ◀─offer── old      the listening socket comes along
//!  new ──ready──▶ old     it has set everything up
//!  new ◀─yours── old      nobody else takes connections or has the handles
//!  new ──up──▶ old        it serves; the old one ends
//! ```
//!
//! Until the last word the old server can go on. One word is one line of JSON. The two may be of different versions: a
//! field that one of them does not know is left out.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One word of a server or its successor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "word", rename_all = "snake_case")]
pub enum HandoverWord {
    /// A process asks for the place.
    Ask(HandoverRequest),
    /// The server would hand it over.
    Offer(HandoverOffer),
    /// The server does not hand it over.
    Refuse {
        /// The reason, and what would work.
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
    /// The address at which it is told to listen, if it is.
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
    /// The address at which it listens. The socket comes along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<SocketAddr>,
}
