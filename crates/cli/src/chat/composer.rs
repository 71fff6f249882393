//! The message editor of a chat: its text, history and layout.
//!
//! `rustyline` edits the text and keeps the history. Drawing is left to the
//! caller, since tools print above it. Only the history accesses a file.

use std::path::PathBuf;

use rustyline::history::{FileHistory, History, SearchDirection};
use rustyline::line_buffer::{ChangeListener, DeleteListener, Direction, LineBuffer};
use rustyline::{At, Config, Word};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::prompt::KeyPress;
use crate::screen::LiveCursor;

/// The maximum length of a message, in bytes.
const LONGEST: usize = 1 << 20;
/// The size of the history.
const REMEMBERED: usize = 1000;
/// The width of the mark before the first line. The other lines are indented by
/// it.
const MARK_WIDTH: usize = 2;

/// A message being edited, with the history of earlier ones.
pub(crate) struct Composer {
    buffer: LineBuffer,
    history: FileHistory,
    /// The history file, if any.
    file: Option<PathBuf>,
    /// The position in the history, and the draft to return to.
    browsed: Option<(usize, String)>,
}

/// The outcome of a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Composed {
    Stay,
    /// Send the message.
    Sent(String),
    /// Edit the message in the user's editor.
    Editor,
    /// Ctrl-D without a message.
    End,
}

/// Ignores changes: there is no undo.
struct Unheard;

impl DeleteListener for Unheard {
    fn delete(&mut self, _: usize, _: &str, _: Direction) {}
}

impl ChangeListener for Unheard {
    fn insert_char(&mut self, _: usize, _: char) {}
    fn insert_str(&mut self, _: usize, _: &str) {}
    fn replace(&mut self, _: usize, _: &str, _: &str) {}
}

impl Composer {
    /// An empty message, with the history of this file.
    pub(crate) fn new(file: Option<PathBuf>) -> Self {
        let config = Config::builder()
            .max_history_size(REMEMBERED)
            .map(rustyline::config::Builder::build)
            .unwrap_or_default();
        let mut history = FileHistory::with_config(&config);
        if let Some(file) = &file {
            // The file is created with the first message.
            let _ = history.load(file);
        }
        Self {
            buffer: LineBuffer::with_capacity(LONGEST),
            history,
            file,
            browsed: None,
        }
    }

    pub(crate) fn text(&self) -> &str {
        self.buffer.as_str()
    }

    /// Replaces the message.
    pub(crate) fn set(&mut self, text: &str) {
        let text = &text[..text.floor_char_boundary(LONGEST)];
        self.buffer.update(text, text.len(), &mut Unheard);
    }

    pub(crate) fn take(&mut self, key: KeyPress) -> Composed {
        let buffer = &mut self.buffer;
        match key {
            KeyPress::Enter if ends_open(buffer.as_str()) => {
                buffer.move_buffer_end();
                buffer.backspace(1, &mut Unheard);
                self.insert("\n");
            }
            KeyPress::Enter => return self.send(),
            KeyPress::LineBreak => self.insert("\n"),
            KeyPress::Char(letter) => self.insert(letter.encode_utf8(&mut [0; 4])),
            KeyPress::Tab => self.insert("    "),
            KeyPress::Paste(text) => {
                let text = text.replace("\r\n", "\n").replace('\r', "\n");
                self.insert(text.trim_end_matches('\n'));
            }
            KeyPress::Backspace => drop(buffer.backspace(1, &mut Unheard)),
            KeyPress::EndOfInput if buffer.is_empty() => return Composed::End,
            KeyPress::EndOfInput | KeyPress::Delete => drop(buffer.delete(1, &mut Unheard)),
            KeyPress::Left => drop(buffer.move_backward(1)),
            KeyPress::Right => drop(buffer.move_forward(1)),
            KeyPress::Home => drop(buffer.move_home()),
            KeyPress::End => drop(buffer.move_end()),
            KeyPress::WordLeft => drop(buffer.move_to_prev_word(Word::Emacs, 1)),
            KeyPress::WordRight => drop(buffer.move_to_next_word(At::AfterEnd, Word::Emacs, 1)),
            KeyPress::EraseWord => drop(buffer.delete_prev_word(Word::Big, 1, &mut Unheard)),
            KeyPress::EraseBefore => drop(buffer.discard_line(&mut Unheard)),
            KeyPress::EraseAfter => drop(buffer.kill_line(&mut Unheard)),
            KeyPress::Up if !self.line_up() => self.browse(SearchDirection::Reverse),
            KeyPress::Down if !self.line_down() => self.browse(SearchDirection::Forward),
            KeyPress::Search => self.search(),
            KeyPress::Editor => return Composed::Editor,
            KeyPress::Up
            | KeyPress::Down
            | KeyPress::Escape
            | KeyPress::Interrupt
            | KeyPress::Continued
            | KeyPress::Unfold => {}
        }
        Composed::Stay
    }

    fn insert(&mut self, text: &str) {
        // Text that does not fit is dropped entirely.
        let _ = self.buffer.yank(text, 1, &mut Unheard);
    }

    fn send(&mut self) -> Composed {
        let text = self.buffer.as_str().trim().to_owned();
        self.set("");
        self.browsed = None;
        if text.is_empty() {
            return Composed::Stay;
        }
        self.remember(&text);
        Composed::Sent(text)
    }

    /// Adds a message to the history.
    fn remember(&mut self, text: &str) {
        let _ = self.history.add(text);
        if let Some(file) = &self.file
            && let Err(error) = self.history.append(file)
        {
            tracing::debug!(%error, file = %file.display(), "the history cannot be written");
        }
    }

    /// Moves to the line above, in the same column; false on the first line.
    fn line_up(&mut self) -> bool {
        let (before, _) = self.text().split_at(self.buffer.pos());
        let Some(end) = before.rfind('\n') else {
            return false;
        };
        let column = before[end + 1..].graphemes(true).count();
        let start = before[..end].rfind('\n').map_or(0, |place| place + 1);
        self.buffer
            .set_pos(start + nth_grapheme(&before[start..end], column));
        true
    }

    /// Moves to the line below, in the same column; false on the last line.
    fn line_down(&mut self) -> bool {
        let (before, after) = self.text().split_at(self.buffer.pos());
        let Some(end) = after.find('\n') else {
            return false;
        };
        let start = before.rfind('\n').map_or(0, |place| place + 1);
        let column = before[start..].graphemes(true).count();
        let below = &after[end + 1..];
        let below = &below[..below.find('\n').unwrap_or(below.len())];
        let place = before.len() + end + 1 + nth_grapheme(below, column);
        self.buffer.set_pos(place);
        true
    }

    /// Moves to the previous or next message in the history.
    fn browse(&mut self, direction: SearchDirection) {
        let count = self.history.len();
        let next = match (&self.browsed, direction) {
            (None, SearchDirection::Reverse) => count.checked_sub(1),
            (None, SearchDirection::Forward) => None,
            (Some((at, _)), SearchDirection::Reverse) => at.checked_sub(1),
            (Some((at, _)), SearchDirection::Forward) => Some(at + 1),
        };
        let Some(next) = next else { return };
        let left = match self.browsed.take() {
            Some((_, left)) => left,
            None => self.text().to_owned(),
        };
        if next >= count {
            return self.set(&left);
        }
        self.show(next, left);
    }

    /// Moves to the newest earlier message that contains the current text.
    fn search(&mut self) {
        let (from, left) = match self.browsed.take() {
            Some((at, left)) => (at.checked_sub(1), left),
            None => (self.history.len().checked_sub(1), self.text().to_owned()),
        };
        let found = from.and_then(|from| {
            let found = self.history.search(&left, from, SearchDirection::Reverse);
            found.ok().flatten().map(|found| found.idx)
        });
        match found {
            Some(place) => self.show(place, left),
            None => self.set(&left),
        }
    }

    fn show(&mut self, place: usize, left: String) {
        let entry = self.history.get(place, SearchDirection::Reverse);
        let entry = entry.ok().flatten().map(|entry| entry.entry.into_owned());
        self.set(&entry.unwrap_or_default());
        self.browsed = Some((place, left));
    }

    /// Lays out the message after a mark, in at most `rows` lines of this
    /// width, with the position of the cursor.
    pub(crate) fn draw(
        &self,
        mark: char,
        columns: usize,
        rows: usize,
    ) -> (Vec<String>, LiveCursor) {
        let room = columns.saturating_sub(MARK_WIDTH + 1).max(2);
        let mut lines = vec![String::new()];
        let mut width = 0;
        let mut cursor = None;
        for (place, grapheme) in self.text().grapheme_indices(true) {
            let is_break = matches!(grapheme, "\n" | "\r\n");
            let shown = match grapheme {
                "\t" => " ",
                grapheme if grapheme.chars().any(char::is_control) => "",
                grapheme => grapheme,
            };
            if !is_break && width + shown.width() > room {
                lines.push(String::new());
                width = 0;
            }
            if place == self.buffer.pos() {
                cursor = Some((lines.len() - 1, width));
            }
            if is_break {
                lines.push(String::new());
                width = 0;
                continue;
            }
            width += shown.width();
            lines
                .last_mut()
                .expect("there is one line at least")
                .push_str(shown);
        }
        let (row, column) = cursor.unwrap_or((lines.len() - 1, width));
        let mut shown: Vec<String> = lines
            .iter()
            .enumerate()
            .map(|(place, line)| match place {
                0 => format!("{mark} {line}"),
                _ => format!("{}{line}", " ".repeat(MARK_WIDTH)),
            })
            .collect();
        // Too many lines: show those around the cursor.
        let rows = rows.max(1);
        let first = (row + 1).saturating_sub(rows);
        let last = shown.len().min(first + rows);
        shown.truncate(last);
        shown.drain(..first);
        let cursor = LiveCursor {
            above: last - 1 - row,
            column: MARK_WIDTH + column,
        };
        (shown, cursor)
    }
}

/// Whether the text ends with a backslash, which continues it on the next line.
fn ends_open(text: &str) -> bool {
    text.ends_with('\\') && !text.ends_with("\\\\")
}

/// The offset of the nth grapheme, or of the end.
fn nth_grapheme(line: &str, place: usize) -> usize {
    let mut graphemes = line.grapheme_indices(true);
    graphemes
        .nth(place)
        .map_or(line.len(), |(offset, _)| offset)
}

#[cfg(test)]
#[path = "composer_tests.rs"]
mod tests;
