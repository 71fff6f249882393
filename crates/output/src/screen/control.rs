//! Executes the control sequences that the parser finds.
//!
//! Start at `csi_dispatch`. Unknown sequences are ignored. Names in capitals
//! are those of the DEC and xterm manuals.

use alacritty_terminal::vte::ansi::{CharsetIndex, StandardCharset};
use alacritty_terminal::vte::{Params, Perform};

use super::emulator::{AttributeExtent, Emulator, Protection, tab_stops};
use super::erase::{Eraser, PROTECTED};
use super::mode::{KEYPAD, MARGINS, NEW_LINE};
use super::rectangle::{CHANGE, REVERSE};
use super::rendition;
use super::request::DeviceString;

/// The maximum length of a title in bytes.
const TITLE: usize = 1024;

/// A parameter, or the default if it is zero or not there.
#[inline]
pub(super) fn number(params: &Params, index: usize, default: usize) -> usize {
    match params.iter().nth(index) {
        Some(&[number, ..]) if number != 0 => number.into(),
        _ => default,
    }
}

impl Perform for Emulator {
    fn print(&mut self, character: char) {
        self.write(character);
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            0x08 => self.move_left(1),
            b'\t' => self.tab(),
            b'\n' | 0x0b | 0x0c => {
                self.index(false);
                if self.modes.has(NEW_LINE) {
                    self.carriage_return();
                }
            }
            b'\r' => self.carriage_return(),
            0x0e => self.shift(CharsetIndex::G1),
            0x0f => self.shift(CharsetIndex::G0),
            _ => {}
        }
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], _ignore: bool, byte: u8) {
        match (intermediates, byte) {
            ([], b'6') => self.back_index(),
            ([], b'7') => self.save_cursor(),
            ([], b'8') => self.restore_cursor(),
            ([], b'9') => self.forward_index(),
            ([], b'=') => self.modes.put(KEYPAD, true),
            ([], b'>') => self.modes.put(KEYPAD, false),
            ([], b'D') => self.index(false),
            ([], b'E') => {
                self.index(false);
                self.carriage_return();
            }
            ([], b'H') => {
                let column = self.column();
                self.tabs[column] = true;
            }
            ([], b'M') => self.reverse_index(),
            ([], b'N') => self.shift_once(CharsetIndex::G2),
            ([], b'O') => self.shift_once(CharsetIndex::G3),
            ([], b'V') => self.protect(Protection::Guarded, true),
            ([], b'W') => self.protect(Protection::Guarded, false),
            ([], b'Z') => self.report_device(),
            ([], b'c') => self.reset(),
            ([], b'n') => self.shift(CharsetIndex::G2),
            ([], b'o') => self.shift(CharsetIndex::G3),
            ([b'#'], b'8') => self.fill_with_pattern(),
            ([b'('], set) => self.set_charset(CharsetIndex::G0, set),
            ([b')'], set) => self.set_charset(CharsetIndex::G1, set),
            ([b'*'], set) => self.set_charset(CharsetIndex::G2, set),
            ([b'+'], set) => self.set_charset(CharsetIndex::G3, set),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignore: bool, end: char) {
        if ignore {
            return;
        }
        match intermediates {
            [] => self.control(params, end),
            [b'?'] => self.private_control(params, end),
            _ => self.special_control(params, intermediates, end),
        }
    }

    fn osc_dispatch(&mut self, params: &[&[u8]], bell_terminated: bool) {
        let ending = if bell_terminated { "\x07" } else { "\x1b\\" };
        match params {
            [b"0" | b"2", title @ ..] if !title.is_empty() => self.set_title(title),
            [b"8", _, address @ ..] => self.set_link(address),
            [b"52", clipboard, b"?"] => {
                // Whatever was copied, it is not for programs.
                let clipboard = clipboard
                    .first()
                    .filter(|byte| byte.is_ascii_alphanumeric());
                let clipboard = char::from(*clipboard.unwrap_or(&b'c'));
                self.replies
                    .push(format_args!("\x1b]52;{clipboard};{ending}"));
            }
            _ => self.palette.command(params, ending, &mut self.replies),
        }
    }

    fn hook(&mut self, _: &Params, intermediates: &[u8], ignore: bool, end: char) {
        self.device_string = DeviceString::begin(intermediates, end).filter(|_| !ignore);
    }

    fn put(&mut self, byte: u8) {
        if let Some(string) = &mut self.device_string {
            string.push(byte);
        }
    }

    fn unhook(&mut self) {
        if let Some(string) = self.device_string.take() {
            self.answer_string(&string);
        }
    }
}

impl Emulator {
    /// A sequence without marks: `CSI parameters end`.
    fn control(&mut self, params: &Params, end: char) {
        let count = number(params, 0, 1);
        let kind = number(params, 0, 0);
        match end {
            '@' => self.insert_blanks(count),
            'A' => self.move_up(count),
            'B' | 'e' => self.move_down_by(end, count),
            'C' | 'a' => self.move_right_by(end, count),
            'D' => self.move_left(count),
            'E' => {
                self.move_down(count);
                self.carriage_return();
            }
            'F' => {
                self.move_up(count);
                self.carriage_return();
            }
            'G' | '`' => self.go_to_column(count),
            'H' | 'f' => self.go_to(count, number(params, 1, 1)),
            'I' => self.tab_forward(count),
            'J' => self.erase_screen(kind, Eraser::Ordinary),
            'K' => self.erase_row(kind, Eraser::Ordinary),
            'L' => self.insert_rows(count),
            'M' => self.delete_rows(count),
            'P' => self.delete_characters(count),
            'S' => self.scroll_up(count),
            'T' | '^' => self.scroll_down(count),
            'X' => self.erase_characters(count),
            'Z' => self.tab_backward(count),
            'b' => self.repeat(count),
            'c' if kind == 0 => self.report_device(),
            'd' => self.go_to_row(count),
            'g' => self.clear_tabs(kind),
            'h' => numbers(params).for_each(|mode| self.set_standard(mode, true)),
            'l' => numbers(params).for_each(|mode| self.set_standard(mode, false)),
            'm' => rendition::choose(&mut self.grid.cursor.template, params),
            'n' => self.report_status(kind),
            'r' => self.set_rows(count, last(params)),
            's' if self.modes.has(MARGINS) => self.set_columns(count, last(params)),
            's' => self.save_cursor(),
            't' => self.window(params),
            'u' => self.restore_cursor(),
            'x' => self.report_line(kind),
            _ => {}
        }
    }

    /// A private sequence: `CSI ? parameters end`.
    fn private_control(&mut self, params: &Params, end: char) {
        let kind = number(params, 0, 0);
        match end {
            'J' => self.erase_screen(kind, Eraser::Selective),
            'K' => self.erase_row(kind, Eraser::Selective),
            'W' if kind == 5 => self.tabs = tab_stops(0..self.column_count()),
            'h' => numbers(params).for_each(|mode| self.set_private(mode, true)),
            'l' => numbers(params).for_each(|mode| self.set_private(mode, false)),
            // Keys that are modified are sent as they always were.
            'm' if kind == 4 => self.replies.push(format_args!("\x1b[>4;0m")),
            'n' => self.report_private_status(params),
            'r' => numbers(params).for_each(|mode| self.restore_private(mode)),
            's' => numbers(params).for_each(|mode| self.save_private(mode)),
            _ => {}
        }
    }

    /// A sequence with other marks: `CSI mark parameters mark end`.
    fn special_control(&mut self, params: &Params, intermediates: &[u8], end: char) {
        let count = number(params, 0, 1);
        let kind = number(params, 0, 0);
        match (intermediates, end) {
            (b">", 'c') if kind == 0 => self.report_version(),
            (b"=", 'c') if kind == 0 => self.report_unit(),
            (b">", 'q') if kind == 0 => self.report_name(),
            (b"!", 'p') => self.soft_reset(),
            (b"\"", 'p') => self.set_level(kind),
            (b"\"", 'q') => self.protect(Protection::Selective, kind == 1),
            (b" ", 'q') => self.cursor_style = u16::try_from(kind).unwrap_or(0).min(6),
            (b" ", '@') => self.scroll_columns(count, Emulator::shift_columns_left),
            (b" ", 'A') => self.scroll_columns(count, Emulator::shift_columns_right),
            (b"'", '}') => self.shift_columns_at_cursor(count, Emulator::shift_columns_right),
            (b"'", '~') => self.shift_columns_at_cursor(count, Emulator::shift_columns_left),
            (b"$", 'p') => self.report_standard(u16::try_from(kind).unwrap_or(0)),
            (b"?$", 'p') => self.report_private(u16::try_from(kind).unwrap_or(0)),
            (b"$", 'r') => self.change_attributes(params, CHANGE),
            (b"$", 't') => self.change_attributes(params, REVERSE),
            (b"$", 'v') => self.copy_rectangle(params),
            (b"$", 'x') => self.fill_rectangle(params),
            (b"$", 'z') => self.erase_rectangle(params, Eraser::Ordinary),
            (b"$", '{') => self.erase_rectangle(params, Eraser::Selective),
            (b"*", 'x') => {
                self.attributes = match kind {
                    1 => AttributeExtent::Stream,
                    2 => AttributeExtent::Rectangle,
                    _ => AttributeExtent::Unset,
                };
            }
            (b"*", 'y') => self.report_sum(params),
            _ => {}
        }
    }

    /// CUD stays between the margins, VPR does not.
    fn move_down_by(&mut self, end: char, count: usize) {
        if end == 'B' {
            self.move_down(count);
        } else {
            let (rows, _) = self.field();
            let (row, column) = self.cursor();
            self.put_cursor((row + count).min(rows.end - 1), column);
        }
    }

    /// CUF stays between the margins, HPR does not.
    fn move_right_by(&mut self, end: char, count: usize) {
        if end == 'C' {
            self.move_right(count);
        } else {
            let (_, columns) = self.field();
            let (row, column) = self.cursor();
            self.put_cursor(row, (column + count).min(columns.end - 1));
        }
    }

    fn clear_tabs(&mut self, kind: usize) {
        match kind {
            0 => {
                let column = self.column();
                self.tabs[column] = false;
            }
            3 => self.tabs.fill(false),
            _ => {}
        }
    }

    /// Moves the columns between the margins, wherever the cursor is.
    fn scroll_columns(&mut self, count: usize, shift: fn(&mut Self, usize, usize)) {
        shift(self, self.columns.start, count);
    }

    /// Inserts or deletes columns at the cursor, if it is between the margins.
    fn shift_columns_at_cursor(&mut self, count: usize, shift: fn(&mut Self, usize, usize)) {
        if self.is_between_margins() {
            shift(self, self.column(), count);
        }
    }

    fn protect(&mut self, protection: Protection, on: bool) {
        let flags = &mut self.grid.cursor.template.flags;
        flags.set(PROTECTED, on);
        if on || protection == Protection::Selective {
            self.protection = protection;
        }
    }

    fn set_charset(&mut self, index: CharsetIndex, set: u8) {
        let charset = match set {
            b'0' => StandardCharset::SpecialCharacterAndLineDrawing,
            _ => StandardCharset::Ascii,
        };
        self.has_charsets |= charset != StandardCharset::Ascii;
        self.grid.cursor.charsets[index] = charset;
    }

    fn set_title(&mut self, parts: &[&[u8]]) {
        let parts: Vec<&str> = parts
            .iter()
            .filter_map(|part| std::str::from_utf8(part).ok())
            .collect();
        let mut title = parts.join(";").trim().to_owned();
        title.truncate(title.floor_char_boundary(TITLE));
        self.title = Some(title);
    }
}

fn numbers(params: &Params) -> impl Iterator<Item = u16> {
    params.iter().map(|param| param[0])
}

/// The second parameter of a pair of margins, if it is there.
fn last(params: &Params) -> Option<usize> {
    Some(number(params, 1, 0)).filter(|&number| number > 0)
}

#[cfg(test)]
#[path = "control_tests.rs"]
mod tests;
