//! The lines of a driver, in both directions.
//!
//! [`read_stdin`] and [`read_connection`] read lines of limited length; a
//! separate thread reads stdin. [`LineOutput`] writes whole lines, in order.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;
use windlass_protocol::DriveOutput;

use super::fault::DriveFault;
use crate::stdout;

/// The maximum length of a line.
const LONGEST: usize = 8 << 20;
/// How many lines are read ahead.
const AHEAD: usize = 64;

/// A line with or without the newline at its end, or its fault.
pub(crate) type DriveLine = Result<Vec<u8>, DriveFault>;

/// Reads stdin to its end, which closes the channel.
pub(crate) fn read_stdin() -> mpsc::Receiver<DriveLine> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    std::thread::spawn(move || {
        let mut input = BufReader::with_capacity(64 << 10, io::stdin().lock());
        while let Some(line) = next(&mut input) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Reads a connection to its end, which closes the channel.
pub(crate) fn read_connection(
    reader: impl AsyncRead + Unpin + Send + 'static,
) -> mpsc::Receiver<DriveLine> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    windlass_task::spawn(async move {
        let mut input = tokio::io::BufReader::with_capacity(64 << 10, reader);
        loop {
            let mut bytes = Vec::new();
            let mut limited = (&mut input).take(LONGEST as u64 + 1);
            match limited.read_until(b'\n', &mut bytes).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let is_long = bytes.len() > LONGEST && !bytes.ends_with(b"\n");
            while is_long && !bytes.ends_with(b"\n") {
                bytes.clear();
                let mut limited = (&mut input).take(64 << 10);
                if !matches!(limited.read_until(b'\n', &mut bytes).await, Ok(1..)) {
                    break;
                }
            }
            let line = if is_long {
                Err(DriveFault::TooLong { most: LONGEST })
            } else {
                Ok(bytes)
            };
            if sender.send(line).await.is_err() {
                return;
            }
        }
    });
    receiver
}

fn next(input: &mut impl BufRead) -> Option<DriveLine> {
    let mut bytes = Vec::new();
    let mut limited = input.by_ref().take(LONGEST as u64 + 1);
    match limited.read_until(b'\n', &mut bytes) {
        Ok(0) | Err(_) => return None,
        Ok(_) => {}
    }
    if bytes.len() > LONGEST && !bytes.ends_with(b"\n") {
        skip_line(input)?;
        return Some(Err(DriveFault::TooLong { most: LONGEST }));
    }
    Some(Ok(bytes))
}

/// Skips the rest of a line; `None` if the input cannot be read.
fn skip_line(input: &mut impl BufRead) -> Option<()> {
    loop {
        let buffer = input.fill_buf().ok()?;
        if buffer.is_empty() {
            return Some(());
        }
        let length = buffer.len();
        if let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
            input.consume(end + 1);
            return Some(());
        }
        input.consume(length);
    }
}

// ── Writing ────────────────────────────────────────────────────────────────

/// Events wait while this many bytes are queued for a connection.
const QUEUED: usize = 1 << 20;

/// The destination of lines. Clones share it.
#[derive(Clone)]
pub(crate) struct LineOutput {
    /// The write error, if there was one. Locked while writing.
    failed: Arc<Mutex<Option<io::Error>>>,
    /// Cancelled when nothing more can be written.
    pub(crate) closed: CancellationToken,
    /// The queue of a connection; stdout has none.
    queue: Option<OutputQueue>,
}

#[derive(Clone)]
struct OutputQueue {
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
        let queue = OutputQueue {
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
        windlass_task::spawn(async move {
            while let Some(mut line) = queued.recv().await {
                while let Ok(next) = queued.try_recv() {
                    line.extend(next);
                    if line.len() > QUEUED {
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
            if queue.bytes.load(Ordering::Acquire) < QUEUED {
                return;
            }
            tokio::select! {
                () = written => {}
                () = self.closed.cancelled() => return,
            }
        }
    }

    /// Takes the write error, if there was one.
    pub(crate) fn take_error(&self) -> io::Result<()> {
        self.failed.lock().take().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
