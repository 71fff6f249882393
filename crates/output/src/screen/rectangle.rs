//! Operations on rectangles of cells: copy, fill, erase, change attributes,
//! checksum.
//!
//! Start at [`Emulator::rectangle`]. Positions count from one, in origin mode
//! from the margins; cells outside are ignored.

use std::ops::Range;

use alacritty_terminal::index::Column;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::Params;

use super::control::number;
use super::emulator::{AttributeExtent, Emulator, Protection, line};
use super::erase::{Eraser, PROTECTED};
use super::rendition;

/// Cells between two rows and two columns, counted from zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rectangle {
    rows: Range<usize>,
    columns: Range<usize>,
}

impl Emulator {
    /// The rectangle that four parameters name: top, left, bottom and right.
    pub(super) fn rectangle(&self, params: &Params, first: usize) -> Option<Rectangle> {
        let (rows, columns) = self.field();
        let range = |field: &Range<usize>, start: usize, end: usize| {
            let start = field.start + number(params, start, 1) - 1;
            let end = field.start + number(params, end, field.len());
            let end = end.min(field.end);
            (start < end).then_some(start..end)
        };
        Some(Rectangle {
            rows: range(&rows, first, first + 2)?,
            columns: range(&columns, first + 1, first + 3)?,
        })
    }

    /// Copies a rectangle (DECCRA).
    pub(super) fn copy_rectangle(&mut self, params: &Params) {
        let Some(source) = self.rectangle(params, 0) else {
            return;
        };
        let (rows, columns) = self.field();
        let top = rows.start + number(params, 5, 1) - 1;
        let left = columns.start + number(params, 6, 1) - 1;
        if top >= rows.end || left >= columns.end {
            return;
        }
        let width = source.columns.len().min(columns.end - left);
        let columns = source.columns.start..source.columns.start + width;
        let copies: Vec<Vec<Cell>> = source
            .rows
            .map(|row| self.cells(row)[columns.clone()].to_vec())
            .collect();
        for (row, cells) in (top..rows.end).zip(copies) {
            self.part_wide(row, left);
            self.part_wide(row, left + width);
            self.grid[line(row)][Column(left)..Column(left + width)].clone_from_slice(&cells);
            self.mend_edge(row, left);
            self.mend_edge(row, left + width);
            self.damage.mark(row);
        }
    }

    /// Fills a rectangle with a character in the chosen looks (DECFRA).
    pub(super) fn fill_rectangle(&mut self, params: &Params) {
        let Some(character) = u32::try_from(number(params, 0, 0))
            .ok()
            .filter(|code| matches!(code, 32..127 | 160..256))
            .and_then(char::from_u32)
        else {
            return;
        };
        let template = self.grid.cursor.template.clone();
        let cell = Cell {
            c: character,
            ..template
        };
        self.each_cell(params, 1, |place| *place = cell.clone());
    }

    /// Erases a rectangle, protected or not (DECERA), or all of it that is not protected (DECSERA).
    pub(super) fn erase_rectangle(&mut self, params: &Params, eraser: Eraser) {
        let blank = self.blank();
        let spares = eraser == Eraser::Selective && self.protection != Protection::Guarded;
        self.each_cell(params, 0, |cell| {
            if !spares || !cell.flags.contains(PROTECTED) {
                *cell = blank.clone();
            }
        });
    }

    /// Changes attributes of the cells between two corners (DECCARA), or turns them around (DECRARA).
    pub(super) fn change_attributes(&mut self, params: &Params, change: fn(&mut Cell, &[u16])) {
        let Some(rectangle) = self.rectangle(params, 0) else {
            return;
        };
        let mut numbers: Vec<u16> = params.iter().skip(4).map(|param| param[0]).collect();
        if numbers.is_empty() {
            numbers.push(0);
        }
        let last = rectangle.rows.end - 1;
        let (_, field) = self.field();
        for row in rectangle.rows.clone() {
            let columns = if self.attributes == AttributeExtent::Rectangle {
                rectangle.columns.clone()
            } else {
                let is_first = row == rectangle.rows.start;
                let start = if is_first {
                    rectangle.columns.start
                } else {
                    field.start
                };
                let end = if row == last {
                    rectangle.columns.end
                } else {
                    field.end
                };
                start..end.max(start)
            };
            for cell in &mut self.grid[line(row)][Column(columns.start)..Column(columns.end)] {
                change(cell, &numbers);
            }
            self.damage.mark(row);
        }
    }

    /// Answers with the sum of the characters in a rectangle (DECRQCRA), as a VT420 does: negative, blanks as spaces.
    pub(super) fn report_sum(&mut self, params: &Params) {
        let id = number(params, 0, 0);
        let rectangle = self.rectangle(params, 2);
        let mut sum = 0_u32;
        if let Some(Rectangle { rows, columns }) = rectangle {
            for row in rows {
                let cells = &self.cells(row)[columns.clone()];
                sum = cells.iter().map(value).fold(sum, u32::wrapping_add);
            }
        }
        let sum = sum.wrapping_neg() & 0xffff;
        self.replies
            .push(format_args!("\x1bP{id}!~{sum:04X}\x1b\\"));
    }

    /// Does something with every cell of a rectangle.
    fn each_cell(&mut self, params: &Params, first: usize, mut act: impl FnMut(&mut Cell)) {
        let Some(Rectangle { rows, columns }) = self.rectangle(params, first) else {
            return;
        };
        for row in rows {
            self.part_wide(row, columns.start);
            self.part_wide(row, columns.end);
            let cells = &mut self.grid[line(row)][Column(columns.start)..Column(columns.end)];
            cells.iter_mut().for_each(&mut act);
            self.damage.mark(row);
        }
    }

    /// Ends a wide character of which only one half was copied.
    fn mend_edge(&mut self, row: usize, column: usize) {
        let cells = self.cells(row);
        let has = |column: usize, flag: Flags| {
            cells
                .get(column)
                .is_some_and(|cell| cell.flags.contains(flag))
        };
        let before = column > 0 && has(column - 1, Flags::WIDE_CHAR);
        let behind = has(column, Flags::WIDE_CHAR_SPACER);
        if before == behind {
            return;
        }
        let half = if before { column - 1 } else { column };
        let cell = &mut self.grid[line(row)][Column(half)];
        cell.flags.remove(Flags::WIDE_CHAR_SPACER);
        cell.clear_wide();
    }
}

/// The code of a cell's characters, as a sum counts it.
fn value(cell: &Cell) -> u32 {
    if cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
        return 0;
    }
    let joined = cell.zerowidth().unwrap_or_default();
    let joined: u32 = joined.iter().map(|&character| u32::from(character)).sum();
    let character = if cell.c == '\t' { ' ' } else { cell.c };
    u32::from(character) + joined
}

pub(super) const CHANGE: fn(&mut Cell, &[u16]) = rendition::change;
pub(super) const REVERSE: fn(&mut Cell, &[u16]) = rendition::reverse;
