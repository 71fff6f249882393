//! Frames on a pipe: reading them whole, and writing control before bulk.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use windlass_hold_wire::{FrameBuffer, frame};

/// How much is read at a time: what a pipe holds by itself. One that held more would have replies wait behind a flood.
const CHUNK: usize = 64 * 1024;
/// How many pieces of output wait to be written, of all programs together.
const BULK: usize = 4;
/// How many bytes are written at once.
const BATCH: usize = 64 * 1024;

/// Reads frames.
pub(crate) struct FrameReader<R> {
    pipe: R,
    buffer: FrameBuffer,
}

/// The reason why there is no next frame.
#[derive(Debug)]
pub(crate) enum ReadEnd {
    /// The pipe is at its end, or failed.
    Closed,
    /// The bytes are no frames.
    Garbage,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    pub(crate) fn new(pipe: R) -> Self {
        Self {
            pipe,
            buffer: FrameBuffer::default(),
        }
    }

    /// The next frame, as `read` understands it. Nothing is lost when this is dropped.
    pub(crate) async fn next<T>(
        &mut self,
        read: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<T, ReadEnd> {
        loop {
            if let Some(bytes) = self.buffer.next_frame().map_err(|_| ReadEnd::Garbage)? {
                return read(bytes).ok_or(ReadEnd::Garbage);
            }
            match self.pipe.read_buf(self.buffer.incoming(CHUNK)).await {
                Ok(0) | Err(_) => return Err(ReadEnd::Closed),
                Ok(_) => {}
            }
        }
    }

    /// Reads bytes, to look at them before they are taken for frames.
    pub(crate) async fn peek(&mut self) -> io::Result<&[u8]> {
        let incoming = self.buffer.incoming(CHUNK);
        let before = incoming.len();
        self.pipe.read_buf(incoming).await?;
        Ok(&incoming[before..])
    }
}

/// The queues to a pipe. Clones share them; when all are dropped, the pipe is closed.
#[derive(Clone)]
pub(crate) struct FrameSender {
    control: mpsc::UnboundedSender<Vec<u8>>,
    bulk: mpsc::Sender<Vec<u8>>,
}

impl FrameSender {
    /// The queues, and the task that empties them into a pipe.
    pub(crate) fn new<W: AsyncWrite + Unpin + Send + 'static>(
        pipe: W,
    ) -> (Self, impl Future<Output = io::Result<()>> + Send) {
        let (control, controls) = mpsc::unbounded_channel();
        let (bulk, bulks) = mpsc::channel(BULK);
        (Self { control, bulk }, write(pipe, controls, bulks))
    }

    /// Sends a frame before all bulk that waits.
    pub(crate) fn send(&self, message: &[u8]) {
        // A pipe that has gone is told by its reader.
        let _ = self.control.send(frame(message));
    }

    /// Sends a frame with output, which has its length already, in its turn; `false` if the pipe has gone.
    pub(crate) async fn send_bulk(&self, frame: Vec<u8>) -> bool {
        self.bulk.send(frame).await.is_ok()
    }

    /// Resolves when the pipe has gone.
    pub(crate) async fn closed(&self) {
        self.control.closed().await;
    }
}

async fn write<W: AsyncWrite + Unpin>(
    mut pipe: W,
    mut controls: mpsc::UnboundedReceiver<Vec<u8>>,
    mut bulks: mpsc::Receiver<Vec<u8>>,
) -> io::Result<()> {
    loop {
        let next = tokio::select! {
            biased;
            Some(control) = controls.recv() => control,
            Some(bulk) = bulks.recv() => bulk,
            else => return pipe.shutdown().await,
        };
        let mut batch = next;
        while batch.len() < BATCH
            && let Ok(more) = controls.try_recv()
        {
            batch.extend(more);
        }
        pipe.write_all(&batch).await?;
    }
}
