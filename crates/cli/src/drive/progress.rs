//! Tracks calls in progress, for the end of turns and of input.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use windlass_protocol::Batch;
use windlass_runtime::{Await, Session, SessionEvent};

/// The batches and calls in progress. Clones share it.
#[derive(Clone)]
pub(crate) struct BatchProgress(Arc<watch::Sender<ProgressState>>);

#[derive(Default)]
struct ProgressState {
    /// The number of batches in progress.
    batches: usize,
    /// The number of answered batches and calls.
    answered: u64,
    /// The calls in progress, by batch and call id, and whether each only waits.
    calls: HashMap<(String, String), bool>,
}

impl BatchProgress {
    /// Follows the session's calls.
    pub(crate) fn follow(session: &Session) -> Self {
        let progress = Self(Arc::new(watch::Sender::new(ProgressState::default())));
        let mut tail = session.journal().tail(0);
        let told = progress.clone();
        tokio::spawn(async move {
            while let Some((_, entry)) = tail.next().await {
                if let SessionEvent::Replied { call, .. } = entry.event {
                    told.0.send_modify(|state| {
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
        progress
    }

    /// Counts a received batch.
    pub(crate) fn queue(&self) {
        self.0.send_modify(|state| state.batches += 1);
    }

    /// Starts a batch.
    pub(crate) fn begin(&self, batch: &Batch) {
        self.0.send_modify(|state| {
            let calls = batch.calls.iter();
            state.calls.extend(calls.map(|call| {
                let id = (batch.id.clone(), call.id.clone());
                (id, call.tool == Await::NAME)
            }));
        });
    }

    /// Marks a batch as answered.
    pub(crate) fn end(&self, batch: &str) {
        self.0.send_modify(|state| {
            state.calls.retain(|(of, _), _| of != batch);
            state.batches -= 1;
            state.answered += 1;
        });
    }

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
