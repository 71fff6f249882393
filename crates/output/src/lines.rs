//! Reading an output line by line: since a cursor, or by the numbers of lines.
//!
//! Start at [`Output::read_lines`]. Lines are rendered and counted from 1; a line that is still open has no number.
//! Of a very long span only both ends are rendered; the lines between them are counted.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use super::arrivals::Arrivals;
use super::excerpt::Cursor;
use super::line::Line;
use super::output::Output;
use super::render::{LineEnd, Sink};

/// How much is rendered of each end of a span.
const END: u64 = 8 << 20;
/// The length of a marker.
const MARKER: usize = 64;
/// How much is read at once.
const CHUNK: u64 = 1 << 20;

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
    fn ended(&mut self, line: &mut Line, end: LineEnd, position: u64) {
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
    /// Gives every complete line since the cursor to `take`, moves the cursor to the end, and returns what is new of the
    /// line that is still open. The first line may be the rest of one that was open before.
    pub fn read_lines(&self, cursor: &mut Cursor, take: impl FnMut(RenderedLine<'_>)) -> String {
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
        let (head, tail) = split(range, gap);
        let mut joined = Joined {
            take,
            piece: String::new(),
            count: 0,
            arrivals: &arrivals,
        };
        self.feed(cursor, head.clone(), &mut joined);
        if tail.start > head.end {
            // Whatever the open line was, its end is in what is skipped.
            joined.piece.clear();
            let behind = self.newlines(tail.clone());
            let skipped = newlines.saturating_sub(cursor.lines() + joined.count + behind);
            (joined.take)(RenderedLine::Skipped(skipped));
            let lines = cursor.lines() + joined.count + skipped;
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

    /// The lines with these numbers, each with its newline. If they do not fit the limit, lines between are left out and
    /// a marker names them. Numbers beyond the last complete line give nothing. Moves nothing.
    pub fn line_range(&self, lines: RangeInclusive<u64>, limit: usize) -> String {
        let mut range = CutRange::new(limit);
        let mut number = 0;
        self.read_lines(&mut Cursor::default(), |line| match line {
            RenderedLine::Complete { text, .. } => {
                number += 1;
                if lines.contains(&number) {
                    range.push(number, text);
                }
            }
            RenderedLine::Skipped(count) => {
                let first = (number + 1).max(*lines.start());
                number += count;
                let last = number.min(*lines.end());
                if first <= last {
                    range.leave_out(first..=last);
                }
            }
        });
        range.finish()
    }

    /// A cursor behind everything that has come so far.
    pub fn end_cursor(&self) -> Cursor {
        let state = self.shared.state.lock();
        Cursor::at(state.store.end()).after_lines(state.store.newlines())
    }

    /// Feeds a range to a cursor's renderer, a chunk at a time.
    fn feed(&self, cursor: &mut Cursor, range: Range<u64>, sink: &mut impl Sink) {
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start + CHUNK);
            cursor.feed(&self.raw(start..end), end, sink);
            start = end;
        }
    }

    /// How many newlines a range has.
    fn newlines(&self, range: Range<u64>) -> u64 {
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

/// Numbered lines within a limit: the first ones, the last ones, and a marker between.
struct CutRange {
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
            half: limit.saturating_sub(MARKER) / 2,
            head: String::new(),
            is_head_full: false,
            left_out: None,
            tail: VecDeque::new(),
            tail_size: 0,
        }
    }

    fn push(&mut self, number: u64, line: &str) {
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

    /// Notes lines that nobody has kept or rendered.
    fn leave_out(&mut self, lines: RangeInclusive<u64>) {
        self.is_head_full = true;
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
            writeln!(text, "[… {count} {noun}: {first}–{last} …]").expect("a string takes all");
        }
        for (_, line) in self.tail {
            text.push_str(&line);
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

/// The two ends of a range that are rendered. They meet if nothing is skipped.
fn split(range: Range<u64>, gap: Range<u64>) -> (Range<u64>, Range<u64>) {
    let gap = gap.start.max(range.start)..gap.end.min(range.end);
    let (head_end, tail_start) = if !gap.is_empty() {
        (gap.start, gap.end)
    } else if range.end - range.start <= 2 * END {
        (range.end, range.end)
    } else {
        (range.end, range.start)
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
