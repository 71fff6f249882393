//! The emulated terminal: two grids of cells, the cursor, margins, modes, and the rows that have left the screen.
//!
//! Start at [`Emulator`]. `control` reads the program's sequences and calls the methods that `cursor`, `write`, `erase`,
//! `scroll`, `rectangle`, `mode`, `report` and the others add. The grid's own history is off: its first row would cost two
//! megabytes. Rows are taken off the grid just before they scroll away instead.

use std::ops::Range;

use alacritty_terminal::grid::{Dimensions, Grid};
use alacritty_terminal::index::{Column, Line as GridLine};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::CharsetIndex;

use super::cells::{self, Tabs};
use super::colours::Palette;
use super::damage::Damage;
use super::lines::{ScreenLine, ScreenLines, trim};
use super::links::Links;
use super::looks;
use super::mode::{ALTERNATE, SHOW_CURSOR, Switches};
use super::replies::Replies;
use super::request::DeviceString;
use super::rows::Rows;
use super::store::{Position, Row, RowStore};
use super::style::StyledRow;

/// The smallest and the largest screen: rows, then columns. With one column the emulator does not end.
const ROWS: (u16, u16) = (1, 512);
const COLS: (u16, u16) = (2, 1024);

/// The distance of tab stops unless a program has set its own.
pub(super) const TAB: usize = 8;

/// The highest conformance level: that of a VT420.
pub(super) const LEVEL: u16 = 4;

pub(super) struct Emulator {
    /// The screen that is shown: the primary or the alternate one.
    pub(super) grid: Grid<Cell>,
    /// The screen that is not shown.
    pub(super) other: Grid<Cell>,
    pub(super) modes: Switches,
    /// The columns between the left and the right margin.
    pub(super) columns: Range<usize>,
    /// Whether there is a tab stop, by column.
    pub(super) tabs: Vec<bool>,
    pub(super) charsets: ActiveCharsets,
    pub(super) protection: Protection,
    /// The parts of saved cursors that the grids do not hold: of the shown screen, then of the other one.
    pub(super) saved: [SavedState; 2],
    /// The last character written, which can be asked to be repeated.
    pub(super) preceding: Option<char>,
    pub(super) attributes: AttributeExtent,
    /// The number that the program has chosen the cursor's shape by.
    pub(super) cursor_style: u16,
    /// The conformance level that the program has chosen, from 1 to 4.
    pub(super) level: u16,
    pub(super) links: Links,
    pub(super) palette: Palette,
    pub(super) replies: Replies,
    pub(super) device_string: Option<DeviceString>,
    pub(super) rows: Rows,
    pub(super) store: RowStore,
    pub(super) title: Option<String>,
    pub(super) titles: Vec<Option<String>>,
    pub(super) damage: Damage,
    /// The rows of the primary screen while the other one is shown.
    parked: Option<SavedScreen>,
    /// The number of times a program has begun to draw a full screen.
    pub(super) frames: u64,
    /// Whether the primary screen was wiped while the cursor was hidden, which it still is.
    pub(super) is_canvas: bool,
    /// Whether the program has ever asked for other characters than it writes.
    pub(super) has_charsets: bool,
    /// So many of the rows that leave next are in the store already.
    pub(super) noted: usize,
    /// Whether the program has put the cursor into its row by position, and written no line there since.
    pub(super) is_placed: bool,
}

/// The character sets in use: the one that is shifted in, and another for the next character only.
#[derive(Clone, Copy, Default)]
pub(super) struct ActiveCharsets {
    pub(super) shifted: CharsetIndex,
    pub(super) next: Option<CharsetIndex>,
}

/// The kind of erasure that spares protected cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Protection {
    /// No cell is protected.
    #[default]
    Off,
    /// Selective erasing (DECSCA).
    Selective,
    /// Ordinary erasing (SPA).
    Guarded,
}

/// The cells between two corners whose attributes change: the stream of text between them, or the rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AttributeExtent {
    /// Chosen by default.
    #[default]
    Unset,
    Stream,
    Rectangle,
}

/// The state saved with a cursor that the grid does not hold.
#[derive(Clone, Copy, Default)]
pub(super) struct SavedState {
    pub(super) origin: bool,
    pub(super) charset: CharsetIndex,
}

#[derive(Default)]
struct SavedScreen {
    rows: Vec<Row>,
    was_resized: bool,
}

#[derive(Clone, Copy)]
struct Size {
    rows: usize,
    cols: usize,
}

impl Emulator {
    pub(super) fn new(rows: u16, cols: u16) -> Self {
        let size = Size::new(rows, cols);
        Self {
            grid: Grid::new(size.rows, size.cols, 0),
            other: Grid::new(size.rows, size.cols, 0),
            modes: Switches::default(),
            columns: 0..size.cols,
            tabs: tab_stops(0..size.cols),
            charsets: ActiveCharsets::default(),
            protection: Protection::Off,
            saved: [SavedState::default(); 2],
            preceding: None,
            attributes: AttributeExtent::default(),
            cursor_style: 0,
            level: LEVEL,
            links: Links::default(),
            palette: Palette::default(),
            replies: Replies::default(),
            device_string: None,
            rows: Rows::new(size.rows),
            store: RowStore::default(),
            title: None,
            titles: Vec::new(),
            damage: Damage::new(size.rows),
            parked: None,
            frames: 0,
            is_canvas: false,
            has_charsets: false,
            noted: 0,
            is_placed: false,
        }
    }

    /// Whether the program draws a screen and does not write lines: on the alternate screen, or, as `top` does, on a
    /// primary one that it has wiped with the cursor hidden, and that nothing has left since.
    pub(super) fn is_full_screen(&self) -> bool {
        self.is_alternate() || self.is_canvas && self.store.is_cleared()
    }

    pub(super) fn is_alternate(&self) -> bool {
        self.modes.has(ALTERNATE)
    }

    #[inline]
    pub(super) fn row_count(&self) -> usize {
        self.grid.screen_lines()
    }

    #[inline]
    pub(super) fn column_count(&self) -> usize {
        self.grid.columns()
    }

    pub(super) fn cells(&self, row: usize) -> &[Cell] {
        &self.grid[line(row)][..]
    }

    /// Row and column of the cursor, from zero.
    #[inline]
    pub(super) fn cursor(&self) -> (usize, usize) {
        let point = self.grid.cursor.point;
        (usize::try_from(point.line.0).unwrap_or(0), point.column.0)
    }

    /// The screen as it looks, each row without blanks at its end.
    pub(super) fn shown(&self) -> impl Iterator<Item = String> {
        (0..self.row_count()).map(|row| {
            let text = cells::text(self.cells(row), Tabs::Blanks, 0);
            trim(&text).to_owned()
        })
    }

    /// The row that says what the program is at: of a full screen the cursor's if it is shown, or the last one; of lines
    /// the cursor's or the last one before it that is not blank.
    pub(super) fn telling_row(&self) -> Option<String> {
        let rows: Vec<String> = self.shown().collect();
        let cursor = self.cursor().0;
        let is_telling = |row: &&String| !row.trim().is_empty();
        let is_full_screen = self.is_full_screen();
        if !is_full_screen || self.modes.has(SHOW_CURSOR) {
            let at_cursor = rows.get(cursor).filter(is_telling);
            if at_cursor.is_some() {
                return at_cursor.cloned();
            }
        }
        let end = if is_full_screen { rows.len() } else { cursor };
        let above = rows[..end].iter().rev().find(is_telling).cloned();
        if is_full_screen {
            return above;
        }
        above.or_else(|| self.store.last_text().map(str::to_owned))
    }

    pub(super) fn styled(&self, row: usize) -> StyledRow {
        cells::styled(self.cells(row))
    }

    /// The answers to what the program has asked.
    pub(super) fn take_replies(&mut self) -> Vec<u8> {
        self.replies.take()
    }

    /// The rows that may have changed since the last call.
    pub(super) fn take_damage(&mut self, damaged: impl FnMut(usize)) {
        let cursor = self.cursor().0;
        let rows = self.row_count();
        self.damage.take(cursor, rows, damaged);
    }

    /// The lines from a place in the store on to the end of the primary screen.
    pub(super) fn lines(&self, from: Position) -> Vec<ScreenLine> {
        let mut lines = ScreenLines::default();
        for row in self.store.rows(from) {
            lines.push(row.id, &row.text, row.wrapped, None);
        }
        if let Some(parked) = &self.parked {
            for row in &parked.rows {
                lines.push(row.id, &row.text, row.wrapped, None);
            }
            return lines.finish();
        }
        let (cursor_row, cursor_col) = self.cursor();
        let needs_wrap = self.grid.cursor.input_needs_wrap;
        let before = cursor_col + usize::from(needs_wrap);
        for row in self.primary_rows() {
            let cells = self.cells(row);
            let at_cursor = row == cursor_row;
            let least = if at_cursor { before } else { 0 };
            let text = cells::text(cells, Tabs::Kept, least);
            let cursor = at_cursor.then(|| cells::text(&cells[..before], Tabs::Kept, before).len());
            let wrapped = cells::is_wrapped(cells);
            lines.push(self.rows.ids()[row], &text, wrapped, cursor);
        }
        lines.finish()
    }

    /// Notes which rows leave the screen, just before the region moves up. A row that wraps continues in the next one.
    pub(super) fn before_scroll(&mut self, count: usize, is_wrapping: bool) {
        if self.is_alternate() {
            return;
        }
        let region = self.rows.region();
        let count = count.min(region.len());
        if region.start == 0 {
            let cursor_row = self.cursor().0;
            let noted = self.noted.min(count);
            self.noted -= noted;
            for row in noted..count {
                let mut row_text = self.primary_row(row);
                row_text.wrapped |= is_wrapping && row == cursor_row;
                self.store.push(row_text);
            }
        }
        self.rows.move_up(region.start, count);
    }

    /// Notes that the primary screen is about to be wiped.
    pub(super) fn before_clear(&mut self) {
        if !self.is_canvas {
            self.frames += 1;
        }
        self.is_canvas = !self.modes.has(SHOW_CURSOR);
        let rows = match self.parked.take() {
            Some(parked) => parked.rows,
            None => self.take_primary(),
        };
        let length = rows.iter().rposition(|row| !row.text.is_empty());
        for row in rows.into_iter().take(length.map_or(0, |last| last + 1)) {
            self.store.push(row);
        }
        self.store.clear();
        self.rows.renew(self.row_count());
    }

    /// Stores the content of the primary screen, just before the other one is shown.
    pub(super) fn before_alternate(&mut self) {
        self.frames += 1;
        self.is_canvas = false;
        let rows = self.take_primary();
        let was_resized = false;
        self.parked = Some(SavedScreen { rows, was_resized });
    }

    /// Finds the rows of the primary screen again, after the other one was shown.
    pub(super) fn after_alternate(&mut self) {
        let Some(parked) = self.parked.take() else {
            return;
        };
        if !parked.was_resized {
            return;
        }
        self.grid.truncate();
        let before = joined(&parked.rows);
        let after: Vec<Row> = (0..self.row_count())
            .map(|row| self.plain_row(row))
            .collect();
        let ids = self.recognise(&before, &after);
        // What the resize has pushed off the top was on no screen that could be asked.
        let lost = before
            .iter()
            .position(|line| ids.contains(&line.id))
            .unwrap_or(0);
        for line in &before[..lost] {
            let text = line.text.as_str().into();
            self.store.push(Row {
                id: line.id,
                text,
                wrapped: false,
                looks: None,
            });
        }
        self.rows.replace(ids);
    }

    pub(super) fn resize(&mut self, rows: u16, cols: u16) {
        let size = Size::new(rows, cols);
        let cols_before = self.column_count();
        if size.rows == self.row_count() && size.cols == cols_before {
            return;
        }
        self.rows.reset_region(size.rows);
        self.columns = 0..size.cols;
        self.damage = Damage::new(size.rows);
        if size.cols < self.tabs.len() {
            self.tabs.truncate(size.cols);
        } else {
            self.tabs.extend(tab_stops(self.tabs.len()..size.cols));
        }
        if let Some(parked) = &mut self.parked {
            parked.was_resized = true;
            self.grid.resize(false, size.rows, size.cols);
            self.other.resize(true, size.rows, size.cols);
            // Growing leaves a thousand spare rows behind.
            self.grid.truncate();
            return;
        }
        let before = joined(&self.take_primary());
        // With room for everything that may be pushed off the top.
        let most = self.row_count() * (cols_before / size.cols + 2);
        self.grid.update_history(most);
        self.grid.resize(true, size.rows, size.cols);
        self.other.resize(false, size.rows, size.cols);
        let above = self.grid.history_size();
        let mut after: Vec<Row> = (0..above).map(|row| self.history_row(row, above)).collect();
        after.extend((0..size.rows).map(|row| self.plain_row(row)));
        self.grid.clear_history();
        self.grid.update_history(0);
        // Growing leaves a thousand spare rows behind.
        self.grid.truncate();
        self.other.truncate();
        let ids = self.recognise(&before, &after);
        for (mut row, &id) in after.into_iter().take(above).zip(&ids) {
            row.id = id;
            self.store.push(row);
        }
        self.rows.replace(ids[above..].to_vec());
    }

    /// The ids of rows after a new layout: a line whose text was there before is the same line.
    fn recognise(&mut self, before: &[ScreenLine], after: &[Row]) -> Vec<u64> {
        let mut known = before;
        let mut ids = Vec::with_capacity(after.len());
        let mut start = 0;
        while start < after.len() {
            let rest = &after[start..];
            let length = rest
                .iter()
                .position(|row| !row.wrapped)
                .map_or(rest.len(), |last| last + 1);
            let text: String = rest[..length].iter().map(|row| &*row.text).collect();
            let same = known.iter().position(|line| line.text == text);
            let id = match same {
                Some(index) => {
                    let id = known[index].id;
                    known = &known[index + 1..];
                    id
                }
                None => self.rows.fresh(),
            };
            ids.push(id);
            for _ in 1..length {
                ids.push(self.rows.fresh());
            }
            start += length;
        }
        ids
    }

    /// The rows of the primary screen, while it is shown.
    fn take_primary(&self) -> Vec<Row> {
        self.primary_rows()
            .map(|row| self.primary_row(row))
            .collect()
    }

    /// The rows of the primary screen down to the last one with text or the cursor.
    fn primary_rows(&self) -> std::ops::RangeInclusive<usize> {
        let cursor = self.cursor().0;
        let last = (cursor..self.row_count())
            .rev()
            .find(|&row| !cells::text(self.cells(row), Tabs::Kept, 0).is_empty());
        0..=last.unwrap_or(cursor)
    }

    pub(super) fn primary_row(&self, row: usize) -> Row {
        let id = self.rows.ids()[row];
        Row {
            id,
            ..self.plain_row(row)
        }
    }

    fn plain_row(&self, row: usize) -> Row {
        plain(self.cells(row))
    }

    fn history_row(&self, row: usize, above: usize) -> Row {
        let line = i32::try_from(row).unwrap_or(0) - i32::try_from(above).unwrap_or(0);
        plain(&self.grid[GridLine(line)][..])
    }

    /// The number of combining characters in the cell that the next one would
    /// join.
    pub(super) fn combining(&self) -> usize {
        let cursor = &self.grid.cursor;
        let mut column = cursor.point.column.0;
        if !cursor.input_needs_wrap {
            column = column.saturating_sub(1);
        }
        let row = &self.grid[cursor.point.line];
        if row[Column(column)].flags.contains(Flags::WIDE_CHAR_SPACER) {
            column = column.saturating_sub(1);
        }
        let cell = &row[Column(column)];
        cell.zerowidth().map_or(0, <[char]>::len)
    }
}

fn plain(cells: &[Cell]) -> Row {
    Row {
        id: 0,
        text: cells::text(cells, Tabs::Kept, 0).into(),
        wrapped: cells::is_wrapped(cells),
        looks: looks::of_cells(cells),
    }
}

fn joined(rows: &[Row]) -> Vec<ScreenLine> {
    let mut lines = ScreenLines::default();
    for row in rows {
        lines.push(row.id, &row.text, row.wrapped, None);
    }
    lines.finish()
}

/// The line of the grid that a row of the screen is.
#[inline]
pub(super) fn line(row: usize) -> GridLine {
    GridLine(i32::try_from(row).expect("a screen has few rows"))
}

/// Whether there is a tab stop in each of some columns, unless a program says otherwise.
pub(super) fn tab_stops(columns: Range<usize>) -> Vec<bool> {
    columns.map(|column| column.is_multiple_of(TAB)).collect()
}

impl Size {
    fn new(rows: u16, cols: u16) -> Self {
        Self {
            rows: rows.clamp(ROWS.0, ROWS.1).into(),
            cols: cols.clamp(COLS.0, COLS.1).into(),
        }
    }
}
