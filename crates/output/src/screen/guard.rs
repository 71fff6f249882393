//! Filters input that the parser does not handle well. Everything else passes
//! unchanged.
//!
//! Start at [`Guard::feed`]. Operating system commands (titles, colours, links)
//! are truncated, because the parser buffers them without a bound. A split
//! character is held back until it is complete, because the parser would lose
//! the text after it.

use memchr::{memchr, memchr3};

/// The maximum length of a command; longer ones are truncated.
const LIMIT: usize = 4 * 1024;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;
const CANCEL: u8 = 0x18;
const SUBSTITUTE: u8 = 0x1a;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum GuardState {
    #[default]
    Outside,
    Escaped,
    /// Inside of a command, of which so many bytes have passed.
    Inside(usize),
}

/// The state of the filter within the stream.
#[derive(Debug, Default)]
pub(super) struct Guard {
    state: GuardState,
    /// The beginning of a character.
    cut: Vec<u8>,
}

impl Guard {
    /// Hands on what may pass, in order.
    pub(super) fn feed(&mut self, bytes: &[u8], pass: impl FnMut(&[u8])) {
        let mut joined = std::mem::take(&mut self.cut);
        let bytes = if joined.is_empty() {
            bytes
        } else {
            joined.extend_from_slice(bytes);
            &joined
        };
        let (whole, cut) = bytes.split_at(whole_characters(bytes));
        self.cut.extend_from_slice(cut);
        self.pass(whole, pass);
    }

    /// Whether nothing is held back.
    pub(super) fn is_idle(&self) -> bool {
        self.cut.is_empty()
    }

    fn pass(&mut self, mut bytes: &[u8], mut pass: impl FnMut(&[u8])) {
        while !bytes.is_empty() {
            let (length, passes) = self.next(bytes);
            let (part, rest) = bytes.split_at(length);
            pass(&part[..passes]);
            bytes = rest;
        }
    }

    /// The length of the next unit, and the number of its bytes that pass.
    fn next(&mut self, bytes: &[u8]) -> (usize, usize) {
        match self.state {
            GuardState::Outside => {
                let length = memchr(ESCAPE, bytes).map_or(bytes.len(), |at| at + 1);
                if bytes[length - 1] == ESCAPE {
                    self.state = GuardState::Escaped;
                }
                (length, length)
            }
            GuardState::Escaped => {
                self.state = match bytes[0] {
                    b']' => GuardState::Inside(0),
                    CANCEL | SUBSTITUTE | b' '..=b'~' => GuardState::Outside,
                    // Everything else is executed or ignored, and the sequence continues after it.
                    _ => GuardState::Escaped,
                };
                (1, 1)
            }
            GuardState::Inside(before) => {
                let end = end_of_command(bytes);
                let length = end.unwrap_or(bytes.len());
                let passes = length.min(LIMIT.saturating_sub(before));
                self.state = GuardState::Inside(before + passes);
                if end.is_some() {
                    // What ends it is seen from outside, where an escape begins something new.
                    self.state = GuardState::Outside;
                }
                (length, passes)
            }
        }
    }
}

/// The number of bytes before an incomplete character at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    for (behind, byte) in (1..4).zip(bytes.iter().rev()) {
        let length = match byte {
            0x80..0xc0 => continue,
            0xc0..0xe0 => 2,
            0xe0..0xf0 => 3,
            0xf0..0xf8 => 4,
            _ => 1,
        };
        return bytes.len() - if length > behind { behind } else { 0 };
    }
    bytes.len()
}

fn end_of_command(bytes: &[u8]) -> Option<usize> {
    let limit = memchr3(ESCAPE, BELL, CANCEL, bytes);
    let before = &bytes[..limit.unwrap_or(bytes.len())];
    memchr(SUBSTITUTE, before).or(limit)
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
