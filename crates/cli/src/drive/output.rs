//! Lines to stdout, whole and in order.

use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use windlass_protocol::DriveOutput;

use crate::stdout;

/// Where lines go. Clones share it.
#[derive(Clone)]
pub(crate) struct Output {
    /// Held by whoever writes; why nothing more can be written.
    failed: Arc<Mutex<Option<io::Error>>>,
    closed: CancellationToken,
}

impl Output {
    pub(crate) fn stdout() -> Self {
        Self {
            failed: Arc::default(),
            closed: CancellationToken::new(),
        }
    }

    /// Writes a value as one line.
    pub(crate) fn write(&self, value: &DriveOutput) {
        let mut line = serde_json::to_vec(value)
            .expect("what is written holds only strings, numbers, lists and string-keyed maps");
        line.push(b'\n');
        let mut failed = self.failed.lock();
        if failed.is_none()
            && let Err(error) = stdout::write(&line)
        {
            *failed = Some(error);
            self.closed.cancel();
        }
    }

    /// Resolves when nothing more can be written.
    pub(crate) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// Why nothing more could be written, if that is so.
    pub(crate) fn take_error(&self) -> io::Result<()> {
        self.failed.lock().take().map_or(Ok(()), Err)
    }
}
