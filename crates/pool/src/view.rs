//! A pool as people see it: its workers, and what holds when a broker dies.

use std::time::Duration;

use futures_util::StreamExt;

use crate::broker::{Broker, BrokerOptions, words};
use crate::{PoolError, WorkerPresence};

/// The time that a worker may take to say that it drains.
const DRAINING: Duration = Duration::from_secs(5);

/// How many workers are read at once.
const READ_AT_ONCE: usize = 32;

/// The outcome of the death of a broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Durability {
    /// The version of the broker.
    pub version: String,
    /// The cluster that it is part of, if it is.
    pub cluster: Option<String>,
    /// How many brokers have a copy of everything.
    pub replicas: usize,
}

impl Durability {
    /// Whether nothing is lost and nothing waits when one broker dies.
    pub fn survives_a_broker(&self) -> bool {
        self.replicas >= 3
    }
}

/// A connection to a pool, to look at it.
pub struct PoolView {
    broker: Broker,
}

impl PoolView {
    /// Connects to a pool, and makes what it needs on the broker.
    pub async fn connect(options: &BrokerOptions, pool: &str) -> Result<Self, PoolError> {
        let broker = Broker::connect(options, pool, "windlass workers").await?;
        Ok(Self { broker })
    }

    /// The workers that are there, by name.
    pub async fn workers(&self) -> Result<Vec<WorkerPresence>, PoolError> {
        let failed = |error: &dyn std::error::Error| PoolError::JetStream {
            what: "the list of workers",
            cause: words(error),
        };
        let bucket = self.broker.workers(None).await?;
        let keys = bucket.keys().await.map_err(|error| failed(&error))?;
        let entries = keys.map(|key| {
            let bucket = &bucket;
            async move {
                let key = key.map_err(|error| failed(&error))?;
                bucket.get(key).await.map_err(|error| failed(&error))
            }
        });
        let mut entries = std::pin::pin!(entries.buffer_unordered(READ_AT_ONCE));
        let mut workers = Vec::new();
        while let Some(found) = entries.next().await {
            let read = found?.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            workers.extend(read);
        }
        workers.sort_by(|a: &WorkerPresence, b| a.name.cmp(&b.name));
        Ok(workers)
    }

    /// Tells a worker to take nothing new, and to end when its programs have. Gives the number of programs that run.
    pub async fn drain(&self, worker: &str) -> Result<u32, PoolError> {
        let missing = || PoolError::NoWorker {
            pool: self.broker.names.pool.clone(),
            name: worker.to_owned(),
        };
        if !crate::is_name(worker) {
            return Err(missing());
        }
        let request = async_nats::Request::new().timeout(Some(DRAINING));
        let subject = self.broker.names.drain(worker);
        let reply = self.broker.client.send_request(subject, request).await;
        let reply = reply.map_err(|_| missing())?;
        let running = String::from_utf8_lossy(&reply.payload).parse();
        Ok(running.unwrap_or(0))
    }

    /// The outcome of the death of a broker, with the settings of now.
    pub async fn durability(&self) -> Result<Durability, PoolError> {
        self.broker.claims().await?;
        self.broker.workers(None).await?;
        self.broker.starts().await?;
        let names = &self.broker.names;
        let streams = [
            names.starts(),
            format!("KV_{}", names.claims()),
            format!("KV_{}", names.workers()),
        ];
        let mut replicas = usize::MAX;
        for name in streams {
            let found = self.broker.jetstream.get_stream(name).await;
            let found = found.map_err(|error| PoolError::JetStream {
                what: "a stream",
                cause: words(&error),
            })?;
            replicas = replicas.min(found.cached_info().config.num_replicas);
        }
        let info = self.broker.client.server_info();
        Ok(Durability {
            version: info.version,
            cluster: info.cluster.filter(|it| !it.is_empty()),
            replicas,
        })
    }
}
