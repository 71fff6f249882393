//! Filters tool output for a person's terminal.
//!
//! A tool may print sequences that fill the clipboard, rename the window or
//! make the terminal reply. Only text, line ends, tabs and colours (SGR) pass.

/// Removes sequences from a stream. Sequences may be split between chunks.
#[derive(Debug, Default)]
pub(crate) struct SafeText {
    state: SequenceState,
    /// The incomplete sequence, in case it is a colour.
    sequence: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum SequenceState {
    #[default]
    Text,
    /// After the first byte of a two-byte control character or of a letter.
    MaybeControl,
    Escape,
    /// Between an escape and its final byte.
    Intermediate,
    Control,
    /// In a control string.
    String,
    /// After an escape in a control string.
    StringEscape,
}

/// The maximum length of a colour sequence.
const LONGEST: usize = 128;

impl SafeText {
    /// Filters the next chunk.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.take(*byte, &mut text);
        }
        text
    }

    fn take(&mut self, byte: u8, text: &mut Vec<u8>) {
        self.state = match (self.state, byte) {
            (SequenceState::MaybeControl, 0x80..=0x9f) => self.after_control(byte),
            (SequenceState::MaybeControl, _) => {
                text.push(0xc2);
                self.state = SequenceState::Text;
                return self.take(byte, text);
            }
            // Some terminals also end a string at CAN and SUB.
            (SequenceState::String, 0x07)
            | (SequenceState::StringEscape, b'\\')
            | (SequenceState::String | SequenceState::StringEscape, 0x18 | 0x1a) => {
                SequenceState::Text
            }
            (SequenceState::String | SequenceState::StringEscape, 0x1b) => {
                SequenceState::StringEscape
            }
            (SequenceState::String, _) => SequenceState::String,
            // An escape that does not end the string starts another sequence.
            (SequenceState::StringEscape, _) => self.after_escape(byte),
            (_, 0x1b) => SequenceState::Escape,
            (_, 0x18 | 0x1a) => SequenceState::Text,
            (SequenceState::Text, 0xc2) => SequenceState::MaybeControl,
            (SequenceState::Text, b'\n' | b'\r' | b'\t' | 0x20..=0x7e | 0x80..) => {
                text.push(byte);
                SequenceState::Text
            }
            (state, 0x00..=0x1f | 0x7f) => state,
            (SequenceState::Escape, _) => self.after_escape(byte),
            (SequenceState::Intermediate, 0x20..=0x2f) => SequenceState::Intermediate,
            (SequenceState::Intermediate, _) => SequenceState::Text,
            (SequenceState::Control, 0x20..=0x3f) => {
                self.sequence.push(byte);
                SequenceState::Control
            }
            (SequenceState::Control, _) => {
                let is_colour = byte == b'm' && self.sequence.len() < LONGEST;
                let plain = |byte: &u8| matches!(byte, b'0'..=b'9' | b';' | b':');
                if is_colour && self.sequence.iter().all(plain) {
                    text.extend(b"\x1b[");
                    text.append(&mut self.sequence);
                    text.push(b'm');
                }
                SequenceState::Text
            }
        };
        self.sequence.truncate(LONGEST);
    }

    fn after_escape(&mut self, byte: u8) -> SequenceState {
        match byte {
            b'[' => {
                self.sequence.clear();
                SequenceState::Control
            }
            b']' | b'P' | b'X' | b'^' | b'_' => SequenceState::String,
            0x20..=0x2f => SequenceState::Intermediate,
            _ => SequenceState::Text,
        }
    }

    /// A C1 control character is equivalent to an escape and a letter.
    fn after_control(&mut self, byte: u8) -> SequenceState {
        self.after_escape(byte - 0x40)
    }
}

#[cfg(test)]
#[path = "safe_text_tests.rs"]
mod tests;
