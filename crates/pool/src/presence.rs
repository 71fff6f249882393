//! The announcement of a worker to runtimes and users.

use std::time::Duration;

use async_nats::datetime::DateTime;
use async_nats::jetstream::kv::{Entry, Store};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use crate::PoolError;
use crate::broker::{Broker, words};

/// How many workers are read concurrently.
const READ_AT_ONCE: usize = 32;

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

impl Broker {
    /// The entries of the bucket of workers, each with the time since its last heartbeat.
    pub(crate) async fn presences(
        &self,
        bucket: &Store,
    ) -> Result<Vec<(WorkerPresence, Duration)>, PoolError> {
        let failed = |error: &dyn std::error::Error| PoolError::JetStream {
            what: "the list of workers",
            cause: words(error),
        };
        let now = self.presence_clock().await;
        let keys = bucket.keys().await.map_err(|error| failed(&error))?;
        let entries = keys.map(|key| async move {
            let key = key.map_err(|error| failed(&error))?;
            bucket.entry(key).await.map_err(|error| failed(&error))
        });
        let mut entries = std::pin::pin!(entries.buffer_unordered(READ_AT_ONCE));
        let mut presences = Vec::new();
        while let Some(entry) = entries.next().await {
            if let Some(entry) = entry?
                && let Ok(presence) = serde_json::from_slice(&entry.value)
            {
                presences.push((presence, age_of(&entry, now)));
            }
        }
        Ok(presences)
    }

    /// The heartbeat of a worker that may have ended, and the time since its last one; `None` if it has no entry.
    pub(crate) async fn presence(
        &self,
        bucket: &Store,
        worker: &str,
    ) -> Option<(WorkerPresence, Duration)> {
        let now = self.presence_clock().await;
        let entry = bucket.entry(worker).await.ok()??;
        let presence = serde_json::from_slice(&entry.value).ok()?;
        Some((presence, age_of(&entry, now)))
    }

    /// The time of the broker that stores the bucket of workers, which also sets the times of its entries.
    async fn presence_clock(&self) -> Option<DateTime> {
        let subject = format!("STREAM.INFO.KV_{}", self.names.workers());
        let info: StreamClock = self
            .jetstream
            .request(subject, &serde_json::json!({}))
            .await
            .ok()?;
        async_nats::datetime::parse_rfc3339(&info.ts?).ok()
    }

    /// Whether a worker replies now.
    pub(crate) async fn has_worker(&self, worker: &str, patience: Duration) -> bool {
        let request = async_nats::Request::new().timeout(Some(patience));
        let subject = self.names.open(worker);
        // A worker replies to an empty request.
        self.client.send_request(subject, request).await.is_ok()
    }
}

/// The time in a description of a stream.
#[derive(Deserialize)]
struct StreamClock {
    ts: Option<String>,
}

/// The time since an entry was written; zero if that is unknown.
fn age_of(entry: &Entry, now: Option<DateTime>) -> Duration {
    let age = now.map(|now| now - entry.created);
    age.and_then(|age| age.try_into().ok()).unwrap_or_default()
}

#[cfg(test)]
#[path = "presence_tests.rs"]
mod tests;
