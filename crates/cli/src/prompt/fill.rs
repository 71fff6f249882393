//! Shows a form on the terminal, until it is completed or removed.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

use super::form::{FormStep, PromptForm, wrapped};
use super::keyboard::{KeyPress, KeyReader};
use crate::screen::TerminalDisplay;

const PASTES: &str = "\x1b[?2004h";
const NO_PASTES: &str = "\x1b[?2004l";
const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";

/// The reason why a form was not filled in.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// Ctrl-C.
    Interrupted,
    /// The person declined.
    Declined,
    /// The terminal is gone, or cannot be used.
    NoTerminal,
}

impl From<io::Error> for NoAnswer {
    fn from(_: io::Error) -> Self {
        Self::NoTerminal
    }
}

/// Shows a form below `head`, whose text is filtered to colours. Dropping the
/// future removes both.
pub(crate) async fn fill(
    keyboard: &mut KeyReader,
    head: &str,
    form: &mut impl PromptForm,
) -> Result<(), NoAnswer> {
    let mut resized = signal(SignalKind::window_change())?;
    let mut drawn = Drawn::new(head);
    loop {
        drawn.draw(form);
        let key = tokio::select! {
            key = keyboard.next() => key?,
            Some(()) = resized.recv() => continue,
        };
        match key {
            KeyPress::Interrupt => return Err(NoAnswer::Interrupted),
            KeyPress::Continued => {
                drawn.prepare();
                drawn.screen.invalidate();
            }
            key => match form.take(key) {
                FormStep::Stay => {}
                FormStep::Declined => return Err(NoAnswer::Declined),
                FormStep::Done => {
                    drawn.report(form);
                    return Ok(());
                }
            },
        }
    }
}

/// Guard: a visible form, removed on drop.
struct Drawn {
    screen: TerminalDisplay,
    head: String,
}

impl Drawn {
    fn new(head: &str) -> Self {
        let mut drawn = Self {
            screen: TerminalDisplay::stderr(),
            head: head.to_owned(),
        };
        let (columns, rows) = drawn.screen.size();
        let lines = wrapped(&drawn.head, columns.saturating_sub(1));
        // A text that is too long for the terminal is printed, so that the user
        // can scroll to it.
        if lines.len() + 8 > rows {
            drawn.screen.paint(&lines, &[]);
            drawn.head.clear();
        }
        drawn.prepare();
        drawn
    }

    fn prepare(&self) {
        self.screen.write(PASTES);
    }

    fn draw(&mut self, form: &impl PromptForm) {
        let (columns, rows) = self.screen.size();
        let columns = columns.saturating_sub(1);
        let mut lines = self.lines(columns);
        let drawing = form.draw(columns, rows.saturating_sub(lines.len()));
        lines.extend(drawing.lines);
        if let Some(column) = drawing.cursor {
            self.screen.paint_at(&lines, column);
            self.screen.write(SHOW_CURSOR);
        } else {
            self.screen.write(HIDE_CURSOR);
            self.screen.paint(&[], &lines);
        }
    }

    fn report(&mut self, form: &impl PromptForm) {
        let (columns, _) = self.screen.size();
        let mut lines = self.lines(columns.saturating_sub(1));
        lines.push(form.report());
        self.screen.paint(&lines, &[]);
    }

    fn lines(&self, columns: usize) -> Vec<String> {
        match self.head.as_str() {
            "" => Vec::new(),
            head => wrapped(head, columns),
        }
    }
}

impl Drop for Drawn {
    fn drop(&mut self) {
        self.screen.clear();
        self.screen.write(NO_PASTES);
        self.screen.write(SHOW_CURSOR);
    }
}
