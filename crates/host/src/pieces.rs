//! Frames on a pipe: reads whole frames, and writes control frames before bulk frames.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use windlass_hold_wire::{FrameBuffer, frame};

/// How much is read at a time: the default capacity of a pipe. With a larger one, replies would wait behind a flood.
const CHUNK: usize = 64 * 1024;
/// The maximum number of queued output frames, for all programs together.
const BULK: usize = 2;
/// The maximum number of bytes per write.
const BATCH: usize = 64 * 1024;

/// Reads frames.
pub(crate) struct FrameReader<R> {
    pipe: R,
    buffer: FrameBuffer,
}

/// The reason why there is no next frame.
#[derive(Debug)]
pub(crate) enum ReadEnd {
    /// The pipe was closed, or failed.
    Closed,
    /// The bytes are not valid frames.
    Garbage,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    pub(crate) fn new(pipe: R) -> Self {
        Self {
            pipe,
            buffer: FrameBuffer::default(),
        }
    }

    /// The next frame, decoded by `read`. Cancel-safe.
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

    /// Reads bytes without consuming them, to inspect them before they are decoded as frames.
    pub(crate) async fn peek(&mut self) -> io::Result<&[u8]> {
        let incoming = self.buffer.incoming(CHUNK);
        let before = incoming.len();
        self.pipe.read_buf(incoming).await?;
        Ok(&incoming[before..])
    }
}

/// The queues to a pipe. Clones share them; dropping the last one closes the pipe.
#[derive(Clone)]
pub(crate) struct FrameSender {
    control: mpsc::UnboundedSender<Vec<u8>>,
    bulk: mpsc::Sender<Vec<u8>>,
}

impl FrameSender {
    /// Creates the queues, and the task that writes them to a pipe.
    pub(crate) fn new<W: AsyncWrite + Unpin + Send + 'static>(
        pipe: W,
    ) -> (Self, impl Future<Output = io::Result<()>> + Send) {
        let (control, controls) = mpsc::unbounded_channel();
        let (bulk, bulks) = mpsc::channel(BULK);
        (Self { control, bulk }, write(pipe, controls, bulks))
    }

    /// Sends a frame ahead of all queued bulk frames.
    pub(crate) fn send(&self, message: &[u8]) {
        // The reader reports a closed pipe.
        let _ = self.control.send(frame(message));
    }

    /// Sends a length-prefixed output frame in turn; `false` if the pipe is closed.
    pub(crate) async fn send_bulk(&self, frame: Vec<u8>) -> bool {
        self.bulk.send(frame).await.is_ok()
    }

    /// Resolves when the pipe is closed.
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
