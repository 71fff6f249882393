//! The far side of a pool: `windlass worker`.
//!
//! Start at [`run_worker`]. A worker takes starts from its part of the queue and claims each before it starts the
//! program. Every runtime that uses it has its own far end here, the same as that of `windlass host`, over a link of
//! subjects.

mod announcing;
mod far_session;
mod gate;
mod given_up;
mod held;
mod kept;
mod recording;
mod starts;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_nats::jetstream::kv::Store;
use async_nats::jetstream::stream::Stream;
use async_nats::{Message, Subscriber};
use futures_util::StreamExt;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use windlass_hold_wire::{LinkSession, ProgramOrigin};
use windlass_host::{ServeOptions, describe_machine};

use self::far_session::FarSession;
use self::kept::KeptPrograms;
pub(crate) use self::recording::remove_output;
use self::recording::{OutputRecord, RecordClosing};
use crate::broker::{Broker, BrokerOptions, StreamCell, words};
use crate::error::Trouble;
use crate::link::LinkRequest;
use crate::names::random_word;
use crate::{PoolError, PoolProgram, is_name};

/// How long the stream of output may delay the start of a worker.
const OPENING: Duration = Duration::from_secs(5);
/// How long another worker of the same name has to reply.
const ASKING: Duration = Duration::from_secs(2);

/// A session and the number of a program in it.
type ProgramId = (LinkSession, u64);

/// The options of a worker.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// The brokers.
    pub broker: BrokerOptions,
    /// The pool.
    pub pool: String,
    /// The worker's name, unique in the pool.
    pub name: String,
    /// Labels by which runtimes choose it.
    pub labels: Vec<String>,
    /// The maximum number of programs at once.
    pub slots: u32,
    /// The time between heartbeats.
    pub heartbeat: Duration,
    /// The maximum number of bytes of stored output of the whole pool, if this worker creates the stream.
    pub stored_total: u64,
    /// How long programs are kept unchanged while no broker is connected. Then their leases run.
    pub broker_wait: Duration,
    /// The options of its far ends.
    pub serve: ServeOptions,
}

/// A default name for a worker on this machine.
pub fn worker_name() -> String {
    let machine = describe_machine(&[], false).machine;
    let name: String = machine
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() { it } else { '-' })
        .take(48)
        .collect();
    if name.is_empty() {
        String::from("worker")
    } else {
        name
    }
}

/// Runs until `stopped` resolves or the worker is drained. `ready` is notified once it can accept programs.
pub async fn run_worker(
    options: WorkerOptions,
    ready: impl FnOnce(),
    stopped: impl Future<Output = ()>,
) -> Result<(), PoolError> {
    let worker = Worker::join(options).await?;
    let names = worker.broker.names.clone();
    worker.enter().await?;
    let opens = worker.subscribe(names.open(&worker.options.name)).await?;
    let drains = worker.subscribe(names.drain(&worker.options.name)).await?;
    let losses = worker.subscribe(names.all_lost(&worker.options.name));
    let losses = losses.await?;
    let starts = worker.broker.starts().await?;
    // Created before a broker can die: a cluster with fewer brokers than replicas refuses to. The worker is usable
    // without it.
    let opening = async { (worker.output().await, worker.losses().await) };
    let _ = tokio::time::timeout(OPENING, opening).await;
    // Another worker that started at the same time may have entered its name before this one could reply.
    worker.enter().await?;
    ready();
    let mut is_taken = false;
    tokio::select! {
        () = worker.answer(opens) => {}
        () = worker.hear_drains(drains) => {}
        () = starts::take_all(&worker, starts) => {}
        () = worker.show() => is_taken = true,
        () = given_up::end_all(&worker, losses) => {}
        () = worker.drained() => {}
        () = stopped => {}
    }
    worker.leave().await;
    if is_taken {
        return Err(worker.taken());
    }
    Ok(())
}

/// A worker of a pool.
struct Worker {
    options: WorkerOptions,
    broker: Broker,
    claims: Store,
    presences: Store,
    instance: String,
    /// The revision of this worker's entry in the list; 0 before it is entered.
    revision: tokio::sync::Mutex<u64>,
    sessions: Mutex<HashMap<LinkSession, Arc<FarSession>>>,
    /// The programs that occupy a slot.
    running: Mutex<BTreeMap<ProgramId, PoolProgram>>,
    /// Programs that have exited but whose output has not been sent completely.
    exited: Mutex<HashSet<ProgramId>>,
    /// The programs that outlive their runtimes.
    kept: KeptPrograms,
    /// The stream of stored output.
    output: StreamCell,
    /// The stream of programs that runtimes have given up.
    losses: StreamCell,
    /// The output that is being stored.
    records: Mutex<HashMap<ProgramOrigin, Arc<OutputRecord>>>,
    /// The tasks that store it.
    recording: Mutex<JoinSet<()>>,
    is_draining: AtomicBool,
    changed: Notify,
    /// Counts ended programs.
    ended: watch::Sender<u64>,
}

impl Worker {
    async fn join(options: WorkerOptions) -> Result<Arc<Self>, PoolError> {
        if !is_name(&options.name) {
            let name = options.name.clone();
            return Err(PoolError::Name {
                name,
                what: "worker",
            });
        }
        let who = format!("windlass worker {}", options.name);
        let broker = Broker::connect(&options.broker, &options.pool, &who).await?;
        let claims = broker.claims().await?;
        let presences = broker.workers(Some(options.heartbeat * 3)).await?;
        let worker = Self {
            options,
            broker,
            claims,
            presences,
            instance: random_word(),
            revision: tokio::sync::Mutex::default(),
            sessions: Mutex::default(),
            running: Mutex::default(),
            exited: Mutex::default(),
            kept: KeptPrograms::default(),
            output: StreamCell::default(),
            losses: StreamCell::default(),
            records: Mutex::default(),
            recording: Mutex::default(),
            is_draining: AtomicBool::new(false),
            changed: Notify::new(),
            ended: watch::Sender::new(0),
        };
        if worker.has_rival().await {
            return Err(worker.taken());
        }
        Ok(Arc::new(worker))
    }

    async fn subscribe(&self, subject: String) -> Result<Subscriber, PoolError> {
        let subscribed = self.broker.client.subscribe(subject).await;
        subscribed.map_err(|error| PoolError::JetStream {
            what: "a subject",
            cause: words(&error),
        })
    }

    fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Acquire)
    }

    /// Whether there is a free slot.
    fn has_room(&self) -> bool {
        let running = self.running.lock().len();
        !self.is_draining() && running < self.options.slots as usize
    }

    fn occupy(&self, id: ProgramId, program: PoolProgram) {
        self.running.lock().insert(id, program);
        self.changed.notify_one();
    }

    /// Whether a program occupies a slot, or has exited and its output is being sent.
    fn is_counted(&self, id: &ProgramId) -> bool {
        self.running.lock().contains_key(id) || self.exited.lock().contains(id)
    }

    /// The numbers of a session's programs that occupy slots.
    fn programs_of(&self, session: &LinkSession) -> Vec<u64> {
        let running = self.running.lock();
        let of_session = running.range((*session, 0)..=(*session, u64::MAX));
        of_session.map(|(id, _)| id.1).collect()
    }

    /// Frees the slot of a program that has exited. Its output must still be sent.
    fn free_slot(&self, id: ProgramId) {
        if self.running.lock().remove(&id).is_some() {
            self.exited.lock().insert(id);
            self.changed.notify_one();
        }
    }

    /// Forgets a program.
    fn vacate(&self, id: &ProgramId) {
        let was_running = self.running.lock().remove(id).is_some();
        let had_exited = self.exited.lock().remove(id);
        if was_running {
            self.changed.notify_one();
        }
        if was_running || had_exited {
            self.ended.send_modify(|count| *count += 1);
        }
    }

    /// The stream of stored output, if it can be used. The next program tries again.
    async fn output(&self) -> Option<Stream> {
        let opening = || self.broker.output(self.options.stored_total);
        let opened = self.output.get(&self.broker, opening).await;
        opened
            .inspect_err(|error| tracing::warn!(%error, "output is not stored"))
            .ok()
    }

    /// The stream of programs that runtimes have given up, if it can be used.
    async fn losses(&self) -> Option<Stream> {
        let opening = || self.broker.losses();
        let opened = self.losses.get(&self.broker, opening).await;
        opened
            .inspect_err(|error| tracing::warn!(%error, "lost programs are not noted"))
            .ok()
    }

    /// Starts to store output with this record, or returns the one that exists for its program.
    fn record(self: &Arc<Self>, record: Arc<OutputRecord>) -> Arc<OutputRecord> {
        let mut records = self.records.lock();
        if let Some(found) = records.get(&record.origin) {
            return Arc::clone(found);
        }
        records.insert(record.origin, Arc::clone(&record));
        let (worker, publishing) = (Arc::clone(self), Arc::clone(&record));
        let mut recording = self.recording.lock();
        while recording.try_join_next().is_some() {}
        recording.spawn(async move {
            let broker = worker.broker.clone();
            let stream = worker.output().await;
            drop(worker);
            match stream {
                Some(stream) => publishing.publish(broker, stream).await,
                None => publishing.close(RecordClosing::Keep),
            }
        });
        record
    }

    fn close_record(&self, origin: &ProgramOrigin, closing: RecordClosing) {
        if let Some(record) = self.records.lock().remove(origin) {
            record.close(closing);
        }
    }

    /// Removes output that an earlier process has stored.
    fn remove_stored(self: &Arc<Self>, origin: ProgramOrigin) {
        let worker = Arc::clone(self);
        self.recording.lock().spawn(async move {
            if let Some(stream) = worker.output().await {
                remove_output(&stream, &worker.broker.names.output_of(&origin)).await;
            }
        });
    }

    /// Forgets the programs of a session, except kept ones.
    fn vacate_session(&self, session: &LinkSession, is_kept: impl Fn(u64) -> bool) {
        let of_session = |id: &&ProgramId| id.0 == *session && !is_kept(id.1);
        let mut all: Vec<_> = self
            .running
            .lock()
            .keys()
            .filter(of_session)
            .copied()
            .collect();
        all.extend(self.exited.lock().iter().filter(of_session).copied());
        for id in &all {
            self.vacate(id);
        }
    }

    /// Answers link requests of runtimes.
    async fn answer(self: &Arc<Self>, mut opens: Subscriber) {
        while let Some(message) = opens.next().await {
            let worker = Arc::clone(self);
            windlass_task::spawn(async move {
                let is_own = message.payload == worker.instance;
                let Some(reply) = message.reply.clone().filter(|_| !is_own) else {
                    return;
                };
                let problem = worker
                    .open(&message)
                    .await
                    .err()
                    .map_or_else(String::new, |it| it.0);
                let answered = worker.broker.client.publish(reply, problem.into());
                let _ = answered.await;
            });
        }
    }

    async fn open(self: &Arc<Self>, message: &Message) -> Result<(), Trouble> {
        let unread = || {
            Trouble(String::from(
                "the worker cannot read the request; install the same version on both sides",
            ))
        };
        let request: LinkRequest =
            serde_json::from_slice(&message.payload).map_err(|_| unread())?;
        let session = u128::from_str_radix(&request.session, 16).map_err(|_| unread())?;
        if !is_name(&request.link) {
            return Err(unread());
        }
        let session = session.to_be_bytes();
        let far = {
            let mut sessions = self.sessions.lock();
            let LinkRequest {
                runtime,
                stored_output,
                ..
            } = &request;
            let made = || Arc::new(FarSession::new(session, runtime.clone(), *stored_output));
            let far = Arc::clone(sessions.entry(session).or_insert_with(made));
            // Noted under the lock: the end of an earlier link must not remove the session now.
            far.note_opening();
            far
        };
        far.open(self, &request.link).await
    }

    async fn hear_drains(&self, mut drains: Subscriber) {
        while let Some(message) = drains.next().await {
            self.is_draining.store(true, Ordering::Release);
            // A worker that has lost its name learns it with the next heartbeat.
            let _ = self.announce().await;
            if let Some(reply) = message.reply {
                let running = self.running.lock().len().to_string();
                let _ = self.broker.client.publish(reply, running.into()).await;
            }
            self.ended.send_modify(|count| *count += 1);
        }
        std::future::pending::<()>().await;
    }

    /// Resolves when it is draining, no program runs, and all output has been sent.
    async fn drained(&self) {
        let mut ended = self.ended.subscribe();
        loop {
            ended.borrow_and_update();
            let is_empty = self.running.lock().is_empty() && self.exited.lock().is_empty();
            if self.is_draining() && is_empty {
                return;
            }
            // We own the sender.
            let _ = ended.changed().await;
        }
    }

    /// Releases all programs to their holders, which keep them until their lease expires.
    async fn leave(&self) {
        let sessions: Vec<_> = self.sessions.lock().values().cloned().collect();
        for session in sessions {
            session.stop().await;
        }
        for (_, record) in self.records.lock().drain() {
            record.close(RecordClosing::Keep);
        }
        let mut recording = std::mem::take(&mut *self.recording.lock());
        let stored = async { while recording.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(ASKING, stored).await;
        // If programs are left, a worker of the same name may continue them: runtimes wait for it.
        if self.running.lock().is_empty() {
            let revision = *self.revision.lock().await;
            // Unless another worker has the name now.
            let name = &self.options.name;
            let deleted = self.presences.delete_expect_revision(name, Some(revision));
            let _ = tokio::time::timeout(ASKING, deleted).await;
        }
        let _ = tokio::time::timeout(ASKING, self.broker.client.flush()).await;
    }
}

/// The time in seconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |it| it.as_secs())
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;
