//! Tracks the rows that changed since the last query.
//!
//! Start at [`Damage::take`].

/// The rows that changed since the last query.
pub(super) struct Damage {
    rows: Vec<bool>,
    all: bool,
    /// The row of the cursor at the last query.
    cursor: usize,
}

impl Damage {
    pub(super) fn new(rows: usize) -> Self {
        Self {
            rows: vec![false; rows],
            all: true,
            cursor: 0,
        }
    }

    #[inline]
    pub(super) fn mark(&mut self, row: usize) {
        self.rows[row] = true;
    }

    #[inline]
    pub(super) fn mark_all(&mut self) {
        self.all = true;
    }

    /// Passes every row that may have changed since the last call. Rows that the cursor left or entered count.
    pub(super) fn take(&mut self, cursor: usize, rows: usize, damaged: impl FnMut(usize)) {
        let cursor_before = std::mem::replace(&mut self.cursor, cursor);
        if std::mem::take(&mut self.all) {
            self.rows.fill(false);
            (0..rows).for_each(damaged);
            return;
        }
        self.mark(cursor_before);
        self.mark(cursor);
        let changed = self.rows.iter_mut().map(std::mem::take);
        let changed = changed.enumerate().filter(|&(_, is_changed)| is_changed);
        changed.map(|(row, _)| row).for_each(damaged);
    }
}
