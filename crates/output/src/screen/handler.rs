//! What the parser finds in the program's bytes is done here.
//!
//! Almost everything is the emulator's business. What makes rows leave the screen is noted before it happens, and what
//! could grow without a bound is kept short. Links and the shape of the mouse are nobody's business here.

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, ClearMode, CursorShape, CursorStyle, Handler, LineClearMode, Mode,
    NamedPrivateMode, PrivateMode, Rgb, StandardCharset, TabulationClearMode,
};
use unicode_width::UnicodeWidthChar;

use super::emulator::Emulator;

/// How many combining characters a cell may hold; languages need three or four.
const COMBINING: usize = 16;

/// How long a title may be in bytes, and how many a program may put aside.
const TITLE: usize = 1024;
const TITLES: usize = 16;

/// Passes calls on to the emulator as they are.
macro_rules! pass_on {
    ($($name:ident($($argument:ident: $kind:ty),*);)*) => {
        $(fn $name(&mut self, $($argument: $kind),*) {
            self.term.$name($($argument),*);
        })*
    };
}

impl Handler for Emulator {
    fn input(&mut self, c: char) {
        let width = if c.is_ascii() { Some(1) } else { c.width() };
        match width {
            None => return,
            Some(0) if self.combining() >= COMBINING => return,
            Some(0) => {}
            Some(width) => {
                let cursor = &self.term.grid().cursor;
                let is_cut = width > 1 && cursor.point.column.0 + 1 >= self.term.columns();
                if cursor.input_needs_wrap || is_cut {
                    self.before_wrap();
                }
            }
        }
        self.term.input(c);
    }

    fn put_tab(&mut self, count: u16) {
        if self.term.grid().cursor.input_needs_wrap {
            self.before_wrap();
        }
        self.term.put_tab(count);
    }

    fn linefeed(&mut self) {
        self.before_line_feed(false);
        self.term.linefeed();
    }

    fn newline(&mut self) {
        self.before_line_feed(false);
        self.term.newline();
    }

    fn scroll_up(&mut self, count: usize) {
        self.before_scroll(count, false);
        self.term.scroll_up(count);
    }

    fn scroll_down(&mut self, count: usize) {
        if !self.is_alternate() {
            self.rows.move_down(self.rows.region().start, count);
        }
        self.term.scroll_down(count);
    }

    fn reverse_index(&mut self) {
        let top = self.rows.region().start;
        if !self.is_alternate() && self.cursor().0 == top {
            self.rows.move_down(top, 1);
        }
        self.term.reverse_index();
    }

    fn insert_blank_lines(&mut self, count: usize) {
        if !self.is_alternate() {
            self.rows.move_down(self.cursor().0, count);
        }
        self.term.insert_blank_lines(count);
    }

    fn delete_lines(&mut self, count: usize) {
        if !self.is_alternate() {
            self.rows.move_up(self.cursor().0, count);
        }
        self.term.delete_lines(count);
    }

    fn clear_screen(&mut self, mode: ClearMode) {
        let is_all = match mode {
            ClearMode::All => true,
            ClearMode::Below => self.cursor() == (0, 0),
            ClearMode::Above | ClearMode::Saved => false,
        };
        if is_all && !self.is_alternate() {
            self.before_clear();
        }
        self.term.clear_screen(mode);
    }

    fn reset_state(&mut self) {
        self.before_clear();
        self.rows.reset_region(self.row_count());
        self.title = None;
        self.titles.clear();
        self.is_drawing = false;
        self.is_canvas = false;
        self.term.reset_state();
    }

    fn set_scrolling_region(&mut self, top: usize, bottom: Option<usize>) {
        self.rows.set_region(top, bottom, self.row_count());
        self.term.set_scrolling_region(top, bottom);
    }

    fn set_private_mode(&mut self, mode: PrivateMode) {
        let mode = modern(mode);
        match mode {
            ALTERNATE if !self.is_alternate() => self.before_alternate(),
            DRAWING => self.is_drawing = true,
            CURSOR => self.is_canvas = false,
            COLUMNS => self.before_column_mode(),
            _ => {}
        }
        self.term.set_private_mode(mode);
    }

    fn unset_private_mode(&mut self, mode: PrivateMode) {
        let mode = modern(mode);
        match mode {
            DRAWING => self.is_drawing = false,
            COLUMNS => self.before_column_mode(),
            _ => {}
        }
        self.term.unset_private_mode(mode);
        if mode == ALTERNATE {
            self.after_alternate();
        }
    }

    fn report_private_mode(&mut self, mode: PrivateMode) {
        self.term.report_private_mode(mode);
    }

    fn set_active_charset(&mut self, index: CharsetIndex) {
        self.has_charsets |= index != CharsetIndex::G0;
        self.term.set_active_charset(index);
    }

    fn configure_charset(&mut self, index: CharsetIndex, charset: StandardCharset) {
        self.has_charsets |= charset != StandardCharset::Ascii;
        self.term.configure_charset(index, charset);
    }

    fn set_title(&mut self, title: Option<String>) {
        self.title = title.map(|mut title| {
            title.truncate(title.floor_char_boundary(TITLE));
            title
        });
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

    fn dynamic_color_sequence(&mut self, prefix: String, index: usize, terminator: &str) {
        self.term.dynamic_color_sequence(prefix, index, terminator);
    }

    pass_on! {
        set_cursor_style(style: Option<CursorStyle>);
        set_cursor_shape(shape: CursorShape);
        goto(line: i32, col: usize);
        goto_line(line: i32);
        goto_col(col: usize);
        insert_blank(count: usize);
        move_up(count: usize);
        move_down(count: usize);
        identify_terminal(intermediate: Option<char>);
        device_status(status: usize);
        move_forward(count: usize);
        move_backward(count: usize);
        move_down_and_cr(count: usize);
        move_up_and_cr(count: usize);
        backspace();
        carriage_return();
        substitute();
        set_horizontal_tabstop();
        erase_chars(count: usize);
        delete_chars(count: usize);
        move_backward_tabs(count: u16);
        move_forward_tabs(count: u16);
        save_cursor_position();
        restore_cursor_position();
        clear_line(mode: LineClearMode);
        clear_tabs(mode: TabulationClearMode);
        set_tabs(interval: u16);
        terminal_attribute(attribute: Attr);
        set_mode(mode: Mode);
        unset_mode(mode: Mode);
        report_mode(mode: Mode);
        set_keypad_application_mode();
        unset_keypad_application_mode();
        set_color(index: usize, color: Rgb);
        reset_color(index: usize);
        clipboard_load(clipboard: u8, terminator: &str);
        decaln();
        text_area_size_pixels();
        text_area_size_chars();
    }
}

impl Emulator {
    fn before_wrap(&mut self) {
        if self.term.mode().contains(TermMode::LINE_WRAP) {
            self.before_line_feed(true);
        }
    }

    fn before_line_feed(&mut self, is_wrapping: bool) {
        if self.cursor().0 + 1 == self.rows.region().end {
            self.before_scroll(1, is_wrapping);
        }
    }

    /// Changing the number of columns is not possible from inside, but it wipes the screen.
    fn before_column_mode(&mut self) {
        if !self.is_alternate() {
            self.before_clear();
        }
        self.rows.set_region(1, None, self.row_count());
    }
}

const ALTERNATE: PrivateMode = PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor);
const CURSOR: PrivateMode = PrivateMode::Named(NamedPrivateMode::ShowCursor);
const DRAWING: PrivateMode = PrivateMode::Named(NamedPrivateMode::SyncUpdate);
const COLUMNS: PrivateMode = PrivateMode::Named(NamedPrivateMode::ColumnMode);

/// The older names of the alternate screen, which the emulator does not know, mean the newer one.
fn modern(mode: PrivateMode) -> PrivateMode {
    match mode {
        PrivateMode::Unknown(47 | 1047) => ALTERNATE,
        mode => mode,
    }
}
