//! Renders Markdown for a terminal.
//!
//! [`whole_blocks`] returns the final part of a text that is still being
//! written; [`render`] renders it.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use unicode_width::UnicodeWidthStr;

const BOLD: &str = "\x1b[1m";
const ITALIC: &str = "\x1b[3m";
const UNDERLINE: &str = "\x1b[4m";
const STRUCK: &str = "\x1b[9m";
const DIM: &str = "\x1b[2m";
const CODE: &str = "\x1b[36m";
const RESET: &str = "\x1b[0m";

/// The number of bytes of complete blocks, which later text cannot change: up
/// to the last empty line outside a fenced block.
pub(crate) fn whole_blocks(text: &str) -> usize {
    let mut fence: Option<(char, usize)> = None;
    let mut whole = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let trimmed = line.trim();
        let mark = trimmed
            .chars()
            .next()
            .filter(|mark| matches!(mark, '`' | '~'));
        let length = mark.map_or(0, |mark| {
            trimmed.chars().take_while(|letter| *letter == mark).count()
        });
        match (fence, mark) {
            (None, Some(mark)) if length >= 3 => fence = Some((mark, length)),
            (Some((open, least)), Some(mark))
                if open == mark && length >= least && trimmed.len() == length =>
            {
                fence = None;
                if line.ends_with('\n') {
                    whole = at;
                }
            }
            (None, _) if trimmed.is_empty() && line.ends_with('\n') => whole = at,
            _ => {}
        }
    }
    whole
}

/// The text as lines of at most `width` columns, except code and tables.
pub(crate) fn render(text: &str, width: usize, colour: bool) -> Vec<String> {
    let mut writer = MarkdownWriter {
        lines: Vec::new(),
        line: String::new(),
        column: 0,
        width: width.max(20),
        colour,
        styles: Vec::new(),
        prefixes: Vec::new(),
        lists: Vec::new(),
        code: false,
        pending_space: false,
        link: None,
        table: None,
        spaced: false,
    };
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for event in Parser::new_ext(text, options) {
        writer.take(event);
    }
    writer.end_line();
    while writer.lines.last().is_some_and(String::is_empty) {
        writer.lines.pop();
    }
    writer.lines
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is where the writing stands in a way of its own"
)]
struct MarkdownWriter {
    lines: Vec<String>,
    line: String,
    column: usize,
    width: usize,
    colour: bool,
    styles: Vec<&'static str>,
    /// The prefixes of lines: for the next line, and for the following ones.
    prefixes: Vec<(String, String)>,
    /// The next number of each list; `None` for bullets.
    lists: Vec<Option<u64>>,
    code: bool,
    pending_space: bool,
    link: Option<String>,
    table: Option<Vec<Vec<String>>>,
    /// Whether an empty line precedes the next block.
    spaced: bool,
}

impl MarkdownWriter {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.code => self.code_lines(&text),
            Event::Code(text) => {
                self.styles.push(CODE);
                self.word(&text);
                self.styles.pop();
            }
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.words(&text),
            Event::SoftBreak => self.pending_space = true,
            Event::HardBreak => self.end_line(),
            Event::Rule => {
                self.begin_block();
                let rule = "─".repeat(self.width.min(40));
                self.word(&rule);
                self.end_block();
            }
            Event::TaskListMarker(done) => self.word(if done { "☑ " } else { "☐ " }),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.begin_block(),
            Tag::Heading { level, .. } => {
                self.begin_block();
                self.styles.push(BOLD);
                if level == HeadingLevel::H1 {
                    self.styles.push(UNDERLINE);
                }
            }
            Tag::BlockQuote(_) => {
                self.begin_block();
                self.prefixes.push(("│ ".to_owned(), "│ ".to_owned()));
            }
            Tag::CodeBlock(kind) => {
                self.begin_block();
                if let CodeBlockKind::Fenced(language) = kind
                    && !language.is_empty()
                {
                    self.styles.push(DIM);
                    self.word(&language);
                    self.styles.pop();
                    self.end_line();
                }
                self.code = true;
            }
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.begin_block();
                } else {
                    self.end_line();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.end_line();
                self.spaced = false;
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "• ".to_owned(),
                };
                let rest = " ".repeat(mark.width());
                self.prefixes.push((mark, rest));
            }
            Tag::Emphasis => self.styles.push(ITALIC),
            Tag::Strong => self.styles.push(BOLD),
            Tag::Strikethrough => self.styles.push(STRUCK),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some(dest_url.into_string());
                self.styles.push(UNDERLINE);
            }
            Tag::Table(_) => {
                self.begin_block();
                self.table = Some(Vec::new());
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.push(Vec::new());
                }
            }
            Tag::TableCell => {
                if let Some(row) = self.table.as_mut().and_then(|table| table.last_mut()) {
                    row.push(String::new());
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.end_block(),
            TagEnd::Heading(level) => {
                self.styles.pop();
                if level == HeadingLevel::H1 {
                    self.styles.pop();
                }
                self.end_block();
            }
            TagEnd::BlockQuote(_) => {
                self.prefixes.pop();
                self.spaced = true;
            }
            TagEnd::CodeBlock => {
                self.code = false;
                self.end_block();
            }
            TagEnd::List(_) => {
                self.end_line();
                self.lists.pop();
                self.spaced = self.lists.is_empty();
            }
            TagEnd::Item => {
                self.end_line();
                self.prefixes.pop();
                self.spaced = false;
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                if let Some(url) = self.link.take()
                    && !self.line.ends_with(&url)
                {
                    self.styles.push(DIM);
                    self.words(&format!(" ({url})"));
                    self.styles.pop();
                }
            }
            TagEnd::Table => {
                if let Some(rows) = self.table.take() {
                    self.table_rows(&rows);
                }
                self.end_block();
            }
            _ => {}
        }
    }

    fn begin_block(&mut self) {
        self.end_line();
        if std::mem::take(&mut self.spaced) && !self.lines.is_empty() {
            let prefix: String = self
                .prefixes
                .iter()
                .map(|(_, rest)| rest.as_str())
                .collect();
            self.lines.push(prefix.trim_end().to_owned());
        }
    }

    fn end_block(&mut self) {
        self.end_line();
        self.spaced = true;
    }

    fn words(&mut self, text: &str) {
        if let Some(row) = self.table.as_mut().and_then(|table| table.last_mut())
            && let Some(cell) = row.last_mut()
        {
            cell.push_str(text);
            return;
        }
        self.pending_space |= text.starts_with(char::is_whitespace);
        for (place, word) in text.split_whitespace().enumerate() {
            self.pending_space |= place > 0;
            self.word(word);
        }
        self.pending_space |= text.ends_with(char::is_whitespace);
    }

    fn word(&mut self, word: &str) {
        if let Some(row) = self.table.as_mut().and_then(|table| table.last_mut())
            && let Some(cell) = row.last_mut()
        {
            cell.push_str(word);
            return;
        }
        let space = std::mem::take(&mut self.pending_space) && !self.line.is_empty();
        if space && self.column + 1 + word.width() > self.width {
            self.end_line();
        } else if space && self.column > 0 {
            self.line.push(' ');
            self.column += 1;
        }
        self.begin_line();
        if self.colour && !self.styles.is_empty() {
            self.line.push_str(&self.styles.concat());
            self.line.push_str(word);
            self.line.push_str(RESET);
        } else {
            self.line.push_str(word);
        }
        self.column += word.width();
    }

    fn code_lines(&mut self, text: &str) {
        for line in text.lines() {
            self.begin_line();
            self.line.push_str("  ");
            if self.colour && !line.is_empty() {
                self.line.push_str(CODE);
                self.line.push_str(line);
                self.line.push_str(RESET);
            } else {
                self.line.push_str(line);
            }
            self.column = 1;
            self.end_line();
        }
    }

    fn table_rows(&mut self, rows: &[Vec<String>]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.width()).max().unwrap_or(0)
            })
            .collect();
        for (place, row) in rows.iter().enumerate() {
            self.begin_line();
            for (column, cell) in row.iter().enumerate() {
                let gap = " ".repeat(widths[column] - cell.width() + 2);
                if place == 0 && self.colour {
                    self.line.push_str(BOLD);
                    self.line.push_str(cell);
                    self.line.push_str(RESET);
                } else {
                    self.line.push_str(cell);
                }
                self.line.push_str(&gap);
            }
            self.column = 1;
            self.line.truncate(self.line.trim_end().len());
            self.end_line();
        }
    }

    fn begin_line(&mut self) {
        if !self.line.is_empty() {
            return;
        }
        for (first, rest) in &mut self.prefixes {
            self.line.push_str(first);
            self.column += first.width();
            first.clone_from(rest);
        }
    }

    fn end_line(&mut self) {
        self.pending_space = false;
        if self.column > 0 || !self.line.is_empty() {
            self.lines.push(std::mem::take(&mut self.line));
        }
        self.column = 0;
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
