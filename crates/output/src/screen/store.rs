//! Rows that have left the screen, as plain text within a memory bound.
//!
//! Rows are numbered from the first that ever left. The oldest are dropped and
//! counted when there are too many.

use std::collections::VecDeque;

use super::looks::{self, Looks, RowLooks};
use super::style::StyledRow;

/// The number of bytes kept, including [`ROW_COST`] per row.
const LIMIT: usize = 256 * 1024;

/// The overhead of a stored row in bytes.
const ROW_COST: usize = 64;

/// The maximum number of rows of one line; longer lines are split, which bounds
/// the work of a read.
const LONGEST_LINE: usize = 1024;

/// A row of text and whether the next row continues its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The identity of the row, independent of its position.
    pub(super) id: u64,
    pub(super) text: Box<str>,
    pub(super) wrapped: bool,
    /// Its looks, until a store takes them.
    pub(super) looks: RowLooks,
}

/// A position between two rows of a [`RowStore`]. The default is the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    row: u64,
    /// The number of bytes of text before it.
    offset: u64,
}

#[derive(Debug, Default)]
pub(super) struct RowStore {
    rows: VecDeque<Row>,
    first: Position,
    end: Position,
    /// The position at which the program last cleared the screen.
    cleared: Position,
    bytes: usize,
    looks: Looks,
    /// The start of the line that the newest row belongs to.
    line: Position,
}

impl RowStore {
    /// Adds the newest row.
    pub(super) fn push(&mut self, mut row: Row) {
        let continues = self.rows.back().is_some_and(|last| last.wrapped);
        if !continues {
            self.line = self.end;
        }
        if self.end.row - self.line.row >= LONGEST_LINE as u64 {
            row.wrapped = false;
        }
        if let Some(spans) = row.looks.take() {
            self.looks.push(self.end.row, spans);
        }
        self.bytes += cost(&row);
        self.end = after(self.end, &row);
        self.rows.push_back(row);
        while self.bytes > LIMIT
            && let Some(oldest) = self.rows.pop_front()
        {
            self.bytes -= cost(&oldest);
            self.first = after(self.first, &oldest);
        }
        if self.rows.len() < self.rows.capacity() / 4 {
            self.rows.shrink_to_fit();
        }
    }

    /// Says that nothing up to here is on view any more, because the program wiped it.
    pub(super) fn clear(&mut self) {
        if let Some(last) = self.rows.back_mut() {
            last.wrapped = false;
        }
        self.cleared = self.end;
    }

    /// Whether nothing has left the screen since the program wiped it.
    pub(super) fn is_cleared(&self) -> bool {
        self.cleared == self.end
    }

    /// The position at which a reader at `position` continues, and the number
    /// of bytes in between that were dropped.
    pub(super) fn resume(&self, position: Position) -> (Position, u64) {
        let position = position.max(self.cleared);
        let start = position.max(self.first);
        (start, start.offset - position.offset)
    }

    /// The oldest place that is kept, and how many bytes came before it.
    pub(super) fn beginning(&self) -> (Position, u64) {
        (self.first, self.first.offset)
    }

    /// The text of the last row that is not blank and has not been wiped.
    pub(super) fn last_text(&self) -> Option<&str> {
        let standing = self.end.row.saturating_sub(self.cleared.row);
        let rows = self.rows.iter().rev().map(|row| &*row.text);
        let mut rows = rows.take(usize::try_from(standing).unwrap_or(usize::MAX));
        rows.find(|text| !text.trim().is_empty())
    }

    /// The start of the line that may continue on the screen.
    pub(super) fn open_line(&self) -> Position {
        if self.rows.back().is_some_and(|last| last.wrapped) {
            self.line.max(self.first)
        } else {
            self.end
        }
    }

    /// Every row that is kept, with its looks.
    pub(super) fn styled(&self) -> impl Iterator<Item = StyledRow> {
        let numbered = (self.first.row..).zip(&self.rows);
        numbered.map(|(number, row)| {
            let spans = self.looks.of(number).unwrap_or_default();
            looks::styled(&row.text, spans)
        })
    }

    /// The rows from a place on that [`RowStore::resume`] or [`RowStore::open_line`] gave.
    pub(super) fn rows(&self, from: Position) -> impl Iterator<Item = &Row> {
        let skip = usize::try_from(from.row.saturating_sub(self.first.row)).unwrap_or(usize::MAX);
        self.rows.iter().skip(skip)
    }
}

fn cost(row: &Row) -> usize {
    row.text.len() + ROW_COST
}

fn after(position: Position, row: &Row) -> Position {
    let newline = u64::from(!row.wrapped);
    Position {
        row: position.row + 1,
        offset: position.offset + row.text.len() as u64 + newline,
    }
}
