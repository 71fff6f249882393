#![expect(
    unsafe_code,
    reason = "memory that two processes share is mapped and read through raw pointers"
)]
//! The output of a kept program, in memory shared by its runtime and its holder.
//!
//! Start at [`Retained::take`]. One process at a time reads the program's streams: the runtime, or its holder once the
//! runtime is dead. The reader may be killed at any moment, and the next one continues without losing or duplicating a
//! byte. That requires an atomic step of the kernel, so bytes are moved in two steps:
//!
//! ```text
//!  pipe or terminal ──splice──▶ stage (a pipe) ──read──▶ ring (shared memory)
//!                                    next += n                     end += n
//! ```
//!
//! A death before `next` is published leaves the bytes in the stage. A death after it leaves in the stage exactly the
//! bytes that were not read into the ring, and the kernel reports their number. So `end` is known in every case.
//!
//! The ring stores the bytes that an [`Output`] may need again, from its last checkpoint on ([`Retained::replay`]).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rustix::io::Errno;
use rustix::pipe::{SpliceFlags, splice};
use windlass_output::{Checkpoint, Output, Stream};

/// The size of one step.
const CHUNK: usize = 64 * 1024;
/// The number of changes between stdout and stderr that are remembered. Older
/// bytes count as stdout.
const SEGMENTS: usize = 1024;
/// The offset of the ring.
const HEADER: usize = 16 * 1024;
/// The number of an owner's notes.
const OWNER_NOTES: usize = 4;
/// Identifies the memory and its format.
const MAGIC: u64 = 0x57_4c_52_49_4e_47_00_01;

/// The counters shared by both processes.
#[repr(C)]
struct Header {
    magic: AtomicU64,
    /// The length of the ring.
    ring: AtomicU64,
    /// The offset that the ring ends at once the stage is empty.
    next: AtomicU64,
    /// The offset of the next byte in the ring.
    end: AtomicU64,
    /// The number of published checkpoints, which is the slot of the newest.
    checkpoints: AtomicU64,
    slots: [Slot; 2],
    /// The assistant's read position.
    cursor: AtomicU64,
    /// The number of segments begun.
    segments: AtomicU64,
    /// Offset times two, plus one for stderr.
    table: [AtomicU64; SEGMENTS],
    /// The bases of the checkpoints in the two slots. Memory of an earlier version has zeros here.
    bases: [AtomicU64; 2],
    /// Numbers of the owner for the next one. Memory of an earlier version has zeros here.
    notes: [AtomicU64; OWNER_NOTES],
}

#[repr(C)]
struct Slot {
    stored: AtomicU64,
    newlines: AtomicU64,
    replay: [AtomicU64; 2],
    hole_end: AtomicU64,
    released: AtomicU64,
}

/// The shared memory and the stage, mapped into this process.
pub(crate) struct Retained {
    memory: Mapping,
    file: OwnedFd,
    stage: StagePipe,
    /// Locked during a take.
    taking: Mutex<Taking>,
}

/// The pipe between a stream and the ring.
struct StagePipe {
    read: OwnedFd,
    write: OwnedFd,
}

#[derive(Default)]
struct Taking {
    /// The number of bytes in the stage.
    staged: usize,
}

/// The result of [`Retained::take`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TakeOutcome {
    /// This many bytes; there may be more.
    Some(usize),
    /// Nothing is available now.
    Empty,
    /// The stream is at its end.
    End,
}

impl Retained {
    /// Memory for output from this offset on, with room for `ring` bytes.
    pub(crate) fn new(ring: usize, from: u64) -> io::Result<Self> {
        use rustix::fs::{MemfdFlags, SealFlags};
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create("windlass-output", flags)?;
        rustix::fs::ftruncate(&file, (HEADER + ring) as u64)?;
        // Seal the size, so that no process can shrink it while another has it mapped.
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&file, seals)?;
        let (read, write) = io::pipe()?;
        let retained = Self {
            memory: Mapping::new(&file, HEADER + ring)?,
            file,
            stage: StagePipe {
                read: read.into(),
                write: write.into(),
            },
            taking: Mutex::default(),
        };
        let header = retained.header();
        header.ring.store(ring as u64, Ordering::Relaxed);
        header.next.store(from, Ordering::Relaxed);
        header.end.store(from, Ordering::Relaxed);
        header.cursor.store(from, Ordering::Relaxed);
        header.magic.store(MAGIC, Ordering::Release);
        Ok(retained)
    }

    /// Continues the work of another process, which must have stopped.
    pub(crate) fn go_on(file: OwnedFd, read: OwnedFd, write: OwnedFd) -> io::Result<Self> {
        let wrong = || io::Error::other("this is no memory for a program's output");
        let length = usize::try_from(rustix::fs::fstat(&file)?.st_size).map_err(|_| wrong())?;
        if length <= HEADER {
            return Err(wrong());
        }
        let retained = Self {
            memory: Mapping::new(&file, length)?,
            file,
            stage: StagePipe { read, write },
            taking: Mutex::default(),
        };
        let header = retained.header();
        let ring = header.ring.load(Ordering::Acquire);
        if header.magic.load(Ordering::Acquire) != MAGIC || ring != (length - HEADER) as u64 {
            return Err(wrong());
        }
        let staged = usize::try_from(rustix::io::ioctl_fionread(&retained.stage.read)?)
            .map_err(|_| wrong())?;
        let (next, end) = (
            header.next.load(Ordering::Acquire),
            header.end.load(Ordering::Acquire),
        );
        if next > end {
            let reached = next.saturating_sub(staged as u64).max(end);
            header.end.store(reached, Ordering::Release);
        }
        retained.taking.lock().staged = staged;
        Ok(retained)
    }

    /// The descriptors for the process that continues.
    pub(crate) fn descriptors(&self) -> [BorrowedFd<'_>; 3] {
        [
            self.file.as_fd(),
            self.stage.read.as_fd(),
            self.stage.write.as_fd(),
        ]
    }

    /// Moves available bytes from a stream to the ring, and passes them to `show`. Requires [`Retained::has_room`].
    pub(crate) fn take(
        &self,
        fd: impl AsFd,
        stream: Stream,
        show: impl FnOnce(Stream, &[u8]),
    ) -> TakeOutcome {
        let mut taking = self.taking.lock();
        let stream = if taking.staged == 0 {
            match self.stage(fd.as_fd(), stream) {
                Ok(0) => return TakeOutcome::End,
                Ok(length) => taking.staged = length,
                Err(Errno::AGAIN) => return TakeOutcome::Empty,
                // Reading a terminal that is no longer open anywhere is an error.
                Err(_) => return TakeOutcome::End,
            }
            stream
        } else {
            // The previous process died before it read the stage.
            self.last_stream()
        };
        let at = self.end();
        self.intend(at, taking.staged);
        let Ok(length) = self.fill(at, taking.staged) else {
            return TakeOutcome::End;
        };
        taking.staged -= length;
        self.finish(at, length);
        // SAFETY: this process has just written the bytes, and is the only writer while it takes.
        let bytes = unsafe { std::slice::from_raw_parts(self.place(at), length) };
        show(stream, bytes);
        TakeOutcome::Some(length)
    }

    /// Step 1: moves bytes from a stream to the stage.
    fn stage(&self, fd: BorrowedFd<'_>, stream: Stream) -> Result<usize, Errno> {
        let end = self.end();
        self.begin_segment(stream, end);
        let limit = CHUNK.min(self.contiguous(end));
        let flags = SpliceFlags::NONBLOCK | SpliceFlags::MOVE;
        rustix::io::retry_on_intr(|| splice(fd, None, &self.stage.write, None, limit, flags))
    }

    /// Step 2: publishes how many bytes will move from the stage to the ring.
    fn intend(&self, at: u64, length: usize) {
        let next = at + length as u64;
        self.header().next.store(next, Ordering::Release);
    }

    /// Step 4: publishes that they have.
    fn finish(&self, at: u64, length: usize) {
        let end = at + length as u64;
        self.header().end.store(end, Ordering::Release);
    }

    /// Step 3: moves bytes from the stage to the ring.
    fn fill(&self, at: u64, length: usize) -> io::Result<usize> {
        // SAFETY: `length` bytes from this address on are within the ring, and nobody else accesses them: they are
        // beyond `end`, and this process is the only one that takes.
        let ring = unsafe { std::slice::from_raw_parts_mut(self.place(at), length) };
        Ok(rustix::io::retry_on_intr(|| {
            rustix::io::read(&self.stage.read, &mut *ring)
        })?)
    }

    /// Whether the next step would keep all bytes that may be needed again. If not, publish a checkpoint first.
    pub(crate) fn has_room(&self) -> bool {
        let end = self.header().end.load(Ordering::Relaxed);
        let kept = end.saturating_sub(self.checkpoint().replay_from());
        kept + CHUNK as u64 <= self.ring()
    }

    /// Publishes the progress of an output.
    pub(crate) fn publish(&self, checkpoint: &Checkpoint) {
        let header = self.header();
        let number = header.checkpoints.load(Ordering::Relaxed) + 1;
        let slot = self.slot(number);
        slot.stored.store(checkpoint.stored, Ordering::Relaxed);
        slot.newlines.store(checkpoint.newlines, Ordering::Relaxed);
        for (slot, offset) in slot.replay.iter().zip(checkpoint.replay) {
            slot.store(offset, Ordering::Relaxed);
        }
        slot.hole_end.store(checkpoint.hole_end, Ordering::Relaxed);
        self.base(number).store(checkpoint.base, Ordering::Relaxed);
        slot.released
            .store(checkpoint.released.into(), Ordering::Relaxed);
        header.checkpoints.store(number, Ordering::Release);
    }

    /// The last published checkpoint; before the first, the start of an output.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        let number = self.header().checkpoints.load(Ordering::Acquire);
        if number == 0 {
            return Checkpoint::default();
        }
        let slot = self.slot(number);
        Checkpoint {
            stored: slot.stored.load(Ordering::Relaxed),
            newlines: slot.newlines.load(Ordering::Relaxed),
            replay: [0, 1].map(|stream| slot.replay[stream].load(Ordering::Relaxed)),
            base: self.base(number).load(Ordering::Relaxed),
            hole_end: slot.hole_end.load(Ordering::Relaxed),
            released: slot.released.load(Ordering::Relaxed) != 0,
        }
    }

    /// Appends everything after the last checkpoint to an output that was resumed there.
    pub(crate) fn replay(&self, output: &Output) {
        let checkpoint = self.checkpoint();
        let end = self.end();
        // Bytes that the ring has overwritten without a checkpoint after them are lost.
        let mut at = checkpoint
            .replay_from()
            .max(end.saturating_sub(self.ring()));
        while at < end {
            let (stream, until) = self.segment_at(at, end);
            let from = checkpoint.replay[stream as usize].clamp(at, until);
            let mut from = from;
            while from < until {
                let length = self
                    .contiguous(from)
                    .min(usize::try_from(until - from).unwrap_or(usize::MAX));
                // SAFETY: these bytes are before `end` and still in the ring, and nobody takes meanwhile: a process
                // replays before it starts to take.
                let bytes = unsafe { std::slice::from_raw_parts(self.place(from), length) };
                output.add_again(stream, from, bytes);
                from += length as u64;
            }
            at = until;
        }
        output.announce();
    }

    /// The offset of the next byte.
    pub(crate) fn end(&self) -> u64 {
        self.header().end.load(Ordering::Acquire)
    }

    /// The assistant's read position.
    pub(crate) fn cursor(&self) -> u64 {
        self.header().cursor.load(Ordering::Acquire)
    }

    /// Records the assistant's read position.
    pub(crate) fn set_cursor(&self, cursor: u64) {
        self.header().cursor.store(cursor, Ordering::Release);
    }

    /// A note of the owner; 0 at first.
    pub(crate) fn note(&self, index: usize) -> u64 {
        self.header().notes[index].load(Ordering::Acquire)
    }

    /// Records a note for the next owner.
    pub(crate) fn set_note(&self, index: usize, note: u64) {
        self.header().notes[index].store(note, Ordering::Release);
    }

    /// Begins a segment of this stream. Recorded before its bytes arrive, so
    /// that they are never attributed to the other stream.
    fn begin_segment(&self, stream: Stream, at: u64) {
        let header = self.header();
        let count = header.segments.load(Ordering::Relaxed);
        if count > 0 && self.segment(count - 1).1 == stream
            || count == 0 && stream == Stream::Stdout
        {
            return;
        }
        let entry = at * 2 + u64::from(stream == Stream::Stderr);
        self.entry(count).store(entry, Ordering::Relaxed);
        header.segments.store(count + 1, Ordering::Release);
    }

    fn last_stream(&self) -> Stream {
        let count = self.header().segments.load(Ordering::Acquire);
        if count == 0 {
            Stream::Stdout
        } else {
            self.segment(count - 1).1
        }
    }

    /// The stream of the byte at an offset, and the end of the segment.
    fn segment_at(&self, at: u64, end: u64) -> (Stream, u64) {
        let count = self.header().segments.load(Ordering::Acquire);
        let oldest = count.saturating_sub(SEGMENTS as u64);
        let mut until = end;
        for number in (oldest..count).rev() {
            let (from, stream) = self.segment(number);
            if from <= at {
                return (stream, until);
            }
            until = until.min(from);
        }
        (Stream::Stdout, until)
    }

    fn segment(&self, number: u64) -> (u64, Stream) {
        let entry = self.entry(number).load(Ordering::Relaxed);
        let stream = if entry % 2 == 1 {
            Stream::Stderr
        } else {
            Stream::Stdout
        };
        (entry / 2, stream)
    }

    fn entry(&self, number: u64) -> &AtomicU64 {
        let index = usize::try_from(number % SEGMENTS as u64).expect("it is small");
        &self.header().table[index]
    }

    fn slot(&self, number: u64) -> &Slot {
        &self.header().slots[usize::from(number % 2 == 1)]
    }

    fn base(&self, number: u64) -> &AtomicU64 {
        &self.header().bases[usize::from(number % 2 == 1)]
    }

    fn ring(&self) -> u64 {
        (self.memory.length - HEADER) as u64
    }

    /// The number of contiguous bytes from an offset on.
    fn contiguous(&self, at: u64) -> usize {
        usize::try_from(self.ring() - at % self.ring()).expect("the ring is in memory")
    }

    /// The address of the byte at an offset.
    fn place(&self, at: u64) -> *mut u8 {
        let index = usize::try_from(at % self.ring()).expect("the ring is in memory");
        // SAFETY: the index is less than the length of the ring, which starts at `HEADER`.
        unsafe { self.memory.start.as_ptr().add(HEADER + index) }
    }

    fn header(&self) -> &Header {
        const { assert!(size_of::<Header>() <= HEADER) };
        // SAFETY: the mapping is page-aligned, longer than a header, and lives as long as `self`. Every bit pattern is
        // valid for its fields, which are atomic because another process may change them.
        unsafe { self.memory.start.cast::<Header>().as_ref() }
    }
}

/// Memory shared by all processes that map the same file.
struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the memory belongs to no thread, and is only accessed by the rules of `Retained`.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(file: &OwnedFd, length: usize) -> io::Result<Self> {
        use std::os::fd::AsRawFd;
        // SAFETY: a new mapping replaces nothing; the file is as long as the mapping.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).expect("a mapping is never at address 0");
        Ok(Self { start, length })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `new` made, and nothing refers to it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
#[path = "retained_tests.rs"]
mod tests;
