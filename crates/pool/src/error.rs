//! Errors of pools.

use std::io;
use std::path::PathBuf;

/// A pool cannot be used or joined.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// The address of a broker is invalid.
    #[error("{server:?} is not the address of a NATS server; write one such as nats://broker:4222")]
    Server {
        /// The address.
        server: String,
    },
    /// An address contains a secret.
    #[error(
        "the address of the NATS server carries a user or a password; put them into a credentials file and name it with \
         `credentials`"
    )]
    Secret,
    /// A name is not valid in a NATS subject.
    #[error(
        "{name:?} cannot be the name of a {what}; use letters, digits, `_` and `-`, at most 48"
    )]
    Name {
        /// The name.
        name: String,
        /// The kind of thing that is named.
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
    #[error(
        "NATS at {servers} cannot be reached: {cause}; check the address, and that a server runs there"
    )]
    Connect {
        /// The addresses.
        servers: String,
        /// The reason.
        cause: String,
    },
    /// The broker does not accept this client.
    #[error(
        "NATS at {servers} rejects this client: {cause}; name the files of a user of the pool's account, with \
         `credentials`, or with `cert` and `key`"
    )]
    Rejected {
        /// The addresses.
        servers: String,
        /// The reason.
        cause: String,
    },
    /// There is no secure connection to the broker.
    #[error(
        "no secure connection to NATS at {servers}: {cause}; check `ca`, `cert` and `key`, and that the server uses TLS"
    )]
    Tls {
        /// The addresses.
        servers: String,
        /// The reason.
        cause: String,
    },
    /// The broker has no `JetStream`.
    #[error("NATS at {servers} runs without JetStream; start it with `nats-server -js`")]
    NoJetStream {
        /// The addresses.
        servers: String,
    },
    /// Copies need several brokers.
    #[error(
        "`replicas = {replicas}` needs a cluster of {replicas} brokers, and NATS at {servers} is not in a cluster; \
         use `replicas = 1`, or name the brokers of a cluster"
    )]
    Alone {
        /// The addresses.
        servers: String,
        /// The number of copies.
        replicas: usize,
    },
    /// The broker lacks a feature that a pool needs.
    #[error(
        "{what} of the pool cannot be used: {cause}; NATS needs JetStream for the account of this user (2.10 or newer)"
    )]
    JetStream {
        /// The part of the pool.
        what: &'static str,
        /// The reason.
        cause: String,
    },
    /// A worker with this name exists already.
    #[error("pool `{pool}` has a worker `{name}` already; choose another name with --name")]
    Taken {
        /// The pool.
        pool: String,
        /// The name.
        name: String,
    },
    /// There is no worker with this name.
    #[error("pool `{pool}` has no worker `{name}`; `windlass workers` lists them")]
    NoWorker {
        /// The pool.
        pool: String,
        /// The name.
        name: String,
    },
}

/// An error at one end of a pool, as text for the other end.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Trouble(pub(crate) String);
