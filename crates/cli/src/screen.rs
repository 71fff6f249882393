//! A terminal with a live area at its bottom.
//!
//! Committed lines scroll away like any output; the live area below them is
//! redrawn on every change.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::stdout;
use rustix::termios;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The terminal on stdout or stderr.
pub(crate) struct TerminalDisplay {
    on: On,
    /// The width of each line of the live area when it was drawn.
    drawn: Vec<usize>,
    /// How many rows above the last one the cursor is.
    raised: usize,
    /// The live area as it was written last.
    last: Option<DrawnArea>,
}

#[derive(PartialEq, Eq)]
struct DrawnArea {
    /// Its lines, and the sequences that position the cursor.
    text: String,
    /// Columns and rows of the terminal.
    size: (usize, usize),
}

/// A position of the cursor in the live area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LiveCursor {
    /// Rows above the last one.
    pub(crate) above: usize,
    pub(crate) column: usize,
}

#[derive(Clone, Copy)]
enum On {
    Stdout,
    Stderr,
}

impl TerminalDisplay {
    pub(crate) fn stdout() -> Self {
        Self {
            on: On::Stdout,
            drawn: Vec::new(),
            raised: 0,
            last: None,
        }
    }

    pub(crate) fn stderr() -> Self {
        Self {
            on: On::Stderr,
            drawn: Vec::new(),
            raised: 0,
            last: None,
        }
    }

    /// Columns and rows.
    pub(crate) fn size(&self) -> (usize, usize) {
        let size = match self.on {
            On::Stdout => termios::tcgetwinsize(io::stdout()),
            On::Stderr => termios::tcgetwinsize(io::stderr()),
        };
        match size {
            Ok(size) if size.ws_col > 0 => (usize::from(size.ws_col), usize::from(size.ws_row)),
            _ => (80, 24),
        }
    }

    /// Commits lines, and draws the live area below them.
    pub(crate) fn paint(&mut self, committed: &[String], live: &[String]) {
        self.paint_with(committed, live, "");
    }

    /// [`TerminalDisplay::paint`] without committed lines, with the cursor in
    /// this column of the live area's last line.
    pub(crate) fn paint_at(&mut self, live: &[String], column: usize) {
        let place = match column {
            0 => "\r".to_owned(),
            column => format!("\r\x1b[{column}C"),
        };
        self.paint_with(&[], live, &place);
    }

    /// Commits lines and draws the live area below them, with the cursor in the
    /// live area.
    pub(crate) fn paint_cursor(&mut self, committed: &[String], live: &[String], at: LiveCursor) {
        let mut place = String::from("\r");
        if at.above > 0 {
            let _ = write!(place, "\x1b[{}A", at.above);
        }
        if at.column > 0 {
            let _ = write!(place, "\x1b[{}C", at.column);
        }
        self.paint_with(committed, live, &place);
        self.raised = at.above;
    }

    /// Draws the live area again at the next call, changed or not: another
    /// program has used the terminal.
    pub(crate) fn invalidate(&mut self) {
        self.last = None;
    }

    fn paint_with(&mut self, committed: &[String], live: &[String], after: &str) {
        if let Some(text) = self.redrawing(committed, live, after, self.size()) {
            self.write(&text);
        }
    }

    /// The text that commits lines and replaces the live area; `None` if the
    /// terminal shows both already.
    fn redrawing(
        &mut self,
        committed: &[String],
        live: &[String],
        after: &str,
        size: (usize, usize),
    ) -> Option<String> {
        let (columns, rows) = size;
        // The newest lines are at the bottom.
        let skip = live.len().saturating_sub(rows.saturating_sub(1).max(1));
        let shown: Vec<String> = live[skip..]
            .iter()
            .map(|line| fitting(line, columns.saturating_sub(1)))
            .collect();
        let area = DrawnArea {
            text: shown.join("\r\n") + after,
            size,
        };
        if committed.is_empty() && self.last.as_ref() == Some(&area) {
            return None;
        }
        let mut text = self.clearing(columns);
        self.raised = 0;
        for line in committed {
            text.push_str(line);
            text.push_str("\r\n");
        }
        text.push_str(&area.text);
        self.drawn = shown.iter().map(|line| visible_width(line)).collect();
        self.last = Some(area);
        Some(text)
    }

    /// Writes sequences that do not move the cursor.
    pub(crate) fn write(&self, text: &str) {
        let bytes = text.as_bytes();
        // If the terminal is gone, its signal ends this process.
        let _ = match self.on {
            On::Stdout => {
                let mut stdout = stdout::lock();
                stdout.write_all(bytes).and_then(|()| stdout.flush())
            }
            On::Stderr => io::stderr().lock().write_all(bytes),
        };
    }

    /// Removes the live area.
    pub(crate) fn clear(&mut self) {
        self.paint(&[], &[]);
    }

    fn clearing(&self, columns: usize) -> String {
        if self.drawn.is_empty() {
            return String::new();
        }
        // A terminal that was narrowed has wrapped the lines.
        let rows: usize = self
            .drawn
            .iter()
            .map(|width| width.div_ceil(columns.max(1)).max(1))
            .sum();
        match (rows - 1).saturating_sub(self.raised) {
            0 => "\r\x1b[J".to_owned(),
            up => format!("\r\x1b[{up}A\x1b[J"),
        }
    }
}

/// Cuts the line to this width, not counting escape sequences.
pub(crate) fn fitting(line: &str, columns: usize) -> String {
    let length = fitting_length(line, columns);
    let mut cut = line[..length].to_owned();
    if length < line.len() && cut.contains('\x1b') {
        cut.push_str("\x1b[0m");
    }
    cut
}

/// The number of bytes that fit into this width, not counting escape sequences.
pub(crate) fn fitting_length(line: &str, columns: usize) -> usize {
    let mut width = 0;
    let mut escape = false;
    for (place, letter) in line.char_indices() {
        if escape {
            escape = !letter.is_ascii_alphabetic();
            continue;
        }
        if letter == '\x1b' {
            escape = true;
            continue;
        }
        width += letter.width().unwrap_or(0);
        if width > columns {
            return place;
        }
    }
    line.len()
}

pub(crate) fn visible_width(line: &str) -> usize {
    let mut plain = String::new();
    let mut escape = false;
    for letter in line.chars() {
        match (escape, letter) {
            (true, letter) => escape = !letter.is_ascii_alphabetic(),
            (false, '\x1b') => escape = true,
            (false, letter) => plain.push(letter),
        }
    }
    plain.width()
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;
