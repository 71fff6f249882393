//! The hosts of a project as a person sees them: links, pools, workers and what runs there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::part::Millis;

/// A host of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostInfo {
    /// Its name, as tools refer to it.
    pub name: String,
    /// The command that reaches it, or its pool and the pool's brokers.
    pub way: String,
    /// Its labels. Workers of a pool must have them all.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Its standing.
    #[serde(flatten)]
    pub standing: HostStanding,
}

/// The standing of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum HostStanding {
    /// This runtime has no link to it: none of its tools has needed one.
    Unused,
    /// This runtime has a link to it.
    Connected {
        /// The name of the machine.
        machine: String,
        /// The number of CPUs.
        cpus: u32,
        /// How many programs of this runtime run there.
        programs: u32,
    },
    /// The link was lost, and is made again.
    Lost {
        /// The time of the loss.
        since: Millis,
        /// How many programs of this runtime run there.
        programs: u32,
    },
    /// It is a pool, and the broker has listed the workers.
    Pool {
        /// The pool's name.
        pool: String,
        /// The workers that are there, by name.
        workers: Vec<WorkerInfo>,
    },
    /// It is a pool whose workers could not be listed.
    Unreached {
        /// The pool's name.
        pool: String,
        /// The reason.
        error: String,
    },
}

/// A worker of a pool, as it was at its last heartbeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerInfo {
    /// Its name.
    pub name: String,
    /// The name of its machine.
    pub machine: String,
    /// The number of CPUs.
    pub cpus: u32,
    /// A thousand times the load of the last minute.
    pub load: u32,
    /// Its labels.
    #[serde(default)]
    pub labels: Vec<String>,
    /// How many programs it runs at once.
    pub slots: u32,
    /// How many programs it runs, for any runtime.
    pub running: u32,
    /// It takes nothing new, and ends when its programs have.
    pub is_draining: bool,
    /// The programs that it runs, the oldest first, at most 256 of them.
    #[serde(default)]
    pub programs: Vec<WorkerProgram>,
}

/// A program on a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerProgram {
    /// The program's name, without its arguments.
    pub program: String,
    /// The runtime that started it: its machine and process.
    pub runtime: String,
    /// The time of its start.
    pub started: Millis,
}
