//! Follows programs whose runtime is away, by asking their holders: their output is stored too, and their slots are
//! freed when they have ended.

use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use windlass_hold_wire::{FarFrame, LONGEST_PIECE, LinkExit, ProgramOrigin};
use windlass_host::held_key;
use windlass_process::{Exit, HeldKey, HeldProgram, TakeOverError};

use super::far_session::FarSession;
use super::recording::{OutputRecord, RecordClosing};
use super::{ProgramId, Worker};

/// How often a holder is asked. It does not report new output by itself.
const STEP: Duration = Duration::from_secs(1);
/// How many times a program without a registration is looked for: its start may be in progress.
const UNREGISTERED: u32 = 5;

/// Follows one program.
pub(super) struct HeldFollower {
    pub(super) worker: Weak<Worker>,
    pub(super) id: ProgramId,
    pub(super) origin: ProgramOrigin,
    /// The record of its output, if output is stored.
    pub(super) record: Option<Arc<OutputRecord>>,
    pub(super) term: FollowTerm,
}

/// The time for which a program is followed.
pub(super) enum FollowTerm {
    /// A kept program: while no link takes or releases it.
    Generation(u64),
    /// Another program: while its session has no other link than the one that has ended.
    Link {
        session: Arc<FarSession>,
        links: u64,
    },
}

impl HeldFollower {
    pub(super) async fn follow(self) {
        let mut unregistered = 0;
        while let Some(worker) = self.worker.upgrade()
            && self.is_current(&worker)
        {
            let pause = match look_up(&worker, &self.origin).await {
                Ok((key, held)) if held.owner.is_none() => {
                    match self.copy(&key, &held).await {
                        Ok(()) if held.exit.is_some() => {
                            self.free_slot(&worker);
                            // The holder has the exit until the lease expires.
                            held.left.max(STEP)
                        }
                        Err(TakeOverError::Gone { .. }) => return self.finish(&worker),
                        Ok(()) | Err(_) => STEP,
                    }
                }
                Err(TakeOverError::Gone { source, .. })
                    if source.kind() == io::ErrorKind::NotFound && unregistered < UNREGISTERED =>
                {
                    unregistered += 1;
                    STEP
                }
                Err(TakeOverError::Gone { .. }) => return self.finish(&worker),
                // The far end has not released it yet, or its holder is busy.
                Ok(_) | Err(_) => STEP,
            };
            drop(worker);
            tokio::time::sleep(pause).await;
        }
    }

    fn is_current(&self, worker: &Worker) -> bool {
        match &self.term {
            FollowTerm::Generation(generation) => worker.kept.is_current(&self.origin, *generation),
            FollowTerm::Link { session, links } => session.has_links(*links),
        }
    }

    /// The record, if it accepts output.
    fn open_record(&self) -> Option<&Arc<OutputRecord>> {
        self.record.as_ref().filter(|record| !record.is_closed())
    }

    /// Takes the output that the holder has, and the exit.
    async fn copy(&self, key: &HeldKey, held: &HeldProgram) -> Result<(), TakeOverError> {
        match self.open_record() {
            Some(record) => copy(key, record, held).await,
            None => Ok(()),
        }
    }

    /// Frees the slot of a program that has exited.
    fn free_slot(&self, worker: &Worker) {
        if !self.is_current(worker) {
            return;
        }
        let is_kept = matches!(self.term, FollowTerm::Generation(_));
        if is_kept && self.open_record().is_some() {
            worker.vacate(&self.id);
        } else {
            // Only its holder has its output and its exit, so a worker that drains waits for a runtime.
            worker.free_slot(self.id);
        }
    }

    /// Forgets a program whose holder is gone.
    fn finish(&self, worker: &Worker) {
        match self.term {
            FollowTerm::Generation(generation) => {
                let removed = worker.kept.remove_current(&self.origin, generation);
                if let Some(owner) = removed {
                    worker.vacate(&owner);
                    worker.close_record(&self.origin, RecordClosing::Keep);
                }
            }
            FollowTerm::Link { .. } if self.is_current(worker) => worker.vacate(&self.id),
            FollowTerm::Link { .. } => {}
        }
    }
}

/// Asks the holder of a program for its state.
pub(super) async fn look_up(
    worker: &Worker,
    origin: &ProgramOrigin,
) -> Result<(HeldKey, HeldProgram), TakeOverError> {
    let key = held_key(&worker.options.serve.folder, origin);
    let key = key.ok_or_else(|| TakeOverError::Gone {
        name: origin.program.to_string(),
        source: io::ErrorKind::NotFound.into(),
    })?;
    let held = key.look_up().await?;
    Ok((key, held))
}

/// Takes the output that a holder has, and the exit.
async fn copy(
    key: &HeldKey,
    record: &OutputRecord,
    held: &HeldProgram,
) -> Result<(), TakeOverError> {
    let most = u32::try_from(LONGEST_PIECE).unwrap_or(u32::MAX);
    while record.taken() < held.written {
        let (from, bytes) = key.output(record.taken(), most).await?;
        if bytes.is_empty() {
            break;
        }
        record.take_held(from, bytes);
        record.room().await;
    }
    if let Some(exit) = &held.exit {
        let exited = FarFrame::Exited {
            program: record.origin.program,
            offset: held.written,
            exit: match exit {
                Exit::Code(code) => LinkExit::Code(*code),
                Exit::Signal(signal) => LinkExit::Signal(*signal),
                Exit::Lost(why) => LinkExit::Lost(why.clone()),
            },
            remaining: 0,
            exceeded: None,
            denied: Vec::new(),
        };
        record.take_exit(&exited.write());
    }
    Ok(())
}
