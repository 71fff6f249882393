//! Diagnostics of compilers and linters: `place: severity: message`, or a
//! message with its place on the next line.
//!
//! A repeated warning is summarised by its places. Errors are never folded.

use super::kinds::HashedMap;
use super::line::TextLine;
use super::tokens::hash;

/// The number of times that a warning is shown whole.
const SHOWN: usize = 2;
/// The maximum length of a name for a message.
const LONGEST_NAME: usize = 60;

/// A warning that is summarised by its place.
#[derive(Clone, Debug)]
pub(crate) struct FoldedWarning<'a> {
    /// Its first line.
    pub(crate) head: usize,
    /// The line after it.
    pub(crate) end: usize,
    /// A rule's name, or the message.
    pub(crate) name: &'a str,
    pub(crate) file: &'a str,
    /// The line and column in the file.
    pub(crate) position: &'a str,
}

/// A place in a file at the beginning of a line, and the text after it.
struct Located<'a> {
    file: &'a str,
    /// `line` or `line:column`.
    position: &'a str,
    rest: &'a str,
}

/// A warning as it was found.
struct Warning<'a> {
    file: &'a str,
    position: &'a str,
    name: &'a str,
    /// Equal for warnings with the same message.
    message: u64,
    end: usize,
}

/// The repeated warnings: all but the first two of a message.
pub(crate) fn fold_warnings<'a>(lines: &[TextLine<'a>]) -> Vec<FoldedWarning<'a>> {
    let mut seen: HashedMap<usize> = HashedMap::default();
    let mut folded = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some(warning) = Warning::at(lines, at) else {
            at += 1;
            continue;
        };
        let count = seen.entry(warning.message).or_default();
        *count += 1;
        if *count > SHOWN {
            folded.push(FoldedWarning {
                head: at,
                end: warning.end,
                name: warning.name,
                file: warning.file,
                position: warning.position,
            });
        }
        at = warning.end;
    }
    folded
}

impl<'a> Warning<'a> {
    fn at(lines: &[TextLine<'a>], head: usize) -> Option<Self> {
        let text = lines[head].text;
        match text.as_bytes().first()? {
            b'w' => Self::above_place(lines, head),
            first if first.is_ascii_alphanumeric() || matches!(first, b'.' | b'/' | b'_') => {
                Self::behind_place(lines, head)
            }
            _ => None,
        }
        .or_else(|| Self::behind_place(lines, head))
    }

    /// `src/a.c:3:7: warning: unused variable 'x' [unused-variable]`
    fn behind_place(lines: &[TextLine<'a>], head: usize) -> Option<Self> {
        let located = Located::read(lines[head].text)?;
        let (word, rest) = split_word(located.rest);
        let code = rule_code(word);
        let is_warning = matches!(word, "warning" | "info" | "hint" | "remark");
        if !is_warning && code.is_none() {
            return None;
        }
        let mut end = head + 1;
        while lines
            .get(end)
            .is_some_and(|line| !line.is_blank() && (line.indent > 0 || is_note(line.text)))
        {
            end += 1;
        }
        let message = match code {
            // Letters that linters use for errors: what they say must be equal.
            Some(code) if code.starts_with(['E', 'F']) => hash(code.as_bytes()) ^ plain_hash(rest),
            Some(code) => hash(code.as_bytes()),
            None => plain_hash(rest),
        };
        // `warning CS8618: Non-nullable property`
        let code = code.or_else(|| rule_code(split_word(rest).0));
        Some(Self {
            file: located.file,
            position: located.position,
            name: code.unwrap_or_else(|| name_of(rest)),
            message,
            end,
        })
    }

    /// `warning: unused variable`, and on the next line `  --> src/a.rs:3:7`
    fn above_place(lines: &[TextLine<'a>], head: usize) -> Option<Self> {
        let (word, rest) = split_word(lines[head].text);
        if word != "warning" && !word.starts_with("warning[") {
            return None;
        }
        let below = lines.get(head + 1)?.text.trim_start();
        let place = below.trim_start_matches(['-', '>', '=', ' ', '|']);
        if place.len() == below.len() {
            return None;
        }
        let located = Located::read(place)?;
        let mut end = head + 2;
        while lines.get(end).is_some_and(|line| !line.is_blank()) {
            end += 1;
        }
        // The blank line behind it goes with it.
        end += usize::from(end < lines.len());
        Some(Self {
            file: located.file,
            position: located.position,
            name: name_of(rest),
            message: hash(rest.as_bytes()),
            end,
        })
    }
}

impl<'a> Located<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let bytes = text.as_bytes();
        let is_path = |byte: &u8| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'.' | b'/' | b'_' | b'+' | b'@' | b'~' | b'-')
        };
        // The drive of `C:\a.c` is part of the path.
        let drive = if bytes.get(1) == Some(&b':')
            && bytes
                .get(2)
                .is_some_and(|byte| matches!(byte, b'\\' | b'/'))
        {
            2
        } else {
            0
        };
        let is_path = |byte: &u8| is_path(byte) || drive > 0 && *byte == b'\\';
        let length = drive
            + bytes[drive..]
                .iter()
                .take_while(|byte| is_path(byte))
                .count();
        if length == 0 || !bytes[length - 1].is_ascii_alphanumeric() && bytes[length - 1] != b'_' {
            return None;
        }
        let rest = text[length..].strip_prefix([':', '('])?;
        if !rest.as_bytes().first()?.is_ascii_digit() {
            return None;
        }
        let is_position =
            |byte: &u8| byte.is_ascii_digit() || matches!(byte, b':' | b',' | b')' | b'-' | b'.');
        let (position, rest) = rest.split_at(rest.bytes().take_while(is_position).count());
        Some(Self {
            file: &text[..length],
            position: position.trim_end_matches([':', ',', ')', '-', '.']),
            rest: rest.trim_start(),
        })
    }
}

/// Whether a line begins with a place in a file, as in search results.
pub(crate) fn is_located(text: &str) -> bool {
    Located::read(text.trim_start()).is_some()
}

/// Whether a line is a note on the diagnostic before it.
fn is_note(text: &str) -> bool {
    Located::read(text).is_some_and(|located| split_word(located.rest).0 == "note")
}

/// The first word without its colon, and the rest.
fn split_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    (word.trim_end_matches(':'), rest)
}

/// A rule's code: one to four capitals and two to five digits.
fn rule_code(word: &str) -> Option<&str> {
    let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = &word[letters..];
    let is_code = (1..=4).contains(&letters)
        && (2..=5).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_code.then_some(word)
}

/// The rule in brackets at the end of a message, or the message.
fn name_of(message: &str) -> &str {
    let message = message.trim_end();
    if let Some(inner) = message.strip_suffix([']', ')'])
        && let Some(open) = inner.rfind(['[', '('])
        && !inner[open + 1..].contains([' ', '/', '\\'])
    {
        return &inner[open + 1..];
    }
    &message[..message.floor_char_boundary(LONGEST_NAME)]
}

/// A hash of a message without its numbers and quoted names.
fn plain_hash(message: &str) -> u64 {
    let mut plain = String::with_capacity(message.len());
    let mut characters = message.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' | '`' | '‘' => {
                let close = if character == '‘' { '’' } else { character };
                if characters.as_str().contains(close) {
                    characters.find(|next| *next == close);
                }
                plain.push('"');
            }
            digit if digit.is_ascii_digit() => plain.push('0'),
            other => plain.push(other),
        }
    }
    hash(plain.as_bytes())
}
