//! A bounded, numbered queue with any number of readers: the part of the
//! journal that wake-ups depend on.
//!
//! Start at [`Feed::poll_after`]. It is a separate file so that a model checker
//! can use it with its own lock (`tests/loom.rs`). The journal defines the
//! items.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use crate::sync::Mutex;

/// Items in order, of which the newest are kept.
#[derive(Debug)]
pub(crate) struct Feed<T> {
    inner: Mutex<FeedInner<T>>,
    bounds: Bounds,
}

/// The limits of a queue; the newest item is always kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// The number of items.
    pub(crate) items: usize,
    /// Their total weight.
    pub(crate) weight: usize,
}

#[derive(Debug)]
struct FeedInner<T> {
    /// Each with its weight.
    items: VecDeque<(T, usize)>,
    weight: usize,
    last: u64,
    closed: bool,
    readers: Vec<Waker>,
}

/// An item as a reader gets it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FeedItem<T> {
    /// The number of items that were dropped before it could be read.
    pub(crate) missed: u64,
    /// Its number, from 1 on.
    pub(crate) number: u64,
    /// The appended value.
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
            inner: Mutex::new(FeedInner {
                items: VecDeque::new(),
                weight: 0,
                last: 0,
                closed: false,
                readers: Vec::new(),
            }),
            bounds,
        }
    }

    /// Continues after number `last`, the number of the last of these items,
    /// each given with its weight. There are no readers yet.
    pub(crate) fn resume(&self, last: u64, items: impl IntoIterator<Item = (T, usize)>) {
        let mut inner = self.inner.lock();
        inner.last = last;
        for (item, weight) in items {
            inner.items.push_back((item, weight));
            inner.weight += weight;
            inner.shrink(self.bounds);
        }
    }

    /// Appends the value that `make` returns for the next number, and wakes the
    /// readers. Nothing is accepted after a final item. `make` is called in the
    /// order of the numbers.
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

    /// Skips numbers up to `last`, if that is higher than the current one.
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

    /// The first stored item after number `after`, or `None` if none will come.
    /// The reader is registered for a wake-up under the same lock, so that no
    /// item is missed.
    pub(crate) fn poll_after(
        &self,
        after: u64,
        context: &Context<'_>,
    ) -> Poll<Option<FeedItem<T>>> {
        let mut inner = self.inner.lock();
        if inner.last > after && !inner.items.is_empty() {
            let oldest = inner.last - inner.items.len() as u64 + 1;
            let number = (after + 1).max(oldest);
            let index = usize::try_from(number - oldest).expect("an index into what is in memory");
            return Poll::Ready(Some(FeedItem {
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

impl<T> FeedInner<T> {
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
