//! Rows that belong together become lines.
//!
//! Start at [`Lines::push`]. A line is what the program wrote between two newlines, however many rows it takes.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A line of a line program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// The id of its first row.
    pub(super) id: u64,
    pub(super) text: String,
    /// How much of the text stands before the cursor, if the cursor is on this line.
    pub(super) cursor: Option<usize>,
}

impl Line {
    /// The text without blanks at its end, which come and go with the cursor.
    pub(super) fn trimmed(&self) -> &str {
        trim(&self.text)
    }
}

/// Lines in the making.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: Vec<Line>,
    is_open: bool,
}

impl Lines {
    /// Adds a row; the cursor is behind so much of its text, if it is there.
    pub(super) fn push(&mut self, id: u64, text: &str, wrapped: bool, cursor: Option<usize>) {
        if !self.is_open {
            let line = Line {
                id,
                ..Line::default()
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

    pub(super) fn finish(self) -> Vec<Line> {
        self.lines
    }
}

/// A text without blanks at its end.
pub(super) fn trim(text: &str) -> &str {
    text.trim_end_matches([' ', '\t'])
}

/// A number that stands for a text.
pub(super) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
