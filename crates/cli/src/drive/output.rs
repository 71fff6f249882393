//! Writes whole lines to the driver, in order.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;
use windlass_protocol::DriveOutput;

use crate::stdout;

/// Events wait while this many bytes are queued for a connection.
const AHEAD: usize = 1 << 20;

/// The destination of lines. Clones share it.
#[derive(Clone)]
pub(crate) struct LineOutput {
    /// The write error, if there was one. Locked while writing.
    failed: Arc<Mutex<Option<io::Error>>>,
    closed: CancellationToken,
    /// The queue of a connection; stdout has none.
    queue: Option<Queue>,
}

#[derive(Clone)]
struct Queue {
    lines: mpsc::UnboundedSender<Vec<u8>>,
    bytes: Arc<AtomicUsize>,
    written: Arc<Notify>,
}

impl LineOutput {
    pub(crate) fn stdout() -> Self {
        Self {
            failed: Arc::default(),
            closed: CancellationToken::new(),
            queue: None,
        }
    }

    /// Writes lines to a connection, as long as its peer reads.
    pub(crate) fn connection(mut writer: impl AsyncWrite + Unpin + Send + 'static) -> Self {
        let (lines, mut queued) = mpsc::unbounded_channel::<Vec<u8>>();
        let queue = Queue {
            lines,
            bytes: Arc::default(),
            written: Arc::default(),
        };
        let output = Self {
            failed: Arc::default(),
            closed: CancellationToken::new(),
            queue: Some(queue.clone()),
        };
        let (bytes, written) = (queue.bytes, queue.written);
        let closed = output.closed.clone();
        tokio::spawn(async move {
            while let Some(mut line) = queued.recv().await {
                while let Ok(next) = queued.try_recv() {
                    line.extend(next);
                    if line.len() > AHEAD {
                        break;
                    }
                }
                let sent = writer.write_all(&line).await;
                if sent.is_err() || writer.flush().await.is_err() {
                    break;
                }
                bytes.fetch_sub(line.len(), Ordering::AcqRel);
                written.notify_waiters();
            }
            closed.cancel();
            let _ = writer.shutdown().await;
        });
        output
    }

    /// Writes a value as one line.
    pub(crate) fn write(&self, value: &DriveOutput) {
        let mut line = serde_json::to_vec(value)
            .expect("what is written holds only strings, numbers, lists and string-keyed maps");
        line.push(b'\n');
        if let Some(queue) = &self.queue {
            queue.bytes.fetch_add(line.len(), Ordering::AcqRel);
            // `closed` reports a peer that is gone.
            let _ = queue.lines.send(line);
            return;
        }
        let mut failed = self.failed.lock();
        if failed.is_none()
            && let Err(error) = stdout::write(&line)
        {
            *failed = Some(error);
            self.closed.cancel();
        }
    }

    /// Resolves when there is room for an event. Replies do not wait.
    pub(crate) async fn room(&self) {
        let Some(queue) = &self.queue else {
            return;
        };
        loop {
            let written = queue.written.notified();
            if queue.bytes.load(Ordering::Acquire) < AHEAD {
                return;
            }
            tokio::select! {
                () = written => {}
                () = self.closed() => return,
            }
        }
    }

    /// Resolves when nothing more can be written.
    pub(crate) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// Takes the write error, if there was one.
    pub(crate) fn take_error(&self) -> io::Result<()> {
        self.failed.lock().take().map_or(Ok(()), Err)
    }
}
