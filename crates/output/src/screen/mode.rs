//! Modes that programs set, reset, save and query by number.
//!
//! Start at [`Emulator::set_private`]. Modes without an effect here are stored
//! too, so that a query returns the program's own setting.

use super::emulator::{Emulator, LEVEL};

/// The modes, one bit each, and the saved copies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Switches {
    set: u64,
    saved: u64,
}

pub(super) const CURSOR_KEYS: u64 = 1;
pub(super) const COLUMNS: u64 = 1 << 1;
pub(super) const ORIGIN: u64 = 1 << 2;
pub(super) const WRAP: u64 = 1 << 3;
pub(super) const SHOW_CURSOR: u64 = 1 << 4;
const ALLOW_COLUMNS: u64 = 1 << 5;
pub(super) const TAB_WRAPS: u64 = 1 << 6;
pub(super) const REVERSE_WRAP: u64 = 1 << 7;
pub(super) const KEYPAD: u64 = 1 << 8;
pub(super) const MARGINS: u64 = 1 << 9;
pub(super) const MOUSE_X10: u64 = 1 << 10;
pub(super) const MOUSE_CLICKS: u64 = 1 << 11;
pub(super) const MOUSE_HIGHLIGHT: u64 = 1 << 12;
pub(super) const MOUSE_DRAGS: u64 = 1 << 13;
pub(super) const MOUSE_MOTION: u64 = 1 << 14;
pub(super) const FOCUS: u64 = 1 << 15;
pub(super) const REVERSE_WRAP_ALWAYS: u64 = 1 << 16;
pub(super) const BRACKETED_PASTE: u64 = 1 << 17;
pub(super) const DRAWING: u64 = 1 << 18;
pub(super) const ALTERNATE: u64 = 1 << 19;
const CURSOR_SAVED: u64 = 1 << 20;
pub(super) const INSERT: u64 = 1 << 21;
pub(super) const NEW_LINE: u64 = 1 << 22;
const KEYBOARD_LOCKED: u64 = 1 << 23;
const SEND_RECEIVE: u64 = 1 << 24;
pub(super) const MOUSE_SGR: u64 = 1 << 25;

/// Every kind of mouse reporting; a program has at most one of them.
const MOUSE: u64 = MOUSE_X10 | MOUSE_CLICKS | MOUSE_HIGHLIGHT | MOUSE_DRAGS | MOUSE_MOTION;

/// The private modes by number. Those with a bit of their own from 32 on have no effect here.
const PRIVATE: [(u16, u64); 38] = [
    (1, CURSOR_KEYS),
    (3, COLUMNS),
    (4, 1 << 32),
    (5, 1 << 33),
    (6, ORIGIN),
    (7, WRAP),
    (9, MOUSE_X10),
    (12, 1 << 34),
    (18, 1 << 35),
    (19, 1 << 36),
    (25, SHOW_CURSOR),
    (40, ALLOW_COLUMNS),
    (41, TAB_WRAPS),
    (42, 1 << 37),
    (45, REVERSE_WRAP),
    (47, ALTERNATE),
    (66, KEYPAD),
    (67, 1 << 38),
    (69, MARGINS),
    (1000, MOUSE_CLICKS),
    (1001, MOUSE_HIGHLIGHT),
    (1002, MOUSE_DRAGS),
    (1003, MOUSE_MOTION),
    (1004, FOCUS),
    (1005, 1 << 39),
    (1006, MOUSE_SGR),
    (1007, 1 << 41),
    (1015, 1 << 42),
    (1016, 1 << 43),
    (1034, 1 << 44),
    (1036, 1 << 45),
    (1039, 1 << 46),
    (1045, REVERSE_WRAP_ALWAYS),
    (1047, ALTERNATE),
    (1048, CURSOR_SAVED),
    (1049, ALTERNATE),
    (2004, BRACKETED_PASTE),
    (2026, DRAWING),
];

const STANDARD: [(u16, u64); 4] = [
    (2, KEYBOARD_LOCKED),
    (4, INSERT),
    (12, SEND_RECEIVE),
    (20, NEW_LINE),
];

/// Standard modes that exist but cannot be set, and the private mode of that kind.
const NEVER_STANDARD: [u16; 12] = [1, 5, 7, 10, 11, 13, 14, 15, 16, 17, 18, 19];
const NEVER_PRIVATE: [u16; 3] = [8, 60, 64];

impl Default for Switches {
    fn default() -> Self {
        let set = WRAP | SHOW_CURSOR | SEND_RECEIVE;
        Self { set, saved: set }
    }
}

impl Switches {
    #[inline]
    pub(super) fn has(self, mode: u64) -> bool {
        self.set & mode == mode
    }

    #[inline]
    pub(super) fn has_any(self, modes: u64) -> bool {
        self.set & modes != 0
    }

    pub(super) fn put(&mut self, mode: u64, on: bool) {
        if on {
            self.set |= mode;
        } else {
            self.set &= !mode;
        }
    }
}

impl Emulator {
    /// Sets or resets a standard mode.
    pub(super) fn set_standard(&mut self, number: u16, on: bool) {
        if let Some(mode) = find(&STANDARD, number) {
            self.modes.put(mode, on);
        }
    }

    /// Sets or resets a private mode.
    pub(super) fn set_private(&mut self, number: u16, on: bool) {
        let Some(mode) = find(&PRIVATE, number) else {
            return;
        };
        match mode {
            ALTERNATE => return self.show_alternate(number, on),
            CURSOR_SAVED if on => self.save_cursor(),
            CURSOR_SAVED => self.restore_cursor(),
            COLUMNS => return self.set_column_mode(on),
            MARGINS if self.level < LEVEL => return,
            SHOW_CURSOR if on => self.is_canvas = false,
            _ if mode & MOUSE != 0 => self.modes.put(MOUSE, false),
            _ => {}
        }
        self.modes.put(mode, on);
        match mode {
            ORIGIN => self.home(),
            WRAP if !on => self.grid.cursor.input_needs_wrap = false,
            MARGINS => self.columns = 0..self.column_count(),
            _ => {}
        }
    }

    /// Saves the state of a private mode.
    pub(super) fn save_private(&mut self, number: u16) {
        if let Some(mode) = find(&PRIVATE, number) {
            self.modes.saved = self.modes.saved & !mode | self.modes.set & mode;
        }
    }

    /// Restores the saved state of a private mode.
    pub(super) fn restore_private(&mut self, number: u16) {
        if let Some(mode) = find(&PRIVATE, number) {
            self.set_private(number, self.modes.saved & mode != 0);
        }
    }

    /// Replies whether a standard mode is set.
    pub(super) fn report_standard(&mut self, number: u16) {
        let state = self.state_of(find(&STANDARD, number), NEVER_STANDARD.contains(&number));
        self.reply_at_level_three(format_args!("\x1b[{number};{state}$y"));
    }

    /// Replies whether a private mode is set.
    pub(super) fn report_private(&mut self, number: u16) {
        let state = self.state_of(find(&PRIVATE, number), NEVER_PRIVATE.contains(&number));
        self.reply_at_level_three(format_args!("\x1b[?{number};{state}$y"));
    }

    fn reply_at_level_three(&mut self, reply: std::fmt::Arguments<'_>) {
        if self.level >= 3 {
            self.replies.push(reply);
        }
    }

    fn state_of(&self, mode: Option<u64>, is_never_set: bool) -> u8 {
        match mode {
            Some(mode) if self.modes.has(mode) => 1,
            Some(_) => 2,
            None if is_never_set => 4,
            None => 0,
        }
    }

    /// Clears the screen as a change of the number of columns does, if the program has enabled that. The number itself is
    /// changed only by the terminal's user.
    fn set_column_mode(&mut self, on: bool) {
        if !self.modes.has(ALLOW_COLUMNS) {
            return;
        }
        self.modes.put(COLUMNS, on);
        self.modes.put(MARGINS, false);
        self.columns = 0..self.column_count();
        self.rows.reset_region(self.row_count());
        self.erase_everything();
        self.home();
    }

    /// Shows the alternate screen, or the primary one again. Of its three modes the first keeps its content, the
    /// second clears it when it goes, and the third clears it when it comes and keeps the cursor apart.
    fn show_alternate(&mut self, number: u16, on: bool) {
        if on == self.is_alternate() {
            if number == 1049 && !on {
                self.restore_cursor();
            }
            return;
        }
        if on {
            self.before_alternate();
            if number == 1049 {
                self.save_cursor();
            }
        } else if number == 1047 {
            self.erase_rows(0..self.row_count());
        }
        self.other.cursor = self.grid.cursor.clone();
        std::mem::swap(&mut self.grid, &mut self.other);
        self.saved.swap(0, 1);
        self.modes.put(ALTERNATE, on);
        self.damage.mark_all();
        if on {
            if number == 1049 {
                self.erase_rows(0..self.row_count());
            }
            return;
        }
        if number == 1049 {
            self.restore_cursor();
        }
        self.after_alternate();
    }
}

fn find(modes: &[(u16, u64)], number: u16) -> Option<u64> {
    modes
        .iter()
        .find(|&&(known, _)| known == number)
        .map(|&(_, mode)| mode)
}
