//! Announces this worker, as the only one of its name.
//!
//! The entry in the list belongs to the process that wrote it last. Each announcement replaces exactly the previous one,
//! so that a second worker of the same name is noticed. The one that finds the entry of the other asks it, and leaves if
//! it replies.

use std::time::Duration;

use async_nats::jetstream::kv::Operation;
use bytes::Bytes;
use windlass_host::describe_machine;

use super::{ASKING, Worker};
use crate::{PoolError, PoolProgram, WorkerPresence};

/// Changes within this time are announced together.
const TOGETHER: Duration = Duration::from_millis(20);
/// The maximum number of listed programs.
const LISTED: usize = 256;

/// The outcome of an announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Announcement {
    /// It is in the list.
    Listed,
    /// The broker has not accepted it now.
    Failed,
    /// The list has an entry of another process with this revision.
    Other { revision: u64 },
}

impl Worker {
    /// Enters this worker in the list, in place of a dead one of the same name. Fails if the other one lives.
    pub(super) async fn enter(&self) -> Result<(), PoolError> {
        while let Announcement::Other { revision } = self.announce().await {
            self.replace(revision).await?;
        }
        Ok(())
    }

    /// Announces this worker with every heartbeat, after every change and after every reconnect. Resolves when another
    /// worker has its name.
    pub(super) async fn show(&self) {
        let mut connection = self.broker.connection.clone();
        let mut count = connection.borrow().count;
        let heartbeat = self.options.heartbeat;
        loop {
            tokio::select! {
                () = self.changed.notified() => tokio::time::sleep(TOGETHER).await,
                _ = connection.wait_for(|it| it.since.is_some() && it.count != count) => {}
                () = tokio::time::sleep(heartbeat) => {}
            }
            // A broker that does not reply must not delay the next heartbeat.
            let now = connection.borrow().count;
            if now != count {
                count = now;
                // Its bucket may be another one, with the age of a faster worker.
                let raised = self.broker.workers(Some(heartbeat * 3));
                let _ = tokio::time::timeout(heartbeat, raised).await;
            }
            let announced = tokio::time::timeout(heartbeat, self.announce()).await;
            if let Ok(Announcement::Other { revision }) = announced
                && self.replace(revision).await.is_err()
            {
                return;
            }
        }
    }

    /// Announces the current state of this worker.
    pub(super) async fn announce(&self) -> Announcement {
        let presence = self.presence().fitting(self.broker.client.max_payload());
        let presence = Bytes::from(presence);
        match self.put(&presence).await {
            Announcement::Failed => {}
            done => return done,
        }
        // The bucket is in memory: a broker that was restarted does not have it.
        if let Err(error) = self.broker.workers(Some(self.options.heartbeat * 3)).await {
            tracing::debug!(%error, "the worker is not shown now");
            return Announcement::Failed;
        }
        self.put(&presence).await
    }

    /// Replaces the previous announcement.
    async fn put(&self, presence: &Bytes) -> Announcement {
        let name = &self.options.name;
        let mut revision = self.revision.lock().await;
        for _ in 0..2 {
            let updated = self.presences.update(name, presence.clone(), *revision);
            match updated.await {
                Ok(updated) => {
                    *revision = updated;
                    return Announcement::Listed;
                }
                Err(error) => tracing::debug!(%error, "the entry of the worker has changed"),
            }
            // It has expired, the reply to the previous announcement was lost, or another process has written it.
            *revision = match self.presences.entry(name).await {
                Err(_) => return Announcement::Failed,
                Ok(None) => 0,
                Ok(Some(entry)) => {
                    let written = serde_json::from_slice::<WorkerPresence>(&entry.value);
                    let is_other = written.is_ok_and(|it| it.instance != self.instance);
                    if is_other && entry.operation == Operation::Put {
                        return Announcement::Other {
                            revision: entry.revision,
                        };
                    }
                    entry.revision
                }
            };
        }
        Announcement::Failed
    }

    /// Takes over the entry of a worker of the same name. Fails if it lives.
    async fn replace(&self, revision: u64) -> Result<(), PoolError> {
        if self.has_rival().await {
            return Err(self.taken());
        }
        *self.revision.lock().await = revision;
        Ok(())
    }

    /// Whether another worker replies to this name.
    pub(super) async fn has_rival(&self) -> bool {
        // It does not reply to itself.
        let request = async_nats::Request::new()
            .payload(self.instance.clone().into())
            .timeout(Some(ASKING));
        let subject = self.broker.names.open(&self.options.name);
        let reply = self.broker.client.send_request(subject, request);
        reply.await.is_ok()
    }

    pub(super) fn taken(&self) -> PoolError {
        PoolError::Taken {
            pool: self.options.pool.clone(),
            name: self.options.name.clone(),
        }
    }

    fn presence(&self) -> WorkerPresence {
        let machine = describe_machine(&[], false);
        let running = self.running.lock();
        let mut programs: Vec<PoolProgram> = running.values().cloned().collect();
        programs.sort_by_key(|program| program.since);
        programs.truncate(LISTED);
        WorkerPresence {
            name: self.options.name.clone(),
            instance: self.instance.clone(),
            machine: machine.machine,
            os: machine.os,
            arch: machine.arch,
            cpus: machine.cpus,
            load: machine.load,
            version: machine.program,
            labels: self.options.labels.clone(),
            slots: self.options.slots,
            running: u32::try_from(running.len()).unwrap_or(u32::MAX),
            is_draining: self.is_draining(),
            heartbeat_ms: u64::try_from(self.options.heartbeat.as_millis()).unwrap_or(u64::MAX),
            programs,
        }
    }
}
