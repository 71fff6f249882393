//! What somebody reads of a screen: what is new to them, or all of it.
//!
//! Start at [`read`]. The screen is not changed by being read; a [`ScreenReader`] is.

use std::collections::HashMap;

use super::cut::cut;
use super::echo::{Echoes, Known};
use super::emulator::Emulator;
use super::frame::{self, Frame};
use super::lines::{Line, hash, trim};
use super::store::Position;

/// How long a line must have been when it was seen, that only what it has grown by is told.
const LONG: usize = 512;

/// How long a line must be to be known again where it was drawn in another row. Short ones may say the same of different
/// things.
const RECOGNISABLE: usize = 20;

/// What somebody has seen of a screen. The default has seen nothing.
#[derive(Clone, Debug, Default)]
pub struct ScreenReader {
    /// Everything before this has been told.
    position: Position,
    /// Lines behind that which have been told as they stood.
    seen: HashMap<u64, Seen>,
    frame: Option<Frame>,
}

/// What of a screen is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScreenView {
    /// What is new to the reader: lines, or what changed on the screen of a full-screen program.
    #[default]
    New,
    /// The screen as it stands.
    Screen,
    /// Everything that is kept: the lines that have left the screen, then the screen.
    All,
}

/// What a read gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreenText {
    /// The text, with a marker line where something was left out.
    pub text: String,
    /// How many bytes are not in the text though they belong there: beyond the limit, or no longer kept.
    pub omitted_bytes: u64,
    /// Whether the program has the whole screen to itself. Then the text is a screen or rows of it.
    pub full_screen: bool,
}

/// A line as somebody saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    length: usize,
    hash: u64,
}

/// Tells the reader what it asks for, in at most `limit` bytes.
pub(super) fn read(
    emulator: &Emulator,
    echoes: &mut Echoes,
    reader: &mut ScreenReader,
    view: ScreenView,
    limit: usize,
) -> ScreenText {
    let full_screen = emulator.is_full_screen();
    let (text, lost) = match view {
        ScreenView::New if full_screen => (reader.changes(emulator), 0),
        ScreenView::New => reader.new_lines(emulator, echoes),
        ScreenView::Screen => (reader.screen(emulator), 0),
        ScreenView::All => reader.everything(emulator),
    };
    let (text, omitted_bytes) = cut(text, lost, limit);
    ScreenText {
        text,
        omitted_bytes,
        full_screen,
    }
}

/// The lines that have left the screen, as far as they are kept.
pub(super) fn scrollback(emulator: &Emulator) -> String {
    let (from, _) = emulator.store.beginning();
    let lines = emulator.lines(from);
    let standing = emulator.lines(emulator.store.open_line()).len();
    let mut text = String::new();
    for line in &lines[..lines.len().saturating_sub(standing)] {
        text.push_str(line.trimmed());
        text.push('\n');
    }
    text
}

impl ScreenReader {
    fn new_lines(&mut self, emulator: &Emulator, echoes: &mut Echoes) -> (String, u64) {
        let (from, lost) = emulator.store.resume(self.position);
        let lines = emulator.lines(from);
        let mut text = String::new();
        for (index, line) in lines.iter().enumerate() {
            let is_last = index + 1 == lines.len();
            if let Some(told) = self.untold(line, echoes) {
                text.push_str(told);
                if !is_last || line.cursor.is_none() {
                    text.push('\n');
                }
            }
        }
        echoes.looked();
        // A full screen that comes after lines is told whole.
        self.frame = None;
        self.catch_up(emulator);
        (text, lost)
    }

    /// What of a line has yet to be told, if anything.
    fn untold<'a>(&self, line: &'a Line, echoes: &mut Echoes) -> Option<&'a str> {
        let seen = self.seen.get(&line.id);
        let is_seen = |text: &str| seen.is_some_and(|seen| seen.is(text));
        if is_seen(line.trimmed()) {
            return None;
        }
        let known = match seen {
            Some(_) => Known::Text(&is_seen),
            None => Known::Nothing,
        };
        if echoes.is_echo(line, &known) || seen.is_some() && self.has_moved(line) {
            return None;
        }
        let told = match line.cursor {
            Some(_) => line.text.as_str(),
            None => line.trimmed(),
        };
        match seen {
            Some(seen) if seen.length >= LONG && seen.begins(told) => Some(&told[seen.length..]),
            _ => Some(told),
        }
    }

    /// Whether a line that was drawn over says what another one said before, as when a list is drawn anew one row lower.
    fn has_moved(&self, line: &Line) -> bool {
        let text = line.trimmed();
        let now = Seen::of(text);
        text.len() >= RECOGNISABLE && self.seen.values().any(|&seen| seen == now)
    }

    /// What changed on a full screen.
    fn changes(&mut self, emulator: &Emulator) -> String {
        let text = frame::read(&mut self.frame, emulator);
        if !emulator.is_alternate() {
            // It is on the primary screen, where lines may follow.
            self.catch_up(emulator);
        }
        text
    }

    fn screen(&mut self, emulator: &Emulator) -> String {
        let rows: Vec<String> = emulator.shown().collect();
        if emulator.is_full_screen() {
            self.changes(emulator);
        } else {
            self.see(emulator);
        }
        frame::joined(&rows)
    }

    fn everything(&mut self, emulator: &Emulator) -> (String, u64) {
        let (from, lost) = emulator.store.beginning();
        let lines = emulator.lines(from);
        let mut text = String::new();
        for (index, line) in lines.iter().enumerate() {
            if index + 1 == lines.len() && line.cursor.is_some() {
                text.push_str(&line.text);
            } else {
                text.push_str(line.trimmed());
                text.push('\n');
            }
        }
        if emulator.is_alternate() {
            text.push_str(&self.screen(emulator));
        } else if emulator.is_full_screen() {
            self.changes(emulator);
        }
        self.catch_up(emulator);
        (text, lost)
    }

    /// Notes that everything up to what stands on the primary screen is known.
    fn catch_up(&mut self, emulator: &Emulator) {
        self.seen.clear();
        self.position = emulator.store.open_line();
        self.see(emulator);
    }

    /// Notes that what stands on the primary screen is known.
    fn see(&mut self, emulator: &Emulator) {
        for line in emulator.lines(emulator.store.open_line()) {
            let text = line.trimmed();
            // An empty line that the cursor is on has not been written yet.
            if line.cursor.is_some() && text.is_empty() {
                continue;
            }
            self.seen.insert(line.id, Seen::of(text));
        }
    }
}

impl Seen {
    fn of(text: &str) -> Self {
        Self {
            length: text.len(),
            hash: hash(text),
        }
    }

    fn is(self, text: &str) -> bool {
        self.length == text.len() && self.hash == hash(text)
    }

    /// Whether a text is what was seen and more.
    fn begins(self, text: &str) -> bool {
        text.is_char_boundary(self.length) && self.is(trim(&text[..self.length]))
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
