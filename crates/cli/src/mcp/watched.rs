//! The stdout of the MCP server, with its first write error.
//!
//! The protocol library replaces a write error by its own. This keeps the
//! system's error.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use parking_lot::Mutex;
use tokio::io::{AsyncWrite, Stdout};

/// Stdout, and its first error.
pub(super) struct WatchedStdout {
    stdout: Stdout,
    failed: WriteFailure,
}

/// The first write error, if any. Clones share it.
#[derive(Clone, Default)]
pub(super) struct WriteFailure(Arc<Mutex<Option<io::Error>>>);

impl WriteFailure {
    /// Takes the error, if there was one.
    pub(super) fn take(&self) -> Option<io::Error> {
        self.0.lock().take()
    }
}

impl WatchedStdout {
    /// Records its first error in `failed`.
    pub(super) fn new(failed: &WriteFailure) -> Self {
        Self {
            stdout: tokio::io::stdout(),
            failed: failed.clone(),
        }
    }

    /// Records an error and returns one of the same kind.
    fn noted<T>(&self, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        outcome.map_err(|error| {
            let kind = error.kind();
            self.failed.0.lock().get_or_insert(error);
            kind.into()
        })
    }
}

impl AsyncWrite for WatchedStdout {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stdout).poll_write(context, bytes);
        self.noted(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stdout).poll_flush(context);
        self.noted(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.stdout).poll_shutdown(context);
        self.noted(closed)
    }
}
