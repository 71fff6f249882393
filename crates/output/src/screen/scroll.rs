//! Scrolling: rows that move up and down, and columns that move left and right, between the margins.
//!
//! Start at [`Emulator::index`]. Rows that leave the primary screen at its top are kept as text.

use std::ops::Range;

use alacritty_terminal::index::Column;
use alacritty_terminal::term::cell::Cell;

use super::emulator::{Emulator, line};

impl Emulator {
    /// Goes one row down; at the bottom margin everything between the margins moves up.
    #[inline]
    pub(super) fn index(&mut self, is_wrapping: bool) {
        self.is_placed &= is_wrapping;
        let row = self.row();
        if row + 1 == self.rows.region().end {
            if self.columns.contains(&self.column()) {
                self.scroll_region_up(1, is_wrapping);
            }
        } else if row + 1 < self.row_count() {
            self.damage.mark(row);
            self.grid.cursor.point.line += 1;
        }
    }

    /// Goes one row up; at the top margin everything between the margins moves down.
    pub(super) fn reverse_index(&mut self) {
        let (row, column) = self.cursor();
        if row == self.rows.region().start {
            if self.columns.contains(&column) {
                self.scroll_down(1);
            }
        } else if row > 0 {
            self.put_cursor(row - 1, column);
        }
    }

    pub(super) fn scroll_up(&mut self, count: usize) {
        self.scroll_region_up(count, false);
    }

    pub(super) fn scroll_down(&mut self, count: usize) {
        let region = self.rows.region();
        if self.is_full_width() && !self.is_alternate() {
            self.rows.move_down(region.start, count);
        }
        self.move_rows_down(region, count);
    }

    fn scroll_region_up(&mut self, count: usize, is_wrapping: bool) {
        if self.is_full_width() {
            self.before_scroll(count, is_wrapping);
        }
        self.move_rows_up(self.rows.region(), count);
    }

    /// Inserts blank rows at the cursor, if it is between the margins.
    pub(super) fn insert_rows(&mut self, count: usize) {
        if !self.is_between_margins() {
            return;
        }
        let row = self.row();
        if self.is_full_width() && !self.is_alternate() {
            self.rows.move_down(row, count);
        }
        self.move_rows_down(row..self.rows.region().end, count);
        self.put_cursor(row, self.columns.start);
    }

    /// Deletes rows at the cursor, if it is between the margins.
    pub(super) fn delete_rows(&mut self, count: usize) {
        if !self.is_between_margins() {
            return;
        }
        let row = self.row();
        if self.is_full_width() && !self.is_alternate() {
            self.rows.move_up(row, count);
        }
        self.move_rows_up(row..self.rows.region().end, count);
        self.put_cursor(row, self.columns.start);
    }

    /// Goes one column to the right; at the right margin everything between the margins moves left.
    pub(super) fn forward_index(&mut self) {
        let (row, column) = self.cursor();
        if column + 1 == self.columns.end {
            if self.rows.region().contains(&row) {
                self.shift_columns_left(self.columns.start, 1);
            }
        } else {
            self.put_cursor(row, column + 1);
        }
    }

    /// Goes one column to the left; at the left margin everything between the margins moves right.
    pub(super) fn back_index(&mut self) {
        let (row, column) = self.cursor();
        if column == self.columns.start {
            if self.rows.region().contains(&row) {
                self.shift_columns_right(self.columns.start, 1);
            }
        } else if column > 0 {
            self.put_cursor(row, column - 1);
        }
    }

    /// Moves the columns from `start` to the right margin to the right.
    pub(super) fn shift_columns_right(&mut self, start: usize, count: usize) {
        for row in self.rows.region() {
            self.shift_right(row, start..self.columns.end, count);
        }
    }

    /// Moves the columns from `start` to the right margin to the left.
    pub(super) fn shift_columns_left(&mut self, start: usize, count: usize) {
        for row in self.rows.region() {
            self.shift_left(row, start..self.columns.end, count);
        }
    }

    fn move_rows_up(&mut self, rows: Range<usize>, count: usize) {
        let count = count.min(rows.len());
        self.damage.mark_all();
        if self.is_full_width() {
            let region = line(rows.start)..line(rows.end);
            self.grid.scroll_up(&region, count);
            return;
        }
        for row in rows.start..rows.end - count {
            let cells = self.take_between_margins(row + count);
            self.put_between_margins(row, cells);
        }
        for row in rows.end - count..rows.end {
            self.take_between_margins(row);
        }
    }

    fn move_rows_down(&mut self, rows: Range<usize>, count: usize) {
        let count = count.min(rows.len());
        self.damage.mark_all();
        if self.is_full_width() {
            let region = line(rows.start)..line(rows.end);
            self.grid.scroll_down(&region, count);
            return;
        }
        for row in (rows.start + count..rows.end).rev() {
            let cells = self.take_between_margins(row - count);
            self.put_between_margins(row, cells);
        }
        for row in rows.start..rows.start + count {
            self.take_between_margins(row);
        }
    }

    fn take_between_margins(&mut self, row: usize) -> Vec<Cell> {
        let Range { start, end } = self.columns;
        self.part_wide(row, start);
        self.part_wide(row, end);
        let blank = self.blank();
        let cells = &mut self.grid[line(row)][Column(start)..Column(end)];
        cells
            .iter_mut()
            .map(|cell| std::mem::replace(cell, blank.clone()))
            .collect()
    }

    fn put_between_margins(&mut self, row: usize, cells: Vec<Cell>) {
        let Range { start, end } = self.columns;
        self.part_wide(row, start);
        self.part_wide(row, end);
        for (place, cell) in self.grid[line(row)][Column(start)..Column(end)]
            .iter_mut()
            .zip(cells)
        {
            *place = cell;
        }
    }
}
