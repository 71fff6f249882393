//! Accounts for the bytes that a tree of processes has written to file systems.
//!
//! The kernel counts the bytes of disk files that a process has dirtied, and
//! adds a child's count to its parent's when it is reaped. In-memory files
//! (tmpfs) are not counted; for them only the total bytes written and the
//! growth of the folder are known.

use std::ops::Sub;

use super::tree::{Member, read_small};

/// World-writable directories that may be in memory.
const SHARED: [&str; 2] = ["/tmp", "/dev/shm"];

const TMPFS: u32 = 0x0102_1994;

/// The written bytes of one tree since its start.
pub(super) struct WriteAccount {
    /// The shim's own count when the tree started: it includes earlier programs.
    before: WrittenBytes,
    /// Bytes used in in-memory directories when the tree started.
    in_memory_before: u64,
    /// The highest values seen. A process that exits is for a moment in no
    /// count.
    most: WrittenBytes,
}

/// Bytes that were written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct WrittenBytes {
    /// To disks, except data that was removed before it was written back.
    to_disks: u64,
    /// To anything, including pipes and terminals.
    to_anything: u64,
}

impl WriteAccount {
    /// Starts to count for the tree below `root`.
    pub(super) fn open(root: i32) -> Self {
        Self {
            before: WrittenBytes::by(root).unwrap_or_default(),
            in_memory_before: used_in_memory(),
            most: WrittenBytes::default(),
        }
    }

    /// Whether the tree has written more than this.
    pub(super) fn exceeds(&mut self, limit: u64, root: i32, members: &[Member]) -> bool {
        let pids = members.iter().map(|it| it.pid).chain([root]);
        let (mut disks, mut anything) = (0, 0);
        for written in pids.filter_map(WrittenBytes::by) {
            disks += written.to_disks;
            anything += written.to_anything;
        }
        let now = WrittenBytes {
            to_disks: disks,
            to_anything: anything,
        };
        let now = now - self.before;
        self.most.to_disks = self.most.to_disks.max(now.to_disks);
        self.most.to_anything = self.most.to_anything.max(now.to_anything);
        if self.most.to_disks > limit {
            return true;
        }
        // Other processes write there too, so both the growth and the bytes written by this tree must exceed the rest.
        let rest = limit - self.most.to_disks;
        self.most.to_anything > limit
            && used_in_memory().saturating_sub(self.in_memory_before) > rest
    }
}

impl WrittenBytes {
    /// The count of one process, including its reaped children.
    fn by(pid: i32) -> Option<Self> {
        let mut buffer = [0; 512];
        let length = read_small(&format!("/proc/{pid}/io"), &mut buffer).ok()?;
        Self::parse(std::str::from_utf8(&buffer[..length]).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let number = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(": "));
            lines.find(|(key, _)| *key == name)?.1.parse::<u64>().ok()
        };
        let removed = number("cancelled_write_bytes")?;
        Some(Self {
            to_disks: number("write_bytes")?.saturating_sub(removed),
            to_anything: number("wchar")?,
        })
    }
}

impl Sub for WrittenBytes {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            to_disks: self.to_disks.saturating_sub(other.to_disks),
            to_anything: self.to_anything.saturating_sub(other.to_anything),
        }
    }
}

/// Bytes used in those shared directories that are in memory.
fn used_in_memory() -> u64 {
    let folders = SHARED.iter().filter_map(|folder| {
        let system = rustix::fs::statfs(*folder).ok()?;
        let is_in_memory = u32::try_from(system.f_type).is_ok_and(|kind| kind == TMPFS);
        let blocks = system.f_blocks.checked_sub(system.f_bfree)?;
        let size = u64::try_from(system.f_bsize).ok()?;
        is_in_memory.then(|| blocks.saturating_mul(size))
    });
    folders.sum()
}

#[cfg(test)]
#[path = "writing_tests.rs"]
mod tests;
