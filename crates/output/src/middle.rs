//! Finding notable lines in the middle of a very long span without rendering
//! all of it.
//!
//! Start at [`Output::scan_middle`]. The scan may take only a small share of
//! the time in which the output arrived, so that a reader of a flood does not
//! wait for it. The log of an hour is scanned completely.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::arrivals::Arrivals;
use super::excerpt::Cursor;
use super::line::LineBuffer;
use super::lines::{CHUNK, NotableFinder, RenderedLine};
use super::output::Output;
use super::render::{LineEnd, Sink};

/// The scan may take one part in this many of the time in which the output
/// arrived.
const SHARE: u32 = 20;
/// The minimum time budget of a scan, and the maximum.
const LEAST: Duration = Duration::from_millis(20);
const MOST: Duration = Duration::from_secs(2);
/// The number of bytes that are scanned regardless of the time budget.
const CERTAIN: u64 = 12 << 20;
/// The maximum number of lines that a scan returns.
const MOST_LINES: usize = 4096;

/// Bytes that are not rendered.
pub(super) struct MiddleSpan {
    pub(super) bytes: Range<u64>,
    /// Bytes that are not kept any more.
    pub(super) gap: Range<u64>,
    /// How many newlines it has.
    pub(super) lines: u64,
}

impl Output {
    /// Passes on the notable lines of a span, and counts the others.
    pub(super) fn scan_middle(
        &self,
        middle: &MiddleSpan,
        arrivals: &Arrivals,
        notable: NotableFinder,
        take: &mut impl FnMut(RenderedLine<'_>),
    ) {
        let MiddleSpan { bytes, gap, .. } = middle;
        let is_whole = gap.is_empty() || gap.start >= bytes.end || gap.end <= bytes.start;
        let end = if is_whole { bytes.end } else { gap.start };
        let came = arrivals
            .at(u64::MAX)
            .saturating_sub(arrivals.at(bytes.start));
        let deadline = Instant::now() + (came / SHARE).clamp(LEAST, MOST);
        let mut scan = MiddleScan {
            notable,
            arrivals,
            take,
            skipped: 0,
            given: 0,
        };
        let mut start = bytes.start;
        // The span begins within a line, whose number is that of its end.
        let mut is_within = true;
        let mut counted = 0;
        let mut is_in_time = true;
        while start < end && scan.given < MOST_LINES && is_in_time {
            let chunk = self.raw(start..end.min(start + CHUNK));
            is_in_time = start < bytes.start + CERTAIN || Instant::now() < deadline;
            let Some(last) = memchr::memrchr(b'\n', &chunk) else {
                start += chunk.len().max(1) as u64;
                is_within = true;
                continue;
            };
            let first = if is_within {
                memchr::memchr(b'\n', &chunk).map_or(0, |newline| newline + 1)
            } else {
                0
            };
            let lines = memchr::memchr_iter(b'\n', &chunk[..=last]).count() as u64;
            scan.skipped += u64::from(is_within);
            scan.read(&chunk[first..=last], start + first as u64);
            is_within = false;
            counted += lines;
            start += last as u64 + 1;
        }
        let skipped = scan.skipped + middle.lines.saturating_sub(counted);
        if skipped > 0 {
            take(RenderedLine::Skipped(skipped));
        }
    }
}

struct MiddleScan<'a, F> {
    notable: NotableFinder,
    arrivals: &'a Arrivals,
    take: &'a mut F,
    /// The number of lines since the last one that was passed on.
    skipped: u64,
    given: usize,
}

impl<F: FnMut(RenderedLine<'_>)> MiddleScan<'_, F> {
    /// Reads whole lines, the first of which is at `position`.
    fn read(&mut self, bytes: &[u8], position: u64) {
        let mut from = 0;
        while self.given < MOST_LINES
            && let Some(found) = (self.notable)(&bytes[from..])
        {
            let found = (from + found).min(bytes.len() - 1);
            let start = memchr::memrchr(b'\n', &bytes[from..found]);
            let start = start.map_or(from, |newline| from + newline + 1);
            let end = memchr::memchr(b'\n', &bytes[found..]);
            let end = end.map_or(bytes.len(), |newline| found + newline + 1);
            self.skipped += memchr::memchr_iter(b'\n', &bytes[from..start]).count() as u64;
            if self.skipped > 0 {
                (self.take)(RenderedLine::Skipped(std::mem::take(&mut self.skipped)));
            }
            self.render(&bytes[start..end], position + start as u64);
            from = end;
        }
        self.skipped += memchr::memchr_iter(b'\n', &bytes[from..]).count() as u64;
    }

    /// Renders one line.
    fn render(&mut self, line: &[u8], position: u64) {
        self.given += 1;
        let end = position + line.len() as u64;
        let mut whole = WholeLine::default();
        let mut cursor = Cursor::at(position);
        cursor.feed(line, end, &mut whole);
        let open = cursor.end_reading(&mut whole, true);
        whole.0.push_str(&open);
        (self.take)(RenderedLine::Complete {
            text: &whole.0,
            at: self.arrivals.at(end),
        });
    }
}

/// The text of one line.
#[derive(Default)]
struct WholeLine(String);

impl Sink for WholeLine {
    fn ended(&mut self, line: &mut LineBuffer, _: LineEnd, _: u64) {
        self.0.push_str(&line.untold());
    }
}

#[cfg(test)]
#[path = "middle_tests.rs"]
mod tests;
