//! Determines which program reads typed input, and which commands that input
//! would run.
//!
//! Start at [`ReaderKind::to`], then [`TypedLine::commands`]. A shell runs the
//! lines that it reads. Pagers, editors and interpreters run some input, in
//! languages of their own. For all other programs typed text is data. Commands
//! are found as in `commands.rs`; text that may run anything is unknown.
//!
//! A line may be typed in pieces, and another program may read some of them.
//! Every line that the pieces can form is checked.

mod editors;
mod programs;

use windlass_runtime::{SubjectPattern, TypedCommands, UNKNOWN};

use crate::commands::{CommandLine, ShellLanguage, suggestion, unknown};

pub(crate) use programs::{ReaderKind, Situation};

/// The number of bytes of an unfinished line that are kept.
const LONGEST: usize = 16 << 10;
const MOST_PIECES: usize = 64;

/// The line that was typed but not submitted.
#[derive(Debug, Clone)]
pub(crate) struct TypedLine {
    /// The typed pieces of text.
    pieces: Vec<String>,
    /// The pieces are complete.
    is_known: bool,
    /// A command of the last submitted line may read this line or its start.
    is_read_by_command: bool,
}

impl Default for TypedLine {
    fn default() -> Self {
        Self {
            pieces: Vec::new(),
            is_known: true,
            is_read_by_command: false,
        }
    }
}

/// The effect of one typed key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineStroke {
    Text(char),
    Enter,
    /// Discards the line.
    Clear,
    /// Neither changes the line nor submits it.
    Nothing,
    /// Edits the line in a way that is not tracked.
    Edit,
    /// May have any effect.
    Anything,
}

/// Splits bytes into keystrokes of a line editor.
fn strokes(bytes: &[u8]) -> Vec<LineStroke> {
    const SEQUENCES: [(&str, LineStroke); 16] = [
        ("\x1b[200~", LineStroke::Nothing),
        ("\x1b[201~", LineStroke::Nothing),
        ("\x1b[A", LineStroke::Edit),
        ("\x1b[B", LineStroke::Edit),
        ("\x1b[C", LineStroke::Edit),
        ("\x1b[D", LineStroke::Edit),
        ("\x1b[F", LineStroke::Edit),
        ("\x1b[H", LineStroke::Edit),
        ("\x1bOA", LineStroke::Edit),
        ("\x1bOB", LineStroke::Edit),
        ("\x1bOC", LineStroke::Edit),
        ("\x1bOD", LineStroke::Edit),
        ("\x1bOF", LineStroke::Edit),
        ("\x1bOH", LineStroke::Edit),
        ("\x1b[3~", LineStroke::Edit),
        ("\x1b[5~", LineStroke::Edit),
    ];
    let text = String::from_utf8_lossy(bytes);
    let mut rest = text.as_ref();
    let mut strokes = Vec::new();
    while let Some(character) = rest.chars().next() {
        let sequence = SEQUENCES
            .iter()
            .find_map(|(keys, stroke)| Some((rest.strip_prefix(keys)?, *stroke)));
        let (left, stroke) = sequence.unwrap_or_else(|| {
            let stroke = match character {
                '\r' | '\n' => LineStroke::Enter,
                '\x03' => LineStroke::Clear,
                // The end of input, a new picture, stopping.
                '\x04' | '\x0c' | '\x1a' => LineStroke::Nothing,
                // Readline's keys for moving, deleting, completing and going through history.
                '\x01' | '\x02' | '\x05' | '\x06' | '\x07' | '\x08' | '\t' | '\x0b' | '\x0e'
                | '\x10' | '\x12' | '\x14' | '\x15' | '\x17' | '\x19' | '\x7f' => LineStroke::Edit,
                character if character.is_control() => LineStroke::Anything,
                character => LineStroke::Text(character),
            };
            (&rest[character.len_utf8()..], stroke)
        });
        strokes.push(stroke);
        rest = left;
    }
    strokes
}

impl TypedLine {
    /// The commands that these bytes would run if `listening` reads them;
    /// `None` if they are data.
    pub(crate) fn commands(&self, bytes: &[u8], listening: &ReaderKind) -> Option<TypedCommands> {
        let patterns = match listening {
            ReaderKind::Nobody => return None,
            ReaderKind::Shell { language, .. } => self.lines(bytes, *language),
            ReaderKind::Interpreter { .. } => {
                let text = shown(bytes);
                // Empty lines and interrupts are no code.
                let is_code = strokes(bytes).iter().any(|stroke| {
                    !matches!(
                        stroke,
                        LineStroke::Enter | LineStroke::Clear | LineStroke::Nothing
                    )
                });
                if is_code {
                    vec![unknown(&text)]
                } else {
                    Vec::new()
                }
            }
            ReaderKind::Pager { .. } => editors::of_pager(bytes),
            ReaderKind::Vim { is_inserting, .. } => editors::of_vim(bytes, *is_inserting),
            ReaderKind::Editor { .. } => editors::of_editor(bytes),
        };
        if patterns.is_empty() {
            return None;
        }
        let always: Option<Vec<String>> = patterns.iter().map(suggestion).collect();
        Some(TypedCommands {
            always: always.unwrap_or_default(),
            patterns,
            reader: listening.name().to_owned(),
        })
    }

    /// The commands of every line that a shell may read.
    fn lines(&self, bytes: &[u8], language: ShellLanguage) -> Vec<SubjectPattern> {
        let mut line = self.clone();
        line.pieces.push(String::new());
        let mut script = String::new();
        let mut found = Vec::new();
        // Lines that stand together may be one command, and may be several.
        for stroke in strokes(bytes) {
            if stroke == LineStroke::Anything {
                found.push(unknown(&shown(bytes)));
            }
            if matches!(stroke, LineStroke::Enter | LineStroke::Clear) {
                found.extend(line.candidates(language));
            }
            match stroke {
                LineStroke::Text(character) => script.push(character),
                LineStroke::Enter => script.push('\n'),
                _ => {}
            }
            line.take(stroke);
        }
        // A line that is not known runs nothing before it is submitted.
        if line.is_known {
            found.extend(line.candidates(language));
        }
        if script.trim().contains('\n') {
            let whole = format!("{}{script}", self.pieces.concat());
            let commands = CommandLine::read(&whole, language).commands;
            // A loop over several lines is understood as a whole, and only so.
            let is_understood = commands
                .iter()
                .all(|command| command.known != UNKNOWN.to_string());
            if is_understood && self.is_known && !self.is_read_by_command {
                let is_line = |command: &SubjectPattern| command.known != UNKNOWN.to_string();
                found.retain(is_line);
            }
            found.extend(commands);
        }
        let mut seen = std::collections::HashSet::new();
        found.retain(|command| seen.insert((command.text.clone(), command.known.clone())));
        found
    }

    /// The commands of the current line, for every split between its readers.
    fn candidates(&self, language: ShellLanguage) -> Vec<SubjectPattern> {
        let whole = self.pieces.concat();
        if !self.is_known {
            return vec![unknown(whole.trim())];
        }
        if whole.trim().is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for first in 0..self.pieces.len() {
            let line = self.pieces[first..].concat();
            if line.trim().is_empty() {
                continue;
            }
            found.extend(CommandLine::read(&line, language).commands);
            if goes_on(&line) || recalls_history(&line) {
                found.push(unknown(line.trim()));
            }
        }
        if self.is_read_by_command {
            found.push(unknown(whole.trim()));
        }
        found
    }

    /// Records typed bytes.
    pub(crate) fn note(&mut self, bytes: &[u8]) {
        self.pieces.push(String::new());
        for stroke in strokes(bytes) {
            self.take(stroke);
        }
        self.pieces.retain(|piece| !piece.is_empty());
        let length: usize = self.pieces.iter().map(String::len).sum();
        if length > LONGEST || self.pieces.len() > MOST_PIECES {
            self.pieces.clear();
            self.is_known = false;
        }
    }

    /// Records that someone else has typed.
    pub(crate) fn note_other(&mut self, bytes: &[u8]) {
        let last = strokes(bytes).into_iter().next_back();
        self.is_known = matches!(last, Some(LineStroke::Enter | LineStroke::Clear));
        self.pieces.clear();
    }

    fn take(&mut self, stroke: LineStroke) {
        match stroke {
            LineStroke::Text(character) => match self.pieces.last_mut() {
                Some(piece) => piece.push(character),
                None => self.pieces.push(character.into()),
            },
            LineStroke::Enter => {
                let line = self.pieces.concat();
                self.is_read_by_command = reads_input(&line);
                self.is_known = true;
                self.pieces.clear();
                self.pieces.push(String::new());
            }
            LineStroke::Clear => {
                self.is_known = true;
                self.is_read_by_command = false;
                // It is given up, unless a pipe took it.
                self.pieces.push(String::new());
            }
            LineStroke::Nothing => {}
            LineStroke::Edit | LineStroke::Anything => self.is_known = false,
        }
    }
}

/// Whether the bytes are one line or a part of one, and nothing else.
pub(crate) fn is_one_line(bytes: &[u8]) -> bool {
    let strokes = strokes(bytes);
    let (last, before) = match strokes.split_last() {
        Some((LineStroke::Enter, before)) => (None, before),
        Some((last, before)) => (Some(last), before),
        None => return true,
    };
    let is_text = |stroke: &LineStroke| matches!(stroke, LineStroke::Text(_));
    before.iter().chain(last).all(is_text)
}

/// Whether the screen shows an editor's insert mode.
pub(crate) fn shows_inserting(rows: &[String]) -> bool {
    let last = rows.iter().rev().take(2);
    last.into_iter()
        .any(|row| row.starts_with("-- INSERT --") || row.starts_with("-- REPLACE --"))
}

/// Whether the next line continues this one.
fn goes_on(line: &str) -> bool {
    line.trim_end_matches(['\r', '\n']).ends_with('\\')
}

/// Whether the line expands the shell's history.
fn recalls_history(line: &str) -> bool {
    let mut after = line.split('!').skip(1);
    line.trim_start().starts_with('^')
        || after.any(|rest| {
            let next = rest.chars().next();
            // `!!` is an empty part between the two.
            next.map_or(line.contains("!!"), |next| {
                !next.is_whitespace() && !matches!(next, '=' | '(' | '"')
            })
        })
}

/// Whether a command of the line reads the following input.
fn reads_input(line: &str) -> bool {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    line.split(|character| !is_word(character))
        .any(|word| matches!(word, "read" | "mapfile" | "readarray" | "select"))
}

/// Bytes in printable form.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end_matches(['\r', '\n']);
    text.chars()
        .map(|character| match character {
            '\r' => '\n',
            '\n' | '\t' => character,
            character if character.is_control() => '\u{fffd}',
            character => character,
        })
        .collect()
}

#[cfg(test)]
#[path = "listening_tests.rs"]
mod tests;
