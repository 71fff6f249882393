//! What is known of a server before it is reached.

use std::path::PathBuf;
use std::time::Duration;

/// One server, as it is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec {
    /// Its name, as tools and messages refer to it.
    pub name: String,
    /// How it is reached.
    pub reach: Reach,
    /// How long it may take until it has told its tools; without limit where
    /// `None`.
    pub startup_timeout: Option<Duration>,
    /// The front end passes requests of the server on to clients that may lend
    /// it their model and their folders.
    pub lends_clients: bool,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A program that is started and spoken to through its pipes.
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
