//! The user's view of a pool: its workers, and its durability.

use std::time::Duration;

use crate::broker::{Broker, BrokerOptions, words};
use crate::{PoolError, WorkerPresence};

/// How long a worker may take to confirm a drain request.
const DRAINING: Duration = Duration::from_secs(5);

/// The effect of losing a broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Durability {
    /// The version of the broker.
    pub version: String,
    /// The cluster that it belongs to, if any.
    pub cluster: Option<String>,
    /// How many brokers store a copy of the pool's state.
    pub replicas: usize,
    /// The limits of the stored output, once a worker has created its stream.
    pub output: Option<StoredLimits>,
}

/// The limits of the stored output of a pool. The oldest output is dropped first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLimits {
    /// The maximum number of bytes; `None`: no limit.
    pub total: Option<u64>,
    /// The maximum age; zero: no limit.
    pub age: Duration,
    /// The number of bytes now.
    pub bytes: u64,
}

impl Durability {
    /// Whether losing one broker loses nothing and interrupts nothing.
    pub fn survives_a_broker(&self) -> bool {
        self.replicas >= 3
    }
}

/// A connection to inspect a pool.
pub struct PoolView {
    broker: Broker,
}

impl PoolView {
    /// Connects to a pool, and creates its streams and buckets if necessary.
    pub async fn connect(options: &BrokerOptions, pool: &str) -> Result<Self, PoolError> {
        let broker = Broker::connect(options, pool, "windlass workers").await?;
        Ok(Self { broker })
    }

    /// The present workers, by name.
    pub async fn workers(&self) -> Result<Vec<WorkerPresence>, PoolError> {
        let bucket = self.broker.workers(None).await?;
        let all = self.broker.presences(&bucket).await?.into_iter();
        let present = all.filter(|(presence, silence)| *silence < presence.patience());
        let mut workers: Vec<WorkerPresence> = present.map(|(presence, _)| presence).collect();
        workers.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(workers)
    }

    /// Tells a worker to accept no new programs, and to end after its last one. Returns the number of running programs.
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

    /// The effect of losing a broker, with the current settings.
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
        if let Ok(losses) = self.broker.jetstream.get_stream(names.losses()).await {
            replicas = replicas.min(losses.cached_info().config.num_replicas);
        }
        let found = self.broker.jetstream.get_stream(names.output()).await;
        let output = found.ok().map(|stream| {
            let info = stream.cached_info();
            replicas = replicas.min(info.config.num_replicas);
            StoredLimits {
                total: u64::try_from(info.config.max_bytes).ok(),
                age: info.config.max_age,
                bytes: info.state.bytes,
            }
        });
        let info = self.broker.client.server_info();
        Ok(Durability {
            output,
            version: info.version,
            cluster: info.cluster.filter(|it| !it.is_empty()),
            replicas,
        })
    }
}
