//! Remembers typed lines, so that their echo is not reported to the reader who
//! typed them.
//!
//! Start at [`Echoes::typed`] and [`Echoes::is_echo`]. A line counts as an echo
//! only if it is exactly the earlier prompt followed by the typed text.

use super::lines::{ScreenLine, trim};

/// The number of typed lines that are remembered.
const LIMIT: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Echoes {
    echoes: Vec<Echo>,
}

/// One line that was typed.
#[derive(Debug)]
struct Echo {
    /// The line that it is echoed on, where that is known.
    line: Option<u64>,
    prompt: String,
    text: String,
    /// Whether Enter was typed behind it.
    is_submitted: bool,
    /// Whether a reader has looked for it without success.
    was_missed: bool,
}

/// A reader's knowledge of a line.
pub(super) enum LineKnowledge<'a> {
    /// It has not been there.
    Nothing,
    /// It has been there with the text that this compares with.
    Text(&'a dyn Fn(&str) -> bool),
}

impl Echoes {
    /// Notes what is about to be typed while the cursor is on `line`.
    pub(super) fn typed(&mut self, text: &str, line: &ScreenLine) {
        // What was looked for in vain has not been echoed.
        self.echoes
            .retain(|echo| echo.line.is_some() || !echo.was_missed);
        let prompt = &line.text[..line.cursor.unwrap_or(line.text.len())];
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        for (index, part) in text.split_inclusive('\n').enumerate() {
            let is_submitted = part.ends_with('\n');
            let part = part.trim_end_matches('\n');
            if index == 0 {
                self.first(part, is_submitted, prompt, line.id);
            } else if !part.is_empty() {
                self.push(None, prompt, part, is_submitted);
            }
        }
        let excess = self.echoes.len().saturating_sub(LIMIT);
        self.echoes.drain(..excess);
    }

    /// The first line typed goes behind the cursor, unless what was typed before it has yet to be echoed.
    fn first(&mut self, text: &str, is_submitted: bool, prompt: &str, line: u64) {
        match self.echoes.last_mut() {
            Some(last) if !last.is_submitted && last.is_at(line) => {
                last.text.push_str(text);
                last.is_submitted = is_submitted;
            }
            Some(last) if last.is_at(line) && !text.is_empty() => {
                let prompt = last.prompt.clone();
                self.push(None, &prompt, text, is_submitted);
            }
            _ => self.push(Some(line), prompt, text, is_submitted),
        }
    }

    fn push(&mut self, line: Option<u64>, prompt: &str, text: &str, is_submitted: bool) {
        self.echoes.push(Echo {
            line,
            prompt: prompt.to_owned(),
            text: text.to_owned(),
            is_submitted,
            was_missed: false,
        });
    }

    /// Whether a line is nothing but a prompt that the reader knows and what was typed behind it.
    pub(super) fn is_echo(&mut self, line: &ScreenLine, known: &LineKnowledge<'_>) -> bool {
        let bound = self
            .echoes
            .iter()
            .rev()
            .find(|echo| echo.line == Some(line.id));
        if let Some(echo) = bound {
            let prompt = trim(&echo.prompt);
            let knows_prompt = match known {
                LineKnowledge::Text(is) => is(prompt) || echo.begins(prompt, is),
                LineKnowledge::Nothing => prompt.is_empty(),
            };
            return knows_prompt && echo.is(&echo.prompt, line);
        }
        let Some(echo) = self.echoes.iter_mut().find(|echo| echo.line.is_none()) else {
            return false;
        };
        let is_echo = match known {
            LineKnowledge::Text(is) => is(trim(&echo.prompt)) && echo.is(&echo.prompt, line),
            LineKnowledge::Nothing => echo.is(&echo.prompt, line) || echo.is("", line),
        };
        if is_echo {
            echo.line = Some(line.id);
        }
        is_echo
    }

    /// Notes that a reader has gone through everything.
    pub(super) fn looked(&mut self) {
        for echo in &mut self.echoes {
            echo.was_missed = echo.line.is_none();
        }
    }
}

impl Echo {
    fn is_at(&self, line: u64) -> bool {
        self.line == Some(line)
    }

    /// Whether the line is the prompt and the typed text, or the beginning of it that has arrived yet.
    fn is(&self, prompt: &str, line: &ScreenLine) -> bool {
        let Some(typed) = line.text.strip_prefix(prompt) else {
            return trim(prompt) == line.trimmed() && trim(&self.text).is_empty();
        };
        let arrives = line.cursor == Some(line.text.len()) && self.line.is_some();
        trim(typed) == trim(&self.text) || arrives && self.text.starts_with(typed)
    }

    /// Whether what the reader knows is the prompt with a beginning of the typed text.
    fn begins(&self, prompt: &str, is: &dyn Fn(&str) -> bool) -> bool {
        let whole = format!("{}{}", self.prompt, self.text);
        (prompt.len()..=whole.len())
            .filter(|&end| whole.is_char_boundary(end))
            .any(|end| is(trim(&whole[..end])))
    }
}
