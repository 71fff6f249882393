//! The batches of a driver: runs them, and tracks them for the end of turns and
//! of input.
//!
//! Start at [`Batches::queue`].

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;
use windlass_protocol::{Batch, DriveOutput};
use windlass_runtime::{Await, RunOptions, Session, SessionEvent};

use super::fault::DriveFault;
use super::lines::LineOutput;

/// Runs batches, one after the other unless they are concurrent.
pub(crate) struct Batches {
    session: Session,
    output: LineOutput,
    progress: BatchProgress,
    /// Resolves when the last of those that run in order is answered.
    last: Option<oneshot::Receiver<()>>,
}

impl Batches {
    pub(crate) fn new(session: &Session, output: &LineOutput) -> Self {
        let progress = Arc::new(watch::Sender::<ProgressState>::default());
        let mut tail = session.journal().tail(0);
        let told = Arc::clone(&progress);
        windlass_task::spawn(async move {
            while let Some((_, entry)) = tail.next().await {
                if let SessionEvent::Replied { call, .. } = entry.event {
                    told.send_modify(|state| {
                        // Calls of two batches may have the same id. Then the other one counts as answered until its
                        // batch is.
                        let mut ids = state.calls.keys();
                        if let Some(id) = ids.find(|(_, id)| **id == *call).cloned() {
                            state.calls.remove(&id);
                        }
                        state.answered += 1;
                    });
                }
            }
        });
        Self {
            session: session.clone(),
            output: output.clone(),
            progress: BatchProgress(progress),
            last: None,
        }
    }

    /// Runs a batch and writes its replies, after the earlier ones unless it is
    /// concurrent.
    pub(crate) fn queue(&mut self, batch: Batch, concurrent: bool) -> Result<(), DriveFault> {
        let id = batch.id.clone();
        let cancel = CancellationToken::new();
        let BatchProgress(progress) = self.progress.clone();
        let is_new = progress.send_if_modified(|state| {
            let is_new = !state.cancels.contains_key(&id);
            if is_new {
                state.cancels.insert(id.clone(), cancel.clone());
                state.batches += 1;
            }
            is_new
        });
        if !is_new {
            return Err(DriveFault::BatchTaken(id));
        }
        let (session, output) = (self.session.clone(), self.output.clone());
        let (answered, is_answered) = oneshot::channel();
        let earlier = if concurrent {
            None
        } else {
            self.last.replace(is_answered)
        };
        windlass_task::spawn(async move {
            if let Some(earlier) = earlier {
                let _ = earlier.await;
            }
            progress.send_modify(|state| {
                let calls = batch.calls.iter();
                state.calls.extend(calls.map(|call| {
                    let id = (id.clone(), call.id.clone());
                    (id, call.tool == Await::NAME)
                }));
            });
            let options = RunOptions {
                cancel,
                ..RunOptions::default()
            };
            let reply = session.run(batch, options).await;
            // A driver that has read the reply may use the id again.
            progress.send_modify(|state| drop(state.cancels.remove(&id)));
            output.write(&DriveOutput::Replies(reply));
            progress.send_modify(|state| {
                state.calls.retain(|(batch, _), _| *batch != id);
                state.batches -= 1;
                state.answered += 1;
            });
            drop(answered);
        });
        Ok(())
    }

    /// Cancels a batch that is not answered yet.
    pub(crate) fn cancel(&self, batch: &str) -> Result<(), DriveFault> {
        match self.progress.0.borrow().cancels.get(batch) {
            Some(cancel) => {
                cancel.cancel();
                Ok(())
            }
            None => Err(DriveFault::NoBatch(batch.to_owned())),
        }
    }

    pub(crate) fn progress(&self) -> &BatchProgress {
        &self.progress
    }
}

/// The batches and calls in progress. Clones share it.
#[derive(Clone)]
pub(crate) struct BatchProgress(Arc<watch::Sender<ProgressState>>);

#[derive(Default)]
struct ProgressState {
    /// The tokens of the unanswered batches, by their ids.
    cancels: HashMap<String, CancellationToken>,
    /// The number of batches whose replies are not written yet.
    batches: usize,
    /// The number of answered batches and calls.
    answered: u64,
    /// The calls in progress, by batch and call id, and whether each only waits.
    calls: HashMap<(String, String), bool>,
}

impl BatchProgress {
    /// The number of answered batches and calls.
    pub(crate) fn answered(&self) -> u64 {
        self.0.borrow().answered
    }

    /// Resolves when nothing is in progress, or when only waiting calls have
    /// been in progress for `patience`.
    pub(crate) async fn answered_or_waiting(&self, patience: Duration) {
        let waiting = |state: &ProgressState| {
            let mut calls = state.calls.values();
            state.batches == 0 || (!state.calls.is_empty() && calls.all(|waits| *waits))
        };
        loop {
            let mut receiver = self.0.subscribe();
            let _ = receiver.wait_for(waiting).await;
            let before = self.answered();
            let answered = tokio::time::timeout(patience, self.all_answered()).await;
            if answered.is_ok() || self.answered() == before {
                return;
            }
        }
    }

    /// Resolves when every batch is answered.
    pub(crate) async fn all_answered(&self) {
        let mut receiver = self.0.subscribe();
        let _ = receiver.wait_for(|state| state.batches == 0).await;
    }
}
