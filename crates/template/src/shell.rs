//! The place of a value in a shell line.
//!
//! Tracks the quotes and brackets of POSIX shells. After text that it does not
//! support, every place is unclear and a template there is refused: a wrong
//! "yes" would let a value run as code.

use crate::error::ShellPlace;

/// The state after the text read so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellScan {
    /// The brackets and quotes that are open, outermost first.
    open: Vec<Enclosure>,
    pending: Pending,
    /// Whether a `#` here would start a comment; `None` if that depends on a
    /// branch.
    word_start: Option<bool>,
    /// The unquoted word so far, to detect `case`.
    word: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Enclosure {
    Single,
    Double,
    Backticks,
    /// `$(…)` or `(…)`.
    Bracket,
    /// `${…}`
    Parameter,
    /// `$((…))`, with the number of open brackets in it.
    Arithmetic(u32),
    Comment,
    /// The rest cannot be tracked.
    Lost(ShellPlace),
}

/// The beginning of something longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pending {
    Nothing,
    Backslash,
    Dollar,
    /// `$(`, which may become `$((`.
    DollarBracket,
    /// `<`, which may become `<<`.
    Less,
    /// `<<`, which may become `<<<`.
    LessLess,
}

impl ShellScan {
    pub(crate) fn new() -> Self {
        Self {
            open: Vec::new(),
            pending: Pending::Nothing,
            word_start: Some(true),
            word: String::new(),
        }
    }

    /// Reads literal text.
    pub(crate) fn text(&mut self, text: &str) {
        for character in text.chars() {
            self.character(character);
        }
    }

    /// Reads a value that is quoted as one word.
    pub(crate) fn value(&mut self) -> Result<(), ShellPlace> {
        if let Some(place) = self.obstacle() {
            return Err(place);
        }
        match self.pending {
            Pending::Backslash => return Err(ShellPlace::Backslash),
            Pending::Dollar => return Err(ShellPlace::Dollar),
            Pending::LessLess => return Err(ShellPlace::HereDocument),
            Pending::Nothing | Pending::DollarBracket | Pending::Less => {}
        }
        self.pending = Pending::Nothing;
        self.word_start = Some(false);
        self.word.push('\0');
        Ok(())
    }

    /// Reads an unquoted value, in any place. Its quotes are unknown and the
    /// author's responsibility.
    pub(crate) fn unquoted_value(&mut self) {
        self.pending = Pending::Nothing;
        self.word_start = None;
        self.word.push('\0');
    }

    /// Joins the ends of two branches, if they agree.
    pub(crate) fn join(&mut self, other: &Self) -> Result<(), UnevenBranches> {
        if self.open != other.open || self.pending != other.pending {
            return Err(UnevenBranches);
        }
        if self.word_start != other.word_start {
            self.word_start = None;
        }
        if self.word != other.word {
            self.word.push('\0');
        }
        Ok(())
    }

    /// The reason why no words can follow this line, if any.
    pub(crate) fn end(&self) -> Option<ShellPlace> {
        let bracket = || self.open.last().map(|_| ShellPlace::Bracket);
        self.obstacle().or_else(bracket).or(match self.pending {
            Pending::Backslash => Some(ShellPlace::Backslash),
            Pending::LessLess => Some(ShellPlace::HereDocument),
            _ => None,
        })
    }

    fn obstacle(&self) -> Option<ShellPlace> {
        match self.open.last() {
            None | Some(Enclosure::Bracket) => None,
            Some(Enclosure::Single) => Some(ShellPlace::SingleQuotes),
            Some(Enclosure::Double) => Some(ShellPlace::DoubleQuotes),
            Some(Enclosure::Backticks) => Some(ShellPlace::Backticks),
            Some(Enclosure::Parameter) => Some(ShellPlace::Parameter),
            Some(Enclosure::Arithmetic(_)) => Some(ShellPlace::Arithmetic),
            Some(Enclosure::Comment) => Some(ShellPlace::Comment),
            Some(Enclosure::Lost(place)) => Some(*place),
        }
    }

    fn character(&mut self, character: char) {
        match self.open.last().copied() {
            None | Some(Enclosure::Bracket) => self.plain(character),
            Some(Enclosure::Single) => self.close_at(character, '\''),
            Some(Enclosure::Double) => self.double(character),
            Some(Enclosure::Backticks) => {
                match std::mem::replace(&mut self.pending, Pending::Nothing) {
                    Pending::Backslash => {}
                    _ if character == '\\' => self.pending = Pending::Backslash,
                    _ => self.close_at(character, '`'),
                }
            }
            Some(Enclosure::Parameter) => self.parameter(character),
            Some(Enclosure::Arithmetic(depth)) => self.arithmetic(character, depth),
            Some(Enclosure::Comment) => {
                if character == '\n' {
                    self.open.pop();
                    self.word_start = Some(true);
                }
            }
            Some(Enclosure::Lost(_)) => {}
        }
    }

    fn close_at(&mut self, character: char, end: char) {
        if character == end {
            self.open.pop();
        }
    }

    fn lose(&mut self, place: ShellPlace) {
        self.open.push(Enclosure::Lost(place));
        self.pending = Pending::Nothing;
    }

    fn double(&mut self, character: char) {
        match (
            std::mem::replace(&mut self.pending, Pending::Nothing),
            character,
        ) {
            (Pending::Backslash, _) | (Pending::Dollar, '$') => {}
            (Pending::Dollar, '(') => self.open_dollar_bracket(),
            (Pending::Dollar, '{') => self.open.push(Enclosure::Parameter),
            (_, '\\') => self.pending = Pending::Backslash,
            (_, '$') => self.pending = Pending::Dollar,
            (_, '`') => self.open.push(Enclosure::Backticks),
            (_, '"') => {
                self.open.pop();
            }
            _ => {}
        }
    }

    fn parameter(&mut self, character: char) {
        match (
            std::mem::replace(&mut self.pending, Pending::Nothing),
            character,
        ) {
            (Pending::Backslash, _) => {}
            (Pending::Dollar, '{') => self.open.push(Enclosure::Parameter),
            (Pending::Dollar, '(') | (_, '\'' | '"' | '`') => self.lose(ShellPlace::Unclear),
            (_, '\\') => self.pending = Pending::Backslash,
            (_, '$') => self.pending = Pending::Dollar,
            (_, '}') => {
                self.open.pop();
                self.word_start = Some(false);
            }
            _ => {}
        }
    }

    fn arithmetic(&mut self, character: char, depth: u32) {
        let top = self.open.len() - 1;
        match character {
            '(' => self.open[top] = Enclosure::Arithmetic(depth + 1),
            ')' if depth > 1 => self.open[top] = Enclosure::Arithmetic(depth - 1),
            ')' => {
                self.open.pop();
                self.word_start = Some(false);
            }
            '\'' | '"' | '`' | '\\' => self.lose(ShellPlace::Unclear),
            _ => {}
        }
    }

    fn plain(&mut self, character: char) {
        let pending = std::mem::replace(&mut self.pending, Pending::Nothing);
        match (pending, character) {
            (Pending::Backslash, _) => self.in_word(character),
            (Pending::LessLess, '<') | (Pending::Dollar, '$') => {}
            (Pending::LessLess, _) => self.lose(ShellPlace::HereDocument),
            (Pending::DollarBracket, '(') => {
                // It may be a subshell in a substitution as well.
                self.open.pop();
                self.open.push(Enclosure::Arithmetic(2));
            }
            (Pending::Dollar, '\'') => self.lose(ShellPlace::DollarQuote),
            (Pending::Dollar, '(') => self.open_dollar_bracket(),
            (Pending::Dollar, '{') => self.open.push(Enclosure::Parameter),
            (_, '\\') => self.pending = Pending::Backslash,
            (_, '\'') => self.open_quote(Enclosure::Single),
            (_, '"') => self.open_quote(Enclosure::Double),
            (_, '`') => self.open_quote(Enclosure::Backticks),
            (_, '$') => {
                self.in_word(character);
                self.pending = Pending::Dollar;
            }
            (Pending::Less, '<') => self.pending = Pending::LessLess,
            (_, '<') => {
                self.end_word();
                self.pending = Pending::Less;
            }
            (_, '(') => {
                self.end_word();
                self.open.push(Enclosure::Bracket);
            }
            (_, ')') => {
                self.end_word();
                self.open.pop();
            }
            (_, '#') if self.word_start == Some(true) => self.open.push(Enclosure::Comment),
            (_, '#') if self.word_start.is_none() => self.lose(ShellPlace::Unclear),
            (_, ' ' | '\t' | '\n' | ';' | '&' | '|' | '>') => self.end_word(),
            _ => self.in_word(character),
        }
    }

    fn open_quote(&mut self, quote: Enclosure) {
        self.in_word('\0');
        self.open.push(quote);
    }

    fn open_dollar_bracket(&mut self) {
        self.open.push(Enclosure::Bracket);
        self.pending = Pending::DollarBracket;
        self.word_start = Some(true);
        self.word.clear();
    }

    fn in_word(&mut self, character: char) {
        self.word.push(character);
        self.word_start = Some(false);
    }

    /// Detects a `case`: its patterns have closing brackets without opening
    /// ones. That matters only for a bracket in quotes.
    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        self.word_start = Some(true);
        if word == "case" && self.open.contains(&Enclosure::Double) {
            self.lose(ShellPlace::Unclear);
        }
    }
}

/// Branches that open or close quotes differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnevenBranches;

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
