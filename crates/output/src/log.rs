//! The log: a file with the raw bytes of an output.
//!
//! A byte has the same offset in the file and in the output. Beyond its limit
//! the log keeps its first half and the newest bytes, and punches a hole for
//! the bytes between. Where the file system cannot punch holes, the log ends at
//! its limit and newer bytes are only in memory.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::output::Checkpoint;

/// The block size to which holes are aligned.
const BLOCK: u64 = 4096;

/// Written at the start of the hole, for readers of the file.
const HOLE_NOTE: &[u8] = "\n[… the middle of the output was dropped here …]\n".as_bytes();

#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: Arc<File>,
    limit: u64,
    base: u64,
    end: u64,
    hole: Range<u64>,
}

impl Log {
    /// Creates the file, readable by its owner only, and its parent folders. It has no bytes before offset `base`.
    pub(super) fn create(path: &Path, limit: u64, base: u64) -> io::Result<Self> {
        if let Some(parent) = path.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(parent)?;
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        let middle = middle(limit, base);
        Ok(Self {
            path: path.to_owned(),
            file: Arc::new(file),
            limit,
            base,
            end: base,
            hole: middle..middle,
        })
    }

    /// Opens a file that another process created, and continues at offset
    /// `checkpoint.stored`. Later bytes are overwritten.
    pub(super) fn reopen(path: &Path, limit: u64, checkpoint: &Checkpoint) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let middle = middle(limit, checkpoint.base);
        Ok(Self {
            path: path.to_owned(),
            file: Arc::new(file),
            limit,
            base: checkpoint.base,
            end: checkpoint.stored,
            hole: middle..checkpoint.hole_end.max(middle),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The maximum disk usage.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// The file, for reading without a lock on the log.
    pub(super) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// The range that is no longer in the file; unbounded if the log has ended.
    pub(super) fn hole(&self) -> Range<u64> {
        self.hole.clone()
    }

    /// The offset of its first byte. With a hole too, everything before the end of the hole counts as missing.
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// Continues at a later offset. The bytes between are not needed any more, nor those before.
    pub(super) fn skip_to(&mut self, offset: u64) {
        if offset > self.end {
            self.end = offset;
            self.base = offset;
        }
    }

    /// Appends the next bytes of the output.
    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.hole.end == u64::MAX {
            return Ok(());
        }
        self.file.write_all_at(bytes, self.end)?;
        self.end += bytes.len() as u64;
        self.give_back();
        Ok(())
    }

    /// Removes the file. Open descriptors stay readable.
    pub(super) fn remove(&self) {
        // It may be gone already. An error has no one to go to.
        let _ = std::fs::remove_file(&self.path);
    }

    /// Stops logging, because old bytes cannot be released.
    pub(super) fn end_here(&mut self) {
        let start = if self.hole.is_empty() {
            self.end
        } else {
            self.hole.start
        };
        self.hole = start..u64::MAX;
    }

    /// Redirects writes to another file, to test failures.
    #[cfg(test)]
    pub(super) fn replace_file(&mut self, file: File) {
        self.file = Arc::new(file);
    }

    /// Enlarges the hole once enough bytes are too old.
    fn give_back(&mut self) {
        let oldest = self.end.saturating_sub(self.limit / 2) / BLOCK * BLOCK;
        let slack = (self.limit / 8).clamp(BLOCK, 4 << 20);
        if oldest < self.hole.end + slack {
            return;
        }
        let dropped = self.hole.end..oldest;
        if punch(&self.file, dropped).is_err() {
            self.end_here();
            return;
        }
        let is_first = self.hole.is_empty();
        self.hole.end = oldest;
        if is_first && self.hole.end - self.hole.start > HOLE_NOTE.len() as u64 {
            // The note is optional; the hole is marked without it.
            let _ = self.file.write_all_at(HOLE_NOTE, self.hole.start);
        }
    }
}

/// The start of the hole: the first half of the limit is kept.
fn middle(limit: u64, base: u64) -> u64 {
    (base + limit / 2).next_multiple_of(BLOCK)
}

/// Reads bytes from the file. Missing bytes, as in a truncated file, are zero,
/// so that offsets stay valid.
pub(super) fn read_from(file: &File, position: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match file.read_at(&mut bytes[filled..], position + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    bytes
}

#[cfg(target_os = "linux")]
fn punch(file: &File, range: Range<u64>) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(fallocate(
        file,
        flags,
        range.start,
        range.end - range.start,
    )?)
}

#[cfg(not(target_os = "linux"))]
fn punch(_file: &File, _range: Range<u64>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
