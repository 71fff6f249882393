//! Output that a worker has stored in the broker, for runtimes that outlive the worker.
//!
//! A message holds the frames that the far end sent, each with its offset. Messages may overlap or arrive in another
//! order after a retry, and the broker drops the oldest ones. [`StoredOutput::replay`] turns them into frames for a
//! near end.

use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use futures_util::StreamExt;
use windlass_hold_wire::{
    FarFrame, FrameBuffer, FramedOutput, LONGEST_PIECE, LinkExit, ProgramOrigin,
};

use crate::broker::{Broker, words};
use crate::error::Trouble;

/// The time limit for reading the output of one program.
const READING: Duration = Duration::from_secs(5);
/// The delay before a failed read is repeated.
const AGAIN: Duration = Duration::from_millis(100);
/// The number of messages in one request.
const BATCH: u64 = 256;

/// The stored output of one program.
#[derive(Debug, Default)]
pub(crate) struct StoredOutput {
    /// Ordered by offset.
    pieces: Vec<StoredPiece>,
    exit: Option<FarFrame>,
}

#[derive(Debug, PartialEq, Eq)]
struct StoredPiece {
    from: u64,
    is_stderr: bool,
    bytes: Vec<u8>,
}

/// The frames that replay stored output to a near end.
#[derive(Debug)]
pub(crate) struct StoredReplay {
    /// The exit of the program, then its output.
    pub(crate) frames: Vec<FarFrame>,
    /// Whether its exit is not stored.
    pub(crate) is_lost: bool,
    /// The offset after the last byte, as the near end counts.
    pub(crate) end: u64,
    pub(crate) offsets: ReplayOffsets,
}

/// Maps offsets of a program's output to those of its replay, in which a note replaces each missing part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReplayOffsets {
    /// The end of each missing part in the program's output, and in the replay.
    gaps: Vec<(u64, u64)>,
}

impl ReplayOffsets {
    /// The offsets of a replay without output.
    pub(crate) fn nothing() -> Self {
        Self {
            gaps: vec![(u64::MAX, 0)],
        }
    }

    /// The offset in the replay. An offset in a missing part maps to some point in the note or before it.
    pub(crate) fn of(&self, offset: u64) -> u64 {
        let gap = self.gaps.iter().rev().find(|(end, _)| *end <= offset);
        match gap {
            Some((end, replayed)) => replayed + (offset - end),
            None => match self.gaps.first() {
                Some(&(_, replayed)) => offset.min(replayed),
                None => offset,
            },
        }
    }
}

impl StoredOutput {
    /// Reads the stored output of a program. It is empty if there is none.
    pub(crate) async fn read(broker: &Broker, origin: &ProgramOrigin) -> Result<Self, Trouble> {
        let mut why = Trouble(String::from("the broker does not answer"));
        let reading = async {
            loop {
                match Self::try_read(broker, origin).await {
                    Ok(stored) => return stored,
                    Err(error) => why = error,
                }
                tokio::time::sleep(AGAIN).await;
            }
        };
        match tokio::time::timeout(READING, reading).await {
            Ok(stored) => Ok(stored),
            Err(_) => Err(why),
        }
    }

    async fn try_read(broker: &Broker, origin: &ProgramOrigin) -> Result<Self, Trouble> {
        let mut stored = Self::default();
        let names = &broker.names;
        let add = |message: &Message| stored.add(&message.payload);
        read_all(broker, names.output(), names.output_of(origin), add).await?;
        stored.pieces.sort_by_key(|piece| piece.from);
        Ok(stored)
    }

    /// Adds the frames of a message.
    fn add(&mut self, message: &[u8]) {
        let mut frames = FrameBuffer::default();
        frames.push(message);
        while let Ok(Some(frame)) = frames.next_frame() {
            if let Some(piece) = FramedOutput::read(frame) {
                self.pieces.push(StoredPiece {
                    from: piece.from,
                    is_stderr: piece.is_stderr,
                    bytes: piece.bytes.to_vec(),
                });
            } else if let Some(exit @ FarFrame::Exited { .. }) = FarFrame::read(frame) {
                self.exit = Some(exit);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.exit.is_none()
    }

    /// The offset after the last stored byte.
    pub(crate) fn end(&self) -> u64 {
        let ends = self.pieces.iter();
        let ends = ends.map(|piece| piece.from + piece.bytes.len() as u64);
        ends.max().unwrap_or(0)
    }

    /// The frames for a near end that has received the output up to `from`. A program whose exit is not stored ends as
    /// lost, for the reason `why`.
    pub(crate) fn replay(self, program: u64, from: u64, why: String) -> StoredReplay {
        let mut replay = Replayer {
            program,
            known: from,
            end: from,
            frames: Vec::new(),
            offsets: ReplayOffsets::default(),
        };
        for piece in &self.pieces {
            replay.add(piece);
        }
        let mut exited = FarFrame::Exited {
            program,
            offset: 0,
            exit: LinkExit::Lost(why),
            remaining: 0,
            exceeded: None,
            denied: Vec::new(),
        };
        let is_lost = self.exit.is_none();
        if let Some(stored) = self.exit {
            if let FarFrame::Exited { offset, .. } = &stored {
                replay.skip_to(*offset);
            }
            exited = stored;
        }
        if let FarFrame::Exited {
            program: number,
            offset,
            ..
        } = &mut exited
        {
            *number = program;
            *offset = replay.end;
        }
        // The exit takes effect once the output up to its offset has arrived.
        replay.frames.insert(0, exited);
        StoredReplay {
            is_lost,
            frames: replay.frames,
            end: replay.end,
            offsets: replay.offsets,
        }
    }
}

/// Reads the messages of a stream with this subject. There are none if the stream does not exist.
pub(crate) async fn read_all(
    broker: &Broker,
    stream: String,
    subject: String,
    mut take: impl FnMut(&Message),
) -> Result<(), Trouble> {
    let config = pull::Config {
        filter_subject: subject,
        ack_policy: AckPolicy::None,
        memory_storage: true,
        num_replicas: 1,
        ..pull::Config::default()
    };
    let stream = broker.jetstream.get_stream_no_info(stream).await;
    let stream = stream.map_err(|error| Trouble(words(&error)))?;
    let consumer = match stream.create_consumer(config).await {
        Ok(consumer) => consumer,
        Err(error) if is_missing(&error) => return Ok(()),
        Err(error) => return Err(Trouble(words(&error))),
    };
    let mut left = consumer.cached_info().num_pending;
    while left > 0 {
        let most = usize::try_from(left.min(BATCH)).unwrap_or(1);
        let batch = consumer.fetch().max_messages(most).messages().await;
        let mut batch = batch.map_err(|error| Trouble(words(&error)))?;
        let before = left;
        while let Some(message) = batch.next().await {
            let message = message.map_err(|error| Trouble(error.to_string()))?;
            take(&message);
            left = left.saturating_sub(1);
        }
        if left == before {
            // The rest has been dropped meanwhile.
            break;
        }
    }
    let _ = stream.delete_consumer(&consumer.cached_info().name).await;
    Ok(())
}

/// Whether the stream does not exist.
fn is_missing(error: &async_nats::jetstream::stream::ConsumerError) -> bool {
    use async_nats::jetstream::ErrorCode;
    use async_nats::jetstream::stream::ConsumerErrorKind;
    match error.kind() {
        ConsumerErrorKind::JetStream(error) => error.error_code() == ErrorCode::STREAM_NOT_FOUND,
        _ => false,
    }
}

/// Renumbers the stored pieces.
struct Replayer {
    program: u64,
    /// The offset up to which the program's output is replayed or reported as missing.
    known: u64,
    /// The offset after the last byte of the replay.
    end: u64,
    frames: Vec<FarFrame>,
    offsets: ReplayOffsets,
}

impl Replayer {
    fn add(&mut self, piece: &StoredPiece) {
        let end = piece.from + piece.bytes.len() as u64;
        if end <= self.known {
            return;
        }
        self.skip_to(piece.from);
        let repeated = usize::try_from(self.known - piece.from).unwrap_or(usize::MAX);
        self.push(piece.is_stderr, &piece.bytes[repeated..]);
        self.known = end;
    }

    /// Notes that the output up to an offset is missing.
    fn skip_to(&mut self, offset: u64) {
        if offset <= self.known {
            return;
        }
        let missing = offset - self.known;
        let note = format!("\n[{missing} bytes of output are missing: they were not stored]\n");
        self.push(false, note.as_bytes());
        self.known = offset;
        self.offsets.gaps.push((offset, self.end));
    }

    fn push(&mut self, is_stderr: bool, bytes: &[u8]) {
        for bytes in bytes.chunks(LONGEST_PIECE) {
            self.frames.push(FarFrame::Output {
                program: self.program,
                from: self.end,
                is_stderr,
                bytes: bytes.to_vec(),
            });
            self.end += bytes.len() as u64;
        }
    }
}

#[cfg(test)]
#[path = "stored_tests.rs"]
mod tests;
