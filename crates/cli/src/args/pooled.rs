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
    /// The worker's name, unique in the pool; default: the name of the machine
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Labels by which configurations choose workers
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    pub(crate) labels: Vec<String>,
    /// The most programs to run at once; default: 16 for each CPU
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) slots: Option<u32>,
    /// Milliseconds between heartbeats; a worker that misses three is considered dead
    #[arg(
        long,
        value_name = "MS",
        default_value_t = 5000,
        value_parser = clap::value_parser!(u64).range(100..=60_000)
    )]
    pub(crate) heartbeat_ms: u64,
    /// Seconds for which programs wait unchanged while no broker is reached; then their leases run, and they are ended.
    /// 0: at once
    #[arg(long, value_name = "SECS", default_value_t = 3600)]
    pub(crate) broker_wait_secs: u32,
    /// Mebibytes of output that the brokers store for the whole pool, if this worker is the first in it
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 256,
        value_parser = clap::value_parser!(u64).range(1..=1_048_576)
    )]
    pub(crate) stored_total_mib: u64,
}

/// The NATS servers and the credentials for them.
#[derive(ClapArgs)]
pub(crate) struct BrokerArgs {
    /// The NATS server, such as `nats://broker:4222`; separate several by commas
    #[arg(long, value_name = "URL")]
    pub(crate) nats: String,
    /// A credentials file, as written by `nsc`
    #[arg(long, value_name = "FILE")]
    pub(crate) credentials: Option<PathBuf>,
    /// A file with the CA certificates that the server's certificate is verified with
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// A file with the client certificate
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) cert: Option<PathBuf>,
    /// A file with the private key of the client certificate
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// The number of servers of a cluster that store a copy of the pool's state: 1, 3 or 5
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
    /// Stop giving a worker new programs; it exits when its programs have ended
    Drain {
        /// The worker's name
        name: String,
        /// The host in `[hosts]` whose pool has the worker, if several pools have one of that name
        #[arg(long, value_name = "HOST")]
        host: Option<String>,
    },
}
