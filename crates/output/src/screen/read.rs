//! Reading a screen: the changes since the last read, or all of it.
//!
//! Start at [`read`]. Reading changes the [`ScreenReader`], not the screen.

use std::collections::HashMap;

use super::cut::cut;
use super::echo::{Echoes, LineKnowledge};
use super::emulator::Emulator;
use super::frame::{self, Frame};
use super::lines::{ScreenLine, hash, trim};
use super::store::Position;

/// A line at least this long when it was last read is reported by its added
/// text only.
const LONG: usize = 512;

/// The minimum length at which a line is recognised in another row. Short lines
/// may be equal by chance.
const RECOGNISABLE: usize = 20;

/// The parts of a screen that a reader has received. The default has received
/// nothing.
#[derive(Clone, Debug, Default)]
pub struct ScreenReader {
    /// Everything before this position was received.
    position: Position,
    /// Lines after the position that were received, as they were then.
    seen: HashMap<u64, SeenLine>,
    frame: Option<Frame>,
}

/// The part of a screen to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScreenView {
    /// The changes since the last read: lines, or the changes of a full screen.
    #[default]
    New,
    /// The present screen.
    Screen,
    /// Everything that is kept: the lines that have left the screen, then the screen.
    All,
}

/// The result of a read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreenText {
    /// The text, with a marker line where something was left out.
    pub text: String,
    /// The number of bytes missing from the text: beyond the limit, or no
    /// longer stored.
    pub omitted_bytes: u64,
    /// Whether the program has the whole screen to itself. Then the text is a screen or rows of it.
    pub full_screen: bool,
}

/// A line as the reader last received it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SeenLine {
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
        // A full screen that follows lines is reported whole.
        self.frame = None;
        self.catch_up(emulator);
        (text, lost)
    }

    /// The part of a line that the reader has not received, if any.
    fn untold<'a>(&self, line: &'a ScreenLine, echoes: &mut Echoes) -> Option<&'a str> {
        let seen = self.seen.get(&line.id);
        let is_seen = |text: &str| seen.is_some_and(|seen| seen.is(text));
        if is_seen(line.trimmed()) {
            return None;
        }
        let known = match seen {
            Some(_) => LineKnowledge::Text(&is_seen),
            None => LineKnowledge::Nothing,
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

    /// Whether a line that was drawn over has the text of another earlier line, as when a list is redrawn one row lower.
    fn has_moved(&self, line: &ScreenLine) -> bool {
        let text = line.trimmed();
        let now = SeenLine::of(text);
        text.len() >= RECOGNISABLE && self.seen.values().any(|&seen| seen == now)
    }

    /// The changes of a full screen.
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

    /// Marks everything up to the content of the primary screen as known.
    fn catch_up(&mut self, emulator: &Emulator) {
        self.seen.clear();
        self.position = emulator.store.open_line();
        self.see(emulator);
    }

    /// Marks the content of the primary screen as known.
    fn see(&mut self, emulator: &Emulator) {
        for line in emulator.lines(emulator.store.open_line()) {
            let text = line.trimmed();
            // An empty line that the cursor is on has not been written yet.
            if line.cursor.is_some() && text.is_empty() {
                continue;
            }
            self.seen.insert(line.id, SeenLine::of(text));
        }
    }
}

impl SeenLine {
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
