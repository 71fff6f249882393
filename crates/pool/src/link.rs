//! A link over a pair of subjects: frames between a runtime and a worker.
//!
//! Start at [`LinkEnd::run`], which both sides do. Messages carry bytes at their offset from the beginning of the link. One
//! that was lost is noticed by the next one's offset: the link ends, and the near side makes another over which programs
//! are resumed. Each side lets the other be [`WINDOW`] ahead, so that control frames do not wait behind a flood.

use std::future::Future;

use async_nats::Subscriber;
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;
use windlass_hold_wire::{FrameBuffer, frame};

use crate::broker::Broker;

/// How many bytes may be under way in one direction.
const WINDOW: u64 = 2 * 1024 * 1024;
/// Bytes that were received are confirmed in steps of this size.
const CONFIRM_STEP: u64 = WINDOW / 4;
/// The most bytes of one message. A broker takes a megabyte by default.
const LONGEST_MESSAGE: usize = 256 * 1024;
/// How much is read at a time.
const CHUNK: usize = 64 * 1024;
/// The buffer of the pipe between a link and its user.
pub(crate) const PIPE: usize = 64 * 1024;

const DATA: u8 = 1;
const RECEIVED: u8 = 2;
const CLOSED: u8 = 3;

/// Asks a worker for a link.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LinkRequest {
    /// The random word in its subjects.
    pub(crate) link: String,
    /// The near session, as a hexadecimal number.
    pub(crate) session: String,
    /// The runtime's machine and process, for people.
    pub(crate) runtime: String,
}

/// Looks at the frames of one end.
pub(crate) trait FrameGate: Send {
    /// A frame of this side; `false` if it does not go over the link.
    fn leaving(&mut self, frame: &[u8]) -> bool;

    /// A frame of the other side; `false` if this side does not get it.
    fn arriving(&mut self, frame: &[u8]) -> impl Future<Output = bool> + Send;
}

/// The reason why a link has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkEnding {
    /// This side has closed its pipe.
    Left,
    /// The other side has ended it, or a message was lost.
    Broken,
    /// There is no connection to the broker.
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
    pub(crate) to_pipe: DuplexStream,
    /// Frames that are put in for this side.
    pub(crate) added: mpsc::UnboundedReceiver<Vec<u8>>,
    /// Frames that are put in for the other side.
    pub(crate) told: mpsc::UnboundedReceiver<Vec<u8>>,
    pub(crate) flow: Flow,
}

/// The bytes of a link so far.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    sent: u64,
    /// How many of the sent ones the other side has confirmed.
    confirmed: u64,
    received: u64,
    /// How many of the received ones were confirmed.
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

    /// Tells the other side that the link has ended.
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
                Some(added) = self.added.recv() => self.give(&frame(&added)).await,
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

    /// Takes a message of the other side; `None` if the link has ended.
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
                        self.to_pipe.write_all(&frame(bytes)).await.ok()?;
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

    /// Gives bytes to this side.
    async fn give(&mut self, bytes: &[u8]) -> Option<()> {
        self.to_pipe.write_all(bytes).await.ok()
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
        for piece in bytes.chunks(LONGEST_MESSAGE) {
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

fn message(kind: u8, offset: u64, bytes: &[u8]) -> Bytes {
    let mut message = BytesMut::with_capacity(9 + bytes.len());
    message.put_u8(kind);
    message.put_u64_le(offset);
    message.put_slice(bytes);
    message.freeze()
}
