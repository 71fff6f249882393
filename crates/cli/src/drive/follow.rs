//! Sends the events of the session to a driver that follows them.

use parking_lot::Mutex;
use tokio::task::AbortHandle;
use windlass_control::streamed;
use windlass_protocol::{DriveEvent, DriveOutput};
use windlass_runtime::Session;

use super::lines::LineOutput;

/// The task that sends events, if the driver follows them. Dropping this ends
/// it.
#[derive(Default)]
pub(crate) struct Following(Mutex<Option<AbortHandle>>);

impl Following {
    /// Sends the events after that number; default: only new ones.
    pub(crate) fn begin(&self, session: &Session, output: &LineOutput, after: Option<u64>) {
        let last = session.journal().last();
        // Clamp a number from the future, which would wait for that event.
        let mut tail = session.journal().tail(after.unwrap_or(last).min(last));
        let (id, output) = (session.id().clone(), output.clone());
        let task = windlass_task::spawn(async move {
            while let Some((missed, entry)) = tail.next().await {
                if missed > 0 {
                    let event = DriveEvent::Missed { count: missed };
                    output.write(&DriveOutput::Event(Box::new(event)));
                }
                let event = DriveEvent::Update(Box::new(streamed(&id, entry)));
                output.write(&DriveOutput::Event(Box::new(event)));
                output.room().await;
            }
        });
        self.replace(Some(task.abort_handle()));
    }

    /// Stops sending events.
    pub(crate) fn end(&self) {
        self.replace(None);
    }

    fn replace(&self, task: Option<AbortHandle>) {
        let before = std::mem::replace(&mut *self.0.lock(), task);
        if let Some(before) = before {
            before.abort();
        }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.end();
    }
}
