//! Resets: everything (RIS), the modes a program may have left behind (DECSTR), and the pattern of `E` (DECALN).
//!
//! Start at [`Emulator::reset`].

use alacritty_terminal::grid::Cursor;
use alacritty_terminal::term::cell::Cell;
use alacritty_terminal::vte::ansi::CharsetIndex;

use super::emulator::{
    ActiveCharsets, AttributeExtent, Emulator, LEVEL, Protection, SavedState, line, tab_stops,
};
use super::links::Links;
use super::mode::{
    ALTERNATE, CURSOR_KEYS, INSERT, KEYPAD, MARGINS, ORIGIN, REVERSE_WRAP, REVERSE_WRAP_ALWAYS,
    SHOW_CURSOR, Switches, WRAP,
};

impl Emulator {
    /// Makes everything as it was at first, except for what has left the screen.
    pub(super) fn reset(&mut self) {
        self.before_clear();
        if self.modes.has(ALTERNATE) {
            std::mem::swap(&mut self.grid, &mut self.other);
        }
        self.grid.reset();
        self.other.reset();
        self.modes = Switches::default();
        self.rows.reset_region(self.row_count());
        self.columns = 0..self.column_count();
        self.tabs = tab_stops(0..self.column_count());
        self.charsets = ActiveCharsets::default();
        self.protection = Protection::Off;
        self.saved = [SavedState::default(); 2];
        self.attributes = AttributeExtent::default();
        self.cursor_style = 0;
        self.level = LEVEL;
        self.links = Links::default();
        self.palette.clear();
        self.title = None;
        self.titles.clear();
        self.is_canvas = false;
        self.is_placed = false;
        self.damage.mark_all();
    }

    /// Resets what a program may have left behind, and leaves the screen and the cursor where they are.
    pub(super) fn soft_reset(&mut self) {
        let off = ORIGIN | INSERT | CURSOR_KEYS | KEYPAD | MARGINS | REVERSE_WRAP;
        self.modes.put(off | REVERSE_WRAP_ALWAYS, false);
        self.modes.put(SHOW_CURSOR | WRAP, true);
        self.is_canvas = false;
        self.rows.reset_region(self.row_count());
        self.columns = 0..self.column_count();
        self.charsets = ActiveCharsets::default();
        self.protection = Protection::Off;
        self.attributes = AttributeExtent::default();
        self.saved[0] = SavedState::default();
        self.grid.saved_cursor = Cursor::default();
        self.grid.cursor.template = Cell::default();
        self.grid.cursor.charsets = Cursor::<Cell>::default().charsets;
        self.grid.cursor.input_needs_wrap = false;
    }

    /// Sets the level of terminal that the program wants, which resets everything else it could have left behind.
    pub(super) fn set_level(&mut self, number: usize) {
        if let Some(level @ 1..=5) = number.checked_sub(60) {
            self.soft_reset();
            self.level = u16::try_from(level).unwrap_or(LEVEL).min(LEVEL);
        }
    }

    /// Fills the screen with `E`, without margins.
    pub(super) fn fill_with_pattern(&mut self) {
        self.rows.reset_region(self.row_count());
        self.columns = 0..self.column_count();
        self.modes.put(ORIGIN, false);
        let cell = Cell {
            c: 'E',
            ..Cell::default()
        };
        for row in 0..self.row_count() {
            self.grid[line(row)][..].fill(cell.clone());
        }
        self.damage.mark_all();
        self.home();
    }

    /// Shifts another character set in.
    pub(super) fn shift(&mut self, index: CharsetIndex) {
        self.has_charsets |= index != CharsetIndex::G0;
        self.charsets.shifted = index;
    }

    /// Takes another character set for the next character only.
    pub(super) fn shift_once(&mut self, index: CharsetIndex) {
        self.has_charsets = true;
        self.charsets.next = Some(index);
    }
}
