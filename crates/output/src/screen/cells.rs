//! Converts cells of the emulator to text and styled runs.
//!
//! Start at [`text`]. A tab is returned as the program wrote it, or as the
//! blanks it covers.

use alacritty_terminal::term::cell::{Cell, Flags, Hyperlink};
use alacritty_terminal::vte::ansi::{Color, NamedColor};

use super::emulator::TAB;
use super::style::{Colour, Style, StyledRow, StyledRun, UnderlineKind};

/// The representation of a tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tabs {
    Kept,
    Blanks,
}

/// Whether the line continues in the next row.
pub(super) fn is_wrapped(cells: &[Cell]) -> bool {
    cells
        .last()
        .is_some_and(|cell| cell.flags.contains(Flags::WRAPLINE))
}

/// The text of a row, without trailing blanks beyond the first `least` cells. A
/// wrapped row is returned whole.
pub(super) fn text(cells: &[Cell], tabs: Tabs, least: usize) -> String {
    let length = if is_wrapped(cells) {
        cells.len()
    } else {
        let written = cells.iter().rposition(|cell| !is_blank(cell));
        written
            .map_or(0, |last| last + 1)
            .max(least.min(cells.len()))
    };
    let mut text = String::with_capacity(length);
    let mut in_tab = false;
    for (column, cell) in cells[..length].iter().enumerate() {
        in_tab = in_tab && !column.is_multiple_of(TAB) && cell.c == ' ';
        if in_tab || cell.flags.intersects(SPACERS) {
            continue;
        }
        match cell.c {
            '\t' if tabs == Tabs::Blanks => text.push(' '),
            '\t' => {
                in_tab = true;
                text.push('\t');
            }
            character => text.push(character),
        }
        // Every row that scrolls off comes through here, and few have any.
        if let Some(joined) = cell.zerowidth() {
            text.extend(joined);
        }
    }
    text
}

/// A row as runs of one style each, without unstyled blanks at its end.
pub(super) fn styled(cells: &[Cell]) -> StyledRow {
    let plain = Style::default();
    let written = cells
        .iter()
        .rposition(|cell| !is_blank(cell) || style(cell) != plain);
    let mut row = StyledRow::default();
    for cell in &cells[..written.map_or(0, |last| last + 1)] {
        // A spacer before a wrapped wide character is an ordinary blank: the
        // grid drops its mark silently when the character goes.
        if cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
            continue;
        }
        let style = style(cell);
        let link = cell.extra.as_ref().and_then(|_| cell.hyperlink());
        let address = link.as_ref().map(Hyperlink::uri);
        let is_new = |run: &StyledRun| run.style != style || run.link.as_deref() != address;
        if row.runs.last().is_none_or(is_new) {
            let text = String::new();
            let link = address.map(Into::into);
            row.runs.push(StyledRun { text, style, link });
        }
        let run = row.runs.last_mut().expect("a run was just begun");
        run.text.push(if cell.c == '\t' { ' ' } else { cell.c });
        run.text.extend(cell.zerowidth().into_iter().flatten());
    }
    row
}

/// Cells that only make room for a wide character.
const SPACERS: Flags = Flags::WIDE_CHAR_SPACER.union(Flags::LEADING_WIDE_CHAR_SPACER);

fn is_blank(cell: &Cell) -> bool {
    matches!(cell.c, ' ' | '\t') && cell.zerowidth().is_none_or(<[char]>::is_empty)
}

pub(super) fn style(cell: &Cell) -> Style {
    let has = |flags| cell.flags.intersects(flags);
    Style {
        foreground: colour(cell.fg),
        background: colour(cell.bg),
        bold: has(Flags::BOLD),
        dim: has(Flags::DIM),
        italic: has(Flags::ITALIC),
        underline: has(Flags::ALL_UNDERLINES),
        underline_kind: underline_kind(cell.flags),
        inverse: has(Flags::INVERSE),
        hidden: has(Flags::HIDDEN),
        strikeout: has(Flags::STRIKEOUT),
    }
}

fn underline_kind(flags: Flags) -> Option<UnderlineKind> {
    let kinds = [
        (Flags::DOUBLE_UNDERLINE, UnderlineKind::Double),
        (Flags::UNDERCURL, UnderlineKind::Curly),
        (Flags::DOTTED_UNDERLINE, UnderlineKind::Dotted),
        (Flags::DASHED_UNDERLINE, UnderlineKind::Dashed),
    ];
    let found = kinds.iter().find(|(flag, _)| flags.contains(*flag));
    found.map(|&(_, kind)| kind)
}

fn colour(color: Color) -> Option<Colour> {
    match color {
        Color::Named(name) => named(name),
        Color::Spec(rgb) => Some(Colour::Rgb(rgb.r, rgb.g, rgb.b)),
        Color::Indexed(index) => Some(Colour::Indexed(index)),
    }
}

/// The first sixteen names are the first sixteen of the palette; the others are the terminal's own colours.
fn named(name: NamedColor) -> Option<Colour> {
    let index = u8::try_from(name as usize).ok()?;
    Some(Colour::Indexed(index))
}
