//! The bytes of an output: the newest in memory, all of them in the log once
//! they outgrow it.
//!
//! Start at [`ByteStore::append`]. The memory is also the log's write buffer:
//! bytes are written in large batches, when they are about to leave memory.
//! Bytes that are in neither form a single gap, see [`ByteStore::gap`].

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::log::{Log, read_from};
use super::output::Checkpoint;

#[derive(Debug)]
pub(super) struct ByteStore {
    ring: VecDeque<u8>,
    memory: usize,
    end: u64,
    /// The number of newlines appended.
    newlines: u64,
    /// The offset up to which bytes were given to the log, or were forgotten.
    logged: u64,
    log: LogState,
}

#[derive(Debug)]
enum LogState {
    Unwanted,
    Planned { path: Box<Path>, limit: u64 },
    Open(Box<Log>),
    Failed(Box<io::Error>),
}

/// The statement about the log in an excerpt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LogNote {
    None,
    At(PathBuf),
    Failed(String),
}

/// A range of the output: the bytes from memory, and the location of the
/// others.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) range: Range<u64>,
    file: Option<Arc<File>>,
    memory: Vec<u8>,
}

impl ByteStore {
    pub(super) fn new(memory: usize, log: Option<PathBuf>, limit: u64) -> Self {
        Self {
            ring: VecDeque::new(),
            memory,
            end: 0,
            newlines: 0,
            logged: 0,
            log: match log {
                Some(path) => LogState::Planned {
                    path: path.into(),
                    limit,
                },
                None => LogState::Unwanted,
            },
        }
    }

    /// Continues from a checkpoint of another process, with the log that it
    /// wrote. Without that log, everything before the checkpoint is missing.
    pub(super) fn resume(
        memory: usize,
        log: Option<PathBuf>,
        limit: u64,
        checkpoint: &Checkpoint,
    ) -> Self {
        let Checkpoint {
            stored: end,
            newlines,
            base,
            ..
        } = *checkpoint;
        let mut store = Self::new(memory, log, limit);
        store.end = end;
        store.newlines = newlines;
        store.logged = end;
        if let LogState::Planned { path, limit } = &store.log {
            match Log::reopen(path, *limit, checkpoint) {
                Ok(log) => store.log = LogState::Open(Box::new(log)),
                // Nothing has to be in the log yet.
                Err(error) if end == base && error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => store.log = LogState::Failed(Box::new(error)),
            }
        }
        store
    }

    /// The end of the log's hole, 0 if it has none.
    pub(super) fn hole_end(&self) -> u64 {
        match &self.log {
            LogState::Open(log) if !log.hole().is_empty() => log.hole().end,
            _ => 0,
        }
    }

    /// The offset of the first byte that is in the log or may still be written to it.
    pub(super) fn base(&self) -> u64 {
        match &self.log {
            LogState::Open(log) => log.base(),
            _ => 0,
        }
    }

    /// Does not write bytes before this offset to the log any more.
    pub(super) fn forget_before(&mut self, offset: u64) {
        self.logged = self.logged.max(offset.min(self.end));
    }

    /// Adds bytes at the end.
    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.newlines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        let excess = (self.ring.len() + bytes.len()).saturating_sub(self.memory);
        if bytes.len() >= self.memory && excess > 0 {
            self.append_large(bytes);
        } else {
            // `excess` is at most what the ring has, as the bytes fit in alone.
            if self.logged < self.start() + excess as u64 {
                self.write_log();
            }
            self.ring.drain(..excess);
            self.grow(bytes.len());
            self.ring.extend(bytes);
            self.end += bytes.len() as u64;
        }
    }

    /// The end of the output.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// The number of newlines appended.
    pub(super) fn newlines(&self) -> u64 {
        self.newlines
    }

    /// The offset of the first byte in memory.
    pub(super) fn start(&self) -> u64 {
        self.end - self.ring.len() as u64
    }

    /// The range that is neither in memory nor in the log; empty if nothing is
    /// missing.
    pub(super) fn gap(&self) -> Range<u64> {
        match &self.log {
            LogState::Open(log) => {
                let hole = log.hole();
                if hole.is_empty() && log.base() > 0 {
                    return 0..log.base().min(self.start());
                }
                // Where the log has ended, the gap does when memory begins.
                let end = hole.end.min(self.start()).max(hole.start);
                let start = if log.base() > 0 { 0 } else { hole.start };
                start..end
            }
            _ => 0..self.start(),
        }
    }

    /// The bytes in memory from a position on, in two parts.
    pub(super) fn memory_from(&self, position: u64) -> (&[u8], &[u8]) {
        let skip = usize::try_from(position.saturating_sub(self.start())).unwrap_or(usize::MAX);
        let (first, second) = self.ring.as_slices();
        let first_skip = skip.min(first.len());
        let second_skip = (skip - first_skip).min(second.len());
        (&first[first_skip..], &second[second_skip..])
    }

    /// Appends the bytes of a range to others, if all of them are in memory; says whether they are.
    pub(super) fn append_memory(&self, range: &Range<u64>, bytes: &mut Vec<u8>) -> bool {
        if range.start < self.start() || range.end > self.end {
            return false;
        }
        if range.is_empty() {
            return true;
        }
        let length = length(range);
        let (first, second) = self.memory_from(range.start);
        let first = &first[..first.len().min(length)];
        bytes.reserve(length);
        bytes.extend_from_slice(first);
        bytes.extend_from_slice(&second[..length - first.len()]);
        true
    }

    /// A range without a gap, clamped to the stored bytes.
    pub(super) fn part(&self, range: Range<u64>) -> Part {
        let end = range.end.min(self.end);
        let range = range.start.min(end)..end;
        let in_memory = self.start().max(range.start)..range.end;
        let mut memory = Vec::new();
        self.append_memory(&in_memory, &mut memory);
        let file = match &self.log {
            LogState::Open(log) if range.start < self.start() => Some(log.file()),
            _ => None,
        };
        Part {
            range,
            file,
            memory,
        }
    }

    /// Flushes the log, creating it if necessary, and returns its location.
    pub(super) fn spill(&mut self) -> LogNote {
        self.write_log();
        match &self.log {
            LogState::Unwanted | LogState::Planned { .. } => LogNote::None,
            LogState::Open(log) => LogNote::At(log.path().to_owned()),
            LogState::Failed(error) => LogNote::Failed(error.to_string()),
        }
    }

    /// The log's file and its limit, if there is one.
    pub(super) fn log_file(&self) -> Option<(&Path, u64)> {
        match &self.log {
            LogState::Open(log) => Some((log.path(), log.limit())),
            _ => None,
        }
    }

    /// Flushes the log if there is one.
    pub(super) fn sync(&mut self) {
        if matches!(self.log, LogState::Open(_)) {
            self.write_log();
        }
    }

    /// Removes the log's file.
    pub(super) fn remove_log(&mut self) {
        if let LogState::Open(log) = &self.log {
            log.remove();
        }
    }

    /// Writes the bytes that the log lacks.
    fn write_log(&mut self) {
        self.try_log(|store, log| {
            log.skip_to(store.logged);
            let (first, second) = store.memory_from(store.logged);
            log.append(first)?;
            log.append(second)?;
            store.logged = store.end;
            Ok(())
        });
    }

    /// Appends at least as many bytes as memory can hold.
    fn append_large(&mut self, bytes: &[u8]) {
        self.write_log();
        self.try_log(|_, log| log.append(bytes));
        self.end += bytes.len() as u64;
        self.logged = self.end;
        self.ring.clear();
        self.grow(self.memory);
        self.ring.extend(&bytes[bytes.len() - self.memory..]);
    }

    /// Enlarges the buffer, up to its maximum.
    fn grow(&mut self, more: usize) {
        let needed = self.ring.len() + more;
        if needed > self.ring.capacity() {
            let capacity = needed
                .max(self.ring.capacity() * 2)
                .min(self.memory.max(needed));
            self.ring.reserve_exact(capacity - self.ring.len());
        }
    }

    /// Performs an operation on the log, and creates the log first if it is
    /// planned. A log that cannot be written is removed, because a truncated
    /// log would pass for a complete one.
    fn try_log(&mut self, work: impl FnOnce(&mut Self, &mut Log) -> io::Result<()>) {
        let result = match std::mem::replace(&mut self.log, LogState::Unwanted) {
            LogState::Open(log) => Ok(log),
            LogState::Planned { path, limit } => {
                Log::create(&path, limit, self.logged).map(Box::new)
            }
            state => {
                self.log = state;
                return;
            }
        };
        self.log = match result {
            Ok(mut log) => match work(self, &mut log) {
                Ok(()) => LogState::Open(log),
                Err(error) => {
                    log.remove();
                    LogState::Failed(Box::new(error))
                }
            },
            Err(error) => LogState::Failed(Box::new(error)),
        };
    }
}

impl Part {
    /// Returns the bytes. May read a file.
    pub(super) fn bytes(self) -> Vec<u8> {
        let Some(file) = self.file else {
            return self.memory;
        };
        let mut bytes = read_from(
            &file,
            self.range.start,
            length(&self.range) - self.memory.len(),
        );
        bytes.extend_from_slice(&self.memory);
        bytes
    }

    /// Whether the bytes are on disk, where a hole may be punched at any time.
    pub(super) fn is_on_disk(&self) -> bool {
        self.file.is_some()
    }
}

/// The length of a range that is to be held in memory.
fn length(range: &Range<u64>) -> usize {
    usize::try_from(range.end - range.start).unwrap_or(usize::MAX)
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
