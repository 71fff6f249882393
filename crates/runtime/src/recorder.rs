//! The record of a session, as a store supplies it.

use async_trait::async_trait;
use windlass_protocol::RecordTrouble;

use crate::journal::Entry;

/// Records the events of one session. Called in the journal's order on the
/// runtime's own path, so it must not block; [`Recorder::durable`] may take
/// time.
#[async_trait]
pub trait Recorder: Send + Sync + 'static {
    /// Records an event. Calls are recorded as
    /// [`SessionEvent::Part`](crate::SessionEvent::Part).
    fn happened(&self, entry: &Entry) {
        let _ = entry;
    }

    /// Resolves when everything recorded so far would survive a crash. Awaited
    /// before a batch is answered and when the session closes.
    ///
    /// Also resolves if that fails; [`Recorder::trouble`] reports it then.
    async fn durable(&self) {}

    /// The reason why the record is incomplete, if it is.
    fn trouble(&self) -> Option<RecordTrouble> {
        None
    }
}

/// The treatment of calls while they cannot be recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RecordFailure {
    /// They continue, and the assistant and the person are told.
    #[default]
    GoOn,
    /// Calls that start or change something are refused. A call is recorded
    /// before it runs.
    Stop,
}

/// Records nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {}
