//! Renders the bytes of a child into the lines that a terminal would show.
//!
//! Start at [`Renderer::feed`]. The result does not depend on how the bytes are
//! split into chunks. UTF-8 is decoded before non-ASCII controls are
//! recognised, so a continuation byte is never taken for an 8-bit control. The
//! renderer has a single line: cursor movements between lines are dropped, like
//! colours. The cost per byte is constant, which is why erasing towards the
//! start of a line is not supported.

use super::line::LineBuffer;

/// A line is cut into pieces of this many characters.
pub(super) const LINE_LIMIT: usize = 64 << 10;

/// A device control string longer than this is treated as garbage.
const STRING_LIMIT: u32 = 1 << 20;

/// Receives lines while they are rendered.
pub(super) trait Sink {
    /// The line is about to be drawn over.
    fn redrawn(&mut self, _line: &mut LineBuffer) {}

    /// The line is complete; `position` counts the bytes up to its end.
    fn ended(&mut self, line: &mut LineBuffer, end: LineEnd, position: u64);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnd {
    Newline,
    /// The line continues, but exceeds [`LINE_LIMIT`].
    Piece,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Renderer {
    state: RenderState,
    /// The beginning of a character whose other bytes have not come yet.
    partial: [u8; 4],
    partial_length: usize,
    line: LineBuffer,
    /// The number of bytes fed before the current one.
    position: u64,
}

#[derive(Clone, Copy, Debug, Default)]
enum RenderState {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate byte; the final byte is to come.
    EscapeIntermediate,
    Control(Control),
    Swallow(StringKind),
}

/// A control sequence (`ESC [ … final`) so far.
#[derive(Clone, Copy, Debug, Default)]
struct Control {
    /// The first parameter.
    parameter: u16,
    /// Further parameters have begun.
    further: bool,
    /// A private or intermediate byte makes it a sequence of another meaning.
    private: bool,
}

/// A string that terminals swallow, up to its terminator.
#[derive(Clone, Copy, Debug)]
enum StringKind {
    /// OSC, SOS, PM and APC: a newline ends them too, lest an unfinished one
    /// swallows the rest of the output.
    OneLine,
    /// DCS may hold newlines; how long it is so far.
    Device(u32),
}

impl Renderer {
    /// A renderer whose first byte is at `position`.
    pub(super) fn at(position: u64) -> Self {
        Self {
            position,
            ..Self::default()
        }
    }

    /// The line that is being written.
    pub(super) fn line(&mut self) -> &mut LineBuffer {
        &mut self.line
    }

    /// Whether the end of a character is missing.
    pub(super) fn is_incomplete(&self) -> bool {
        self.partial_length > 0
    }

    /// Renders some more bytes.
    pub(super) fn feed(&mut self, bytes: &[u8], sink: &mut impl Sink) {
        let mut rest = bytes;
        while let Some(&byte) = rest.first() {
            let start = self.position;
            let used = match self.state {
                RenderState::Text => self.text(rest, sink),
                RenderState::Escape => self.escape(byte),
                RenderState::EscapeIntermediate => self.escape_intermediate(byte),
                RenderState::Control(control) => self.control(control, byte, sink),
                RenderState::Swallow(kind) => self.swallow(kind, byte),
            };
            self.position = start + used as u64;
            rest = &rest[used..];
        }
    }

    /// Finishes the input: an incomplete character is shown as invalid, an
    /// incomplete control sequence is dropped.
    pub(super) fn finish(&mut self, sink: &mut impl Sink) {
        self.replace_partial(sink);
        self.state = RenderState::Text;
    }

    /// Consumes text up to the next control, and that control.
    fn text(&mut self, bytes: &[u8], sink: &mut impl Sink) -> usize {
        let run = bytes
            .iter()
            .position(|&byte| byte < 0x20 || byte == 0x7f)
            .unwrap_or(bytes.len());
        if run > 0 {
            self.decode(&bytes[..run], sink);
            return run;
        }
        self.replace_partial(sink);
        match bytes[0] {
            b'\n' => {
                sink.ended(&mut self.line, LineEnd::Newline, self.position + 1);
                self.line.clear();
            }
            b'\r' => {
                sink.redrawn(&mut self.line);
                self.line.move_to(0);
            }
            b'\t' => self.show("\t", 1, sink),
            0x08 => self.line.move_to(self.line.column().saturating_sub(1)),
            0x1b => self.state = RenderState::Escape,
            _ => {}
        }
        1
    }

    /// Decodes text without controls, which may be cut inside a character at
    /// either end.
    fn decode(&mut self, bytes: &[u8], sink: &mut impl Sink) {
        let mut rest = bytes;
        while self.partial_length > 0 && !rest.is_empty() {
            let length = self.partial_length;
            let mut bytes = self.partial;
            bytes[length] = rest[0];
            match std::str::from_utf8(&bytes[..=length]) {
                Ok(character) => {
                    self.partial_length = 0;
                    self.show(character, 1, sink);
                    rest = &rest[1..];
                }
                Err(error) if error.error_len().is_none() => {
                    self.partial = bytes;
                    self.partial_length += 1;
                    self.position += 1;
                    rest = &rest[1..];
                }
                Err(_) => self.replace_partial(sink),
            }
        }
        let mut chunks = rest.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.show(chunk.valid(), chunk.valid().len(), sink);
            let invalid = chunk.invalid();
            if chunks.peek().is_none() && may_continue(invalid) {
                self.partial[..invalid.len()].copy_from_slice(invalid);
                self.partial_length = invalid.len();
            } else if !invalid.is_empty() {
                self.show("\u{fffd}", invalid.len(), sink);
            }
        }
    }

    fn replace_partial(&mut self, sink: &mut impl Sink) {
        if self.partial_length > 0 {
            self.partial_length = 0;
            self.show("\u{fffd}", 0, sink);
        }
    }

    /// Appends characters that represent `raw` input bytes.
    fn show(&mut self, text: &str, raw: usize, sink: &mut impl Sink) {
        let is_control = |character: char| ('\u{80}'..='\u{9f}').contains(&character);
        if !text.is_ascii() && text.contains(is_control) {
            for (index, part) in text.split(is_control).enumerate() {
                // Each of these controls takes two bytes.
                self.position += if index > 0 { 2 } else { 0 };
                self.show(part, part.len(), sink);
            }
            return;
        }
        let mut rest = text;
        while !rest.is_empty() {
            let room = LINE_LIMIT - self.line.column();
            let end = if rest.len() <= room {
                rest.len()
            } else {
                rest.char_indices()
                    .nth(room)
                    .map_or(rest.len(), |(index, _)| index)
            };
            self.line.write(&rest[..end]);
            self.position += if raw == text.len() { end } else { raw } as u64;
            rest = &rest[end..];
            if self.line.column() >= LINE_LIMIT {
                sink.ended(&mut self.line, LineEnd::Piece, self.position);
                self.line.clear();
            }
        }
    }

    fn escape(&mut self, byte: u8) -> usize {
        self.state = match byte {
            b'[' => RenderState::Control(Control::default()),
            b']' | b'X' | b'^' | b'_' => RenderState::Swallow(StringKind::OneLine),
            b'P' => RenderState::Swallow(StringKind::Device(0)),
            0x20..=0x2f => RenderState::EscapeIntermediate,
            0x1b => RenderState::Escape,
            0x30..=0x7e => RenderState::Text,
            // A control or a byte beyond ASCII is none of an escape sequence.
            _ => return self.give_up(),
        };
        1
    }

    fn escape_intermediate(&mut self, byte: u8) -> usize {
        match byte {
            0x20..=0x2f => {}
            0x30..=0x7e => self.state = RenderState::Text,
            _ => return self.give_up(),
        }
        1
    }

    fn control(&mut self, mut control: Control, byte: u8, sink: &mut impl Sink) -> usize {
        match byte {
            b'0'..=b'9' if !control.further => {
                control.parameter = control
                    .parameter
                    .saturating_mul(10)
                    .saturating_add(u16::from(byte - b'0'));
            }
            b'0'..=b'9' => {}
            b':' | b';' => control.further = true,
            0x20..=0x2f | 0x3c..=0x3f => control.private = true,
            0x40..=0x7e => {
                self.state = RenderState::Text;
                if !control.private {
                    self.perform(byte, usize::from(control.parameter), sink);
                }
                return 1;
            }
            _ => return self.give_up(),
        }
        self.state = RenderState::Control(control);
        1
    }

    /// Executes the few control sequences that affect the current line.
    fn perform(&mut self, end: u8, parameter: usize, sink: &mut impl Sink) {
        let column = self.line.column();
        match end {
            b'K' => {
                sink.redrawn(&mut self.line);
                match parameter {
                    0 => self.line.erase_to_end(),
                    2 => self.line.erase(),
                    _ => {}
                }
            }
            b'G' => {
                sink.redrawn(&mut self.line);
                self.line.move_to(parameter.max(1) - 1);
            }
            b'C' => self.line.move_to(column + parameter.max(1)),
            b'D' => self.line.move_to(column.saturating_sub(parameter.max(1))),
            _ => {}
        }
    }

    fn swallow(&mut self, kind: StringKind, byte: u8) -> usize {
        match (byte, kind) {
            // ESC begins the terminator `ESC \`; any other sequence ends the string too.
            (0x1b, _) => self.state = RenderState::Escape,
            (b'\n', StringKind::OneLine) => return self.give_up(),
            (0x07 | 0x18 | 0x1a, _) | (_, StringKind::Device(STRING_LIMIT..)) => {
                self.state = RenderState::Text;
            }
            (_, StringKind::OneLine) => {}
            (_, StringKind::Device(length)) => {
                self.state = RenderState::Swallow(StringKind::Device(length + 1));
            }
        }
        1
    }

    /// Abandons a sequence; the current byte is read as text.
    fn give_up(&mut self) -> usize {
        self.state = RenderState::Text;
        0
    }
}

/// Whether bytes at the end of a run may become a character with more bytes.
fn may_continue(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
