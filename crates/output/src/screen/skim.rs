//! Stores plain lines that scroll out of view without drawing them.
//!
//! Start at [`PlainRun::at`]. Of many plain lines at the bottom of the screen
//! only the last screenful remains visible. The others go directly to the row
//! store, with the same cells that drawing would have produced; the last
//! screenful is drawn. Everything else than plain lines in the default modes is
//! drawn.

use memchr::{memchr2, memrchr};

use super::cells::{self, Tabs};
use super::emulator::Emulator;
use super::lines::trim;
use super::looks::{self, RowLooks};
use super::mode::{ALTERNATE, INSERT, WRAP};
use super::store::Row;

/// Plain lines at the start of a chunk of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PlainRun {
    /// The number of bytes of lines that need not be drawn.
    pub(super) skims: usize,
    /// The number of bytes of plain lines. The bytes after them are not plain, or not complete.
    pub(super) end: usize,
}

impl PlainRun {
    /// The plain lines that some bytes begin with, if the emulator would just write them and scroll.
    pub(super) fn at(emulator: &Emulator, bytes: &[u8]) -> Self {
        if !emulator.is_at_fresh_line() {
            return Self::default();
        }
        let end = plain_lines(bytes);
        let (rows, cols) = (emulator.row_count(), emulator.column_count());
        let skims = before_last(&bytes[..end], rows, cols);
        // A program can request a repetition of the last written character, so it must have been drawn.
        let is_written = bytes[skims..end].iter().any(|&byte| byte >= b' ');
        Self {
            skims: if is_written { skims } else { 0 },
            end,
        }
    }
}

impl Emulator {
    /// Whether a plain line has no effect but its text in the present modes.
    pub(super) fn takes_lines(&self) -> bool {
        let rows = self.row_count();
        self.modes.has(WRAP)
            && !self.modes.has_any(ALTERNATE | INSERT)
            && self.is_full_width()
            && self.rows.region() == (0..rows)
            && rows > 1
            && !self.has_charsets
    }

    /// Whether the cursor is at the beginning of the last row, and that row is empty.
    fn is_at_fresh_line(&self) -> bool {
        let last = self.row_count() - 1;
        self.takes_lines()
            && self.cursor() == (last, 0)
            && !self.grid.cursor.input_needs_wrap
            && cells::text(self.cells(last), Tabs::Kept, 0).is_empty()
    }

    /// Has the effect of drawing these lines, except on the screen itself, which the following lines overwrite: at
    /// least a screenful.
    pub(super) fn skim(&mut self, lines: &[u8]) {
        let last = self.row_count() - 1;
        for row in 0..last {
            let row = self.primary_row(row);
            self.store.push(row);
        }
        self.is_placed = false;
        // They are stored now, so they need not be when they scroll off.
        self.noted = last;
        let cols = self.column_count();
        let looks = looks::of_template(&self.grid.cursor.template, cols);
        let mut rest = lines;
        while let Some(length) = memchr2(b'\r', b'\n', rest) {
            self.skim_line(&rest[..length], cols, &looks);
            rest = &rest[length + END.len()..];
        }
    }

    fn skim_line(&mut self, mut line: &[u8], cols: usize, looks: &RowLooks) {
        loop {
            let (row, rest) = line.split_at(line.len().min(cols));
            let wrapped = !rest.is_empty();
            let text = std::str::from_utf8(row).unwrap_or_default();
            let text = if wrapped { text } else { trim(text) }.into();
            let id = self.rows.leave_last();
            let looks = looks.clone();
            self.store.push(Row {
                id,
                text,
                wrapped,
                looks,
            });
            if !wrapped {
                return;
            }
            line = rest;
        }
    }
}

/// The line ending that a terminal emits.
const END: &[u8] = b"\r\n";

/// The number of bytes at the start that are complete lines of printable ASCII.
fn plain_lines(bytes: &[u8]) -> usize {
    let mut end = 0;
    while let Some(length) = memchr2(b'\r', b'\n', &bytes[end..]) {
        let (line, rest) = bytes[end..].split_at(length);
        if !rest.starts_with(END) || !is_plain(line) {
            break;
        }
        end += length + END.len();
    }
    end
}

fn is_plain(line: &[u8]) -> bool {
    // Without an early exit, many bytes are compared together.
    let odd = |byte: u8| u8::from(!(b' '..=b'~').contains(&byte));
    line.iter().fold(0, |any, &byte| any | odd(byte)) == 0
}

/// The number of bytes of plain lines before those that fill the last rows.
fn before_last(lines: &[u8], rows: usize, cols: usize) -> usize {
    let mut start = lines.len();
    let mut filled = 0;
    while filled < rows {
        let Some(end) = start.checked_sub(END.len()) else {
            return 0;
        };
        let before = memrchr(b'\n', &lines[..end]).map_or(0, |at| at + 1);
        filled += (end - before).div_ceil(cols).max(1);
        start = before;
    }
    start
}

#[cfg(test)]
#[path = "skim_tests.rs"]
mod tests;
