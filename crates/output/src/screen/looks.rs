//! Styles of rows that have left the screen.
//!
//! Start at [`Looks`]. A row is stored as text. Its styles are stored
//! separately, with their own bound, so that coloured output does not displace
//! text. The oldest styles are dropped first; their rows become plain.

use std::collections::VecDeque;

use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{Color, NamedColor};
use unicode_width::UnicodeWidthChar;

use super::cells;
use super::emulator::TAB;
use super::style::{Style, StyledRow, StyledRun};

/// The number of bytes kept.
const LIMIT: usize = 256 * 1024;
/// The cost of an entry beside its spans.
const ENTRY_COST: usize = 32;

/// Neighbouring cells that look the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LookSpan {
    cells: u16,
    style: Style,
}

/// The spans of a row from left to right; `None` of a row without any looks.
pub(super) type RowLooks = Option<Box<[LookSpan]>>;

/// The looks of rows by their numbers.
#[derive(Debug, Default)]
pub(super) struct Looks {
    rows: VecDeque<(u64, Box<[LookSpan]>)>,
    bytes: usize,
}

impl Looks {
    /// Keeps the looks of the newest row.
    pub(super) fn push(&mut self, row: u64, spans: Box<[LookSpan]>) {
        self.bytes += cost(&spans);
        self.rows.push_back((row, spans));
        while self.bytes > LIMIT
            && let Some((_, oldest)) = self.rows.pop_front()
        {
            self.bytes -= cost(&oldest);
        }
    }

    pub(super) fn of(&self, row: u64) -> Option<&[LookSpan]> {
        let at = self.rows.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        Some(&self.rows[at].1)
    }
}

fn cost(spans: &[LookSpan]) -> usize {
    ENTRY_COST + size_of_val(spans)
}

/// The looks of some cells, without those of blanks at the end that look like nothing.
pub(super) fn of_cells(cells: &[Cell]) -> RowLooks {
    let last = cells.iter().rposition(has_looks)?;
    let mut spans: Vec<LookSpan> = Vec::new();
    let mut before: Option<&Cell> = None;
    for cell in &cells[..=last] {
        match (before, spans.last_mut()) {
            (Some(before), Some(span)) if is_alike(before, cell) => span.cells += 1,
            _ => spans.push(LookSpan {
                cells: 1,
                style: cells::style(cell),
            }),
        }
        before = Some(cell);
    }
    Some(spans.into())
}

/// The looks of so many cells that are written with one template.
pub(super) fn of_template(template: &Cell, cells: usize) -> RowLooks {
    let style = has_looks(template).then(|| cells::style(template))?;
    let cells = u16::try_from(cells).unwrap_or(u16::MAX);
    Some(Box::new([LookSpan { cells, style }]))
}

const LOOKS: Flags = Flags::BOLD
    .union(Flags::DIM)
    .union(Flags::ITALIC)
    .union(Flags::ALL_UNDERLINES)
    .union(Flags::INVERSE)
    .union(Flags::HIDDEN)
    .union(Flags::STRIKEOUT);

#[inline]
fn has_looks(cell: &Cell) -> bool {
    cell.fg != Color::Named(NamedColor::Foreground)
        || cell.bg != Color::Named(NamedColor::Background)
        || cell.flags.intersects(LOOKS)
}

#[inline]
fn is_alike(one: &Cell, other: &Cell) -> bool {
    one.fg == other.fg
        && one.bg == other.bg
        && (one.flags ^ other.flags).intersection(LOOKS).is_empty()
}

/// A row of text with its looks.
pub(super) fn styled(text: &str, spans: &[LookSpan]) -> StyledRow {
    let mut row = StyledRow::default();
    let by_column = |span: &LookSpan| std::iter::repeat_n(span.style, usize::from(span.cells));
    let mut styles = spans.iter().flat_map(by_column);
    let mut style = Style::default();
    let mut column = 0;
    for character in text.chars() {
        let is_tab = character == '\t';
        let width = if is_tab {
            TAB - column % TAB
        } else {
            character.width().unwrap_or(0)
        };
        column += width;
        // A character without a width joins the one before it.
        if width > 0 {
            style = styles.next().unwrap_or_default();
            styles.by_ref().take(width - 1).for_each(drop);
        }
        if row.runs.last().is_none_or(|run| run.style != style) {
            let text = String::new();
            let link = None;
            row.runs.push(StyledRun { text, style, link });
        }
        let run = row.runs.last_mut().expect("a run was just begun");
        if is_tab {
            run.text.extend(std::iter::repeat_n(' ', width));
        } else {
            run.text.push(character);
        }
    }
    row
}

#[cfg(test)]
#[path = "looks_tests.rs"]
mod tests;
