//! A bounded, numbered queue that any number of readers follow: the part of
//! the journal that wake-ups depend on.
//!
//! Start at [`Feed::poll_after`]. It stands alone so that a model checker can
//! take this very file with its own lock (`tests/loom.rs`); what the items
//! mean is the journal's.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use crate::sync::Mutex;

/// Items in order, of which the newest are kept.
#[derive(Debug)]
pub(crate) struct Feed<T> {
    inner: Mutex<Inner<T>>,
    bounds: Bounds,
}

/// How much is kept; the newest item always is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// How many items.
    pub(crate) items: usize,
    /// How much they may weigh together.
    pub(crate) weight: usize,
}

#[derive(Debug)]
struct Inner<T> {
    /// Each with its weight.
    items: VecDeque<(T, usize)>,
    weight: usize,
    last: u64,
    closed: bool,
    readers: Vec<Waker>,
}

/// What a reader gets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item<T> {
    /// How many were gone before it could be read.
    pub(crate) missed: u64,
    /// Its number, from 1 on.
    pub(crate) number: u64,
    /// What was appended.
    pub(crate) value: T,
}

/// Whether more can follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum More {
    Follows,
    Never,
}

impl<T: Clone> Feed<T> {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self {
            inner: Mutex::new(Inner {
                items: VecDeque::new(),
                weight: 0,
                last: 0,
                closed: false,
                readers: Vec::new(),
            }),
            bounds,
        }
    }

    /// Goes on after number `last`, which the last of these items has, each
    /// given with its weight. Nobody reads yet.
    pub(crate) fn resume(&self, last: u64, items: impl IntoIterator<Item = (T, usize)>) {
        let mut inner = self.inner.lock();
        inner.last = last;
        for (item, weight) in items {
            inner.items.push_back((item, weight));
            inner.weight += weight;
            inner.shrink(self.bounds);
        }
    }

    /// Appends what `make` gives for the next number and wakes the readers.
    /// After an item that nothing follows, nothing is taken. `make` is called
    /// in the order of the numbers.
    pub(crate) fn append(&self, more: More, weight: usize, make: impl FnOnce(u64) -> T) {
        let readers = {
            let mut inner = self.inner.lock();
            if inner.closed {
                return;
            }
            inner.closed = more == More::Never;
            inner.last += 1;
            let item = make(inner.last);
            inner.items.push_back((item, weight));
            inner.weight += weight;
            inner.shrink(self.bounds);
            std::mem::take(&mut inner.readers)
        };
        for reader in readers {
            reader.wake();
        }
    }

    /// Goes on after number `last`, if that is still to come.
    pub(crate) fn skip_to(&self, last: u64) {
        let mut inner = self.inner.lock();
        if last > inner.last {
            inner.last = last;
            inner.items.clear();
            inner.weight = 0;
        }
    }

    /// The number of the newest item, 0 before the first.
    pub(crate) fn last(&self) -> u64 {
        self.inner.lock().last
    }

    /// The first item after number `after` that is still there, or `None`
    /// when none will come. The reader is put down for a wake-up under the
    /// lock that showed it that there is nothing yet.
    pub(crate) fn poll_after(&self, after: u64, context: &Context<'_>) -> Poll<Option<Item<T>>> {
        let mut inner = self.inner.lock();
        if inner.last > after && !inner.items.is_empty() {
            let oldest = inner.last - inner.items.len() as u64 + 1;
            let number = (after + 1).max(oldest);
            let index = usize::try_from(number - oldest).expect("an index into what is in memory");
            return Poll::Ready(Some(Item {
                missed: number - (after + 1),
                number,
                value: inner.items[index].0.clone(),
            }));
        }
        if inner.closed {
            return Poll::Ready(None);
        }
        let waker = context.waker();
        if !inner.readers.iter().any(|known| known.will_wake(waker)) {
            inner.readers.push(waker.clone());
        }
        Poll::Pending
    }
}

impl<T> Inner<T> {
    /// Drops the oldest items that are out of bounds.
    fn shrink(&mut self, bounds: Bounds) {
        while self.items.len() > 1
            && (self.items.len() > bounds.items || self.weight > bounds.weight)
        {
            let gone = self.items.pop_front().map_or(0, |(_, weight)| weight);
            self.weight -= gone;
        }
    }
}
