//! Failures of pools.

use std::io;
use std::path::PathBuf;

/// A pool cannot be used or joined.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// An address of a broker cannot be used.
    #[error("{server:?} is no address of a NATS server; write one such as nats://broker:4222")]
    Server {
        /// The address.
        server: String,
    },
    /// An address carries a secret.
    #[error(
        "the address of the NATS server carries a user or a password; put them into a credentials file and name it with \
         `credentials`"
    )]
    Secret,
    /// A name cannot be part of a subject.
    #[error(
        "{name:?} cannot be the name of a {what}; use letters, digits, `_` and `-`, at most 48"
    )]
    Name {
        /// The name.
        name: String,
        /// The thing that has it.
        what: &'static str,
    },
    /// A file for the connection cannot be used.
    #[error("the file {file:?} cannot be used")]
    File {
        /// The file.
        file: PathBuf,
        /// The reason.
        #[source]
        source: io::Error,
    },
    /// No broker was reached.
    #[error("NATS at {servers} is not reached: {cause}")]
    Connect {
        /// The addresses.
        servers: String,
        /// The reason.
        cause: String,
    },
    /// The broker does not do what a pool needs.
    #[error(
        "{what} of the pool cannot be used: {cause}; NATS needs JetStream (`nats-server -js`, 2.10 or newer)"
    )]
    JetStream {
        /// The part.
        what: &'static str,
        /// The reason.
        cause: String,
    },
    /// A worker of that name is there.
    #[error("pool `{pool}` has a worker `{name}` already; choose another name with --name")]
    Taken {
        /// The pool.
        pool: String,
        /// The name.
        name: String,
    },
    /// There is no such worker.
    #[error("pool `{pool}` has no worker `{name}`; `windlass workers` lists them")]
    NoWorker {
        /// The pool.
        pool: String,
        /// The name.
        name: String,
    },
}

/// A failure between the ends of a pool, in words for the other end.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Trouble(pub(crate) String);
