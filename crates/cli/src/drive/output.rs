//! Lines to stdout, whole and in order.

use std::io::{Stdout, Write};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use windlass_protocol::DriveOutput;

/// Where lines go. Clones share it.
#[derive(Clone)]
pub(crate) struct Output {
    stdout: Arc<Mutex<Stdout>>,
    closed: CancellationToken,
}

impl Output {
    pub(crate) fn stdout() -> Self {
        Self {
            stdout: Arc::new(Mutex::new(std::io::stdout())),
            closed: CancellationToken::new(),
        }
    }

    /// Writes a value as one line.
    pub(crate) fn write(&self, value: &DriveOutput) {
        let mut line = serde_json::to_vec(value)
            .expect("what is written holds only strings, numbers, lists and string-keyed maps");
        line.push(b'\n');
        let mut stdout = self.stdout.lock();
        if stdout
            .write_all(&line)
            .and_then(|()| stdout.flush())
            .is_err()
        {
            self.closed.cancel();
        }
    }

    /// Resolves when nobody reads any more.
    pub(crate) async fn closed(&self) {
        self.closed.cancelled().await;
    }
}
