//! What a reader gets of a span of output: all of it, or its head and its tail.
//!
//! Start at [`Excerpt::of_whole`] and [`Excerpt::of_parts`]. Where the bytes come
//! from is none of this file's business.

use std::fmt;
use std::path::PathBuf;

use super::line::Line;
use super::render::{LineEnd, Renderer, Sink};
use super::store::LogNote;

/// How far somebody has read an output. The default is its beginning.
#[derive(Clone, Default)]
pub struct Cursor {
    position: u64,
    /// The unfinished line, and what is held back until it completes.
    renderer: Renderer,
    /// How many lines are complete before it.
    lines: u64,
}

/// What one read gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// The text, with a marker line where something was left out.
    pub text: String,
    /// How many bytes of output are not in the text though they could be: those
    /// beyond the limit, and those that nothing has kept.
    pub omitted_bytes: u64,
    /// The log that has all of it. Only where something was omitted.
    pub log: Option<PathBuf>,
}

/// Rendered text that knows where in the output it came from.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    text: String,
    /// Where a line begins in the text and in the output.
    lines: Vec<(usize, u64)>,
    end: u64,
}

/// Whether a part of the output begins or ends inside of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Whole,
    Cut,
}

impl Cursor {
    /// A cursor that reads what comes after `position`.
    pub fn at(position: u64) -> Self {
        Self {
            position,
            renderer: Renderer::at(position),
            lines: 0,
        }
    }

    /// How many complete lines were read, or lie before the place at which it began if that is known.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The cursor with so many lines before it.
    pub(super) fn after_lines(self, lines: u64) -> Self {
        Self { lines, ..self }
    }

    /// Counts lines that were read.
    pub(super) fn add_lines(&mut self, lines: u64) {
        self.lines += lines;
    }

    /// Renders bytes up to `end` that follow what the cursor has seen. [`Cursor::end_reading`] follows the last ones.
    pub(super) fn feed(&mut self, bytes: &[u8], end: u64, sink: &mut impl Sink) {
        self.renderer.feed(bytes, sink);
        self.position = end;
    }

    /// Tells the line that is still open: what is new of it.
    pub(super) fn end_reading(&mut self, sink: &mut impl Sink, is_last: bool) -> String {
        if is_last {
            self.renderer.finish(sink);
        }
        let line = self.renderer.line();
        let open = line.untold().into_owned();
        line.tell();
        open
    }

    /// Where the next read begins.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Whether the end of a character is awaited.
    pub(super) fn holds_back(&self) -> bool {
        self.renderer.is_incomplete()
    }

    /// Renders bytes that follow what the cursor has seen. If they are the last,
    /// nothing is held back.
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
        line.tell();
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
    /// Whether the text can be told as it is.
    pub(super) fn fits(&self, limit: usize) -> bool {
        self.text.len() <= limit
    }

    /// Where in the output a place in the text is. Exact for plain text; inside
    /// of a line with control sequences it is in proportion.
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

    /// How much of the beginning is told within a budget.
    fn head(&self, budget: usize, edge: Edge) -> usize {
        if self.text.len() <= budget && edge == Edge::Whole {
            return self.text.len();
        }
        let most = self.text.floor_char_boundary(budget);
        let lines = self.text[..most].rfind('\n').map_or(0, |at| at + 1);
        if lines < budget / 2 { most } else { lines }
    }

    /// Where the end that is told within a budget begins.
    fn tail(&self, budget: usize, edge: Edge) -> usize {
        let length = self.text.len();
        if length <= budget && edge == Edge::Whole {
            return 0;
        }
        let least = self.text.ceil_char_boundary(length.saturating_sub(budget));
        // A line that begins exactly there is told whole.
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
    fn ended(&mut self, line: &mut Line, end: LineEnd, position: u64) {
        self.text.push_str(&line.untold());
        if end == LineEnd::Newline {
            self.text.push('\n');
        }
        self.lines.push((self.text.len(), position));
    }
}

impl Excerpt {
    /// A text that fits.
    pub(super) fn complete(rendered: Rendered) -> Self {
        Self {
            text: rendered.text,
            ..Self::default()
        }
    }

    /// Head and tail of one text that does not fit.
    pub(super) fn of_whole(rendered: &Rendered, limit: usize, log: LogNote) -> Self {
        Self::cut((rendered, Edge::Whole), (rendered, Edge::Whole), limit, log)
    }

    /// Head and tail of a span of which only both ends were rendered.
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
        // Something is left out whenever this is called, however it is counted.
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

/// A number with a comma between every three digits.
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
