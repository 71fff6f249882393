//! Identities of the rows of the primary screen.
//!
//! Start at [`Rows`]. A row keeps its id when it scrolls and when its text
//! changes; ids are never reused. A reader can therefore recognise the rows
//! that it has seen. The scroll region is tracked here too, because the
//! emulator does not expose it.

use std::ops::Range;

#[derive(Debug)]
pub(super) struct Rows {
    ids: Vec<u64>,
    next: u64,
    region: Range<usize>,
}

impl Rows {
    pub(super) fn new(rows: usize) -> Self {
        let mut this = Self {
            ids: Vec::new(),
            next: 0,
            region: 0..rows,
        };
        this.renew(rows);
        this
    }

    /// From the top of the screen to its bottom.
    pub(super) fn ids(&self) -> &[u64] {
        &self.ids
    }

    #[inline]
    pub(super) fn region(&self) -> Range<usize> {
        self.region.clone()
    }

    /// An id for a row that has not been there before.
    pub(super) fn fresh(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Makes every row a new one.
    pub(super) fn renew(&mut self, rows: usize) {
        self.ids.clear();
        for _ in 0..rows {
            let id = self.fresh();
            self.ids.push(id);
        }
    }

    /// Takes the ids of a redrawn screen.
    pub(super) fn replace(&mut self, ids: Vec<u64>) {
        self.ids = ids;
    }

    /// Sets the region by the numbers of its first and last row, counted from one, as a program does.
    pub(super) fn set_region(&mut self, top: usize, bottom: Option<usize>, rows: usize) {
        let bottom = bottom.unwrap_or(rows);
        if top < bottom {
            self.region = top.saturating_sub(1).min(rows)..bottom.min(rows);
        }
    }

    pub(super) fn reset_region(&mut self, rows: usize) {
        self.region = 0..rows;
    }

    /// Takes the last row off, and puts a new one there.
    pub(super) fn leave_last(&mut self) -> u64 {
        let fresh = self.fresh();
        let last = self.ids.last_mut().expect("a screen has rows");
        std::mem::replace(last, fresh)
    }

    /// Moves the rows from `origin` to the end of the region up; new ones come in at its end.
    pub(super) fn move_up(&mut self, origin: usize, count: usize) {
        let Some(part) = self.moving(origin) else {
            return;
        };
        let count = count.min(part.len());
        self.ids[part.clone()].rotate_left(count);
        self.refresh(part.end - count..part.end);
    }

    /// Moves the rows from `origin` to the end of the region down; new ones come in at `origin`.
    pub(super) fn move_down(&mut self, origin: usize, count: usize) {
        let Some(part) = self.moving(origin) else {
            return;
        };
        let count = count.min(part.len());
        self.ids[part.clone()].rotate_right(count);
        self.refresh(part.start..part.start + count);
    }

    fn moving(&self, origin: usize) -> Option<Range<usize>> {
        self.region
            .contains(&origin)
            .then_some(origin..self.region.end)
    }

    fn refresh(&mut self, part: Range<usize>) {
        for index in part {
            self.ids[index] = self.fresh();
        }
    }
}
