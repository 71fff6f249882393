//! Reading an output: as text since a cursor, or as raw bytes.
//!
//! Start at [`Output::read`]. Bytes in memory are copied under the lock; files
//! are read and text is rendered without it. The work is bounded by the size of
//! a reply, not by the length of the span.

use std::ops::Range;

use super::excerpt::{Cursor, Excerpt, Rendered};
use super::output::{Output, OutputShared};
use super::store::{ByteStore, LogNote, Part};

/// The minimum number of bytes rendered at each end of a span that is too large
/// to render completely.
const LEAST_WINDOW: u64 = 64 << 10;

/// The bytes that one read examines.
enum ReadSpan {
    Whole(Part),
    Ends { head: Part, tail: Part },
}

impl Output {
    /// Returns the text since the cursor, at most `limit` bytes, and moves the
    /// cursor to the end.
    ///
    /// The text is as a terminal shows it: control sequences are stripped, a
    /// redrawn line has its last form, invalid UTF-8 is replaced. An unfinished
    /// line is returned as it is; a later read returns the added text, or the
    /// whole line if it was redrawn. If the text exceeds the limit, its middle
    /// is omitted and left to the log.
    pub fn read(&self, cursor: &mut Cursor, limit: usize) -> Excerpt {
        let (span, is_last) = {
            let state = self.shared.state.lock();
            let span = ReadSpan::since(cursor.position(), &state.store, limit);
            (span, state.run_ended)
        };
        let (head, tail) = match span {
            ReadSpan::Whole(part) => {
                let range = part.range.clone();
                let (start, bytes) = self.shared.load(part);
                if start == range.start {
                    return self.excerpt(cursor.render(&bytes, is_last), limit);
                }
                (Vec::new(), (start, bytes))
            }
            ReadSpan::Ends { head, tail } => (self.shared.load(head).1, self.shared.load(tail)),
        };
        let head = cursor.render(&head, false);
        let (start, bytes) = tail;
        // The window may begin inside a character.
        let inside = bytes
            .iter()
            .take(3)
            .take_while(|byte| **byte & 0xc0 == 0x80);
        let inside = inside.count();
        *cursor = Cursor::at(start + inside as u64);
        let tail = cursor.render(&bytes[inside..], is_last);
        Excerpt::of_parts(&head, &tail, limit, self.spill())
    }

    /// Returns the whole output within the limit, in the format of
    /// [`Output::read`]. No cursor moves.
    pub fn read_all(&self, limit: usize) -> Excerpt {
        self.read(&mut Cursor::default(), limit)
    }

    /// Whether output arrived since the cursor.
    pub fn has_new(&self, cursor: &Cursor) -> bool {
        let state = self.shared.state.lock();
        cursor.position() < state.store.end() || (state.run_ended && cursor.holds_back())
    }

    /// The bytes of a range as they were pushed, from memory or the log. Bytes
    /// that neither has are skipped. The result is held in memory, so the range
    /// should be small.
    pub fn raw(&self, range: Range<u64>) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.append_raw(range, &mut bytes);
        bytes
    }

    /// Appends the bytes of a range to others, as [`Output::raw`] gives them.
    pub fn append_raw(&self, range: Range<u64>, bytes: &mut Vec<u8>) {
        let parts = {
            let store = &self.shared.state.lock().store;
            if store.append_memory(&range, bytes) {
                return;
            }
            let gap = store.gap();
            let ranges = if gap.is_empty() {
                [range, 0..0]
            } else {
                let before = range.start..range.end.min(gap.start);
                [before, range.start.max(gap.end)..range.end]
            };
            ranges.map(|range| store.part(range))
        };
        for part in parts {
            bytes.append(&mut self.shared.load(part).1);
        }
    }

    fn excerpt(&self, rendered: Rendered, limit: usize) -> Excerpt {
        if rendered.fits(limit) {
            Excerpt::complete(rendered)
        } else {
            Excerpt::of_whole(&rendered, limit, self.spill())
        }
    }

    /// Flushes the log, so that it has the omitted text.
    fn spill(&self) -> LogNote {
        self.shared.state.lock().store.spill()
    }
}

impl OutputShared {
    /// Reads a part and returns the offset of its first byte, which is higher
    /// than requested if the log has dropped bytes meanwhile.
    pub(super) fn load(&self, part: Part) -> (u64, Vec<u8>) {
        let range = part.range.clone();
        let is_on_disk = part.is_on_disk();
        let mut bytes = part.bytes();
        if !is_on_disk {
            return (range.start, bytes);
        }
        let gap = self.state.lock().store.gap();
        if gap.start >= range.end || gap.end <= range.start {
            return (range.start, bytes);
        }
        let start = gap.end.min(range.end);
        let dropped = usize::try_from(start - range.start).unwrap_or(usize::MAX);
        bytes.drain(..dropped.min(bytes.len()));
        (start, bytes)
    }
}

impl ReadSpan {
    fn since(position: u64, store: &ByteStore, limit: usize) -> Self {
        let range = position.min(store.end())..store.end();
        let window = LEAST_WINDOW.max((limit as u64).saturating_mul(2));
        let gap = store.gap();
        let gap = gap.start.max(range.start)..gap.end.min(range.end);
        let in_memory = store.end() - store.start();
        let most = window.saturating_mul(2).max(in_memory);
        let (head_end, tail_start) = if !gap.is_empty() {
            (gap.start, gap.end)
        } else if range.end - range.start <= most {
            return Self::Whole(store.part(range));
        } else {
            (range.end, range.start)
        };
        let head = range.start..head_end.min(range.start.saturating_add(window));
        let tail = tail_start.max(range.end.saturating_sub(window))..range.end;
        Self::Ends {
            head: store.part(head),
            tail: store.part(tail),
        }
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
