//! Stores the output of programs in the broker, for runtimes that read it after this worker has died.
//!
//! Start at [`OutputRecord::take`], which receives every output frame that leaves this worker. A task per program
//! publishes them in messages of several frames, with a bounded number of unconfirmed bytes. The link never waits for
//! it: output that comes faster is dropped from the queue, and the log of its holder still has it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::stream::Stream;
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::watch;
use windlass_hold_wire::{FarFrame, FramedOutput, ProgramOrigin, frame};

use crate::broker::{Broker, words};

/// A program that is not kept is recorded once it has written and run for this time: most programs are shorter.
const LASTING: Duration = Duration::from_secs(1);
/// The maximum number of bytes that wait to be published.
const QUEUED: usize = 1024 * 1024;
/// The maximum number of bytes in one message, unless the broker accepts less.
const MESSAGE: usize = 128 * 1024;
/// The length of the length prefix of a frame.
const LENGTH: usize = 4;
/// At least the length of the headers of a message.
const HEADERS: usize = 1024;
/// At least the length of an output frame without its output.
const FRAMING: usize = 64;
/// The maximum number of unconfirmed messages of one program.
const UNCONFIRMED: usize = 4;
/// The delay after a full round of messages, so that a flood leaves the broker time for others: at most 20 MiB/s.
const PACE: Duration = Duration::from_millis(25);
/// The delay before unconfirmed messages are published again.
const AGAIN: Duration = Duration::from_millis(200);
/// How many times a message is published. Later output may still be stored.
const ATTEMPTS: u32 = 100;

/// The output of one program on its way to the broker.
pub(super) struct OutputRecord {
    pub(super) origin: ProgramOrigin,
    is_kept: bool,
    /// The maximum number of stored bytes.
    limit: u64,
    state: watch::Sender<RecordState>,
    /// The stored messages, oldest first.
    stored: Mutex<VecDeque<StoredMessage>>,
}

/// A message for the broker.
#[derive(Clone)]
struct RecordMessage {
    bytes: Bytes,
    /// Whether it has the exit of the program, and nothing else.
    is_exit: bool,
}

/// A message that the broker has confirmed.
struct StoredMessage {
    sequence: u64,
    length: usize,
    is_exit: bool,
}

#[derive(Default)]
struct RecordState {
    /// The offset after the last byte that was taken.
    taken: u64,
    /// Frames with their length prefixes, oldest first.
    queue: VecDeque<Bytes>,
    queued: usize,
    /// The exit of the program. The output that follows it must not displace it.
    exit: Option<Bytes>,
    /// Whether the exit is to be published.
    is_exit_due: bool,
    closing: Option<RecordClosing>,
}

/// The treatment of the stored output when a record ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordClosing {
    /// It stays until the broker drops it.
    Keep,
    /// The runtime no longer needs it.
    Remove,
}

impl OutputRecord {
    pub(super) fn new(origin: ProgramOrigin, is_kept: bool, limit: u64) -> Arc<Self> {
        Arc::new(Self {
            origin,
            is_kept,
            limit,
            state: watch::Sender::default(),
            stored: Mutex::default(),
        })
    }

    /// The offset after the last byte that was taken.
    pub(super) fn taken(&self) -> u64 {
        self.state.borrow().taken
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state.borrow().closing.is_some()
    }

    /// Waits until half of the queue is free, or the record is closed.
    pub(super) async fn room(&self) {
        let has_room = |state: &RecordState| state.queued < QUEUED / 2 || state.closing.is_some();
        // The sender lives as long as this record.
        let _ = self.state.subscribe().wait_for(has_room).await;
    }

    /// Queues an output frame, unless its output was taken before.
    pub(super) fn take(&self, bytes: &[u8], piece: FramedOutput<'_>) {
        let end = piece.from + piece.bytes.len() as u64;
        self.state.send_if_modified(|state| {
            if end <= state.taken {
                return false;
            }
            state.taken = end;
            state.push(bytes);
            true
        });
    }

    /// Queues output that the holder of the program has read.
    pub(super) fn take_held(&self, from: u64, bytes: Vec<u8>) {
        let output = FarFrame::Output {
            program: self.origin.program,
            from,
            // A holder does not report the stream.
            is_stderr: false,
            bytes,
        };
        let bytes = output.write();
        if let Some(piece) = FramedOutput::read(&bytes) {
            self.take(&bytes, piece);
        }
    }

    /// Queues the exit of the program, once.
    pub(super) fn take_exit(&self, bytes: &[u8]) {
        self.state.send_if_modified(|state| {
            let is_new = state.exit.is_none();
            if is_new {
                state.exit = Some(Bytes::from(frame(bytes)));
                state.is_exit_due = true;
            }
            is_new
        });
    }

    /// Ends the record.
    pub(super) fn close(&self, closing: RecordClosing) {
        self.state
            .send_modify(|state| state.closing = Some(closing));
    }

    /// Publishes the output until the record is closed.
    pub(super) async fn publish(self: Arc<Self>, broker: Broker, stream: Stream) {
        let subject = broker.names.output_of(&self.origin);
        let mut state = self.state.subscribe();
        // The sender lives as long as this record.
        if !self.is_kept {
            let closed = state.wait_for(|state| state.closing.is_some());
            if tokio::time::timeout(LASTING, closed).await.is_ok() {
                return;
            }
        }
        loop {
            let is_ready = |state: &RecordState| {
                !state.queue.is_empty() || state.is_exit_due || state.closing.is_some()
            };
            let _ = state.wait_for(is_ready).await;
            let messages = self.next_messages(broker.client.max_payload());
            let is_full = messages.len() >= UNCONFIRMED;
            let closing = self.state.borrow().closing;
            if closing == Some(RecordClosing::Remove) || messages.is_empty() {
                break;
            }
            self.send(&broker, &subject, messages).await;
            self.drop_oldest(&broker, &stream, &subject).await;
            if is_full {
                tokio::time::sleep(PACE).await;
            }
        }
        let is_unneeded = self.state.borrow().closing == Some(RecordClosing::Remove);
        if is_unneeded && !self.stored.lock().is_empty() {
            remove_output(&stream, &subject).await;
        }
    }

    /// The next messages, with as many frames as fit, and the exit in a message of its own.
    fn next_messages(&self, max_payload: usize) -> Vec<RecordMessage> {
        let limit = MESSAGE.min(max_payload.saturating_sub(HEADERS));
        let mut messages = Vec::new();
        self.state.send_if_modified(|state| {
            while messages.len() < UNCONFIRMED && !state.queue.is_empty() {
                state.split_first(limit);
                let mut message = Vec::new();
                while let Some(next) = state.queue.front()
                    && (message.is_empty() || message.len() + next.len() <= limit)
                {
                    message.extend_from_slice(next);
                    state.queued -= next.len();
                    state.queue.pop_front();
                }
                if !message.is_empty() {
                    messages.push(RecordMessage {
                        bytes: Bytes::from(message),
                        is_exit: false,
                    });
                }
            }
            if std::mem::take(&mut state.is_exit_due) {
                messages.extend(state.exit_message());
            }
            !messages.is_empty()
        });
        messages
    }

    /// Publishes messages until all are confirmed. After a retry they may be stored twice or in another order, which
    /// readers expect.
    async fn send(&self, broker: &Broker, subject: &str, mut messages: Vec<RecordMessage>) {
        for _ in 0..ATTEMPTS {
            broker.connected().await;
            let mut confirmations = Vec::new();
            for message in messages.drain(..) {
                let published = broker
                    .jetstream
                    .publish(subject.to_owned(), message.bytes.clone());
                confirmations.push((message, published.await));
            }
            for (message, published) in confirmations {
                let confirmed = match published {
                    Ok(confirmation) => confirmation.await,
                    Err(error) => Err(error),
                };
                match confirmed {
                    Ok(confirmed) => {
                        let mut stored = self.stored.lock();
                        stored.push_back(StoredMessage {
                            sequence: confirmed.sequence,
                            length: message.bytes.len(),
                            is_exit: message.is_exit,
                        });
                    }
                    Err(error) => {
                        tracing::debug!(error = words(&error), "output is stored again");
                        messages.push(message);
                    }
                }
            }
            if messages.is_empty() || self.state.borrow().closing == Some(RecordClosing::Remove) {
                return;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Removes the oldest messages beyond the limit, in steps of a quarter of it. The exit is published again before.
    async fn drop_oldest(&self, broker: &Broker, stream: &Stream, subject: &str) {
        let Some(dropped) = self.dropped() else {
            return;
        };
        if dropped.iter().any(|message| message.is_exit) {
            let exit = self.state.borrow().exit_message();
            self.send(broker, subject, exit.into_iter().collect()).await;
        }
        let first = self.stored.lock().front().map(|message| message.sequence);
        let purge = stream.purge().filter(subject);
        let purged = match first {
            Some(first) => purge.sequence(first).await,
            None => purge.await,
        };
        if let Err(error) = purged {
            tracing::debug!(%error, "old output is not removed");
        }
    }

    /// The messages to remove, if the limit is exceeded.
    fn dropped(&self) -> Option<Vec<StoredMessage>> {
        let mut stored = self.stored.lock();
        let mut total: u64 = stored.iter().map(|message| message.length as u64).sum();
        if total <= self.limit + self.limit / 4 {
            return None;
        }
        let mut dropped = Vec::new();
        while total > self.limit
            && let Some(message) = stored.pop_front()
        {
            total -= message.length as u64;
            dropped.push(message);
        }
        Some(dropped)
    }
}

/// Removes the stored output of a program. If this fails, the broker drops it later.
pub(crate) async fn remove_output<I>(stream: &Stream<I>, subject: &str) {
    if let Err(error) = stream.purge().filter(subject).await {
        tracing::debug!(%error, "stored output is not removed");
    }
}

impl RecordState {
    fn exit_message(&self) -> Option<RecordMessage> {
        let bytes = self.exit.clone()?;
        Some(RecordMessage {
            bytes,
            is_exit: true,
        })
    }

    /// Splits the oldest frame if it is longer than a message may be. A frame without output is then dropped.
    fn split_first(&mut self, limit: usize) {
        let Some(long) = self.queue.pop_front_if(|first| first.len() > limit) else {
            return;
        };
        self.queued -= long.len();
        let Some(piece) = FramedOutput::read(&long[LENGTH..]) else {
            tracing::debug!(length = long.len(), "a frame is too long to be stored");
            return;
        };
        let room = limit.saturating_sub(FRAMING).max(1);
        for (number, bytes) in piece.bytes.chunks(room).enumerate().rev() {
            let part = FarFrame::Output {
                program: piece.program,
                from: piece.from + (number * room) as u64,
                is_stderr: piece.is_stderr,
                bytes: bytes.to_vec(),
            };
            let part = Bytes::from(frame(&part.write()));
            self.queued += part.len();
            self.queue.push_front(part);
        }
    }

    /// Queues a frame. The oldest ones are dropped if there are too many.
    fn push(&mut self, bytes: &[u8]) {
        let bytes = Bytes::from(frame(bytes));
        self.queued += bytes.len();
        self.queue.push_back(bytes);
        while self.queued > QUEUED
            && let Some(dropped) = self.queue.pop_front()
        {
            self.queued -= dropped.len();
        }
    }
}

#[cfg(test)]
#[path = "recording_tests.rs"]
mod tests;
