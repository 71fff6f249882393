//! One line as a terminal would show it while it is being written.
//!
//! A line only grows until something draws over it; from then on it is a row of
//! cells. Every character counts as one cell: wide and combining characters are
//! not measured, so a redraw over them may be off by a column.

use std::borrow::Cow;

/// The number of columns by which a cursor movement may go past the end of the
/// line.
const PADDING_LIMIT: usize = 512;

#[derive(Clone, Debug, Default)]
pub(super) struct LineBuffer {
    cells: Cells,
    /// The cell that is written next; may lie past the end after an erase.
    column: usize,
    /// The text of this line that the reader has already received.
    told: String,
    /// The number of changes since [`LineBuffer::looked`].
    fresh: usize,
    /// Whether [`LineBuffer::looked`] was called since the line began.
    seen: bool,
}

#[derive(Clone, Debug)]
enum Cells {
    /// Nothing has been drawn over: the text, and how many characters it has.
    Grown(String, usize),
    /// Something has been drawn over.
    Drawn(Vec<char>),
}

impl Default for Cells {
    fn default() -> Self {
        Self::Grown(String::new(), 0)
    }
}

impl LineBuffer {
    /// Writes at the column, over the old text.
    pub(super) fn write(&mut self, run: &str) {
        self.pad();
        self.fresh += run.len();
        if let Cells::Grown(text, count) = &mut self.cells
            && *count == self.column
        {
            text.push_str(run);
            *count += if run.is_ascii() {
                run.len()
            } else {
                run.chars().count()
            };
            self.column = *count;
            return;
        }
        let column = &mut self.column;
        let cells = self.cells.drawn();
        for character in run.chars() {
            match cells.get_mut(*column) {
                Some(cell) => *cell = character,
                None => cells.push(character),
            }
            *column += 1;
        }
    }

    /// The column that is written next.
    pub(super) fn column(&self) -> usize {
        self.column
    }

    /// Moves to a column, at most a little past the end.
    pub(super) fn move_to(&mut self, column: usize) {
        self.column = column.min(self.cells.count().max(PADDING_LIMIT));
    }

    /// Removes everything from the column on.
    pub(super) fn erase_to_end(&mut self) {
        if self.column < self.cells.count() {
            self.fresh += 1;
            self.cells.truncate(self.column);
        }
    }

    /// Removes everything; the column stays.
    pub(super) fn erase(&mut self) {
        self.fresh += usize::from(self.cells.count() > 0);
        self.cells.truncate(0);
    }

    /// Begins the next line.
    pub(super) fn clear(&mut self) {
        self.cells.truncate(0);
        self.column = 0;
        self.told.clear();
        self.fresh = 0;
        self.seen = false;
    }

    /// The present text of the line.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match &self.cells {
            Cells::Grown(text, _) => Cow::Borrowed(text),
            Cells::Drawn(cells) => Cow::Owned(cells.iter().collect()),
        }
    }

    /// The text that the reader has not received yet: the added part, or the
    /// whole line if it was redrawn.
    pub(super) fn untold(&self) -> Cow<'_, str> {
        match self.text() {
            Cow::Borrowed(text) => Cow::Borrowed(text.strip_prefix(&*self.told).unwrap_or(text)),
            Cow::Owned(text) => match text.strip_prefix(&*self.told) {
                Some(added) => Cow::Owned(added.to_owned()),
                None => Cow::Owned(text),
            },
        }
    }

    /// Marks the current text as received by the reader.
    pub(super) fn mark_read(&mut self) {
        let mut told = std::mem::take(&mut self.told);
        told.clear();
        told.push_str(&self.text());
        self.told = told;
    }

    /// The number of changes since [`LineBuffer::looked`].
    pub(super) fn fresh(&self) -> usize {
        self.fresh
    }

    /// Whether [`LineBuffer::looked`] was never called for this line.
    pub(super) fn unseen(&self) -> bool {
        !self.seen
    }

    /// Marks the current text as examined.
    pub(super) fn looked(&mut self) {
        self.fresh = 0;
        self.seen = true;
    }

    /// How many cells the line has.
    pub(super) fn count(&self) -> usize {
        self.cells.count()
    }

    /// Fills the cells between the end and a column that lies past it.
    fn pad(&mut self) {
        let count = self.cells.count();
        if self.column > count {
            let missing = self.column - count;
            match &mut self.cells {
                Cells::Grown(text, count) => {
                    text.extend(std::iter::repeat_n(' ', missing));
                    *count += missing;
                }
                Cells::Drawn(cells) => cells.resize(count + missing, ' '),
            }
        }
    }
}

impl Cells {
    fn count(&self) -> usize {
        match self {
            Self::Grown(_, count) => *count,
            Self::Drawn(cells) => cells.len(),
        }
    }

    fn drawn(&mut self) -> &mut Vec<char> {
        if let Self::Grown(text, _) = self {
            *self = Self::Drawn(text.chars().collect());
        }
        match self {
            Self::Drawn(cells) => cells,
            Self::Grown(..) => unreachable!("it was just made drawn"),
        }
    }

    fn truncate(&mut self, to: usize) {
        match self {
            Self::Grown(text, count) if to == 0 => {
                text.clear();
                *count = 0;
            }
            Self::Drawn(_) if to == 0 => *self = Self::default(),
            Self::Drawn(cells) => cells.truncate(to),
            Self::Grown(..) => self.drawn().truncate(to),
        }
    }
}
