//! A bounded, numbered queue that any number of readers follow: the part of
//! the journal that wake-ups depend on.
//!
//! Start at [`Feed::poll_after`]. It stands alone so that a model checker can
//! take this very file with its own lock (`tests/loom.rs`); what the items
//! mean is the journal's.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use crate::sync::Mutex;

/// Items in order, of which the newest `capacity` are kept.
#[derive(Debug)]
pub struct Feed<T> {
    inner: Mutex<Inner<T>>,
    capacity: usize,
}

#[derive(Debug)]
struct Inner<T> {
    items: VecDeque<T>,
    last: u64,
    closed: bool,
    readers: Vec<Waker>,
}

/// What a reader gets.
#[derive(Debug, Clone, PartialEq)]
pub struct Item<T> {
    /// How many were gone before it could be read.
    pub missed: u64,
    /// Its number, from 1 on.
    pub number: u64,
    /// What was appended.
    pub value: T,
}

/// Whether more can follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// More may follow.
    Follows,
    /// Nothing follows.
    Never,
}

impl<T: Clone> Feed<T> {
    /// An empty feed.
    pub fn new(capacity: usize) -> Self {
        Self {
            inner: Mutex::new(Inner {
                items: VecDeque::new(),
                last: 0,
                closed: false,
                readers: Vec::new(),
            }),
            capacity: capacity.max(1),
        }
    }

    /// Appends what `make` gives for the next number and wakes the readers.
    /// After an item that nothing follows, nothing is taken.
    pub fn append(&self, more: More, make: impl FnOnce(u64) -> T) {
        let readers = {
            let mut inner = self.inner.lock();
            if inner.closed {
                return;
            }
            inner.closed = more == More::Never;
            inner.last += 1;
            let item = make(inner.last);
            if inner.items.len() == self.capacity {
                inner.items.pop_front();
            }
            inner.items.push_back(item);
            std::mem::take(&mut inner.readers)
        };
        for reader in readers {
            reader.wake();
        }
    }

    /// The number of the newest item, 0 before the first.
    pub fn last(&self) -> u64 {
        self.inner.lock().last
    }

    /// The first item after number `after` that is still there, or `None`
    /// when none will come. The reader is put down for a wake-up under the
    /// lock that showed it that there is nothing yet.
    pub fn poll_after(&self, after: u64, context: &Context<'_>) -> Poll<Option<Item<T>>> {
        let mut inner = self.inner.lock();
        if inner.last > after {
            let oldest = inner.last - inner.items.len() as u64 + 1;
            let number = (after + 1).max(oldest);
            let index = usize::try_from(number - oldest).expect("an index into what is in memory");
            return Poll::Ready(Some(Item {
                missed: number - (after + 1),
                number,
                value: inner.items[index].clone(),
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
