//! A bounded ring of numbered items, of which the newest are kept.
//!
//! Readers ask for the item after the one that they read last
//! ([`NumberedRing::after`]), and learn how many were dropped in between. It is
//! pure: its owners lock it and wake their readers. The journal (`feed.rs`) and the
//! events of all sessions (`windlass-control`) are such rings.

use std::collections::VecDeque;

/// Items in order, with consecutive numbers from 1 on.
#[derive(Debug)]
pub struct NumberedRing<T> {
    /// Each with its weight.
    items: VecDeque<(T, usize)>,
    weight: usize,
    last: u64,
    bounds: RingBounds,
}

/// The limits of a ring; the newest item is always kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingBounds {
    /// The number of items.
    pub items: usize,
    /// Their total weight.
    pub weight: usize,
}

/// An item as a reader gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingItem<T> {
    /// The number of items that were dropped before it could be read.
    pub missed: u64,
    /// Its number, from 1 on.
    pub number: u64,
    /// The item itself.
    pub value: T,
}

impl<T> NumberedRing<T> {
    /// An empty ring.
    pub fn new(bounds: RingBounds) -> Self {
        Self {
            items: VecDeque::new(),
            weight: 0,
            last: 0,
            bounds,
        }
    }

    /// Appends the item that `make` returns for the next number, with its weight,
    /// and drops the oldest items that are out of bounds.
    pub fn push(&mut self, make: impl FnOnce(u64) -> (T, usize)) {
        let (item, weight) = make(self.last + 1);
        self.last += 1;
        self.keep(item, weight);
    }

    /// Continues after number `last`, the number of the last of these items, each
    /// given with its weight.
    pub fn resume(&mut self, last: u64, items: impl IntoIterator<Item = (T, usize)>) {
        self.last = last;
        for (item, weight) in items {
            self.keep(item, weight);
        }
    }

    /// Skips numbers up to `last`, if that is higher than the current one. The
    /// items before it are dropped.
    pub fn skip_to(&mut self, last: u64) {
        if last > self.last {
            self.last = last;
            self.items.clear();
            self.weight = 0;
        }
    }

    /// The number of the newest item, 0 before the first.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The number of items that are kept.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether no item is kept.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    fn keep(&mut self, item: T, weight: usize) {
        self.items.push_back((item, weight));
        self.weight += weight;
        while self.items.len() > 1
            && (self.items.len() > self.bounds.items || self.weight > self.bounds.weight)
        {
            let dropped = self.items.pop_front().map_or(0, |(_, weight)| weight);
            self.weight -= dropped;
        }
    }
}

impl<T: Clone> NumberedRing<T> {
    /// The first kept item after number `number`.
    pub fn after(&self, number: u64) -> Option<RingItem<T>> {
        let oldest = self.last - self.items.len() as u64 + 1;
        let next = (number + 1).max(oldest);
        let (item, _) = self.items.get(usize::try_from(next - oldest).ok()?)?;
        Some(RingItem {
            missed: next - (number + 1),
            number: next,
            value: item.clone(),
        })
    }
}

#[cfg(test)]
#[path = "ring_tests.rs"]
mod tests;
