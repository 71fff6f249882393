//! The events of the session, for a driver that follows them.

use parking_lot::Mutex;
use tokio::task::AbortHandle;
use windlass_protocol::{DriveEvent, DriveOutput};
use windlass_runtime::Session;
use windlass_serve_http::streamed;

use super::output::LineOutput;

/// The task that tells events, if the driver follows them. Dropped, it ends.
#[derive(Default)]
pub(crate) struct Following(Mutex<Option<AbortHandle>>);

impl Following {
    /// Tells the events after that number, by default those to come.
    pub(crate) fn begin(&self, session: &Session, output: &LineOutput, after: Option<u64>) {
        let last = session.journal().last();
        // A number from the future would wait for it.
        let mut tail = session.journal().tail(after.unwrap_or(last).min(last));
        let (id, output) = (session.id().clone(), output.clone());
        let task = tokio::spawn(async move {
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

    /// Tells no more events.
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
