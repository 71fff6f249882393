//! Reports of the terminal's type, state and size.
//!
//! Start at [`Emulator::report_device`]. The terminal identifies itself as a
//! VT420. A report never contains text chosen by a program, because the program
//! reads it as typed input.

use alacritty_terminal::vte::Params;

use super::control::number;
use super::emulator::Emulator;

/// The reported size of a character in pixels: height and width.
const CELL: (usize, usize) = (16, 8);

/// The reported xterm version. Programs derive available features from it.
const VERSION: usize = 390;

/// The number of titles that a program can save.
const TITLES: usize = 16;

impl Emulator {
    /// Answers who this is: a VT420 (64) with selective erasing (6), horizontal scrolling (21), colours (22) and
    /// rectangles (28).
    pub(super) fn report_device(&mut self) {
        self.replies.push(format_args!("\x1b[?64;6;21;22;28c"));
    }

    /// Answers which version this is, and which unit.
    pub(super) fn report_version(&mut self) {
        self.replies.push(format_args!("\x1b[>41;{VERSION};0c"));
    }

    pub(super) fn report_unit(&mut self) {
        self.replies.push(format_args!("\x1bP!|00000000\x1b\\"));
    }

    pub(super) fn report_name(&mut self) {
        let version = env!("CARGO_PKG_VERSION");
        self.replies
            .push(format_args!("\x1bP>|windlass({version})\x1b\\"));
    }

    /// Answers how the terminal is (5) and where its cursor is (6).
    pub(super) fn report_status(&mut self, number: usize) {
        match number {
            5 => self.replies.push(format_args!("\x1b[0n")),
            6 => {
                let (row, column) = self.reported_position();
                self.replies.push(format_args!("\x1b[{row};{column}R"));
            }
            _ => {}
        }
    }

    /// Answers how the devices are that a terminal used to have: there are none.
    pub(super) fn report_private_status(&mut self, params: &Params) {
        let id = number(params, 1, 0);
        let replies = &mut self.replies;
        match number(params, 0, 0) {
            6 => {
                let (row, column) = self.reported_position();
                self.replies.push(format_args!("\x1b[?{row};{column};1R"));
            }
            15 => replies.push(format_args!("\x1b[?13n")),
            25 => replies.push(format_args!("\x1b[?21n")),
            26 => replies.push(format_args!("\x1b[?27;1;0;0n")),
            53 | 55 => replies.push(format_args!("\x1b[?50n")),
            56 => replies.push(format_args!("\x1b[?57;0n")),
            62 => replies.push(format_args!("\x1b[0*{{")),
            63 => replies.push(format_args!("\x1bP{id}!~0000\x1b\\")),
            75 => replies.push(format_args!("\x1b[?70n")),
            85 => replies.push(format_args!("\x1b[?83n")),
            // The colours are those of a dark terminal.
            996 => replies.push(format_args!("\x1b[?997;1n")),
            _ => {}
        }
    }

    /// Answers how the line to the terminal is set (DECREQTPARM): as fast as it can be.
    pub(super) fn report_line(&mut self, kind: usize) {
        if kind <= 1 {
            let kind = kind + 2;
            self.replies
                .push(format_args!("\x1b[{kind};1;1;128;128;1;0x"));
        }
    }

    /// Answers window queries and saves titles. There is no window to move or
    /// resize, and titles are not reported.
    pub(super) fn window(&mut self, params: &Params) {
        let (rows, columns) = (self.row_count(), self.column_count());
        let (height, width) = CELL;
        let replies = &mut self.replies;
        match number(params, 0, 0) {
            11 => replies.push(format_args!("\x1b[1t")),
            13 => replies.push(format_args!("\x1b[3;0;0t")),
            14 => replies.push(format_args!(
                "\x1b[4;{};{}t",
                rows * height,
                columns * width
            )),
            15 => replies.push(format_args!(
                "\x1b[5;{};{}t",
                rows * height,
                columns * width
            )),
            16 => replies.push(format_args!("\x1b[6;{height};{width}t")),
            18 => replies.push(format_args!("\x1b[8;{rows};{columns}t")),
            19 => replies.push(format_args!("\x1b[9;{rows};{columns}t")),
            20 => replies.push(format_args!("\x1b]L\x1b\\")),
            21 => replies.push(format_args!("\x1b]l\x1b\\")),
            22 => self.push_title(),
            23 => self.pop_title(),
            _ => {}
        }
    }

    fn push_title(&mut self) {
        if self.titles.len() == TITLES {
            self.titles.remove(0);
        }
        self.titles.push(self.title.clone());
    }

    fn pop_title(&mut self) {
        if let Some(title) = self.titles.pop() {
            self.title = title;
        }
    }
}
