//! The specification of a server.

use std::path::PathBuf;
use std::time::Duration;

/// One server, as it is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec {
    /// Its name, as tools and messages refer to it.
    pub name: String,
    /// The transport.
    pub reach: Reach,
    /// The time limit until it has listed its tools; `None`: no limit.
    pub startup_timeout: Option<Duration>,
    /// Whether the front end passes requests of the server on to clients that
    /// may lend it their model and folders.
    pub lends_clients: bool,
}

/// The transport of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A child process; messages are exchanged through its pipes.
    Program {
        /// The program, by name or path.
        program: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables to add to its environment.
        env: Vec<(String, String)>,
        /// The folder that it runs in.
        cwd: PathBuf,
    },
    /// A server that is running already, over streamable HTTP.
    Address {
        /// Its address.
        url: String,
        /// Headers to send with every request.
        headers: Vec<(String, String)>,
    },
}
