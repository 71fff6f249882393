//! How workers show themselves to runtimes and people.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One worker of a pool, as it was at its last heartbeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerPresence {
    /// Its name.
    pub name: String,
    /// Tells this process from an earlier one of the same name.
    pub instance: String,
    /// The name of its machine.
    pub machine: String,
    /// The operating system.
    pub os: String,
    /// The architecture of its CPUs.
    pub arch: String,
    /// The number of CPUs.
    pub cpus: u32,
    /// A thousand times the load of the last minute.
    pub load: u32,
    /// The version of its program.
    pub version: String,
    /// Words by which runtimes choose it.
    pub labels: Vec<String>,
    /// How many programs it runs at once.
    pub slots: u32,
    /// How many programs it runs.
    pub running: u32,
    /// It takes nothing new.
    pub is_draining: bool,
    /// The time between its heartbeats, in milliseconds.
    pub heartbeat_ms: u64,
    /// The programs that it runs, the oldest first, at most 256 of them.
    pub programs: Vec<PoolProgram>,
}

/// A program on a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolProgram {
    /// The runtime that started it: its machine and process.
    pub runtime: String,
    /// The program's name, without its arguments.
    pub program: String,
    /// When it was started, in seconds since 1970.
    pub since: u64,
}

impl WorkerPresence {
    /// The time between heartbeats.
    pub fn heartbeat(&self) -> Duration {
        Duration::from_millis(self.heartbeat_ms.max(1))
    }

    /// A worker that has been silent for so long is taken for dead.
    pub fn patience(&self) -> Duration {
        self.heartbeat() * 3
    }
}
