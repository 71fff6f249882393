//! The far end of one runtime on this worker.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use windlass_hold_wire::{FarFrame, HolderOrder, LinkSession, NearFrame, frame};
use windlass_host::serve;

use super::Worker;
use crate::broker::{ClaimKind, Claimed, claim, words};
use crate::error::Trouble;
use crate::link::{Flow, FrameGate, LinkEnd, LinkEnding, PIPE};

/// How long the last words of a far end may take to be sent.
const FLUSHING: Duration = Duration::from_secs(2);

/// One runtime's programs on this worker. A link serves them; another may follow.
pub(super) struct FarSession {
    pub(super) session: LinkSession,
    /// The runtime, for people.
    pub(super) runtime: String,
    /// The far end that serves now. Held while one follows another: only one has the session's folder.
    serving: tokio::sync::Mutex<Option<FarEndTask>>,
    state: Mutex<SessionState>,
}

#[derive(Default)]
struct SessionState {
    /// Programs that are claimed for certain.
    claimed: HashSet<u64>,
    /// Programs that outlive their runtime, and for how long.
    keeps: HashMap<u64, Duration>,
    queues: Option<FarQueues>,
    /// Counts links.
    links: u64,
    lease: Duration,
}

/// Frames that are put into a link here.
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
    pub(super) fn new(session: LinkSession, runtime: String) -> Self {
        Self {
            session,
            runtime,
            serving: tokio::sync::Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// Begins to serve over a new link. An earlier one lets go of the programs first.
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
        let task = tokio::spawn(async move {
            serve_link(far_end, end, gate).await;
            session.ended(worker);
        });
        *serving = Some(FarEndTask { stop, task });
        Ok(())
    }

    /// Lets go of the programs.
    pub(super) async fn stop(&self) {
        let mut serving = self.serving.lock().await;
        if let Some(earlier) = serving.take() {
            let _ = earlier.stop.send(());
            let _ = earlier.task.await;
        }
    }

    /// A link has ended. When the lease is over and there was no other, only kept programs run, for their own lease.
    fn ended(self: &Arc<Self>, worker: Weak<Worker>) {
        let (links, lease) = {
            let mut state = self.state.lock();
            state.queues = None;
            (state.links, state.lease)
        };
        let session = Arc::clone(self);
        tokio::spawn(async move {
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
            }
        });
    }

    /// Notes that a program outlives its runtime for this long.
    pub(super) fn note_kept(&self, program: u64, lease: Duration) {
        self.state.lock().keeps.insert(program, lease);
    }

    /// Forgets that a program is kept, because another runtime has it now; gives its lease.
    pub(super) fn give_away(&self, program: u64) -> Option<Duration> {
        self.state.lock().keeps.remove(&program)
    }

    /// Whether this process has claimed the program, or knows who has.
    pub(super) fn has_claimed(&self, program: u64) -> bool {
        self.state.lock().claimed.contains(&program)
    }

    pub(super) fn note_claimed(&self, program: u64) {
        self.state.lock().claimed.insert(program);
    }

    /// Gives a start to the far end; `false` if there is none.
    pub(super) fn start(&self, start: &[u8]) -> bool {
        let state = self.state.lock();
        let queues = state.queues.as_ref();
        queues.is_some_and(|queues| queues.adding.send(start.to_vec()).is_ok())
    }

    /// Tells the runtime, if there is a link.
    pub(super) fn tell(&self, frame: &FarFrame) {
        if let Some(queues) = &self.state.lock().queues {
            let _ = queues.telling.send(frame.write());
        }
    }
}

/// Serves until the far end is told to stop, or nobody is at the other end.
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
                // Its output ends. Everything that it has said is sent: the exit of the last program may be in it.
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
    // Its input ends, and it lets go of the programs.
    drop(end);
    let _ = far_end.await;
}

/// Keeps the far end as it is while there is no broker. When one is back, the runtime has the time of three heartbeats to
/// make another link.
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
    tokio::time::sleep(heartbeat * 3).await;
}

/// The far end's frames.
struct FarGate {
    worker: Arc<Worker>,
    session: Arc<FarSession>,
    telling: mpsc::UnboundedSender<Vec<u8>>,
    /// The output of programs that have not exited, or not all of whose output has left.
    outputs: HashMap<u64, OutputProgress>,
}

/// How much of a program's output has left.
#[derive(Default)]
struct OutputProgress {
    sent: u64,
    /// The length of its output, once it has exited.
    whole: Option<u64>,
}

impl FarGate {
    /// Notes that output has left. A program that has exited is over when all of it has.
    fn note_output(&mut self, program: u64, change: impl FnOnce(&mut OutputProgress)) {
        let progress = self.outputs.entry(program).or_default();
        change(progress);
        if progress.whole.is_some_and(|whole| whole <= progress.sent) {
            self.outputs.remove(&program);
            self.worker.vacate(&(self.session.session, program));
        }
    }

    /// A runtime speaks of a program whose start has not come through the queue. It never will be started now: the
    /// runtime has been waiting for it long enough to ask.
    async fn is_unknown(&self, program: u64) -> bool {
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
        if let Some((program, end)) = FarFrame::output_end(frame) {
            self.note_output(program, |progress| progress.sent = end);
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
                self.worker.free_slot((session, program));
                self.note_output(program, |progress| progress.whole = Some(offset));
            }
            Some(FarFrame::Ended { program, .. }) => self.worker.free_slot((session, program)),
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
                let worker = &self.worker;
                worker.hand_over(&origin, &self.session, program).await;
                true
            }
            Some(NearFrame::Resume { program, from, .. }) => {
                self.note_output(program, |progress| progress.sent = from);
                // The far end says that it is not there.
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
                self.outputs.remove(&program);
                self.worker.vacate(&(self.session.session, program));
                true
            }
            // Starts come through the queue.
            Some(NearFrame::Start { .. }) => false,
            _ => true,
        }
    }
}
