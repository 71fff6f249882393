//! Reading an output line by line since a cursor. `line_range` reads lines by their numbers.
//!
//! Start at [`Output::read_lines`]. Lines are rendered and counted from 1; a line that is still open has no number.
//! Of a very long span only both ends are rendered. The lines between them are counted, and those that a scan of the
//! bytes finds notable are rendered too (`middle`).

use std::ops::Range;
use std::time::Duration;

use super::arrivals::Arrivals;
use super::excerpt::Cursor;
use super::line::LineBuffer;
use super::middle::MiddleSpan;
use super::output::Output;
use super::render::{LineEnd, Sink};

/// The longest span that is rendered whole.
pub(super) const WHOLE: u64 = 4 << 20;
/// How much is rendered of each end of a longer one.
pub(super) const END: u64 = 1 << 20;
/// How much is read at once.
pub(super) const CHUNK: u64 = 1 << 20;

/// Finds the first byte of something notable, in bytes that were not rendered.
pub type NotableFinder = fn(&[u8]) -> Option<usize>;

/// A rendered line, or lines that were not rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderedLine<'a> {
    /// A complete line.
    Complete {
        /// Its text, without the newline.
        text: &'a str,
        /// When it was complete, since the first output.
        at: Duration,
    },
    /// Lines in the middle of a very long span.
    Skipped(u64),
}

/// Joins the pieces of lines and counts them.
struct Joined<'a, F> {
    take: F,
    piece: String,
    count: u64,
    arrivals: &'a Arrivals,
}

impl<F: FnMut(RenderedLine<'_>)> Sink for Joined<'_, F> {
    fn ended(&mut self, line: &mut LineBuffer, end: LineEnd, position: u64) {
        if end == LineEnd::Piece {
            self.piece.push_str(&line.untold());
            return;
        }
        self.count += 1;
        let at = self.arrivals.at(position);
        if self.piece.is_empty() {
            let text = &line.untold();
            (self.take)(RenderedLine::Complete { text, at });
        } else {
            self.piece.push_str(&line.untold());
            let text = &*self.piece;
            (self.take)(RenderedLine::Complete { text, at });
            self.piece.clear();
        }
    }
}

impl Output {
    /// Passes every complete line since the cursor to `take`, moves the cursor
    /// to the end, and returns the new text of the open line. The first line
    /// may be the rest of a line that was open before. In the middle of a very
    /// long span only lines in which `notable` finds something are passed,
    /// within a time budget.
    pub fn read_lines(
        &self,
        cursor: &mut Cursor,
        notable: NotableFinder,
        take: impl FnMut(RenderedLine<'_>),
    ) -> String {
        let (range, gap, newlines, is_last, arrivals) = {
            let state = self.shared.state.lock();
            let start = cursor.position().min(state.store.end());
            (
                start..state.store.end(),
                state.store.gap(),
                state.store.newlines(),
                state.run_ended,
                state.arrivals.since(start),
            )
        };
        let (head, tail) = split(range, gap.clone());
        let mut joined = Joined {
            take,
            piece: String::new(),
            count: 0,
            arrivals: &arrivals,
        };
        self.feed(cursor, head.clone(), &mut joined);
        if tail.start > head.end {
            // The end of the open line is in the skipped part.
            joined.piece.clear();
            let tail = self.behind_newline(tail);
            let tail_lines = self.newlines(tail.clone());
            let before = cursor.lines() + joined.count;
            let skipped = newlines.saturating_sub(before + tail_lines);
            let middle = MiddleSpan {
                bytes: head.end..tail.start,
                gap,
                lines: skipped,
            };
            self.scan_middle(&middle, &arrivals, notable, &mut joined.take);
            let lines = before + skipped;
            *cursor = Cursor::at(tail.start).after_lines(lines);
            joined.count = 0;
            self.feed(cursor, tail, &mut joined);
        }
        let open = cursor.end_reading(&mut joined, is_last);
        let mut text = joined.piece;
        text.push_str(&open);
        cursor.add_lines(joined.count);
        text
    }

    /// The range without the end of the line that it begins in.
    fn behind_newline(&self, range: Range<u64>) -> Range<u64> {
        let bytes = self.raw(range.start..range.end.min(range.start + CHUNK));
        let newline = memchr::memchr(b'\n', &bytes);
        let start = newline.map_or(range.start, |newline| range.start + newline as u64 + 1);
        start..range.end
    }

    /// A cursor at the end of the output.
    pub fn end_cursor(&self) -> Cursor {
        let state = self.shared.state.lock();
        Cursor::at(state.store.end()).after_lines(state.store.newlines())
    }

    /// A cursor at offset `position` that knows the number of lines before it.
    pub fn cursor_at(&self, position: u64) -> Cursor {
        let end = self.end_cursor();
        let position = position.min(end.position());
        // Bytes that are no longer stored cannot be counted, so the shortcut needs all of them.
        let is_early =
            position < end.position() / 2 && self.shared.state.lock().store.gap().is_empty();
        let lines = if is_early {
            self.newlines(0..position)
        } else {
            let behind = self.newlines(position..end.position());
            end.lines().saturating_sub(behind)
        };
        Cursor::at(position).after_lines(lines)
    }

    /// Feeds a range to a cursor's renderer, a chunk at a time.
    pub(super) fn feed(&self, cursor: &mut Cursor, range: Range<u64>, sink: &mut impl Sink) {
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start + CHUNK);
            cursor.feed(&self.raw(start..end), end, sink);
            start = end;
        }
    }

    /// How many newlines a range has.
    pub(super) fn newlines(&self, range: Range<u64>) -> u64 {
        let mut count = 0;
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start + CHUNK);
            count += memchr::memchr_iter(b'\n', &self.raw(start..end)).count() as u64;
            start = end;
        }
        count
    }
}

/// The two ends of a range that are rendered. They meet if nothing is skipped.
fn split(range: Range<u64>, gap: Range<u64>) -> (Range<u64>, Range<u64>) {
    let gap = gap.start.max(range.start)..gap.end.min(range.end);
    if gap.is_empty() && range.end - range.start <= WHOLE {
        return (range.clone(), range.end..range.end);
    }
    let (head_end, tail_start) = if gap.is_empty() {
        (range.end, range.start)
    } else {
        (gap.start, gap.end)
    };
    let head = range.start..head_end.min(range.start.saturating_add(END));
    if head.end == range.end {
        return (head.clone(), range.end..range.end);
    }
    let tail = tail_start.max(range.end.saturating_sub(END)).max(head.end)..range.end;
    (head, tail)
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
