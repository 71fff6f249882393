//! Filters the frames between a far end and its runtime, and counts the programs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tokio::sync::mpsc;
use windlass_hold_wire::{FarFrame, FramedOutput, HolderOrder, NearFrame};

use super::far_session::FarSession;
use super::{Worker, now};
use crate::PoolProgram;
use crate::broker::{ClaimKind, Claimed, claim};
use crate::link::FrameGate;

/// Filters the far end's frames.
pub(super) struct FarGate {
    worker: Arc<Worker>,
    session: Arc<FarSession>,
    telling: mpsc::UnboundedSender<Vec<u8>>,
    /// Progress of programs that have not exited, or whose output has not been sent completely.
    outputs: HashMap<u64, OutputProgress>,
    /// Programs that the far end was asked to resume, and has not replied to yet.
    resuming: HashSet<u64>,
}

/// How much of a program's output has been sent.
#[derive(Default)]
struct OutputProgress {
    sent: u64,
    /// The length of its output, once it has exited.
    whole: Option<u64>,
}

impl FarGate {
    /// Creates a gate. `telling` accepts frames for the runtime.
    pub(super) fn new(
        worker: Arc<Worker>,
        session: Arc<FarSession>,
        telling: mpsc::UnboundedSender<Vec<u8>>,
    ) -> Self {
        Self {
            worker,
            session,
            telling,
            outputs: HashMap::new(),
            resuming: HashSet::new(),
        }
    }

    pub(super) fn worker(&self) -> &Worker {
        &self.worker
    }

    /// Counts a program that an earlier process of this worker has started.
    fn note_resumed(&self, program: u64, pid: u32) {
        let id = (self.session.session, program);
        let (worker, session) = (&self.worker, &self.session);
        if !worker.is_counted(&id) {
            worker.occupy(id, resumed(&session.runtime, pid));
            session.note_found(worker, program);
        }
    }

    /// Handles a program that cannot be resumed for now. Its holder still has it.
    fn note_not_resumed(&mut self, program: u64) {
        if self.session.is_adopted(program) {
            self.outputs.remove(&program);
            self.session.leave(&self.worker, program);
        }
    }

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
            Some(FarFrame::Failed { program, .. }) if self.resuming.remove(&program) => {
                self.note_not_resumed(program);
            }
            Some(FarFrame::Failed { program, .. } | FarFrame::Gone { program, .. }) => {
                self.resuming.remove(&program);
                self.outputs.remove(&program);
                self.session.lose_program(&self.worker, program);
            }
            Some(FarFrame::Resumed { program, pid, .. }) => {
                self.resuming.remove(&program);
                self.note_resumed(program, pid);
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
                self.session.forget_kept(&self.worker, program);
                self.worker.free_slot((session, program));
            }
            _ => {}
        }
        true
    }

    async fn arriving(&mut self, frame: &[u8]) -> bool {
        match NearFrame::read(frame) {
            Some(NearFrame::Hello(hello)) => {
                self.session.note_lease(hello.lease);
                true
            }
            Some(NearFrame::Resume {
                program,
                from,
                origin: Some(origin),
                ..
            }) => {
                self.resuming.insert(program);
                self.note_output(program, |progress| progress.sent = from);
                self.session.note_claimed(program);
                self.session.note_origin(program, origin);
                let worker = &self.worker;
                worker.hand_over(&origin, &self.session, program).await;
                true
            }
            Some(NearFrame::Resume { program, from, .. }) => {
                self.resuming.insert(program);
                self.note_output(program, |progress| progress.sent = from);
                // It is not followed any more.
                let id = (self.session.session, program);
                self.worker.kept.renew(&self.session.origin(program), id);
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
                self.outputs.remove(&program);
                self.session.drop_program(&self.worker, program);
                true
            }
            Some(NearFrame::Leave { program }) => {
                self.outputs.remove(&program);
                self.session.leave(&self.worker, program);
                true
            }
            // Starts arrive through the queue.
            Some(NearFrame::Start { .. }) => false,
            _ => true,
        }
    }
}

/// A program that was started by an earlier process of this worker, for display.
fn resumed(runtime: &str, pid: u32) -> PoolProgram {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
    PoolProgram {
        runtime: runtime.to_owned(),
        program: name.unwrap_or_default().trim_end().to_owned(),
        since: now(),
    }
}
