//! Reads a line that is one JSON object, as in structured logs.
//!
//! Its kind consists of its level, its fields and the words of its message. A
//! scanner is sufficient: nothing is decoded, and invalid JSON is not a log
//! line.

use super::tokens::{LineToken, Tokens, hash};
use super::trouble::{TroubleReader, is_trouble};

/// The maximum nesting of a level: `{"log": {"level": "error"}}`.
const LEVEL_DEPTH: usize = 2;

/// A line of a structured log.
#[derive(Debug)]
pub(crate) struct JsonLine {
    pub(crate) kind: u64,
    /// Whether its level is a warning or above, or its message reports trouble.
    pub(crate) is_troubled: bool,
}

/// The values of an object and of its nested objects, in order.
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
            let role = FieldRole::of(value.key);
            if value.depth != 1 {
                // A number in the depth may be the level of anything.
                is_troubled |= value.depth <= LEVEL_DEPTH
                    && role == FieldRole::Level
                    && is_trouble(value.text);
                continue;
            }
            kind = kind.rotate_left(7) ^ hash(value.key.as_bytes());
            match role {
                FieldRole::Level => {
                    is_log = true;
                    is_troubled |= is_high(value.text);
                    kind = kind.wrapping_add(hash(value.text.as_bytes()));
                }
                FieldRole::Priority => is_troubled |= is_urgent(value.text),
                FieldRole::Time => is_log = true,
                FieldRole::Message => {
                    let mut trouble = TroubleReader::default();
                    for word in Tokens::of(value.text) {
                        let token = LineToken::read(word);
                        trouble.read(&token);
                        kind = kind.rotate_left(9) ^ token.hash;
                    }
                    is_troubled |= trouble.finish();
                }
                FieldRole::Other => {}
            }
        }
        is_log.then_some(Self { kind, is_troubled })
    }
}

/// The role of a field in a line of a log, by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldRole {
    Level,
    /// A level of syslog, where 0 is the most urgent one.
    Priority,
    Time,
    Message,
    Other,
}

impl FieldRole {
    /// The role of a key. `@level`, `log.level`, `LEVEL` and `_level` are a
    /// level, like `level`.
    fn of(key: &str) -> Self {
        const ROLES: &[(FieldRole, &[&str])] = &[
            (
                FieldRole::Level,
                &["level", "severity", "lvl", "levelname", "loglevel"],
            ),
            (FieldRole::Priority, &["priority"]),
            (
                FieldRole::Time,
                &["time", "ts", "timestamp", "datetime", "eventtime"],
            ),
            (FieldRole::Message, &["msg", "message", "event", "log"]),
        ];
        let name = key.rsplit(['.', '@', '_', '-']).next().unwrap_or(key);
        let is_name = |names: &[&str]| names.iter().any(|other| other.eq_ignore_ascii_case(name));
        let mut roles = ROLES.iter();
        roles
            .find(|(_, names)| is_name(names))
            .map_or(Self::Other, |(role, _)| *role)
    }
}

/// Whether a priority of syslog is a warning or above.
fn is_urgent(priority: &str) -> bool {
    priority.parse::<u32>().is_ok_and(|number| number <= 4)
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
