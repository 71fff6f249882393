//! The screen of a terminal: bytes in, rows and replies out.
//!
//! Start at [`Screen::feed`] and [`Screen::read`]. The caller supplies the
//! bytes and delivers the replies.

use std::fmt;

use alacritty_terminal::vte::Parser;
use memchr::memchr;

use super::echo::Echoes;
use super::emulator::Emulator;
use super::ground::is_ground;
use super::guard::Guard;
use super::mode::{
    BRACKETED_PASTE, CURSOR_KEYS, DRAWING, FOCUS, KEYPAD, MOUSE_CLICKS, MOUSE_DRAGS,
    MOUSE_HIGHLIGHT, MOUSE_MOTION, MOUSE_SGR, MOUSE_X10, SHOW_CURSOR,
};
use super::read::{self, ScreenReader, ScreenText, ScreenView};
use super::skim::PlainRun;
use super::style::{CursorLook, CursorShape, StyledRow};

/// The maximum amount of text that waits to be drawn. Large batches are
/// cheaper, because text that scrolls out of view is not drawn.
const BATCH: usize = 64 * 1024;

/// The maximum number of characters in [`Screen::last_line`].
const LINE: usize = 200;

const ESCAPE: u8 = 0x1b;

/// A terminal's screen, as drawn by the bytes of a program.
///
/// Accepts any bytes: unknown sequences are ignored, and memory is bounded.
pub struct Screen {
    emulator: Emulator,
    parser: Parser,
    guard: Guard,
    echoes: Echoes,
    /// Text that is not drawn yet, because the screen was not read since.
    undrawn: Vec<u8>,
    /// Whether the parser is between sequences.
    is_ground: bool,
    generation: u64,
    /// The generation in which each row changed last.
    changed: Vec<u64>,
}

/// The keyboard and mouse modes that a program has set.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a mode of its own, any mix is possible"
)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScreenModes {
    /// Arrow keys send `ESC O A` instead of `ESC [ A`.
    pub application_cursor: bool,
    /// The keypad sends sequences instead of digits.
    pub application_keypad: bool,
    /// Pasted text must be sent between `ESC [200~` and `ESC [201~`.
    pub bracketed_paste: bool,
    /// The mouse events that must be sent, if any.
    pub mouse: Option<MouseTracking>,
    /// Mouse events must be sent as `ESC [ < … M`, which supports any column.
    pub mouse_sgr: bool,
    /// Changes of the focus must be sent.
    pub focus: bool,
}

/// The mouse events that a program has requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseTracking {
    /// Buttons that are pressed.
    Presses,
    /// Buttons that are pressed and released, and the wheel.
    Clicks,
    /// Clicks, and movements while a button is down.
    Drags,
    /// Clicks, and all movements.
    Motion,
}

/// The row of the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CursorLine {
    /// Its text, without trailing blanks.
    pub text: String,
    /// Whether the program positioned the cursor, as programs that draw a screen do, instead of writing lines.
    pub is_placed: bool,
}

impl Screen {
    /// An empty screen, within 1 to 512 rows and 2 to 1024 columns.
    pub fn new(rows: u16, cols: u16) -> Self {
        let emulator = Emulator::new(rows, cols);
        let changed = vec![0; emulator.row_count()];
        Self {
            emulator,
            parser: Parser::new(),
            guard: Guard::default(),
            echoes: Echoes::default(),
            undrawn: Vec::new(),
            is_ground: true,
            generation: 0,
            changed,
        }
    }

    /// Draws bytes that the program wrote, split at any point. Returns the
    /// replies to its terminal queries, which the caller must write back.
    ///
    /// Text without queries may be drawn later, when the screen is read.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.generation += 1;
        if self.is_ground && memchr(ESCAPE, bytes).is_none() {
            self.undrawn.extend_from_slice(bytes);
            if self.undrawn.len() >= BATCH {
                self.draw();
            }
            return Vec::new();
        }
        self.draw();
        self.advance(bytes);
        self.is_ground = is_ground(self.is_ground, bytes);
        self.note_changes();
        self.emulator.take_replies()
    }

    /// Draws the text that waits.
    fn draw(&mut self) {
        if self.undrawn.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.undrawn);
        let mut rest = text.as_slice();
        while !rest.is_empty() && self.emulator.takes_lines() {
            let run = if self.guard.is_idle() {
                PlainRun::at(&self.emulator, rest)
            } else {
                PlainRun::default()
            };
            if run.skims > 0 {
                self.emulator.skim(&rest[..run.skims]);
            }
            // After the next line end there may be plain lines again.
            let end = memchr(b'\n', &rest[run.end..]).map_or(rest.len(), |at| run.end + at + 1);
            self.advance(&rest[run.skims..end]);
            rest = &rest[end..];
        }
        self.advance(rest);
        self.note_changes();
    }

    fn advance(&mut self, bytes: &[u8]) {
        let (emulator, parser) = (&mut self.emulator, &mut self.parser);
        self.guard
            .feed(bytes, |part| parser.advance(emulator, part));
    }

    /// Changes the size, within the bounds of [`Screen::new`]. Lines are rewrapped.
    pub fn resize(&mut self, rows: u16, cols: u16) {
        self.draw();
        self.generation += 1;
        self.emulator.resize(rows, cols);
        self.note_changes();
    }

    /// Whether the program has the whole screen to itself: the alternate one, as `vim` and `less` do, or one that it has
    /// wiped with the cursor hidden and draws over since, as `top` does.
    pub fn is_full_screen(&self) -> bool {
        self.emulator.is_full_screen()
    }

    /// Whether the program has announced that it is drawing and has not
    /// finished. It may never finish, so wait with a timeout.
    pub fn is_drawing(&self) -> bool {
        self.emulator.modes.has(DRAWING)
    }

    /// Row and column of the cursor, counted from one.
    pub fn cursor(&mut self) -> (u16, u16) {
        self.draw();
        let (row, col) = self.emulator.cursor();
        let from_one = |index: usize| u16::try_from(index + 1).unwrap_or(u16::MAX);
        (from_one(row), from_one(col))
    }

    /// Whether the program shows the cursor.
    pub fn cursor_visible(&self) -> bool {
        self.emulator.modes.has(SHOW_CURSOR)
    }

    /// The title that the program has given the window, at most 1 KiB of it.
    pub fn title(&self) -> Option<&str> {
        self.emulator.title.as_deref()
    }

    /// The line that best shows the program's activity, if any: the cursor's, or else the last one of a full screen and the
    /// last one above the cursor otherwise. At most 200 characters of it.
    pub fn last_line(&mut self) -> Option<String> {
        self.draw();
        let row = self.emulator.telling_row()?;
        Some(row.trim().chars().take(LINE).collect())
    }

    /// The row that the cursor is in, and how it came there.
    pub fn cursor_line(&mut self) -> CursorLine {
        self.draw();
        let (row, _) = self.emulator.cursor();
        CursorLine {
            text: self.emulator.shown().nth(row).unwrap_or_default(),
            is_placed: self.emulator.is_placed,
        }
    }

    /// The number of rows and columns.
    pub fn size(&self) -> (u16, u16) {
        let cols = self.emulator.cells(0).len();
        let number = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        (number(self.emulator.row_count()), number(cols))
    }

    /// Every row of the screen, without blanks at its end.
    pub fn rows(&mut self) -> Vec<String> {
        self.draw();
        self.emulator.shown().collect()
    }

    /// Every row of the screen with its looks.
    pub fn styled_rows(&mut self) -> Vec<StyledRow> {
        self.draw();
        let rows = 0..self.emulator.row_count();
        rows.map(|row| self.emulator.styled(row)).collect()
    }

    /// One row of the screen with its looks, counted from zero.
    pub fn styled_row(&mut self, row: u16) -> Option<StyledRow> {
        self.draw();
        let row = usize::from(row);
        (row < self.emulator.row_count()).then(|| self.emulator.styled(row))
    }

    /// The keyboard and mouse modes that the program has set.
    pub fn modes(&self) -> ScreenModes {
        let modes = self.emulator.modes;
        ScreenModes {
            application_cursor: modes.has(CURSOR_KEYS),
            application_keypad: modes.has(KEYPAD),
            bracketed_paste: modes.has(BRACKETED_PASTE),
            mouse: self.mouse_tracking(),
            mouse_sgr: modes.has(MOUSE_SGR),
            focus: modes.has(FOCUS),
        }
    }

    fn mouse_tracking(&self) -> Option<MouseTracking> {
        let tracked = [
            (MOUSE_X10, MouseTracking::Presses),
            (MOUSE_CLICKS | MOUSE_HIGHLIGHT, MouseTracking::Clicks),
            (MOUSE_DRAGS, MouseTracking::Drags),
            (MOUSE_MOTION, MouseTracking::Motion),
        ];
        let found = tracked
            .iter()
            .find(|(modes, _)| self.emulator.modes.has_any(*modes));
        found.map(|&(_, tracking)| tracking)
    }

    /// The cursor's appearance as set by the program.
    pub fn cursor_look(&self) -> CursorLook {
        let style = self.emulator.cursor_style;
        CursorLook {
            shape: match style {
                3 | 4 => CursorShape::Underline,
                5 | 6 => CursorShape::Bar,
                _ => CursorShape::Block,
            },
            blinks: matches!(style, 1 | 3 | 5),
        }
    }

    /// A number that grows with every change, drawn or not. Beside [`Screen::changed_since`].
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The rows, counted from zero, that have or may have changed since the screen was of that generation. After a
    /// resize that is all of them.
    pub fn changed_since(&mut self, generation: u64) -> Vec<u16> {
        self.draw();
        (0..)
            .zip(&self.changed)
            .filter(|&(_, &changed)| changed > generation)
            .map(|(row, _)| row)
            .collect()
    }

    /// Says what is about to be typed, so that [`Screen::read`] can leave out its echo: a line that is exactly the
    /// prompt that stands there now and this text behind it. Newlines in it are Enter.
    pub fn typed(&mut self, text: &str) {
        if self.is_full_screen() {
            return;
        }
        self.draw();
        let lines = self.emulator.lines(self.emulator.store.open_line());
        if let Some(line) = lines.iter().find(|line| line.cursor.is_some()) {
            self.echoes.typed(text, line);
        }
    }

    /// Returns the requested view in at most `limit` bytes, and marks it as
    /// received by the reader.
    ///
    /// For a line program, [`ScreenView::New`] returns new and changed lines,
    /// each with a newline unless the cursor is still on it. For a full-screen
    /// program, it returns the screen first. Later it returns the changes,
    /// unless most of the screen has changed: a row as `row│text`, a part of a
    /// row as `row:col│text`, which overwrites the row from that column on.
    /// Rows and columns count from one.
    pub fn read(
        &mut self,
        reader: &mut ScreenReader,
        view: ScreenView,
        limit: usize,
    ) -> ScreenText {
        self.draw();
        read::read(&self.emulator, &mut self.echoes, reader, view, limit)
    }

    /// The lines that have left the screen, as far as they are kept, each ended by a newline.
    pub fn scrollback(&mut self) -> String {
        self.draw();
        read::scrollback(&self.emulator)
    }

    /// The rows that have left the screen, as far as they are kept, with their looks.
    pub fn styled_scrollback(&mut self) -> Vec<StyledRow> {
        self.draw();
        self.emulator.store.styled().collect()
    }

    fn note_changes(&mut self) {
        self.changed.resize(self.emulator.row_count(), 0);
        let (changed, generation) = (&mut self.changed, self.generation);
        self.emulator.take_damage(|row| changed[row] = generation);
    }
}

impl fmt::Debug for Screen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<String> = self.emulator.shown().collect();
        formatter
            .debug_struct("Screen")
            .field("rows", &rows)
            .field("undrawn", &self.undrawn.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
