//! Reading lines of an output by number.
//!
//! Start at [`Output::line_range`]. Lines are located by counting newlines, and
//! only the requested ones are rendered. Of a very long range only the two ends
//! are rendered.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::ops::{Range, RangeInclusive};

use super::excerpt::Cursor;
use super::line::LineBuffer;
use super::lines::{CHUNK, END};
use super::output::Output;
use super::render::{LineEnd, Sink};

/// The length of a marker.
const MARKER: usize = 64;

/// A contiguous range of stored bytes, and the number of the line in which it
/// starts.
struct KeptPiece {
    bytes: Range<u64>,
    first: u64,
}

impl Output {
    /// Returns the lines with these numbers, each with its newline. A marker
    /// names lines that exceed the limit or are no longer stored. Numbers
    /// beyond the last complete line are ignored. The last line of a finished
    /// output counts as complete without a newline. No cursor moves.
    pub fn line_range(&self, lines: RangeInclusive<u64>, limit: usize) -> String {
        let (end, newlines, gap, is_finished) = {
            let state = self.shared.state.lock();
            let store = &state.store;
            (
                store.end(),
                store.newlines(),
                store.gap(),
                state.is_finished,
            )
        };
        let last_line = newlines + u64::from(is_finished);
        let lines = (*lines.start()).max(1)..=(*lines.end()).min(last_line);
        let mut range = CutRange::new(limit);
        for piece in self.pieces(end, newlines, gap) {
            if range.next < piece.first {
                let missing = range.next.max(*lines.start())..=(piece.first - 1).min(*lines.end());
                if !missing.is_empty() {
                    range.leave_out(missing);
                }
            }
            self.render_lines(&piece, &lines, is_finished, &mut range);
        }
        range.finish()
    }

    fn pieces(&self, end: u64, newlines: u64, gap: Range<u64>) -> Vec<KeptPiece> {
        let whole = KeptPiece {
            bytes: 0..gap.start.min(end),
            first: 1,
        };
        if gap.is_empty() {
            return vec![KeptPiece {
                bytes: 0..end,
                ..whole
            }];
        }
        let tail = gap.end.min(end)..end;
        let first = newlines.saturating_sub(self.newlines(tail.clone())) + 1;
        let tail = KeptPiece { bytes: tail, first };
        vec![whole, tail]
    }

    /// Renders the requested lines that lie in `piece`.
    fn render_lines(
        &self,
        piece: &KeptPiece,
        wanted: &RangeInclusive<u64>,
        is_finished: bool,
        range: &mut CutRange,
    ) {
        let first = piece.first.max(*wanted.start());
        if first > *wanted.end() {
            return;
        }
        let Some(start) = self.line_start(piece, first) else {
            return;
        };
        let rest = KeptPiece {
            bytes: start..piece.bytes.end,
            first,
        };
        let end = self.line_start(&rest, wanted.end() + 1);
        let bytes = start..end.unwrap_or(piece.bytes.end);
        // Colours and the like are in the bytes and not in the text.
        let end = END.max((range.half as u64).saturating_mul(4));
        let (head, tail) = if bytes.end - bytes.start > end.saturating_mul(2) {
            (bytes.start..bytes.start + end, bytes.end - end..bytes.end)
        } else {
            (bytes.clone(), bytes.end..bytes.end)
        };
        range.next = first;
        self.render_range(head.clone(), is_finished, range);
        if !tail.is_empty() {
            let skipped = self.newlines(head.end..tail.start);
            // The line that the skipped part begins in, and the one that it ends in, are left out as well.
            range.leave_out(range.next..=range.next + skipped);
            range.skips_first = true;
            self.render_range(tail, is_finished, range);
        }
    }

    fn render_range(&self, bytes: Range<u64>, is_finished: bool, range: &mut CutRange) {
        let end = bytes.end;
        let mut cursor = Cursor::at(bytes.start);
        self.feed(&mut cursor, bytes, range);
        let open = cursor.end_reading(range, true);
        let open = std::mem::take(&mut range.piece) + &open;
        if is_finished && !open.is_empty() && end == self.position() {
            range.push(&open);
            range.lacks_newline = true;
        }
    }

    /// The offset of the start of a line, unless the line starts after the
    /// piece.
    fn line_start(&self, piece: &KeptPiece, number: u64) -> Option<u64> {
        let mut before = number.checked_sub(piece.first)?;
        let mut start = piece.bytes.start;
        if before == 0 {
            return Some(start);
        }
        while start < piece.bytes.end {
            let end = piece.bytes.end.min(start + CHUNK);
            let bytes = self.raw(start..end);
            let count = memchr::memchr_iter(b'\n', &bytes).count() as u64;
            if count >= before {
                let place = usize::try_from(before - 1).expect("a chunk has fewer lines");
                let newline = memchr::memchr_iter(b'\n', &bytes).nth(place);
                return newline.map(|newline| start + newline as u64 + 1);
            }
            before -= count;
            start = end;
        }
        None
    }
}

/// Numbered lines within a limit: the first ones, the last ones, and a marker between.
struct CutRange {
    /// The number of the next line.
    next: u64,
    /// The next line is the rest of a line whose start was left out.
    skips_first: bool,
    /// The last line has no newline.
    lacks_newline: bool,
    piece: String,
    half: usize,
    head: String,
    is_head_full: bool,
    left_out: Option<RangeInclusive<u64>>,
    tail: VecDeque<(u64, String)>,
    tail_size: usize,
}

impl CutRange {
    fn new(limit: usize) -> Self {
        Self {
            next: 1,
            skips_first: false,
            lacks_newline: false,
            piece: String::new(),
            half: limit.saturating_sub(MARKER) / 2,
            head: String::new(),
            is_head_full: false,
            left_out: None,
            tail: VecDeque::new(),
            tail_size: 0,
        }
    }

    /// Adds the next line.
    fn push(&mut self, line: &str) {
        if std::mem::take(&mut self.skips_first) {
            return;
        }
        let number = self.next;
        self.next += 1;
        let line = shortened(number, line, self.half);
        if !self.is_head_full && self.head.len() + line.len() <= self.half {
            self.head.push_str(&line);
            return;
        }
        self.is_head_full = true;
        self.tail_size += line.len();
        self.tail.push_back((number, line));
        while self.tail_size > self.half
            && let Some((number, line)) = self.tail.pop_front()
        {
            self.tail_size -= line.len();
            self.extend_gap(number..=number);
        }
    }

    /// Records lines that are not stored or were not rendered.
    fn leave_out(&mut self, lines: RangeInclusive<u64>) {
        self.is_head_full = true;
        self.next = lines.end() + 1;
        if let Some((first, _)) = self.tail.front() {
            self.extend_gap(*first..=*lines.end());
            self.tail.clear();
            self.tail_size = 0;
        } else {
            self.extend_gap(lines);
        }
    }

    fn extend_gap(&mut self, lines: RangeInclusive<u64>) {
        self.left_out = Some(match self.left_out.take() {
            Some(gap) => *gap.start()..=*lines.end(),
            None => lines,
        });
    }

    fn finish(self) -> String {
        let mut text = self.head;
        if let Some(gap) = self.left_out {
            let (first, last) = gap.into_inner();
            let count = last - first + 1;
            let noun = if count == 1 { "line" } else { "lines" };
            write!(text, "[… {count} {noun}: {first}").expect("a string takes all");
            if last > first {
                write!(text, "–{last}").expect("a string takes all");
            }
            text.push_str(" …]\n");
        }
        for (_, line) in self.tail {
            text.push_str(&line);
        }
        if self.lacks_newline && text.ends_with('\n') {
            text.pop();
        }
        text
    }
}

/// A line and its newline, without its middle if it is longer than `longest`.
fn shortened(number: u64, line: &str, longest: usize) -> String {
    if line.len() < longest {
        return format!("{line}\n");
    }
    let room = longest.saturating_sub(MARKER) / 2;
    let head = line.floor_char_boundary(room);
    let tail = line.ceil_char_boundary(line.len() - room);
    let omitted = tail - head;
    format!(
        "{}[… {omitted} bytes of line {number} …]{}\n",
        &line[..head],
        &line[tail..]
    )
}

impl Sink for CutRange {
    fn ended(&mut self, line: &mut LineBuffer, end: LineEnd, _: u64) {
        if end == LineEnd::Piece {
            self.piece.push_str(&line.untold());
        } else if self.piece.is_empty() {
            let text = line.untold();
            self.push(&text);
        } else {
            let text = std::mem::take(&mut self.piece) + &line.untold();
            self.push(&text);
        }
    }
}

#[cfg(test)]
#[path = "line_range_tests.rs"]
mod tests;
