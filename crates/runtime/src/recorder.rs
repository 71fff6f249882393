//! The record of a session, as a store supplies it.

use async_trait::async_trait;
use windlass_protocol::RecordTrouble;

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
    ///
    /// Resolves as well when that cannot be made true;
    /// [`Recorder::trouble`] says so then.
    async fn durable(&self) {}

    /// Why not everything that was told is recorded, if it is not.
    fn trouble(&self) -> Option<RecordTrouble> {
        None
    }
}

/// The fate of calls while they cannot be recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RecordFailure {
    /// They go on, and the assistant and the person are told.
    #[default]
    GoOn,
    /// Those that start or change something are refused. A call is recorded
    /// before it runs.
    Stop,
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {}
