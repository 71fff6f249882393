//! The printer of all commands: lists for people, JSON for programs.
//!
//! Start at [`Printer::list`]. A list has a header and fits the terminal; in a
//! pipe it is not cut. JSON is printed only with `--json`: one document, which
//! is an array for a list. Control characters in text of tools and models are
//! made visible, so that they do not affect the terminal.

mod widths;

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use rustix::termios;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;
use windlass_protocol::visible_line;

use crate::args::{ColorChoice, Global};
use crate::screen::fitting;
use crate::stdout;
use crate::wrap::fitted;
use widths::fit;

/// The print settings of this command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Printer {
    /// `--json`.
    pub(crate) is_json: bool,
    /// Whether text may be coloured.
    pub(crate) colour: bool,
    /// The terminal's columns; `None` if stdout is not a terminal.
    width: Option<usize>,
}

/// The meaning of a text, which determines its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Heading,
    /// Runs, works, is set up.
    Good,
    /// Waits for someone, or needs attention.
    Waiting,
    /// Failed.
    Bad,
    /// Finished or unimportant.
    Faint,
}

/// A cell of a list.
#[derive(Debug, Clone, Default)]
pub(crate) struct ListCell {
    text: String,
    tone: Tone,
    /// Whether its end is the significant part, as in a path.
    keeps_end: bool,
}

/// A column of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListColumn {
    title: &'static str,
    /// The minimum width.
    least: usize,
    /// The order in which columns are left out if there is too little room: the highest first, 0 never.
    spare: u8,
}

/// A list for people.
pub(crate) struct Listing {
    columns: Vec<ListColumn>,
    rows: Vec<Vec<ListCell>>,
    /// The message for an empty list, with a suggestion.
    empty: String,
    /// Lines below the list.
    notes: Vec<String>,
}

/// A column that is never shortened.
pub(crate) const fn column(title: &'static str) -> ListColumn {
    ListColumn {
        title,
        least: usize::MAX,
        spare: 0,
    }
}

impl ListColumn {
    /// Allows shortening to this width.
    pub(crate) const fn cut_to(mut self, least: usize) -> Self {
        self.least = least;
        self
    }

    /// Allows leaving it out; the highest number goes first.
    pub(crate) const fn spare(mut self, spare: u8) -> Self {
        self.spare = spare;
        self
    }
}

/// A cell with control characters made visible.
pub(crate) fn cell(text: impl AsRef<str>) -> ListCell {
    ListCell {
        text: visible_line(text.as_ref()),
        tone: Tone::Plain,
        keeps_end: false,
    }
}

impl ListCell {
    pub(crate) fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// Shortens it at the beginning instead of the end.
    pub(crate) fn keep_end(mut self) -> Self {
        self.keeps_end = true;
        self
    }
}

impl Listing {
    /// An empty list. `empty` is printed if it has no rows.
    pub(crate) fn new(columns: impl Into<Vec<ListColumn>>, empty: impl Into<String>) -> Self {
        Self {
            columns: columns.into(),
            rows: Vec::new(),
            empty: empty.into(),
            notes: Vec::new(),
        }
    }

    pub(crate) fn row<const COUNT: usize>(&mut self, cells: [ListCell; COUNT]) {
        debug_assert_eq!(COUNT, self.columns.len());
        self.rows.push(cells.into());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a line below the list.
    pub(crate) fn note(&mut self, line: impl Into<String>) {
        self.notes.push(line.into());
    }

    /// The list in lines of at most `width` columns.
    fn lines(&self, printer: Printer) -> Vec<String> {
        if self.rows.is_empty() {
            let mut lines = printer.wrapped(&self.empty);
            lines.extend(self.notes.iter().flat_map(|note| printer.wrapped(note)));
            return lines;
        }
        let natural: Vec<usize> = (0..self.columns.len())
            .map(|place| {
                let texts = self.rows.iter().map(|row| row[place].text.width());
                texts.fold(self.columns[place].title.width(), usize::max)
            })
            .collect();
        let widths = fit(&self.columns, &natural, printer.width);
        let header = self.columns.iter().map(|column| ListCell {
            text: column.title.to_owned(),
            tone: Tone::Heading,
            keeps_end: false,
        });
        let header: Vec<ListCell> = header.collect();
        let rows = std::iter::once(&header).chain(&self.rows);
        let mut lines: Vec<String> = rows.map(|row| printer.row(row, &widths)).collect();
        lines.extend(self.notes.iter().flat_map(|note| printer.wrapped(note)));
        lines
    }
}

impl Printer {
    pub(crate) fn new(global: &Global) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let width = terminal_columns().unwrap_or(80);
        Self {
            is_json: global.json,
            colour: colour(global.color, is_terminal),
            width: is_terminal.then_some(width),
        }
    }

    /// The printer for a live area, which leaves the last column of the terminal free.
    pub(crate) fn for_live_area(mut self) -> Self {
        self.width = self.width.map(|columns| columns.saturating_sub(1));
        self
    }

    /// Prints a list: with `--json` these values as an array, otherwise the rows.
    pub(crate) fn list(self, values: impl Into<Value>, listing: &Listing) -> io::Result<()> {
        if self.is_json {
            return json(&values.into());
        }
        let mut stdout = stdout::lock();
        for line in listing.lines(self) {
            writeln!(stdout, "{line}")?;
        }
        stdout.flush()
    }

    /// Wraps a sentence to the terminal's width; unchanged without a terminal.
    pub(crate) fn wrapped(self, text: &str) -> Vec<String> {
        match self.width {
            Some(columns) => fitted(text, columns),
            None => vec![text.to_owned()],
        }
    }

    /// The text cut to the terminal's width, less `used` columns.
    pub(crate) fn cut(self, text: &str, used: usize) -> String {
        match self.width {
            Some(columns) => shortened(text, columns.saturating_sub(used)),
            None => text.to_owned(),
        }
    }

    /// The lines of a list, for a command that draws them itself.
    pub(crate) fn lines(self, listing: &Listing) -> Vec<String> {
        listing.lines(self)
    }

    /// Prints the outcome of a command: with `--json` this value, otherwise this text.
    pub(crate) fn outcome(self, value: &Value, text: impl AsRef<str>) -> io::Result<()> {
        if self.is_json {
            return json(value);
        }
        stdout::line(format_args!("{}", text.as_ref()))
    }

    /// The text in the colour of its tone.
    pub(crate) fn paint(self, text: &str, tone: Tone) -> String {
        paint(text, tone, self.colour)
    }

    /// A row; columns without a width are left out.
    fn row(self, cells: &[ListCell], widths: &[Option<usize>]) -> String {
        let mut line = String::new();
        let mut gap = 0;
        let mut start = 0;
        let is_shown = |place: &usize| widths[*place].is_some() && !cells[*place].text.is_empty();
        let last = (0..cells.len()).rfind(is_shown);
        for (place, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let Some(width) = *width else { continue };
            // The last text of a row may use the width of the empty cells after it.
            let rest = self.width.filter(|_| last == Some(place));
            let rest = rest.map_or(0, |columns| columns.saturating_sub(start));
            start += width + 2;
            let room = width.max(rest);
            let shown = if cell.keeps_end {
                shortened_end(&cell.text, room)
            } else {
                shortened(&cell.text, room)
            };
            if !shown.is_empty() {
                line.push_str(&" ".repeat(gap));
                line.push_str(&self.paint(&shown, cell.tone));
                gap = 0;
            }
            gap += width.saturating_sub(shown.width()) + 2;
        }
        line
    }
}

/// The maximum width of text on stdout.
pub(crate) fn columns() -> usize {
    const WIDEST: usize = 100;
    terminal_columns().map_or(WIDEST, |columns| columns.min(WIDEST))
}

/// The width of the terminal on stdout, if known.
fn terminal_columns() -> Option<usize> {
    let size = termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Prints one JSON document.
pub(crate) fn json(value: &Value) -> io::Result<()> {
    let mut stdout = stdout::lock();
    // Convert it, so that it is recognised as an error of stdout.
    serde_json::to_writer_pretty(&mut stdout, value).map_err(io::Error::from)?;
    writeln!(stdout)?;
    stdout.flush()
}

/// Prints one of many JSON values, on its own line.
pub(crate) fn json_line(value: &Value) -> io::Result<()> {
    let mut stdout = stdout::lock();
    writeln!(stdout, "{value}")?;
    stdout.flush()
}

/// `--color`, for prompts and diagnostics, which no [`Printer`] prints.
static CHOICE: OnceLock<ColorChoice> = OnceLock::new();

/// Stores the value of `--color`.
pub(crate) fn choose(choice: ColorChoice) {
    let _ = CHOICE.set(choice);
}

/// Whether stderr is coloured.
pub(crate) fn stderr_colour() -> bool {
    let choice = CHOICE.get().copied().unwrap_or(ColorChoice::Auto);
    colour(choice, io::stderr().is_terminal())
}

/// Whether stdout is coloured.
pub(crate) fn colour(choice: ColorChoice, is_terminal: bool) -> bool {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            let is_dumb = variable("TERM").is_some_and(|term| term == "dumb");
            is_terminal && !is_dumb && variable("NO_COLOR").is_none()
        }
    }
}

/// The text in the colour of its tone, if `colour` is set.
pub(crate) fn paint(text: &str, tone: Tone, colour: bool) -> String {
    let code = match tone {
        Tone::Plain => return text.to_owned(),
        Tone::Heading => "1",
        Tone::Good => "32",
        Tone::Waiting => "33",
        Tone::Bad => "31",
        Tone::Faint => "2",
    };
    if colour && !text.is_empty() {
        format!("\x1b[{code}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

/// The text shortened to this width, with an ellipsis at the end.
pub(crate) fn shortened(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut cut = fitting(text, columns.saturating_sub(1));
    cut.push('…');
    cut
}

/// The end of the text in this width, after an ellipsis.
fn shortened_end(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut from = text.len();
    for (place, _) in text.char_indices().rev() {
        if text[place..].width() >= columns {
            break;
        }
        from = place;
    }
    format!("…{}", &text[from..])
}

#[cfg(test)]
#[path = "print_tests.rs"]
mod tests;
