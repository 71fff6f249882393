//! Reads a line that is one JSON object, as structured logs write them.
//!
//! Its kind is its level, its fields and the words of its message. A scanner is
//! enough: nothing is decoded, and a text that is not quite JSON is no log line.

use super::tokens::{LineToken, Tokens, hash};
use super::trouble::is_trouble;

/// A line of a structured log.
#[derive(Debug)]
pub(crate) struct JsonLine {
    pub(crate) kind: u64,
    /// Whether its level is a warning or above.
    pub(crate) is_troubled: bool,
}

/// The values of an object and of all within it, in order.
pub(crate) struct JsonValues<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    key: &'a str,
}

/// One value: its key, its depth and its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonValue<'a> {
    pub(crate) key: &'a str,
    pub(crate) depth: usize,
    pub(crate) text: &'a str,
}

impl JsonLine {
    /// Reads a line if it is an object with a level or a time.
    pub(crate) fn read(text: &str) -> Option<Self> {
        if !text.starts_with("{\"") || !text.ends_with('}') {
            return None;
        }
        let mut is_log = false;
        let mut is_troubled = false;
        let mut kind = hash(b"object");
        for value in JsonValues::of(text) {
            if value.depth != 1 {
                continue;
            }
            kind = kind.rotate_left(7) ^ hash(value.key.as_bytes());
            match value.key {
                "level" | "severity" | "lvl" | "log.level" | "levelname" => {
                    is_log = true;
                    is_troubled = is_high(value.text);
                    kind = kind.wrapping_add(hash(value.text.as_bytes()));
                }
                "time" | "ts" | "timestamp" | "@timestamp" => is_log = true,
                "msg" | "message" | "event" => {
                    let words = Tokens::of(value.text).map(|word| LineToken::read(word).hash);
                    kind = words.fold(kind, |sum, word| sum.rotate_left(9) ^ word);
                }
                _ => {}
            }
        }
        is_log.then_some(Self { kind, is_troubled })
    }
}

/// Whether a level is a warning or above; numbers are those of bunyan, where 30 is info.
fn is_high(level: &str) -> bool {
    match level.parse::<u32>() {
        Ok(number) => number >= 40,
        Err(_) => is_trouble(level),
    }
}

impl<'a> JsonValues<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
            key: "",
        }
    }

    /// The string that begins at the quote here, without its quotes.
    fn string(&mut self) -> &'a str {
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        let mut end = start;
        loop {
            match memchr::memchr2(b'"', b'\\', &bytes[end.min(bytes.len())..]) {
                Some(found) if bytes[end + found] == b'"' => {
                    end += found;
                    break;
                }
                Some(found) => end += found + 2,
                None => {
                    end = bytes.len();
                    break;
                }
            }
        }
        self.at = end + 1;
        self.text.get(start..end).unwrap_or("")
    }
}

impl<'a> Iterator for JsonValues<'a> {
    type Item = JsonValue<'a>;

    fn next(&mut self) -> Option<JsonValue<'a>> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                b'"' => {
                    let text = self.string();
                    if bytes.get(self.at) == Some(&b':') {
                        self.key = text;
                        continue;
                    }
                    return Some(self.value(text));
                }
                byte if byte.is_ascii_alphanumeric() || *byte == b'-' => {
                    let rest = &bytes[self.at..];
                    let length = rest
                        .iter()
                        .position(|byte| matches!(byte, b',' | b'}' | b']' | b' '))
                        .unwrap_or(rest.len());
                    let text = self.text.get(self.at..self.at + length).unwrap_or("");
                    self.at += length;
                    return Some(self.value(text));
                }
                _ => {}
            }
            self.at += 1;
        }
        None
    }
}

impl<'a> JsonValues<'a> {
    fn value(&self, text: &'a str) -> JsonValue<'a> {
        JsonValue {
            key: self.key,
            depth: self.depth,
            text,
        }
    }
}
