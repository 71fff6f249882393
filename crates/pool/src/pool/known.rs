//! The workers of a pool known to this runtime, and its links to them.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_nats::jetstream::kv::Store;
use async_nats::{Message, Subscriber};
use futures_util::StreamExt;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;
use windlass_host::{Host, HostOptions};

use super::stored_end::StoredReader;
use super::worker_link::WorkerLink;
use super::{PoolOptions, runtime_name};
use crate::broker::{Broker, words};
use crate::placement::{PlacementChoice, WorkerCandidate, choose};
use crate::{PoolError, WorkerPresence};

/// The minimum and maximum interval between checks for silent workers.
const LOOK: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(5));
/// How long before its time is over a silent worker is suspected. A process that was stopped suspects its workers when
/// it continues, and has this time to read their heartbeats.
const SUSPECT: Duration = Duration::from_millis(250);
/// How long workers have to announce themselves after a connection was established.
const SHOWING: Duration = Duration::from_secs(2);

/// How long a worker that is not listed has to reply.
const ASKING: Duration = Duration::from_secs(2);

/// How many sessions are remembered with their last workers.
const LAST_PLACES: usize = 1024;

/// The workers of a pool.
pub(super) struct KnownWorkers {
    options: Arc<PoolOptions>,
    pub(super) broker: Broker,
    pub(super) claims: Store,
    presences: Store,
    runtime: String,
    pub(super) stored: StoredReader,
    workers: Mutex<HashMap<String, KnownWorker>>,
    /// The last used workers, by session.
    last_places: Mutex<HashMap<Option<Arc<str>>, String>>,
    /// Counts changes of the workers.
    pub(super) changes: watch::Sender<u64>,
}

struct KnownWorker {
    presence: WorkerPresence,
    /// The time of its last sign of life.
    heard: Arc<Mutex<Instant>>,
    /// When its silence was noticed.
    suspected: Option<Instant>,
    /// Programs that were placed there since its last heartbeat.
    placed: u32,
    host: Option<(Host, Arc<WorkerLink>)>,
}

impl KnownWorker {
    /// When it is to be looked at again, or `None` if it has been silent for three heartbeats since `connected`.
    fn next_look(&mut self, connected: Instant, now: Instant) -> Option<Instant> {
        let heard = (*self.heard.lock()).max(connected);
        let over = heard + self.presence.patience();
        let suspicious = heard + self.presence.patience().saturating_sub(SUSPECT);
        if now < suspicious {
            self.suspected = None;
            return Some(suspicious);
        }
        let suspected = *self.suspected.get_or_insert(now);
        let due = over.max(suspected + SUSPECT);
        (now < due).then_some(due)
    }

    /// The number of programs of a session that run there.
    fn related(&self, group: Option<&Arc<str>>) -> u32 {
        let Some((_, link)) = &self.host else {
            return 0;
        };
        let groups = link.groups.lock();
        let related = groups.values().filter(|it| it.as_ref() == group).count();
        u32::try_from(related).unwrap_or(u32::MAX)
    }
}

impl KnownWorkers {
    pub(super) async fn connect(options: Arc<PoolOptions>) -> Result<Arc<Self>, PoolError> {
        let machine = windlass_host::describe_machine(&[], false).machine;
        let runtime = runtime_name(&machine);
        let who = format!("windlass {runtime}");
        let broker = Broker::connect(&options.broker, &options.pool, &who).await?;
        let failed = |error: &dyn std::error::Error| PoolError::JetStream {
            what: "the list of workers",
            cause: words(error),
        };
        broker.starts().await?;
        let claims = broker.claims().await?;
        let presences = broker.workers(None).await?;
        let news = format!("{}>", broker.names.workers_changes());
        let news = broker.client.subscribe(news).await;
        let news = news.map_err(|error| failed(&error))?;
        let stored = StoredReader {
            broker: broker.clone(),
            replays: Arc::default(),
        };
        let workers = Arc::new(Self {
            options,
            broker,
            stored,
            claims,
            presences,
            runtime,
            workers: Mutex::default(),
            last_places: Mutex::default(),
            changes: watch::Sender::new(0),
        });
        workers.list().await;
        windlass_task::spawn(follow(Arc::downgrade(&workers), news));
        Ok(workers)
    }

    /// Reads the list of workers. If that fails, the next heartbeats complete it.
    pub(super) async fn list(&self) {
        let Ok(all) = self.broker.presences(&self.presences).await else {
            return;
        };
        for (presence, silence) in all {
            if silence < presence.patience() {
                self.see(presence);
            }
        }
    }

    fn see(&self, presence: WorkerPresence) {
        let mut workers = self.workers.lock();
        let known = workers.entry(presence.name.clone()).or_insert_with(|| {
            let heard = Arc::new(Mutex::new(Instant::now()));
            KnownWorker {
                presence: presence.clone(),
                heard,
                suspected: None,
                placed: 0,
                host: None,
            }
        });
        *known.heard.lock() = Instant::now();
        known.presence = presence;
        known.placed = 0;
        drop(workers);
        self.changes.send_modify(|count| *count += 1);
    }

    /// The time after which all workers of a connection are known.
    pub(super) fn known_after(&self) -> Instant {
        let since = self.broker.connection.borrow().since;
        let since = since.unwrap_or_else(Instant::now);
        since + SHOWING.max(self.longest_patience())
    }

    fn longest_patience(&self) -> Duration {
        let workers = self.workers.lock();
        let all = workers.values().map(|it| it.presence.patience());
        all.max().unwrap_or_default()
    }

    /// Chooses a worker for a program of a session and counts it as placed there.
    pub(super) fn choose(
        &self,
        labels: &[String],
        group: Option<&Arc<str>>,
        avoided: &HashSet<String>,
    ) -> Result<String, PlacementChoice<'static>> {
        let mut workers = self.workers.lock();
        let mut last_places = self.last_places.lock();
        let group = group.cloned();
        let last = last_places.get(&group);
        let candidates: Vec<_> = workers
            .values()
            .map(|known| WorkerCandidate {
                presence: &known.presence,
                placed: known.placed,
                related: known.related(group.as_ref()),
                is_last: last == Some(&known.presence.name),
                is_avoided: avoided.contains(&known.presence.name),
            })
            .collect();
        let chosen = match choose(&candidates, labels) {
            PlacementChoice::Worker(name) => name.to_owned(),
            PlacementChoice::Full => return Err(PlacementChoice::Full),
            PlacementChoice::Unlabelled => return Err(PlacementChoice::Unlabelled),
            PlacementChoice::Empty => return Err(PlacementChoice::Empty),
        };
        if let Some(known) = workers.get_mut(&chosen) {
            known.placed += 1;
        }
        if last_places.len() >= LAST_PLACES {
            last_places.clear();
        }
        last_places.insert(group, chosen.clone());
        Ok(chosen)
    }

    /// Counts a program of a session as running on a worker, until its link reports its end.
    pub(super) fn note_program(&self, worker: &str, number: u64, group: Option<Arc<str>>) {
        let workers = self.workers.lock();
        let known = workers.get(worker);
        if let Some((_, link)) = known.and_then(|known| known.host.as_ref()) {
            link.groups.lock().insert(number, group);
        }
    }

    /// Whether the broker does not accept the start of a program, for whatever worker.
    pub(super) fn is_refused(&self, worker: &str, number: u64) -> bool {
        let workers = self.workers.lock();
        let known = workers.get(worker);
        let link = known.and_then(|known| known.host.as_ref());
        link.is_some_and(|(_, link)| link.refused.lock().remove(&number))
    }

    /// The link to a worker.
    pub(super) fn host(&self, worker: &str) -> io::Result<Host> {
        let mut workers = self.workers.lock();
        let known = workers.get_mut(worker).ok_or(io::ErrorKind::NotFound)?;
        if let Some((host, _)) = &known.host {
            return Ok(host.clone());
        }
        let heartbeat = known.presence.heartbeat();
        let (host, link) = self.make_host(worker, heartbeat, Arc::clone(&known.heard))?;
        known.host = Some((host.clone(), link));
        Ok(host)
    }

    /// A host that has only the stored output of a worker that is gone.
    pub(super) fn stored_host(&self, worker: &str) -> io::Result<Host> {
        let heard = Arc::new(Mutex::new(Instant::now()));
        let (host, link) = self.make_host(worker, SHOWING, heard)?;
        let pool = &self.options.pool;
        link.bury(&format!(
            "worker `{worker}` of pool `{pool}` is gone; its machine ends the program"
        ));
        Ok(host)
    }

    fn make_host(
        &self,
        worker: &str,
        heartbeat: Duration,
        heard: Arc<Mutex<Instant>>,
    ) -> io::Result<(Host, Arc<WorkerLink>)> {
        let PoolOptions {
            host,
            root,
            project,
            lease,
            stored_output,
            ..
        } = &*self.options;
        let options = HostOptions {
            root: root.clone(),
            lease: *lease,
            heartbeat,
            ..HostOptions::new(format!("{host}/{worker}"), Vec::new(), project)
        };
        let link = Arc::new(WorkerLink {
            reader: self.stored.clone(),
            worker: worker.to_owned(),
            runtime: self.runtime.clone(),
            stored_output: *stored_output,
            heard,
            groups: Arc::default(),
            refused: Arc::default(),
            dead: watch::Sender::new(None),
        });
        let source = Arc::clone(&link);
        Ok((Host::over(options, source)?, link))
    }

    /// When a worker that is not listed had the time of three of its heartbeats to announce itself; `None` while the
    /// broker does not reply.
    pub(super) async fn dead_after(&self, worker: &str) -> Option<Instant> {
        let since = self.broker.connection.borrow().since?;
        // The bucket may still have its last announcement.
        let last = self.broker.presence(&self.presences, worker).await;
        let (patience, silence) = match last {
            Some((presence, silence)) => (presence.patience(), silence),
            // It keeps entries for three heartbeats of the slowest worker.
            None => (self.presences.status().await.ok()?.max_age(), Duration::MAX),
        };
        let over = Instant::now() + patience.saturating_sub(silence);
        Some(over.max(since + SHOWING.max(patience)))
    }

    /// Whether a worker that is not listed is dead.
    pub(super) async fn is_dead(&self, worker: &str) -> bool {
        let after = self.dead_after(worker).await;
        let is_silent = after.is_some_and(|after| Instant::now() >= after);
        // A restarted broker may have lost the age that a slow worker had set. A live worker replies.
        is_silent
            && !self.broker.has_worker(worker, ASKING).await
            && !self.workers.lock().contains_key(worker)
    }

    /// Abandons workers that have missed three heartbeats while the broker was connected. Returns the time of the next
    /// check.
    fn look(&self) -> Instant {
        let now = Instant::now();
        let Some(connected) = self.broker.connection.borrow().since else {
            return now + LOOK.1;
        };
        let (gone, next) = take_silent(&mut self.workers.lock(), connected, now);
        for known in gone {
            self.give_up(&known);
        }
        next
    }

    fn give_up(&self, known: &KnownWorker) {
        let WorkerPresence { name, .. } = &known.presence;
        let pool = &self.options.pool;
        if let Some((host, link)) = known.host.clone() {
            let why = format!(
                "worker `{name}` of pool `{pool}` was silent for {:?}; its machine ends the program",
                known.presence.patience()
            );
            link.bury(&why);
            windlass_task::spawn(async move {
                // The link now leads to the stored output, by which every program is resumed and ends.
                if host.connect(Vec::new()).await.is_ok() {
                    host.emptied().await;
                }
                host.abandon(&why);
            });
        }
        self.changes.send_modify(|count| *count += 1);
    }

    /// Handles a change of the bucket.
    fn take(&self, message: &Message) {
        let prefix = self.broker.names.workers_changes();
        let is_leaving = message
            .headers
            .as_ref()
            .is_some_and(|it| it.get("KV-Operation").is_some());
        if !is_leaving {
            if let Ok(presence) = serde_json::from_slice(&message.payload) {
                self.see(presence);
            }
            return;
        }
        let name = message.subject.strip_prefix(&prefix).unwrap_or_default();
        // It left with nothing running. Its last frames may still arrive, so it is abandoned only after its timeout.
        if let Some(known) = self.workers.lock().get_mut(name) {
            known.presence.is_draining = true;
        }
    }
}

/// Removes the workers that have missed three heartbeats since `connected`. Also returns the time of the next check.
fn take_silent(
    workers: &mut HashMap<String, KnownWorker>,
    connected: Instant,
    now: Instant,
) -> (Vec<KnownWorker>, Instant) {
    let latest = now + LOOK.1;
    let mut next = latest;
    let gone = workers.extract_if(|_, known| {
        let look = known.next_look(connected, now);
        next = next.min(look.unwrap_or(latest));
        look.is_none()
    });
    let gone = gone.map(|(_, known)| known).collect();
    (gone, next.max(now + LOOK.0))
}

/// Follows changes of the workers while they are in use.
async fn follow(workers: Weak<KnownWorkers>, mut news: Subscriber) {
    let Some(mut connection) = workers.upgrade().map(|it| it.broker.connection.clone()) else {
        return;
    };
    let mut count = connection.borrow().count;
    let mut next = Instant::now();
    loop {
        let message = tokio::select! {
            message = news.next() => message,
            _ = connection.changed() => None,
            () = tokio::time::sleep_until(next) => None,
        };
        let Some(workers) = workers.upgrade() else {
            return;
        };
        if let Some(message) = message {
            workers.take(&message);
        }
        let now = connection.borrow_and_update().count;
        if now != count {
            count = now;
            workers.list().await;
        }
        next = workers.look();
    }
}

#[cfg(test)]
#[path = "known_tests.rs"]
mod tests;
