//! Forms for a person, independent of the terminal.
//!
//! Start at [`PromptForm`]; `fill.rs` shows one on the terminal.

use std::fmt::Write as _;

use super::keyboard::KeyPress;
use super::line::LineEditor;
use crate::screen::{fitting, fitting_length, visible_width};

/// A form to fill in.
pub(crate) trait PromptForm: Send {
    /// Renders it for this many columns and rows.
    fn draw(&self, columns: usize, rows: usize) -> Drawing;

    /// Handles a key.
    fn take(&mut self, key: KeyPress) -> FormStep;

    /// The line that remains on the terminal after it is filled in.
    fn report(&self) -> String;
}

/// Lines, and the cursor's column in the last one, if it is visible.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Drawing {
    pub(crate) lines: Vec<String>,
    pub(crate) cursor: Option<usize>,
}

/// The effect of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormStep {
    Stay,
    Done,
    /// The person declined.
    Declined,
}

/// A choice of one option.
pub(crate) struct Select {
    pub(crate) text: String,
    pub(crate) items: Vec<String>,
    pub(crate) chosen: usize,
}

impl PromptForm for Select {
    fn draw(&self, columns: usize, rows: usize) -> Drawing {
        let mut lines = wrapped(&self.text, columns);
        let room = rows.saturating_sub(lines.len() + 1).max(1);
        let first = (self.chosen + 1).saturating_sub(room);
        let items = self.items.iter().enumerate().skip(first).take(room);
        lines.extend(items.map(|(place, item)| {
            let mark = if place == self.chosen { '>' } else { ' ' };
            fitting(&format!("{mark} {item}"), columns)
        }));
        Drawing {
            lines,
            cursor: None,
        }
    }

    fn take(&mut self, key: KeyPress) -> FormStep {
        let count = self.items.len().max(1);
        match key {
            KeyPress::Up | KeyPress::Char('k') => self.chosen = (self.chosen + count - 1) % count,
            KeyPress::Down | KeyPress::Tab | KeyPress::Char('j') => {
                self.chosen = (self.chosen + 1) % count;
            }
            KeyPress::Home => self.chosen = 0,
            KeyPress::End => self.chosen = count - 1,
            KeyPress::Enter | KeyPress::LineBreak | KeyPress::Char(' ') => return FormStep::Done,
            KeyPress::Escape | KeyPress::EndOfInput | KeyPress::Char('q') => {
                return FormStep::Declined;
            }
            _ => {}
        }
        FormStep::Stay
    }

    fn report(&self) -> String {
        let item = self.items.get(self.chosen).map_or("", String::as_str);
        format!("{} {item}", self.text)
    }
}

/// A choice of one option by key.
pub(crate) struct KeyChoice {
    /// The keys, with a label each.
    pub(crate) keys: Vec<(char, String)>,
    /// The key that Enter selects.
    pub(crate) preset: Option<char>,
    pub(crate) chosen: char,
    pub(crate) colour: bool,
}

impl KeyChoice {
    fn styled(&self, text: &str, code: &str) -> String {
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

impl PromptForm for KeyChoice {
    fn draw(&self, columns: usize, _: usize) -> Drawing {
        let mut lines = vec![String::new()];
        for (key, word) in &self.keys {
            let width = word.chars().count() + 2;
            let line = lines
                .last_mut()
                .expect("there is a line from the beginning on");
            let gap = if line.is_empty() { "" } else { "   " };
            if !line.is_empty() && visible_width(line) + gap.len() + width > columns {
                lines.push(String::new());
            }
            let line = lines
                .last_mut()
                .expect("there is a line from the beginning on");
            let gap = if line.is_empty() { "" } else { "   " };
            let key = self.styled(&key.to_string(), "1;33");
            let _ = write!(line, "{gap}{key} {word}");
        }
        Drawing {
            lines,
            cursor: None,
        }
    }

    fn take(&mut self, key: KeyPress) -> FormStep {
        let pressed = match (key, self.preset) {
            (KeyPress::Char(letter), _) => letter.to_ascii_lowercase(),
            (KeyPress::Enter | KeyPress::LineBreak, Some(preset)) => preset,
            (KeyPress::Escape | KeyPress::EndOfInput, _) => return FormStep::Declined,
            _ => return FormStep::Stay,
        };
        if self.keys.iter().any(|(key, _)| *key == pressed) {
            self.chosen = pressed;
            return FormStep::Done;
        }
        FormStep::Stay
    }

    fn report(&self) -> String {
        let word = self.keys.iter().find(|(key, _)| *key == self.chosen);
        let word = word.map_or("", |(_, word)| word.as_str());
        self.styled(&format!("→ {word}"), "2")
    }
}

/// Yes or no.
pub(crate) struct Confirm {
    pub(crate) text: String,
    pub(crate) preset: Option<bool>,
    pub(crate) answer: bool,
}

impl PromptForm for Confirm {
    fn draw(&self, columns: usize, _: usize) -> Drawing {
        let keys = match self.preset {
            Some(true) => "[Y/n]",
            Some(false) => "[y/N]",
            None => "[y/n]",
        };
        let lines = wrapped(&format!("{} {keys} ", self.text), columns);
        let cursor = lines.last().map(|line| visible_width(line));
        Drawing { lines, cursor }
    }

    fn take(&mut self, key: KeyPress) -> FormStep {
        self.answer = match (key, self.preset) {
            (KeyPress::Char('y' | 'Y'), _) => true,
            (KeyPress::Char('n' | 'N'), _) => false,
            (KeyPress::Enter | KeyPress::LineBreak, Some(preset)) => preset,
            (KeyPress::Escape | KeyPress::EndOfInput, _) => return FormStep::Declined,
            _ => return FormStep::Stay,
        };
        FormStep::Done
    }

    fn report(&self) -> String {
        let answer = if self.answer { "yes" } else { "no" };
        format!("{} {answer}", self.text)
    }
}

/// A line of text.
pub(crate) struct TextInput {
    pub(crate) text: String,
    /// The answer for an empty line.
    pub(crate) preset: Option<String>,
    /// Whether the text is hidden.
    pub(crate) secret: bool,
    pub(crate) line: LineEditor,
}

impl TextInput {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            preset: None,
            secret: false,
            line: LineEditor::default(),
        }
    }

    /// The typed text, or the preset.
    pub(crate) fn answer(&self) -> String {
        match (&self.preset, self.line.text()) {
            (Some(preset), "") => preset.clone(),
            (_, typed) => typed.to_owned(),
        }
    }

    fn label(&self) -> String {
        let mut label = self.text.trim_end().to_owned();
        if let Some(preset) = &self.preset {
            label = format!("{label} [{preset}]");
        }
        // A label that ends with punctuation keeps it.
        if !label.ends_with([':', '?']) {
            label.push(':');
        }
        label.push(' ');
        label
    }
}

impl PromptForm for TextInput {
    fn draw(&self, columns: usize, _: usize) -> Drawing {
        let label = self.label();
        let mut lines = wrapped(&label, columns);
        // If there is little room, the input gets its own line.
        if lines.len() > 1 || visible_width(&label) > columns / 2 {
            lines.push(String::new());
        }
        let last = lines.pop().unwrap_or_default();
        let used = visible_width(&last);
        let room = columns.saturating_sub(used);
        let (shown, column) = if self.secret {
            (String::new(), 0)
        } else {
            self.line.window(room)
        };
        lines.push(last + &shown);
        Drawing {
            lines,
            cursor: Some(used + column),
        }
    }

    fn take(&mut self, key: KeyPress) -> FormStep {
        match key {
            KeyPress::Enter | KeyPress::LineBreak => return FormStep::Done,
            KeyPress::Escape => return FormStep::Declined,
            KeyPress::EndOfInput if self.line.text().is_empty() => return FormStep::Declined,
            KeyPress::EndOfInput => self.line.take(KeyPress::Delete),
            key => self.line.take(key),
        }
        FormStep::Stay
    }

    fn report(&self) -> String {
        let answer = if self.secret {
            "[hidden]".to_owned()
        } else {
            self.answer().replace('\n', "↵")
        };
        format!("{}{answer}", self.label())
    }
}

/// Wraps the text to this width.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let mut rest = line;
        loop {
            let cut = fitting_length(rest, columns).max(first_letter(rest));
            lines.push(rest[..cut].to_owned());
            rest = &rest[cut..];
            if rest.is_empty() {
                break;
            }
        }
    }
    lines
}

fn first_letter(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// The text without control characters.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .map(|letter| if letter == '\t' { ' ' } else { letter })
        .filter(|&letter| letter == '\n' || !letter.is_control())
        .collect()
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
