//! Joins rows into lines.
//!
//! Start at [`ScreenLines::push`]. A line is the text between two newlines,
//! over any number of rows.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A line of a line program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ScreenLine {
    /// The id of its first row.
    pub(super) id: u64,
    pub(super) text: String,
    /// The length of the text before the cursor, if the cursor is on this line.
    pub(super) cursor: Option<usize>,
}

impl ScreenLine {
    /// The text without blanks at its end, which come and go with the cursor.
    pub(super) fn trimmed(&self) -> &str {
        trim(&self.text)
    }
}

/// A builder of lines.
#[derive(Debug, Default)]
pub(super) struct ScreenLines {
    lines: Vec<ScreenLine>,
    is_open: bool,
}

impl ScreenLines {
    /// Adds a row; the cursor is behind so much of its text, if it is there.
    pub(super) fn push(&mut self, id: u64, text: &str, wrapped: bool, cursor: Option<usize>) {
        if !self.is_open {
            let line = ScreenLine {
                id,
                ..ScreenLine::default()
            };
            self.lines.push(line);
        }
        let line = self.lines.last_mut().expect("a line was just begun");
        if let Some(cursor) = cursor {
            line.cursor = Some(line.text.len() + cursor);
        }
        line.text.push_str(text);
        self.is_open = wrapped;
    }

    pub(super) fn finish(self) -> Vec<ScreenLine> {
        self.lines
    }
}

/// A text without blanks at its end.
pub(super) fn trim(text: &str) -> &str {
    text.trim_end_matches([' ', '\t'])
}

/// A number that identifies a text.
pub(super) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
