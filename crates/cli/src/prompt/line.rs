//! An editable line. Pure functions.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::keyboard::KeyPress;

/// Text with a cursor.
#[derive(Debug, Clone, Default)]
pub(crate) struct LineEditor {
    text: String,
    /// In bytes, between two graphemes.
    cursor: usize,
}

impl LineEditor {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Handles an editing key; ignores others.
    pub(crate) fn take(&mut self, key: KeyPress) {
        match key {
            KeyPress::Char(letter) => self.insert(letter.encode_utf8(&mut [0; 4])),
            KeyPress::Paste(text) => {
                let text = text.replace("\r\n", "\n").replace('\r', "\n");
                self.insert(text.trim_end_matches('\n'));
            }
            KeyPress::Backspace => self.erase(self.left(), self.cursor),
            KeyPress::Delete => self.erase(self.cursor, self.right()),
            KeyPress::Left => self.cursor = self.left(),
            KeyPress::Right => self.cursor = self.right(),
            KeyPress::Home => self.cursor = 0,
            KeyPress::End => self.cursor = self.text.len(),
            KeyPress::WordLeft => self.cursor = self.word_left(),
            KeyPress::WordRight => self.cursor = self.word_right(),
            KeyPress::EraseWord => self.erase(self.word_left(), self.cursor),
            KeyPress::EraseBefore => self.erase(0, self.cursor),
            KeyPress::EraseAfter => self.erase(self.cursor, self.text.len()),
            _ => {}
        }
    }

    /// The part that fits into this many columns, and the cursor's column in
    /// it. Line ends and tabs are shown as symbols.
    pub(crate) fn window(&self, columns: usize) -> (String, usize) {
        let columns = columns.max(2);
        let (before, after) = self.text.split_at(self.cursor);
        let mut shown: Vec<String> = Vec::new();
        let mut width = 0;
        // The cursor may be after the last grapheme.
        for grapheme in before.graphemes(true).rev().map(mark) {
            if width + grapheme.width() > columns - 1 {
                break;
            }
            width += grapheme.width();
            shown.push(grapheme);
        }
        shown.reverse();
        let column = width;
        for grapheme in after.graphemes(true).map(mark) {
            if width + grapheme.width() > columns {
                break;
            }
            width += grapheme.width();
            shown.push(grapheme);
        }
        (shown.concat(), column)
    }

    fn insert(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    fn erase(&mut self, from: usize, to: usize) {
        self.text.replace_range(from..to, "");
        self.cursor = from;
    }

    fn left(&self) -> usize {
        let mut graphemes = self.text[..self.cursor].graphemes(true);
        self.cursor - graphemes.next_back().map_or(0, str::len)
    }

    fn right(&self) -> usize {
        let mut graphemes = self.text[self.cursor..].graphemes(true);
        self.cursor + graphemes.next().map_or(0, str::len)
    }

    fn word_left(&self) -> usize {
        let before = self.text[..self.cursor].trim_end();
        let word = before.rfind(char::is_whitespace);
        word.map_or(0, |space| {
            space + before[space..].chars().next().map_or(0, char::len_utf8)
        })
    }

    fn word_right(&self) -> usize {
        let after = &self.text[self.cursor..];
        let word = after.find(|letter: char| !letter.is_whitespace());
        let word = word.unwrap_or(after.len());
        let end = after[word..].find(char::is_whitespace);
        self.cursor + end.map_or(after.len(), |end| word + end)
    }
}

fn mark(grapheme: &str) -> String {
    match grapheme {
        "\n" => "↵".to_owned(),
        "\t" => "→".to_owned(),
        other => other
            .chars()
            .filter(|letter| !letter.is_control())
            .collect(),
    }
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
