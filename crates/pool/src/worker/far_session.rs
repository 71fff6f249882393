//! The far end of one runtime on this worker.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use windlass_hold_wire::{FarFrame, LinkSession, NearFrame, ProgramOrigin};
use windlass_host::serve;
use windlass_process::{TakeOverError, lease_over, note_lease};

use super::gate::FarGate;
use super::held::{FollowTerm, HeldFollower, look_up};
use super::recording::{OutputRecord, RecordClosing};
use super::{Worker, WorkerOptions};
use crate::broker::{BrokerConnection, words};
use crate::error::Trouble;
use crate::link::{Flow, FrameWriter, LinkEnd, LinkEnding, PIPE};

/// The time limit for sending the last frames of a far end.
const FLUSHING: Duration = Duration::from_secs(2);
/// The delay before a holder that has not replied is asked again, and the number of attempts.
const ASKING_AGAIN: (Duration, u32) = (Duration::from_secs(1), 60);

/// One runtime's programs on this worker. A later link may replace the current one.
pub(super) struct FarSession {
    pub(super) session: LinkSession,
    /// The runtime, for display.
    pub(super) runtime: String,
    /// How many bytes of each program's output are stored in the broker.
    stored_output: u64,
    /// The current far end. Locked during a replacement: only one may use the session's directory.
    serving: tokio::sync::Mutex<Option<FarEndTask>>,
    /// Locked while a start is claimed and passed to the far end, and while a start is withdrawn: a program that was
    /// claimed is known to the far end before any other frame about it.
    pub(super) starting: tokio::sync::Mutex<()>,
    state: Mutex<SessionState>,
}

#[derive(Default)]
struct SessionState {
    /// Programs known to be claimed.
    claimed: HashSet<u64>,
    /// Programs that an earlier process of this worker has started. It may have stored output of them.
    found: HashSet<u64>,
    /// Programs that were started in other sessions.
    origins: HashMap<u64, ProgramOrigin>,
    /// The output that is being stored, by program.
    records: HashMap<u64, Arc<OutputRecord>>,
    queues: Option<FarQueues>,
    /// Counts links.
    links: u64,
    /// The number of links that are being opened.
    opening: u32,
    lease: Duration,
}

/// Queues for injected frames.
#[derive(Clone)]
struct FarQueues {
    /// For the far end.
    adding: mpsc::UnboundedSender<Vec<u8>>,
    /// For the runtime.
    telling: mpsc::UnboundedSender<Vec<u8>>,
}

struct FarEndTask {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl FarSession {
    pub(super) fn new(session: LinkSession, runtime: String, stored_output: u64) -> Self {
        Self {
            session,
            runtime,
            stored_output,
            serving: tokio::sync::Mutex::default(),
            starting: tokio::sync::Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// Notes that [`FarSession::open`] follows.
    pub(super) fn note_opening(&self) {
        self.state.lock().opening += 1;
    }

    /// Starts serving over a new link. The earlier link releases the programs first.
    pub(super) async fn open(
        self: &Arc<Self>,
        worker: &Arc<Worker>,
        link: &str,
    ) -> Result<(), Trouble> {
        let mut serving = self.serving.lock().await;
        let opened = self.serve(worker, link, &mut serving).await;
        self.state.lock().opening -= 1;
        if opened.is_err() && serving.is_none() {
            // The earlier link may have ended meanwhile, and did not remove the session.
            self.ended(Arc::downgrade(worker));
        }
        opened
    }

    async fn serve(
        self: &Arc<Self>,
        worker: &Arc<Worker>,
        link: &str,
        serving: &mut Option<FarEndTask>,
    ) -> Result<(), Trouble> {
        if let Some(earlier) = serving.take() {
            let _ = earlier.stop.send(());
            let _ = earlier.task.await;
        }
        let names = &worker.broker.names;
        let messages = worker.broker.client.subscribe(names.to_worker(link)).await;
        let messages = messages.map_err(|error| Trouble(words(&error)))?;
        let (to_pipe, input) = tokio::io::duplex(PIPE);
        let (output, from_pipe) = tokio::io::duplex(PIPE);
        let (adding, added) = mpsc::unbounded_channel();
        let (telling, told) = mpsc::unbounded_channel();
        let queues = FarQueues { adding, telling };
        {
            let mut state = self.state.lock();
            state.queues = Some(queues.clone());
            state.links += 1;
        }
        let end = LinkEnd {
            broker: worker.broker.clone(),
            messages,
            to: names.to_runtime(link),
            from_pipe,
            to_pipe: FrameWriter::new(to_pipe),
            added,
            told,
            flow: Flow::default(),
        };
        let (stop, stopped) = oneshot::channel();
        let stopped = async {
            let _ = stopped.await;
        };
        let options = worker.options.serve.clone();
        let far_end = serve(input, output, options, stopped);
        let gate = FarGate::new(Arc::clone(worker), Arc::clone(self), queues.telling);
        let (worker, session) = (Arc::downgrade(worker), Arc::clone(self));
        let task = windlass_task::spawn(async move {
            Box::pin(serve_link(far_end, end, gate)).await;
            session.ended(worker);
        });
        *serving = Some(FarEndTask { stop, task });
        Ok(())
    }

    /// Releases the programs.
    pub(super) async fn stop(&self) {
        let mut serving = self.serving.lock().await;
        if let Some(earlier) = serving.take() {
            let _ = earlier.stop.send(());
            let _ = earlier.task.await;
        }
    }

    /// Handles the end of a link. If no other link follows within the lease, only kept programs are left. They do not
    /// need this session any more.
    fn ended(self: &Arc<Self>, worker: Weak<Worker>) {
        let (links, lease) = {
            let mut state = self.state.lock();
            state.queues = None;
            (state.links, state.lease)
        };
        if let Some(worker) = worker.upgrade() {
            self.follow_held(&worker, links);
        }
        let session = Arc::clone(self);
        windlass_task::spawn(async move {
            lease_over(lease).await;
            let Some(worker) = worker.upgrade() else {
                return;
            };
            let mut sessions = worker.sessions.lock();
            let state = session.state.lock();
            if state.links != links || state.opening > 0 {
                return;
            }
            sessions.remove(&session.session);
            drop(sessions);
            let kept = worker.kept.of(&session.session);
            worker.vacate_session(&session.session, |program| kept.contains_key(&program));
            for (program, record) in &state.records {
                if !kept.contains_key(program) {
                    // Its runtime counts it as lost, and no other will resume it.
                    worker.close_record(&record.origin, RecordClosing::Remove);
                }
            }
            for program in state.found.iter().filter(|it| !kept.contains_key(it)) {
                worker.remove_stored(state.origin(session.session, *program));
            }
            note_lease(|| {
                format!(
                    "{}: the lease of {} is over",
                    worker.options.name, session.runtime
                )
            });
        });
    }

    /// Whether there was no other link since the one with this number.
    pub(super) fn has_links(&self, links: u64) -> bool {
        self.state.lock().links == links
    }

    /// Follows the programs of a runtime that is away.
    fn follow_held(self: &Arc<Self>, worker: &Arc<Worker>, links: u64) {
        let kept = worker.kept.of(&self.session);
        for (&program, &origin) in &kept {
            self.follow_kept(worker, program, origin);
        }
        let mut others: BTreeSet<u64> = self.state.lock().records.keys().copied().collect();
        others.extend(worker.programs_of(&self.session));
        for program in others.into_iter().filter(|it| !kept.contains_key(it)) {
            let session = Arc::clone(self);
            let record = self.state.lock().records.get(&program).cloned();
            let follower = HeldFollower {
                worker: Arc::downgrade(worker),
                id: (self.session, program),
                origin: self.origin(program),
                record,
                term: FollowTerm::Link { session, links },
            };
            windlass_task::spawn(follower.follow());
        }
    }

    /// Follows a kept program that no link has.
    fn follow_kept(&self, worker: &Arc<Worker>, program: u64, origin: ProgramOrigin) {
        let id = (self.session, program);
        let Some(generation) = worker.kept.renew(&origin, id) else {
            return;
        };
        let record = self.record(worker, program);
        let follower = HeldFollower {
            worker: Arc::downgrade(worker),
            id,
            origin,
            record,
            term: FollowTerm::Generation(generation),
        };
        windlass_task::spawn(follower.follow());
    }

    /// Handles that the runtime has left a kept program to others.
    pub(super) fn leave(&self, worker: &Arc<Worker>, program: u64) {
        let origin = self.origin(program);
        self.follow_kept(worker, program, origin);
        self.state.lock().records.remove(&program);
    }

    /// Notes a program that an earlier process of this worker has started.
    pub(super) fn note_found(self: &Arc<Self>, worker: &Arc<Worker>, program: u64) {
        self.state.lock().found.insert(program);
        let (session, worker) = (Arc::clone(self), Arc::clone(worker));
        windlass_task::spawn(async move { session.learn_lease(&worker, program).await });
    }

    /// Asks the holder of a program whether it is kept: whether its lease is longer than that of the link.
    async fn learn_lease(&self, worker: &Arc<Worker>, program: u64) {
        let origin = self.origin(program);
        let (pause, attempts) = ASKING_AGAIN;
        for _ in 0..attempts {
            if worker.kept.contains(&origin) {
                return;
            }
            match look_up(worker, &origin).await {
                Ok((_, held)) => {
                    if held.left <= self.state.lock().lease {
                        return;
                    }
                    worker.kept.assign(origin, (self.session, program));
                    if self.state.lock().queues.is_none() {
                        // The link has ended meanwhile.
                        self.follow_kept(worker, program, origin);
                    }
                    return;
                }
                Err(TakeOverError::Gone { .. }) => return,
                Err(error) => tracing::debug!(%error, "the lease of a program is not known yet"),
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// The program with this number.
    pub(super) fn origin(&self, program: u64) -> ProgramOrigin {
        self.state.lock().origin(self.session, program)
    }

    /// Whether a program was started in another session, or under another number.
    pub(super) fn is_adopted(&self, program: u64) -> bool {
        self.state.lock().origins.contains_key(&program)
    }

    /// Notes that a program was started in another session, or under another number.
    pub(super) fn note_origin(&self, program: u64, origin: ProgramOrigin) {
        self.state.lock().origins.insert(program, origin);
    }

    /// Notes how long programs are held without a link.
    pub(super) fn note_lease(&self, lease: Duration) {
        self.state.lock().lease = lease;
    }

    /// The record of a program's output, if output is stored.
    pub(super) fn record(&self, worker: &Arc<Worker>, program: u64) -> Option<Arc<OutputRecord>> {
        if self.stored_output == 0 {
            return None;
        }
        let mut state = self.state.lock();
        if let Some(record) = state.records.get(&program) {
            return Some(Arc::clone(record));
        }
        let origin = state.origin(self.session, program);
        let is_kept = worker.kept.contains(&origin);
        let record = worker.record(OutputRecord::new(origin, is_kept, self.stored_output));
        state.records.insert(program, Arc::clone(&record));
        Some(record)
    }

    /// Stores the exit of a program whose output is stored, or that is kept.
    pub(super) fn record_exit(&self, worker: &Arc<Worker>, program: u64, frame: &[u8]) {
        let is_stored = {
            let state = self.state.lock();
            let origin = state.origin(self.session, program);
            state.records.contains_key(&program) || worker.kept.contains(&origin)
        };
        if let Some(record) = is_stored.then(|| self.record(worker, program)).flatten() {
            record.take_exit(frame);
        }
    }

    /// Removes the stored output of a program that its runtime no longer needs.
    fn forget_output(&self, worker: &Arc<Worker>, program: u64) {
        let (origin, is_found) = {
            let mut state = self.state.lock();
            state.records.remove(&program);
            let origin = state.origin(self.session, program);
            (origin, state.found.remove(&program))
        };
        worker.close_record(&origin, RecordClosing::Remove);
        if is_found {
            worker.remove_stored(origin);
        }
    }

    /// The number of a program that was started in another session and adopted here.
    pub(super) fn adopted(&self, origin: &ProgramOrigin) -> Option<u64> {
        let state = self.state.lock();
        let mut origins = state.origins.iter();
        origins
            .find(|(_, it)| *it == origin)
            .map(|(&program, _)| program)
    }

    /// Forgets a program that has ended.
    pub(super) fn drop_program(&self, worker: &Arc<Worker>, program: u64) {
        if self.forget_kept(worker, program) {
            self.forget_output(worker, program);
        }
        worker.vacate(&(self.session, program));
    }

    /// Notes that no other runtime will adopt a program. Returns false if another session has it already.
    pub(super) fn forget_kept(&self, worker: &Worker, program: u64) -> bool {
        let origin = self.origin(program);
        if worker.kept.is_of_other(&origin, (self.session, program)) {
            return false;
        }
        worker.kept.remove(&origin);
        true
    }

    /// Forgets a program that another runtime has now, or this one under another number. Its output is stored on.
    pub(super) fn give_away(&self, program: u64) {
        self.state.lock().records.remove(&program);
    }

    /// Forgets a program without a holder. If it was kept, its stored output is all that is left of it.
    pub(super) fn lose_program(&self, worker: &Worker, program: u64) {
        let origin = self.origin(program);
        let was_kept = worker.kept.contains(&origin);
        if was_kept && self.forget_kept(worker, program) {
            self.give_away(program);
            worker.close_record(&origin, RecordClosing::Keep);
        }
        worker.vacate(&(self.session, program));
    }

    /// Whether this process has claimed the program, or knows of a claim.
    pub(super) fn has_claimed(&self, program: u64) -> bool {
        self.state.lock().claimed.contains(&program)
    }

    pub(super) fn note_claimed(&self, program: u64) {
        self.state.lock().claimed.insert(program);
    }

    /// Passes a start to the far end; `false` if there is none.
    pub(super) fn start(&self, start: &[u8]) -> bool {
        let state = self.state.lock();
        let queues = state.queues.as_ref();
        queues.is_some_and(|queues| queues.adding.send(start.to_vec()).is_ok())
    }

    /// Sends a frame to the runtime, if connected.
    pub(super) fn send(&self, frame: &FarFrame) {
        if let Some(queues) = &self.state.lock().queues {
            let _ = queues.telling.send(frame.write());
        }
    }
}

impl SessionState {
    fn origin(&self, session: LinkSession, program: u64) -> ProgramOrigin {
        let own = ProgramOrigin { session, program };
        self.origins.get(&program).copied().unwrap_or(own)
    }
}

/// Serves until the far end is stopped or the peer is gone.
async fn serve_link(
    far_end: impl Future<Output = Result<(), windlass_host::ServeError>>,
    mut end: LinkEnd,
    mut gate: FarGate,
) {
    let mut far_end = std::pin::pin!(far_end);
    let WorkerOptions {
        heartbeat,
        broker_wait,
        ..
    } = gate.worker().options;
    let ending = {
        let mut carrying = std::pin::pin!(end.run(&mut gate));
        tokio::select! {
            served = &mut far_end => {
                if let Err(error) = served {
                    tracing::debug!(%error, "a runtime was not served");
                }
                // Its output ends. Send all of it: it may contain the exit of the last program.
                let _ = tokio::time::timeout(FLUSHING, carrying).await;
                return;
            }
            ending = &mut carrying => ending,
        }
    };
    if ending == LinkEnding::Disconnected {
        tokio::select! {
            _ = &mut far_end => return,
            () = wait_for_broker(&mut end, heartbeat, broker_wait) => {}
        }
    }
    // Closing its input makes it release the programs.
    drop(end);
    let _ = far_end.await;
}

/// Keeps the far end unchanged while no broker is connected, for a limited time: nobody else would end the programs of
/// a worker that stays cut off. After a reconnect, the runtime has three heartbeats to open another link. Starts that
/// were claimed in this time are delivered.
async fn wait_for_broker(end: &mut LinkEnd, heartbeat: Duration, limit: Duration) {
    let connection = end.broker.connection.clone();
    let is_back = end.input().beat(connection, heartbeat, limit).await;
    if is_back {
        end.close().await;
        end.input().deliver(heartbeat * 3).await;
    }
}

/// The input of a far end whose link is down.
struct FarEndInput<'a> {
    to_pipe: &'a mut FrameWriter,
    added: &'a mut mpsc::UnboundedReceiver<Vec<u8>>,
}

impl LinkEnd {
    fn input(&mut self) -> FarEndInput<'_> {
        FarEndInput {
            to_pipe: &mut self.to_pipe,
            added: &mut self.added,
        }
    }
}

impl FarEndInput<'_> {
    /// Sends heartbeats in place of the runtime. Returns true when a broker is connected, false when the time limit is
    /// exceeded or the far end is gone.
    async fn beat(
        self,
        mut connection: watch::Receiver<BrokerConnection>,
        heartbeat: Duration,
        limit: Duration,
    ) -> bool {
        let mut over = std::pin::pin!(tokio::time::sleep(limit));
        loop {
            let added = tokio::select! {
                _ = connection.wait_for(|it| it.since.is_some()) => return true,
                () = &mut over => return false,
                Some(added) = self.added.recv() => added,
                () = tokio::time::sleep(heartbeat) => NearFrame::Beat.write(),
            };
            if self.to_pipe.write(&added).await.is_none() {
                return false;
            }
        }
    }

    /// Delivers injected frames for this time.
    async fn deliver(self, limit: Duration) {
        let mut over = std::pin::pin!(tokio::time::sleep(limit));
        loop {
            let added = tokio::select! {
                () = &mut over => return,
                Some(added) = self.added.recv() => added,
            };
            if self.to_pipe.write(&added).await.is_none() {
                return;
            }
        }
    }
}

#[cfg(test)]
#[path = "far_session_tests.rs"]
mod tests;
