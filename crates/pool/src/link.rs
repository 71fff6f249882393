//! A link over a pair of subjects: frames between a runtime and a worker.
//!
//! Start at [`LinkEnd::run`], which runs on both sides. Each message carries bytes and their offset from the beginning
//! of the link. A lost message is detected by the offset of the next one: the link ends, and the near side opens
//! another and resumes the programs. Each side limits the other to [`WINDOW`] unconfirmed bytes, so that control frames
//! do not wait behind a flood.

use std::future::Future;

use async_nats::Subscriber;
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;
use windlass_hold_wire::{FrameBuffer, frame};

use crate::broker::Broker;

/// The maximum number of unconfirmed bytes in one direction.
const WINDOW: u64 = 2 * 1024 * 1024;
/// Received bytes are confirmed in steps of this size.
const CONFIRM_STEP: u64 = WINDOW / 4;
/// The maximum number of bytes in a message, unless the broker accepts less. Its default limit is one megabyte.
const LONGEST_MESSAGE: usize = 256 * 1024;
/// The length of the head of a message: its kind and an offset.
const HEAD: usize = 9;
/// How much is read at a time.
const CHUNK: usize = 64 * 1024;
/// The buffer of the pipe between a link and its user.
pub(crate) const PIPE: usize = 64 * 1024;

const DATA: u8 = 1;
const RECEIVED: u8 = 2;
const CLOSED: u8 = 3;

/// Requests a link from a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LinkRequest {
    /// The random word in its subjects.
    pub(crate) link: String,
    /// The near session, as a hexadecimal number.
    pub(crate) session: String,
    /// The runtime's machine and process, for display.
    pub(crate) runtime: String,
    /// How many bytes of each program's output are stored in the broker; 0: none.
    #[serde(default)]
    pub(crate) stored_output: u64,
}

/// Filters the frames of one end.
pub(crate) trait FrameGate: Send {
    /// Handles a frame from this side; `false` if it is not to be sent.
    fn leaving(&mut self, frame: &[u8]) -> bool;

    /// Handles a frame from the other side; `false` if it is not to be delivered.
    fn arriving(&mut self, frame: &[u8]) -> impl Future<Output = bool> + Send;
}

/// The reason why a link has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkEnding {
    /// This side closed its pipe.
    Left,
    /// The other side ended it, or a message was lost.
    Broken,
    /// The connection to the broker was lost.
    Disconnected,
}

/// One end of a link.
pub(crate) struct LinkEnd {
    pub(crate) broker: Broker,
    /// The messages of the other side.
    pub(crate) messages: Subscriber,
    /// The subject of the other side.
    pub(crate) to: String,
    /// Frames of this side.
    pub(crate) from_pipe: DuplexStream,
    /// Frames for this side.
    pub(crate) to_pipe: FrameWriter,
    /// Injected frames for this side. They precede frames that arrive later.
    pub(crate) added: mpsc::UnboundedReceiver<Vec<u8>>,
    /// Injected frames for the other side.
    pub(crate) told: mpsc::UnboundedReceiver<Vec<u8>>,
    pub(crate) flow: Flow,
}

/// Writes whole frames to a pipe.
pub(crate) struct FrameWriter {
    pipe: DuplexStream,
    /// Bytes that the pipe has not taken yet.
    unwritten: BytesMut,
}

impl FrameWriter {
    pub(crate) fn new(pipe: DuplexStream) -> Self {
        Self {
            pipe,
            unwritten: BytesMut::new(),
        }
    }

    /// Writes a frame with its length; `None` if the pipe is closed. Cancellation safe: the next write completes a frame
    /// that was begun.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Option<()> {
        self.unwritten.extend_from_slice(&frame(bytes));
        while !self.unwritten.is_empty() {
            self.pipe.write_buf(&mut self.unwritten).await.ok()?;
        }
        Some(())
    }
}

/// The byte counts of a link.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    sent: u64,
    /// The number of sent bytes that the other side has confirmed.
    confirmed: u64,
    received: u64,
    /// The number of received bytes that were confirmed.
    acknowledged: u64,
}

impl LinkEnd {
    /// Carries frames until the link ends.
    pub(crate) async fn run(&mut self, gate: &mut impl FrameGate) -> LinkEnding {
        let broker = self.broker.clone();
        let ending = tokio::select! {
            ending = self.carry(gate) => ending,
            () = broker.disconnected() => LinkEnding::Disconnected,
        };
        if ending != LinkEnding::Disconnected {
            self.close().await;
        }
        ending
    }

    /// Notifies the other side that the link has ended.
    pub(crate) async fn close(&self) {
        let message = message(CLOSED, self.flow.sent, &[]);
        let _ = self.broker.client.publish(self.to.clone(), message).await;
    }

    async fn carry(&mut self, gate: &mut impl FrameGate) -> LinkEnding {
        let (mut leaving, mut arriving) = (FrameBuffer::default(), FrameBuffer::default());
        let mut chunk = vec![0; CHUNK];
        loop {
            let has_room = self.flow.sent - self.flow.confirmed < WINDOW;
            let carried = tokio::select! {
                message = self.messages.next() => match message {
                    Some(message) => self.take(&message.payload, &mut arriving, gate).await,
                    None => return LinkEnding::Broken,
                },
                Some(added) = self.added.recv() => self.to_pipe.write(&added).await,
                Some(told) = self.told.recv(), if has_room => self.send(&frame(&told)).await,
                length = self.from_pipe.read(&mut chunk), if has_room => match length {
                    Ok(0) | Err(_) => return LinkEnding::Left,
                    Ok(length) => {
                        leaving.push(&chunk[..length]);
                        let mut batch = Vec::new();
                        while let Ok(Some(bytes)) = leaving.next_frame() {
                            if gate.leaving(bytes) {
                                batch.extend(frame(bytes));
                            }
                        }
                        self.send(&batch).await
                    }
                },
            };
            if carried.is_none() {
                return LinkEnding::Broken;
            }
        }
    }

    /// Handles a message from the other side; `None` if the link has ended.
    async fn take(
        &mut self,
        payload: &[u8],
        arriving: &mut FrameBuffer,
        gate: &mut impl FrameGate,
    ) -> Option<()> {
        let (&kind, rest) = payload.split_first()?;
        let (offset, bytes) = rest.split_first_chunk::<8>()?;
        let offset = u64::from_le_bytes(*offset);
        match kind {
            DATA if offset == self.flow.received => {
                self.flow.received += bytes.len() as u64;
                arriving.push(bytes);
                while let Some(bytes) = arriving.next_frame().ok()? {
                    if gate.arriving(bytes).await {
                        // A start that was claimed meanwhile precedes the later frames of its program.
                        while let Ok(added) = self.added.try_recv() {
                            self.to_pipe.write(&added).await?;
                        }
                        self.to_pipe.write(bytes).await?;
                    }
                }
                self.confirm().await
            }
            RECEIVED if offset <= self.flow.sent => {
                self.flow.confirmed = self.flow.confirmed.max(offset);
                Some(())
            }
            _ => None,
        }
    }

    async fn confirm(&mut self) -> Option<()> {
        if self.flow.received - self.flow.acknowledged < CONFIRM_STEP {
            return Some(());
        }
        self.flow.acknowledged = self.flow.received;
        let message = message(RECEIVED, self.flow.received, &[]);
        self.publish(message).await
    }

    async fn send(&mut self, bytes: &[u8]) -> Option<()> {
        let longest = longest_piece(self.broker.client.max_payload());
        for piece in bytes.chunks(longest) {
            let message = message(DATA, self.flow.sent, piece);
            self.flow.sent += piece.len() as u64;
            self.publish(message).await?;
        }
        Some(())
    }

    async fn publish(&self, message: Bytes) -> Option<()> {
        let published = self.broker.client.publish(self.to.clone(), message).await;
        published.ok()
    }
}

/// The maximum number of bytes in a message of a broker with this limit.
fn longest_piece(max_payload: usize) -> usize {
    LONGEST_MESSAGE.min(max_payload.saturating_sub(HEAD)).max(1)
}

fn message(kind: u8, offset: u64, bytes: &[u8]) -> Bytes {
    let mut message = BytesMut::with_capacity(HEAD + bytes.len());
    message.put_u8(kind);
    message.put_u64_le(offset);
    message.put_slice(bytes);
    message.freeze()
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
