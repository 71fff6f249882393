//! Splits a line into words and keeps its templates whole.
//!
//! A block such as `{% if … %}--package {{…}}{% endif %}` may contain several
//! words. It stays one entry, in which [`WORD_BREAK`] separates its words;
//! rendering splits it there.

use std::iter::Peekable;
use std::str::Chars;

/// Separates the words of one entry. No argument can contain a zero byte.
pub(crate) const WORD_BREAK: &str = "\0b";

/// A line that cannot be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// A quote is opened and not closed.
    #[error("a quote is not closed")]
    OpenQuote,
    /// A template or a block is not closed.
    #[error("a template is not closed")]
    OpenTemplate,
    /// It holds a zero byte.
    #[error("a command cannot contain a NUL byte")]
    ZeroByte,
}

/// Splits a line like a shell: quotes and backslashes group, and a word that
/// begins with `#` starts a comment. Variables and globs are not expanded, and
/// templates and blocks stay whole.
pub fn split_line(line: &str) -> Result<Vec<String>, SplitError> {
    if line.contains('\0') {
        return Err(SplitError::ZeroByte);
    }
    let mut splitter = Splitter {
        words: Vec::new(),
        word: None,
        depth: 0,
    };
    splitter.split(line)?;
    Ok(splitter.words)
}

struct Splitter {
    words: Vec<String>,
    /// The word in progress; `None` between words.
    word: Option<String>,
    /// The number of open blocks.
    depth: usize,
}

impl Splitter {
    fn split(&mut self, line: &str) -> Result<(), SplitError> {
        let mut rest = line;
        while let Some(character) = rest.chars().next() {
            if let Some(length) = self.tag(rest)? {
                rest = &rest[length..];
                continue;
            }
            let mut characters = rest.chars().peekable();
            characters.next();
            match character {
                ' ' | '\t' | '\n' | '\r' => self.end_word(),
                '#' if self.word.is_none() => {
                    let end = rest.find('\n').unwrap_or(rest.len());
                    rest = &rest[end..];
                    continue;
                }
                '\'' | '"' => {
                    let length = self.quoted(&rest[1..], character)?;
                    rest = &rest[1 + length..];
                    continue;
                }
                '\\' => self.escaped(&mut characters)?,
                _ => self.word().push(character),
            }
            let left: usize = characters.map(char::len_utf8).sum();
            rest = &rest[rest.len() - left..];
        }
        if self.depth > 0 {
            return Err(SplitError::OpenTemplate);
        }
        self.end_word();
        Ok(())
    }

    fn word(&mut self) -> &mut String {
        self.word.get_or_insert_default()
    }

    fn end_word(&mut self) {
        if self.depth > 0 {
            self.word().push_str(WORD_BREAK);
        } else if let Some(word) = self.word.take() {
            self.words.push(word);
        }
    }

    fn escaped(&mut self, characters: &mut Peekable<Chars<'_>>) -> Result<(), SplitError> {
        match characters.next() {
            Some('\n') => {}
            Some(character) => self.word().push(character),
            None => return Err(SplitError::OpenQuote),
        }
        Ok(())
    }

    /// Takes the text up to the closing quote and returns its length, including
    /// the quote.
    fn quoted(&mut self, text: &str, quote: char) -> Result<usize, SplitError> {
        self.word();
        let mut place = 0;
        while let Some(character) = text[place..].chars().next() {
            if let Some(length) = self.tag(&text[place..])? {
                place += length;
                continue;
            }
            place += character.len_utf8();
            match character {
                _ if character == quote => return Ok(place),
                '\\' if quote == '"' => {
                    let escaped = text[place..].chars().next().ok_or(SplitError::OpenQuote)?;
                    place += escaped.len_utf8();
                    if !matches!(escaped, '$' | '`' | '"' | '\\' | '\n') {
                        self.word().push('\\');
                    }
                    if escaped != '\n' {
                        self.word().push(escaped);
                    }
                }
                _ => self.word().push(character),
            }
        }
        Err(SplitError::OpenQuote)
    }

    /// Takes a tag verbatim, if one starts here, and returns its length.
    fn tag(&mut self, text: &str) -> Result<Option<usize>, SplitError> {
        let end = match text.get(..2) {
            Some("{{") => tag_length(text, "}}"),
            Some("{%") => tag_length(text, "%}"),
            Some("{#") => text.find("#}").map(|end| end + 2),
            _ => return Ok(None),
        };
        let mut end = end.ok_or(SplitError::OpenTemplate)?;
        if text.starts_with("{%") {
            let inside = text[2..end - 2].trim_matches(['-', '+', ' ', '\t', '\n', '\r']);
            let keyword = inside.split_whitespace().next().unwrap_or_default();
            match keyword {
                "raw" => end = raw_length(text).ok_or(SplitError::OpenTemplate)?,
                "if" | "for" | "with" | "filter" | "autoescape" => self.depth += 1,
                "set" if !inside.contains('=') => self.depth += 1,
                _ if keyword.starts_with("end") => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        self.word().push_str(&text[..end]);
        Ok(Some(end))
    }
}

/// The length of a tag; its end inside a string is ignored.
fn tag_length(text: &str, end: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (place, character) in text.char_indices().skip(2) {
        match quote {
            _ if escaped => escaped = false,
            Some(_) if character == '\\' => escaped = true,
            Some(open) if character == open => quote = None,
            None if matches!(character, '\'' | '"') => quote = Some(character),
            None if text[place..].starts_with(end) => return Some(place + end.len()),
            Some(_) | None => {}
        }
    }
    None
}

/// The length of a `{% raw %}` block, including its end.
fn raw_length(text: &str) -> Option<usize> {
    let mut place = 2;
    while let Some(start) = text[place..].find("{%") {
        place += start;
        let end = place + text[place..].find("%}")? + 2;
        let inside = text[place + 2..end - 2].trim_matches(['-', '+', ' ', '\t', '\n', '\r']);
        if inside == "endraw" {
            return Some(end);
        }
        place = end;
    }
    None
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
