//! Writing of characters and tabs.
//!
//! Start at [`Emulator::write`]. A row that is about to leave the screen
//! because of wrapping is saved first.

use alacritty_terminal::index::Column;
use alacritty_terminal::term::cell::Flags;
use unicode_width::UnicodeWidthChar;

use super::emulator::{Emulator, TAB, line};
use super::mode::{INSERT, TAB_WRAPS, WRAP};

/// The maximum number of combining characters in a cell; languages need three
/// or four.
const COMBINING: usize = 16;

impl Emulator {
    /// Writes a character at the cursor.
    #[inline]
    pub(super) fn write(&mut self, character: char) {
        self.preceding = Some(character);
        if character.is_ascii() {
            return self.write_narrow(character);
        }
        match character.width() {
            None => {}
            Some(0) => self.join(character),
            Some(1) => self.write_narrow(character),
            Some(_) => self.write_wide(character),
        }
    }

    #[inline]
    fn write_narrow(&mut self, character: char) {
        if self.grid.cursor.input_needs_wrap {
            self.wrap();
        }
        let end = self.right_end();
        if self.modes.has(INSERT) {
            self.open_gap(end, 1);
        }
        self.put_character(character, Flags::empty());
        self.step(end);
    }

    fn write_wide(&mut self, character: char) {
        if self.grid.cursor.input_needs_wrap {
            self.wrap();
        }
        let end = self.right_end();
        if self.column() + 1 >= end && !self.make_room(end) {
            return;
        }
        // With margins, a line that wrapped may have gone on elsewhere.
        let end = self.right_end();
        if self.modes.has(INSERT) {
            self.open_gap(end, 2);
        }
        self.put_character(character, Flags::WIDE_CHAR);
        self.grid.cursor.point.column += 1;
        self.put_character(' ', Flags::WIDE_CHAR_SPACER);
        self.step(end);
    }

    /// Moves the cells at the cursor out of the way.
    fn open_gap(&mut self, end: usize, width: usize) {
        let (row, column) = self.cursor();
        if column + width < end {
            self.shift_right(row, column..end, width);
        }
    }

    /// Goes on behind what was written.
    #[inline]
    fn step(&mut self, end: usize) {
        let cursor = &mut self.grid.cursor;
        if cursor.point.column.0 + 1 < end {
            cursor.point.column += 1;
        } else {
            cursor.input_needs_wrap = self.modes.has(WRAP);
        }
    }

    /// Writes the last character again.
    pub(super) fn repeat(&mut self, count: usize) {
        if let Some(character) = self.preceding {
            for _ in 0..count {
                self.write(character);
            }
        }
    }

    /// Goes to the next tab stop. A tab to one of the usual stops is noted in the cell that it starts from, if nothing
    /// stands there.
    pub(super) fn tab(&mut self) {
        if self.grid.cursor.input_needs_wrap {
            if !self.modes.has(TAB_WRAPS) {
                return;
            }
            self.wrap();
        }
        let (row, column) = self.cursor();
        let usual = ((column / TAB + 1) * TAB).min(self.column_count());
        let is_usual = self.stop_behind(column) == usual;
        let cell = &mut self.grid[line(row)][Column(column)];
        if is_usual && cell.c == ' ' && !cell.flags.intersects(Flags::WIDE_CHAR_SPACER) {
            cell.c = '\t';
        }
        self.damage.mark(row);
        self.tab_forward(1);
    }

    /// Makes room in the next row for a wide character. Without wrapping there is none.
    fn make_room(&mut self, end: usize) -> bool {
        if !self.modes.has(WRAP) || end < 2 {
            return false;
        }
        if self.column() + 1 == self.column_count() {
            self.put_character(' ', Flags::LEADING_WIDE_CHAR_SPACER);
        }
        self.wrap();
        self.column() + 1 < self.right_end()
    }

    /// Goes on in the next row.
    fn wrap(&mut self) {
        if !self.modes.has(WRAP) {
            return;
        }
        let (row, column) = self.cursor();
        let is_last = column + 1 == self.column_count();
        let start = if is_last && !self.columns.contains(&column) {
            0
        } else {
            self.columns.start
        };
        // A line that wraps between margins is not a line of the whole screen.
        if self.is_full_width() || !self.columns.contains(&column) {
            self.grid.cursor_cell().flags.insert(Flags::WRAPLINE);
        } else {
            self.grid[line(row)][Column(self.columns.end - 1)]
                .flags
                .insert(Flags::WRAPLINE);
        }
        self.index(true);
        let row = self.row();
        self.put_cursor(row, start);
    }

    /// Writes into the cell at the cursor, and ends a wide character that stood there. The row is noted as changed when
    /// the cursor leaves it.
    #[inline]
    fn put_character(&mut self, character: char, flags: Flags) {
        let character = if self.has_charsets {
            self.in_charset(character)
        } else {
            character
        };
        let cursor = &self.grid.cursor;
        let (row, column) = (cursor.point.line, cursor.point.column);
        let template = &cursor.template;
        let (fg, bg, flags) = (template.fg, template.bg, template.flags | flags);
        let extra = template.extra.clone();
        let mut cell = &mut self.grid[row][column];
        if cell
            .flags
            .intersects(Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER)
        {
            self.end_wide(usize::try_from(row.0).unwrap_or(0), column.0);
            cell = &mut self.grid[row][column];
        }
        cell.c = character;
        cell.fg = fg;
        cell.bg = bg;
        cell.flags = flags;
        cell.extra = extra;
    }

    /// A character of the set that is in use.
    fn in_charset(&mut self, character: char) -> char {
        let charset = self.charsets.next.take().unwrap_or(self.charsets.shifted);
        self.grid.cursor.charsets[charset].map(character)
    }

    /// Adds a combining character to the one before the cursor.
    fn join(&mut self, character: char) {
        if self.combining() >= COMBINING {
            return;
        }
        let cursor = &self.grid.cursor;
        let row = cursor.point.line;
        let mut column = cursor.point.column;
        if !cursor.input_needs_wrap {
            column.0 = column.saturating_sub(1);
        }
        if self.grid[row][column]
            .flags
            .contains(Flags::WIDE_CHAR_SPACER)
        {
            column.0 = column.saturating_sub(1);
        }
        self.grid[row][column].push_zerowidth(character);
        self.damage.mark(usize::try_from(row.0).unwrap_or(0));
    }
}
