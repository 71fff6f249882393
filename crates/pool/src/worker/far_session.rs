//! The far end of one runtime on this worker.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use windlass_hold_wire::{
    FarFrame, FramedOutput, HolderOrder, LinkSession, NearFrame, ProgramOrigin, frame,
};
use windlass_host::serve;

use super::recording::{OutputRecord, RecordClosing};
use super::{Worker, held};
use crate::broker::{ClaimKind, Claimed, claim, words};
use crate::error::Trouble;
use crate::link::{Flow, FrameGate, LinkEnd, LinkEnding, PIPE};

/// The time limit for sending the last frames of a far end.
const FLUSHING: Duration = Duration::from_secs(2);

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
    /// Programs that outlive their runtime, with their leases.
    keeps: HashMap<u64, Duration>,
    /// Programs that were started in other sessions.
    origins: HashMap<u64, ProgramOrigin>,
    /// The output that is being stored, by program.
    records: HashMap<u64, Arc<OutputRecord>>,
    queues: Option<FarQueues>,
    /// Counts links.
    links: u64,
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

    /// Starts serving over a new link. The earlier link releases the programs first.
    pub(super) async fn open(
        self: &Arc<Self>,
        worker: &Arc<Worker>,
        link: &str,
    ) -> Result<(), Trouble> {
        let mut serving = self.serving.lock().await;
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
            to_pipe,
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
        let gate = FarGate {
            worker: Arc::clone(worker),
            session: Arc::clone(self),
            telling: queues.telling,
            outputs: HashMap::new(),
        };
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

    /// Handles the end of a link. If no other link follows within the lease, only kept programs are left, for their own
    /// leases.
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
            tokio::time::sleep(lease).await;
            let mut keeps: Vec<(u64, Duration)> = {
                let Some(worker) = worker.upgrade() else {
                    return;
                };
                let mut sessions = worker.sessions.lock();
                let state = session.state.lock();
                if state.links != links {
                    return;
                }
                sessions.remove(&session.session);
                drop(sessions);
                worker.vacate_session(&session.session, |program| {
                    state.keeps.contains_key(&program)
                });
                for (program, record) in &state.records {
                    if !state.keeps.contains_key(program) {
                        // Its runtime counts it as lost, and no other will resume it.
                        worker.close_record(record, RecordClosing::Remove);
                    }
                }
                state
                    .keeps
                    .iter()
                    .map(|(&program, &keep)| (program, keep))
                    .collect()
            };
            keeps.sort_by_key(|&(_, keep)| keep);
            let mut over = lease;
            for (program, keep) in keeps {
                tokio::time::sleep(keep.saturating_sub(over)).await;
                over = over.max(keep);
                let Some(worker) = worker.upgrade() else {
                    return;
                };
                worker.vacate(&(session.session, program));
                if let Some(record) = session.state.lock().records.remove(&program) {
                    worker.close_record(&record, RecordClosing::Keep);
                }
            }
        });
    }

    /// Whether there was no other link since the one with this number.
    pub(super) fn has_links(&self, links: u64) -> bool {
        self.state.lock().links == links
    }

    /// Continues to store the output of programs whose runtime is away.
    fn follow_held(self: &Arc<Self>, worker: &Arc<Worker>, links: u64) {
        let kept: Vec<u64> = self.state.lock().keeps.keys().copied().collect();
        for program in kept {
            self.record(worker, program);
        }
        let records: Vec<_> = self.state.lock().records.values().cloned().collect();
        let folder = &worker.options.serve.folder;
        for record in records {
            windlass_task::spawn(held::follow(
                Arc::clone(self),
                links,
                folder.clone(),
                record,
            ));
        }
    }

    /// The record of a program's output, if output is stored.
    fn record(&self, worker: &Arc<Worker>, program: u64) -> Option<Arc<OutputRecord>> {
        if self.stored_output == 0 {
            return None;
        }
        let mut state = self.state.lock();
        if let Some(record) = state.records.get(&program) {
            return Some(Arc::clone(record));
        }
        let session = self.session;
        let own = ProgramOrigin { session, program };
        let origin = state.origins.get(&program).copied().unwrap_or(own);
        let is_kept = state.keeps.contains_key(&program);
        let record = worker.record(OutputRecord::new(origin, is_kept, self.stored_output));
        state.records.insert(program, Arc::clone(&record));
        Some(record)
    }

    /// Stores the exit of a program whose output is stored, or that is kept.
    fn record_exit(&self, worker: &Arc<Worker>, program: u64, frame: &[u8]) {
        let is_stored = {
            let state = self.state.lock();
            state.records.contains_key(&program) || state.keeps.contains_key(&program)
        };
        if let Some(record) = is_stored.then(|| self.record(worker, program)).flatten() {
            record.take_exit(frame);
        }
    }

    /// Removes the stored output of a program that its runtime no longer needs.
    fn forget_output(&self, worker: &Worker, program: u64) {
        let record = self.state.lock().records.remove(&program);
        if let Some(record) = record {
            worker.close_record(&record, RecordClosing::Remove);
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

    /// Forgets a program that has ended without its runtime.
    pub(super) fn drop_program(&self, worker: &Worker, program: u64) {
        self.state.lock().keeps.remove(&program);
        self.forget_output(worker, program);
        worker.vacate(&(self.session, program));
    }

    /// Notes that a program is kept, with its lease.
    pub(super) fn note_kept(&self, program: u64, lease: Duration) {
        self.state.lock().keeps.insert(program, lease);
    }

    /// Removes a kept program because another runtime owns it now; returns its lease.
    pub(super) fn give_away(&self, program: u64) -> Option<Duration> {
        let mut state = self.state.lock();
        state.records.remove(&program);
        state.keeps.remove(&program)
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

/// Serves until the far end is stopped or the peer is gone.
async fn serve_link(
    far_end: impl Future<Output = Result<(), windlass_host::ServeError>>,
    mut end: LinkEnd,
    mut gate: FarGate,
) {
    let mut far_end = std::pin::pin!(far_end);
    let heartbeat = gate.worker.options.heartbeat;
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
            () = wait_for_broker(&mut end, heartbeat) => {}
        }
    }
    // Closing its input makes it release the programs.
    drop(end);
    let _ = far_end.await;
}

/// Keeps the far end unchanged while no broker is connected. After a reconnect, the runtime has three heartbeats to
/// open another link. Starts that were claimed in this time are delivered.
async fn wait_for_broker(end: &mut LinkEnd, heartbeat: Duration) {
    let beat = frame(&NearFrame::Beat.write());
    loop {
        let added = tokio::select! {
            () = end.broker.connected() => break,
            Some(added) = end.added.recv() => frame(&added),
            () = tokio::time::sleep(heartbeat) => beat.clone(),
        };
        if end.to_pipe.write_all(&added).await.is_err() {
            return;
        }
    }
    end.close().await;
    let mut over = std::pin::pin!(tokio::time::sleep(heartbeat * 3));
    loop {
        let added = tokio::select! {
            () = &mut over => return,
            Some(added) = end.added.recv() => frame(&added),
        };
        if end.to_pipe.write_all(&added).await.is_err() {
            return;
        }
    }
}

/// Filters the far end's frames.
struct FarGate {
    worker: Arc<Worker>,
    session: Arc<FarSession>,
    telling: mpsc::UnboundedSender<Vec<u8>>,
    /// Progress of programs that have not exited, or whose output has not been sent completely.
    outputs: HashMap<u64, OutputProgress>,
}

/// How much of a program's output has been sent.
#[derive(Default)]
struct OutputProgress {
    sent: u64,
    /// The length of its output, once it has exited.
    whole: Option<u64>,
}

impl FarGate {
    /// Updates the progress. An exited program is forgotten when all of its output has been sent.
    fn note_output(&mut self, program: u64, change: impl FnOnce(&mut OutputProgress)) {
        let progress = self.outputs.entry(program).or_default();
        change(progress);
        if progress.whole.is_some_and(|whole| whole <= progress.sent) {
            self.outputs.remove(&program);
            self.worker.vacate(&(self.session.session, program));
        }
    }

    /// Withdraws a program whose start has not arrived through the queue, so that it will never be started: the runtime
    /// has waited long enough to ask for it.
    async fn is_unknown(&self, program: u64) -> bool {
        if self.session.has_claimed(program) {
            return false;
        }
        let _starting = self.session.starting.lock().await;
        if self.session.has_claimed(program) {
            return false;
        }
        let Worker { broker, claims, .. } = &*self.worker;
        let id = (&self.session.session, program);
        let claimed = claim(broker, claims, id, ClaimKind::Withdrawn).await;
        self.session.note_claimed(program);
        claimed == Claimed::Now
    }
}

impl FrameGate for FarGate {
    fn leaving(&mut self, frame: &[u8]) -> bool {
        if let Some(piece) = FramedOutput::read(frame) {
            if let Some(record) = self.session.record(&self.worker, piece.program) {
                record.take(frame, piece);
            }
            let end = piece.from + piece.bytes.len() as u64;
            self.note_output(piece.program, |progress| progress.sent = end);
            return true;
        }
        let session = self.session.session;
        match FarFrame::read(frame) {
            Some(FarFrame::Failed { program, .. } | FarFrame::Gone { program, .. }) => {
                self.outputs.remove(&program);
                self.worker.vacate(&(session, program));
            }
            Some(FarFrame::Exited {
                program, offset, ..
            }) => {
                self.session.record_exit(&self.worker, program, frame);
                self.worker.free_slot((session, program));
                self.note_output(program, |progress| progress.whole = Some(offset));
            }
            Some(FarFrame::Ended { program, .. }) => {
                // Its owner has ended it, so that no other runtime will adopt it.
                self.session.state.lock().keeps.remove(&program);
                self.worker.free_slot((session, program));
            }
            _ => {}
        }
        true
    }

    async fn arriving(&mut self, frame: &[u8]) -> bool {
        match NearFrame::read(frame) {
            Some(NearFrame::Hello(hello)) => {
                self.session.state.lock().lease = hello.lease;
                true
            }
            Some(NearFrame::Resume {
                program,
                from,
                origin: Some(origin),
                ..
            }) => {
                self.note_output(program, |progress| progress.sent = from);
                self.session.note_claimed(program);
                self.session.state.lock().origins.insert(program, origin);
                let worker = &self.worker;
                worker.hand_over(&origin, &self.session, program).await;
                true
            }
            Some(NearFrame::Resume { program, from, .. }) => {
                self.note_output(program, |progress| progress.sent = from);
                // The far end reports that it does not exist.
                self.is_unknown(program).await;
                true
            }
            Some(NearFrame::Order {
                program,
                order: HolderOrder::End { .. },
                ..
            }) => {
                let is_unknown = self.is_unknown(program).await;
                if is_unknown {
                    let gone = FarFrame::Gone {
                        program,
                        why: String::from("it was ended before it was started"),
                        ended: 0,
                        receipt: None,
                    };
                    let _ = self.telling.send(gone.write());
                }
                !is_unknown
            }
            Some(NearFrame::Forget { program }) => {
                self.session.forget_output(&self.worker, program);
                self.outputs.remove(&program);
                self.worker.vacate(&(self.session.session, program));
                true
            }
            // Starts arrive through the queue.
            Some(NearFrame::Start { .. }) => false,
            _ => true,
        }
    }
}

#[cfg(test)]
#[path = "far_session_tests.rs"]
mod tests;
