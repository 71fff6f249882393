//! Arguments of commands for pools of workers.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

#[derive(ClapArgs)]
pub(crate) struct WorkerArgs {
    #[command(flatten)]
    pub(crate) brokers: BrokerArgs,
    /// The pool to join
    #[arg(long, value_name = "NAME")]
    pub(crate) pool: String,
    /// A name that no other worker of the pool has; default: that of the machine
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Words by which configurations choose workers
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    pub(crate) labels: Vec<String>,
    /// How many programs run here at once; default: 16 for each CPU
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) slots: Option<u32>,
    /// Milliseconds between heartbeats; a worker that misses three is taken for dead
    #[arg(
        long,
        value_name = "MS",
        default_value_t = 5000,
        value_parser = clap::value_parser!(u64).range(100..=60_000)
    )]
    pub(crate) heartbeat_ms: u64,
    /// Mebibytes of output that the brokers store for the whole pool, if this worker is the first in it
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 256,
        value_parser = clap::value_parser!(u64).range(1..=1_048_576)
    )]
    pub(crate) stored_total_mib: u64,
}

/// The way to the brokers.
#[derive(ClapArgs)]
pub(crate) struct BrokerArgs {
    /// The NATS server, such as `nats://broker:4222`; several with commas
    #[arg(long, value_name = "URL")]
    pub(crate) nats: String,
    /// A file with credentials, as `nsc` writes it
    #[arg(long, value_name = "FILE")]
    pub(crate) credentials: Option<PathBuf>,
    /// A file with the certificates that the server's is signed by
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// A file with our certificate
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) cert: Option<PathBuf>,
    /// A file with the key of our certificate
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// How many servers of a cluster have a copy of the pool's state: 1, 3 or 5
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) replicas: usize,
}

#[derive(ClapArgs)]
pub(crate) struct WorkersArgs {
    #[command(subcommand)]
    pub(crate) command: Option<WorkersCommand>,
}

#[derive(Subcommand)]
pub(crate) enum WorkersCommand {
    /// Have a worker take nothing new, and end when its programs have
    Drain {
        /// The worker's name
        name: String,
        /// The host in `[hosts]` whose pool it is in, if several have one of that name
        #[arg(long, value_name = "HOST")]
        host: Option<String>,
    },
}
