//! Excerpts: a span of output in full, or its head and tail within a limit.
//!
//! Start at [`Excerpt::of_whole`] and [`Excerpt::of_parts`]. This module only
//! cuts rendered text; `read` fetches the bytes.

use std::fmt;
use std::path::PathBuf;

use super::line::LineBuffer;
use super::render::{LineEnd, Renderer, Sink};
use super::store::LogNote;

/// A reader's position in an output. The default is the start.
#[derive(Clone, Default)]
pub struct Cursor {
    position: u64,
    /// The unfinished line, and bytes of an incomplete character or sequence.
    renderer: Renderer,
    /// The number of complete lines before the position.
    lines: u64,
}

/// The result of one read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// The text, with a marker line where something was left out.
    pub text: String,
    /// The number of bytes missing from the text: those beyond the limit, and
    /// those that are no longer stored.
    pub omitted_bytes: u64,
    /// The log with the complete output. Set only if something was omitted.
    pub log: Option<PathBuf>,
}

/// Rendered text with a map from text positions to output offsets.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    text: String,
    /// Start of each line: its index in the text and its offset in the output.
    lines: Vec<(usize, u64)>,
    end: u64,
}

/// Whether a part of the output starts or ends in the middle of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Whole,
    Cut,
}

impl Cursor {
    /// A cursor at offset `position`.
    pub fn at(position: u64) -> Self {
        Self {
            position,
            renderer: Renderer::at(position),
            lines: 0,
        }
    }

    /// The number of complete lines before the cursor. Counts from the cursor's
    /// starting point if the lines before that are unknown.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Sets the number of lines before the cursor.
    pub(super) fn after_lines(self, lines: u64) -> Self {
        Self { lines, ..self }
    }

    /// Counts lines that were read.
    pub(super) fn add_lines(&mut self, lines: u64) {
        self.lines += lines;
    }

    /// Renders the next bytes, which end at offset `end`. Call
    /// [`Cursor::end_reading`] after the last ones.
    pub(super) fn feed(&mut self, bytes: &[u8], end: u64, sink: &mut impl Sink) {
        self.renderer.feed(bytes, sink);
        self.position = end;
    }

    /// Returns the new text of the line that is still open.
    pub(super) fn end_reading(&mut self, sink: &mut impl Sink, is_last: bool) -> String {
        if is_last {
            self.renderer.finish(sink);
        }
        let line = self.renderer.line();
        let open = line.untold().into_owned();
        line.mark_read();
        open
    }

    /// The offset at which the next read starts.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Whether the cursor waits for the rest of a multi-byte character.
    pub(super) fn holds_back(&self) -> bool {
        self.renderer.is_incomplete()
    }

    /// Renders the next bytes. If `is_last`, incomplete characters are rendered
    /// too.
    pub(super) fn render(&mut self, bytes: &[u8], is_last: bool) -> Rendered {
        let mut rendered = Rendered::default();
        rendered.lines.push((0, self.position));
        self.renderer.feed(bytes, &mut rendered);
        self.position += bytes.len() as u64;
        if is_last {
            self.renderer.finish(&mut rendered);
        }
        let line = self.renderer.line();
        rendered.text.push_str(&line.untold());
        rendered.end = self.position;
        line.mark_read();
        self.lines += memchr::memchr_iter(b'\n', rendered.text.as_bytes()).count() as u64;
        rendered
    }
}

impl fmt::Debug for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Cursor")
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

impl Rendered {
    /// Whether the text fits into `limit` bytes.
    pub(super) fn fits(&self, limit: usize) -> bool {
        self.text.len() <= limit
    }

    /// Maps an index in the text to an offset in the output. Exact for plain
    /// text; interpolated within a line that has control sequences.
    fn position(&self, index: usize) -> u64 {
        let line = self.lines.partition_point(|&(start, _)| start <= index);
        let (start, position) = self.lines[line - 1];
        let next = self.lines.get(line).copied();
        let (end, end_position) = next.unwrap_or((self.text.len(), self.end));
        if index == end {
            return end_position;
        }
        let raw = u128::from(end_position - position);
        let share = raw * (index - start) as u128 / (end - start) as u128;
        position + u64::try_from(share).expect("a share is no more than the whole")
    }

    /// The length of the head that fits into the budget.
    fn head(&self, budget: usize, edge: Edge) -> usize {
        if self.text.len() <= budget && edge == Edge::Whole {
            return self.text.len();
        }
        let most = self.text.floor_char_boundary(budget);
        let lines = self.text[..most].rfind('\n').map_or(0, |at| at + 1);
        if lines < budget / 2 { most } else { lines }
    }

    /// The start of the tail that fits into the budget.
    fn tail(&self, budget: usize, edge: Edge) -> usize {
        let length = self.text.len();
        if length <= budget && edge == Edge::Whole {
            return 0;
        }
        let least = self.text.ceil_char_boundary(length.saturating_sub(budget));
        // A line that begins exactly there is shown whole.
        let newline = match least.checked_sub(1) {
            Some(before) if self.text.as_bytes()[before] == b'\n' => Some(least),
            _ => self.text[least..].find('\n').map(|at| least + at + 1),
        };
        let lines = newline.unwrap_or(length);
        if length - lines < budget / 2 {
            least
        } else {
            lines
        }
    }
}

impl Sink for Rendered {
    fn ended(&mut self, line: &mut LineBuffer, end: LineEnd, position: u64) {
        self.text.push_str(&line.untold());
        if end == LineEnd::Newline {
            self.text.push('\n');
        }
        self.lines.push((self.text.len(), position));
    }
}

impl Excerpt {
    /// An excerpt of a text that fits.
    pub(super) fn complete(rendered: Rendered) -> Self {
        Self {
            text: rendered.text,
            ..Self::default()
        }
    }

    /// The head and the tail of one text that does not fit.
    pub(super) fn of_whole(rendered: &Rendered, limit: usize, log: LogNote) -> Self {
        Self::cut((rendered, Edge::Whole), (rendered, Edge::Whole), limit, log)
    }

    /// The head and the tail of a span whose middle was not rendered.
    pub(super) fn of_parts(head: &Rendered, tail: &Rendered, limit: usize, log: LogNote) -> Self {
        Self::cut((head, Edge::Cut), (tail, Edge::Cut), limit, log)
    }

    fn cut(head: (&Rendered, Edge), tail: (&Rendered, Edge), limit: usize, log: LogNote) -> Self {
        let (head, head_edge) = head;
        let (tail, tail_edge) = tail;
        let most = tail.end - head.lines[0].1;
        // With a newline before and one after it.
        let room = limit.checked_sub(marker(most, &log).len() + 2);
        let head_end = head.head(room.unwrap_or(0) / 2, head_edge);
        let tail_start = tail.tail(room.map_or(limit, |room| room - head_end), tail_edge);
        // This is called only if something is left out.
        let omitted_bytes = (tail.position(tail_start) - head.position(head_end)).max(1);
        let mut text = head.text[..head_end].to_owned();
        if room.is_some() {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&marker(omitted_bytes, &log));
            text.push('\n');
        }
        text.push_str(&tail.text[tail_start..]);
        Self {
            text,
            omitted_bytes,
            log: match log {
                LogNote::At(path) => Some(path),
                LogNote::None | LogNote::Failed(_) => None,
            },
        }
    }
}

fn marker(bytes: u64, log: &LogNote) -> String {
    let bytes = grouped(bytes);
    match log {
        LogNote::Failed(reason) => {
            format!("[… {bytes} bytes omitted, the log could not be written: {reason} …]")
        }
        LogNote::None | LogNote::At(_) => format!("[… {bytes} bytes omitted …]"),
    }
}

/// Formats a number with thousands separators.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
