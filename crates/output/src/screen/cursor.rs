//! Cursor movement, saving and restoring.
//!
//! Start at [`Emulator::go_to`]. A relative movement of a cursor between the
//! margins stops at the margin.

use std::ops::Range;

use alacritty_terminal::grid::Cursor;
use alacritty_terminal::index::{Column, Point};
use alacritty_terminal::term::cell::Flags;

use super::emulator::{Emulator, SavedState, line};
use super::mode::{MARGINS, ORIGIN, REVERSE_WRAP, REVERSE_WRAP_ALWAYS, WRAP};

/// The maximum number of rows or columns that a program can pass.
const FAR: usize = u16::MAX as usize;

impl Emulator {
    #[inline]
    pub(super) fn row(&self) -> usize {
        self.cursor().0
    }

    #[inline]
    pub(super) fn column(&self) -> usize {
        self.grid.cursor.point.column.0
    }

    /// Puts the cursor into a cell of the screen, counted from zero.
    #[inline]
    pub(super) fn put_cursor(&mut self, row: usize, column: usize) {
        self.damage.mark(self.cursor().0);
        let row = row.min(self.row_count() - 1);
        let column = column.min(self.column_count() - 1);
        self.grid.cursor.point = Point::new(line(row), Column(column));
        self.grid.cursor.input_needs_wrap = false;
    }

    /// The rows and columns that positions are counted in: those between the margins in origin mode.
    #[inline]
    pub(super) fn field(&self) -> (Range<usize>, Range<usize>) {
        if self.modes.has(ORIGIN) {
            (self.rows.region(), self.columns.clone())
        } else {
            (0..self.row_count(), 0..self.column_count())
        }
    }

    /// Goes to a row and a column, counted from one.
    #[inline]
    pub(super) fn go_to(&mut self, row: usize, column: usize) {
        let (rows, columns) = self.field();
        let within = |field: Range<usize>, number: usize| {
            (field.start + number.saturating_sub(1)).min(field.end - 1)
        };
        self.put_cursor(within(rows, row), within(columns, column));
        self.is_placed = true;
    }

    pub(super) fn go_to_column(&mut self, column: usize) {
        let row = self.row();
        let (_, columns) = self.field();
        let column = (columns.start + column - 1).min(columns.end - 1);
        self.put_cursor(row, column);
    }

    pub(super) fn go_to_row(&mut self, row: usize) {
        let (rows, _) = self.field();
        let row = (rows.start + row - 1).min(rows.end - 1);
        self.put_cursor(row, self.column());
        self.is_placed = true;
    }

    pub(super) fn home(&mut self) {
        self.go_to(1, 1);
    }

    /// The cursor position as reported to the program.
    pub(super) fn reported_position(&self) -> (usize, usize) {
        let (rows, columns) = self.field();
        let from = |index: usize, field: Range<usize>| index.saturating_sub(field.start) + 1;
        (from(self.row(), rows), from(self.column(), columns))
    }

    pub(super) fn move_up(&mut self, count: usize) {
        let row = self.row();
        let top = self.rows.region().start;
        let top = if row >= top { top } else { 0 };
        self.put_cursor(row.saturating_sub(count).max(top), self.column());
    }

    pub(super) fn move_down(&mut self, count: usize) {
        let row = self.row();
        let end = self.rows.region().end;
        let end = if row < end { end } else { self.row_count() };
        self.put_cursor((row + count).min(end - 1), self.column());
    }

    pub(super) fn move_right(&mut self, count: usize) {
        let column = self.column();
        let end = self.right_end();
        self.put_cursor(self.row(), (column + count).min(end - 1));
    }

    /// Moves left, and to the rows above if the program has enabled reverse wrap.
    pub(super) fn move_left(&mut self, count: usize) {
        let wraps_back = self.modes.has_any(REVERSE_WRAP | REVERSE_WRAP_ALWAYS);
        if wraps_back && self.modes.has(WRAP) {
            return self.move_left_wrapping(count.min(FAR));
        }
        let column = self.column();
        self.put_cursor(
            self.row(),
            column.saturating_sub(count).max(self.left_start()),
        );
    }

    fn move_left_wrapping(&mut self, mut count: usize) {
        // A cursor that is about to wrap is behind the last column.
        if self.grid.cursor.input_needs_wrap {
            count -= 1;
        }
        let (mut row, mut column) = self.cursor();
        let region = self.rows.region();
        let goes_anywhere = self.modes.has(REVERSE_WRAP_ALWAYS);
        loop {
            let left = if column >= self.columns.start {
                self.columns.start
            } else {
                0
            };
            let step = count.min(column - left);
            column -= step;
            count -= step;
            if count == 0 {
                break;
            }
            let above = if row == region.start {
                if !goes_anywhere {
                    break;
                }
                region.end - 1
            } else if row == 0 {
                if !goes_anywhere {
                    break;
                }
                self.row_count() - 1
            } else {
                row - 1
            };
            if !goes_anywhere && !self.is_wrapped_row(above) {
                break;
            }
            row = above;
            column = self.columns.end - 1;
            count -= 1;
        }
        self.put_cursor(row, column);
    }

    fn is_wrapped_row(&self, row: usize) -> bool {
        let cell = &self.cells(row)[self.columns.end - 1];
        cell.flags.contains(Flags::WRAPLINE)
    }

    pub(super) fn carriage_return(&mut self) {
        let column = if self.modes.has(ORIGIN) {
            self.columns.start
        } else {
            self.left_start()
        };
        self.put_cursor(self.row(), column);
    }

    /// Goes forward to a tab stop, writing nothing.
    pub(super) fn tab_forward(&mut self, count: usize) {
        let end = self.right_end();
        let mut column = self.column();
        for _ in 0..count.min(end) {
            column = self.stop_behind(column).min(end - 1);
        }
        self.put_cursor(self.row(), column);
    }

    /// Goes back to a tab stop, past the left margin unless in origin mode.
    pub(super) fn tab_backward(&mut self, count: usize) {
        let (_, columns) = self.field();
        let mut column = self.column();
        for _ in 0..count.min(self.column_count()) {
            let stop = self.tabs[..column].iter().rposition(|&is_stop| is_stop);
            column = stop.unwrap_or(0).max(columns.start.min(column));
        }
        self.put_cursor(self.row(), column);
    }

    /// The next tab stop, or the column after the last one.
    pub(super) fn stop_behind(&self, column: usize) -> usize {
        let behind = (column + 1).min(self.tabs.len());
        let stop = self.tabs[behind..].iter().position(|&is_stop| is_stop);
        stop.map_or(self.tabs.len(), |distance| behind + distance)
    }

    pub(super) fn set_rows(&mut self, top: usize, bottom: Option<usize>) {
        let rows = self.row_count();
        if top < bottom.unwrap_or(rows).min(rows) {
            self.rows.set_region(top, bottom, rows);
            self.home();
        }
    }

    /// Sets the left and the right margin, counted from one, if the program has enabled them.
    pub(super) fn set_columns(&mut self, left: usize, right: Option<usize>) {
        let columns = self.column_count();
        let right = right.unwrap_or(columns).min(columns);
        if self.modes.has(MARGINS) && left < right {
            self.columns = left - 1..right;
            self.home();
        }
    }

    /// Whether the margins are the edges of the screen.
    pub(super) fn is_full_width(&self) -> bool {
        self.columns == (0..self.column_count())
    }

    /// Whether the cursor is between all margins.
    pub(super) fn is_between_margins(&self) -> bool {
        let (row, column) = self.cursor();
        self.rows.region().contains(&row) && self.columns.contains(&column)
    }

    pub(super) fn save_cursor(&mut self) {
        self.grid.saved_cursor = self.grid.cursor.clone();
        self.saved[0] = SavedState {
            origin: self.modes.has(ORIGIN),
            charset: self.charsets.shifted,
        };
    }

    pub(super) fn restore_cursor(&mut self) {
        let Cursor {
            point,
            template,
            charsets,
            input_needs_wrap,
        } = self.grid.saved_cursor.clone();
        let SavedState { origin, charset } = self.saved[0];
        self.modes.put(ORIGIN, origin);
        self.charsets.shifted = charset;
        let row = usize::try_from(point.line.0).unwrap_or(0);
        self.put_cursor(row, point.column.0);
        self.grid.cursor.template = template;
        self.grid.cursor.charsets = charsets;
        self.grid.cursor.input_needs_wrap = input_needs_wrap && self.modes.has(WRAP);
    }

    /// The column after the last one that the cursor can reach to the right.
    #[inline]
    pub(super) fn right_end(&self) -> usize {
        if self.column() < self.columns.end {
            self.columns.end
        } else {
            self.column_count()
        }
    }

    /// The first column that the cursor can reach to the left.
    fn left_start(&self) -> usize {
        if self.column() >= self.columns.start {
            self.columns.start
        } else {
            0
        }
    }
}
