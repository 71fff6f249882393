//! The record of a session, as a store supplies it.

use async_trait::async_trait;

use crate::journal::Entry;

/// Keeps what happens in one session. Called in the journal's order, from
/// within the runtime's own path, so it must not block;
/// [`Recorder::durable`] is where it may take its time.
#[async_trait]
pub trait Recorder: Send + Sync + 'static {
    /// Something happened. Calls are told as
    /// [`SessionEvent::Part`](crate::SessionEvent::Part).
    fn happened(&self, entry: &Entry) {
        let _ = entry;
    }

    /// Resolves when everything told so far would survive a crash. Awaited
    /// before a batch is answered and when the session closes.
    async fn durable(&self) {}
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {}
