//! The announcement of a worker to runtimes and users.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A worker of a pool, as of its last heartbeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerPresence {
    /// Its name.
    pub name: String,
    /// Distinguishes this process from earlier ones with the same name.
    pub instance: String,
    /// The name of its machine.
    pub machine: String,
    /// The operating system.
    pub os: String,
    /// The architecture of its CPUs.
    pub arch: String,
    /// The number of CPUs.
    pub cpus: u32,
    /// The load average of the last minute, times 1000.
    pub load: u32,
    /// The version of its executable.
    pub version: String,
    /// Labels by which runtimes choose it.
    pub labels: Vec<String>,
    /// The maximum number of programs at once.
    pub slots: u32,
    /// The number of running programs.
    pub running: u32,
    /// Whether it accepts no new programs.
    pub is_draining: bool,
    /// The time between its heartbeats, in milliseconds.
    pub heartbeat_ms: u64,
    /// The running programs, oldest first, at most 256.
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

/// At least the length of the headers of an announcement.
const HEADERS: usize = 1024;

impl WorkerPresence {
    /// The announcement, with as many programs as a broker with this limit accepts.
    pub(crate) fn fitting(mut self, max_payload: usize) -> Vec<u8> {
        loop {
            // Cannot fail: a struct of strings and numbers.
            let bytes = serde_json::to_vec(&self).unwrap_or_default();
            if self.programs.is_empty() || bytes.len() + HEADERS <= max_payload {
                return bytes;
            }
            self.programs.truncate(self.programs.len() / 2);
        }
    }

    /// The time between heartbeats.
    pub fn heartbeat(&self) -> Duration {
        Duration::from_millis(self.heartbeat_ms.max(1))
    }

    /// The time without a heartbeat after which the worker is considered dead.
    pub fn patience(&self) -> Duration {
        self.heartbeat() * 3
    }
}

#[cfg(test)]
#[path = "presence_tests.rs"]
mod tests;
