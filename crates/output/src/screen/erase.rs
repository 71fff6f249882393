//! Erasing, inserting and deleting within rows.
//!
//! Start at [`Emulator::erase_screen`]. Erased cells take the background that the program has chosen.

use std::ops::Range;

use alacritty_terminal::index::Column;
use alacritty_terminal::term::cell::{Cell, Flags};

use super::emulator::{Emulator, Protection, line};

/// The bit of a cell that the program has protected. The grid has no name for it, and keeps it.
pub(super) const PROTECTED: Flags = Flags::from_bits_retain(1 << 15);

/// The kind of erasing sequence: an ordinary one, or one that spares protected cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eraser {
    Ordinary,
    Selective,
}

impl Emulator {
    /// Erases from the cursor to the end of the screen (0), from its beginning to the cursor (1), or all of it (2).
    pub(super) fn erase_screen(&mut self, part: usize, eraser: Eraser) {
        let (row, column) = self.cursor();
        let (rows, columns) = (self.row_count(), self.column_count());
        let is_all = part == 2 || part == 0 && (row, column) == (0, 0);
        if is_all && !self.is_sparing(eraser) {
            return self.erase_everything();
        }
        match part {
            0 => {
                self.erase_cells(row, column..columns, eraser);
                (row + 1..rows).for_each(|row| self.erase_cells(row, 0..columns, eraser));
            }
            1 => {
                (0..row).for_each(|row| self.erase_cells(row, 0..columns, eraser));
                self.erase_cells(row, 0..column + 1, eraser);
            }
            2 => (0..rows).for_each(|row| self.erase_cells(row, 0..columns, eraser)),
            _ => return,
        }
        self.grid.cursor.input_needs_wrap = false;
    }

    /// Erases from the cursor to the end of the row (0), from its beginning to the cursor (1), or all of it (2).
    pub(super) fn erase_row(&mut self, part: usize, eraser: Eraser) {
        let (row, column) = self.cursor();
        let columns = self.column_count();
        let cells = match part {
            // The cursor is behind the last column.
            0 if self.grid.cursor.input_needs_wrap => return,
            0 => column..columns,
            1 => 0..column + 1,
            2 => 0..columns,
            _ => return,
        };
        self.erase_cells(row, cells, eraser);
    }

    /// Erases this many characters, starting at the cursor.
    pub(super) fn erase_characters(&mut self, count: usize) {
        let (row, column) = self.cursor();
        let end = (column + count).min(self.column_count());
        self.erase_cells(row, column..end, Eraser::Ordinary);
        self.grid.cursor.input_needs_wrap = false;
    }

    /// Erases the whole screen, and stores its content.
    pub(super) fn erase_everything(&mut self) {
        if !self.is_alternate() {
            self.before_clear();
        }
        self.erase_rows(0..self.row_count());
        self.grid.cursor.input_needs_wrap = false;
    }

    pub(super) fn erase_rows(&mut self, rows: Range<usize>) {
        if !rows.is_empty() {
            self.grid.reset_region(line(rows.start)..line(rows.end));
        }
        self.damage.mark_all();
    }

    /// Erases some cells of a row.
    pub(super) fn erase_cells(&mut self, row: usize, cells: Range<usize>, eraser: Eraser) {
        self.part_wide(row, cells.start);
        self.part_wide(row, cells.end);
        let is_sparing = self.is_sparing(eraser);
        let blank = self.blank();
        self.damage.mark(row);
        for cell in &mut self.grid[line(row)][Column(cells.start)..Column(cells.end)] {
            if !is_sparing || !cell.flags.contains(PROTECTED) {
                *cell = blank.clone();
            }
        }
    }

    /// Inserts blanks at the cursor; cells pushed past the right margin are lost.
    pub(super) fn insert_blanks(&mut self, count: usize) {
        let (row, column) = self.cursor();
        if self.columns.contains(&column) {
            self.shift_right(row, column..self.columns.end, count);
        }
        self.grid.cursor.input_needs_wrap = false;
    }

    /// Deletes characters at the cursor; blanks fill up to the right margin.
    pub(super) fn delete_characters(&mut self, count: usize) {
        let (row, column) = self.cursor();
        if self.columns.contains(&column) {
            self.shift_left(row, column..self.columns.end, count);
        }
        self.grid.cursor.input_needs_wrap = false;
    }

    /// Moves the cells of a part of a row to the right.
    pub(super) fn shift_right(&mut self, row: usize, part: Range<usize>, count: usize) {
        let count = count.min(part.len());
        self.part_wide(row, part.start);
        self.part_wide(row, part.end);
        self.part_wide(row, part.end - count);
        let blank = self.blank();
        let cells = &mut self.grid[line(row)][Column(part.start)..Column(part.end)];
        cells.rotate_right(count);
        cells[..count].fill(blank);
        self.damage.mark(row);
    }

    /// Moves the cells of a part of a row to the left.
    pub(super) fn shift_left(&mut self, row: usize, part: Range<usize>, count: usize) {
        let count = count.min(part.len());
        self.part_wide(row, part.start);
        self.part_wide(row, part.end);
        self.part_wide(row, part.start + count);
        let blank = self.blank();
        let cells = &mut self.grid[line(row)][Column(part.start)..Column(part.end)];
        cells.rotate_left(count);
        let kept = cells.len() - count;
        cells[kept..].fill(blank);
        self.damage.mark(row);
    }

    /// An erased cell.
    pub(super) fn blank(&self) -> Cell {
        self.grid.cursor.template.bg.into()
    }

    /// Whether protected cells are kept.
    pub(super) fn is_sparing(&self, eraser: Eraser) -> bool {
        match eraser {
            Eraser::Ordinary => self.protection == Protection::Guarded,
            Eraser::Selective => self.protection == Protection::Selective,
        }
    }

    /// Makes sure that no wide character spans a column's left edge.
    pub(super) fn part_wide(&mut self, row: usize, column: usize) {
        let cells = &self.grid[line(row)];
        if column > 0
            && column < cells.len()
            && cells[Column(column)]
                .flags
                .contains(Flags::WIDE_CHAR_SPACER)
        {
            self.end_wide(row, column);
        }
    }

    /// Removes the wide character of which one half is in this cell.
    pub(super) fn end_wide(&mut self, row: usize, column: usize) {
        let last = self.column_count() - 1;
        self.damage.mark(row);
        let cells = &mut self.grid[line(row)];
        if cells[Column(column)].flags.contains(Flags::WIDE_CHAR) {
            if column < last {
                cells[Column(column + 1)]
                    .flags
                    .remove(Flags::WIDE_CHAR_SPACER);
            }
            cells[Column(column)].clear_wide();
        } else if column > 0 {
            cells[Column(column)].flags.remove(Flags::WIDE_CHAR_SPACER);
            cells[Column(column - 1)].clear_wide();
        }
        // The spacer cell before it becomes an ordinary blank.
        if column <= 1 && row > 0 {
            self.grid[line(row - 1)][Column(last)]
                .flags
                .remove(Flags::LEADING_WIDE_CHAR_SPACER);
        }
    }
}
