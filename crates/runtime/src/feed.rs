//! A numbered ring with any number of readers: the part of the journal that
//! wake-ups depend on.
//!
//! Start at [`Feed::poll_after`]. It is a separate file so that a model checker
//! can use it with its own lock (`tests/loom.rs`). The journal defines the
//! items.

use std::task::{Context, Poll, Waker};

use crate::ring::{NumberedRing, RingBounds, RingItem};
use crate::sync::Mutex;

/// A ring and its waiting readers.
#[derive(Debug)]
pub(crate) struct Feed<T> {
    inner: Mutex<FeedInner<T>>,
}

#[derive(Debug)]
struct FeedInner<T> {
    ring: NumberedRing<T>,
    closed: bool,
    readers: Vec<Waker>,
}

/// Whether more can follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum More {
    Follows,
    Never,
}

impl<T: Clone> Feed<T> {
    pub(crate) fn new(bounds: RingBounds) -> Self {
        Self {
            inner: Mutex::new(FeedInner {
                ring: NumberedRing::new(bounds),
                closed: false,
                readers: Vec::new(),
            }),
        }
    }

    /// Continues after number `last`, the number of the last of these items,
    /// each given with its weight. There are no readers yet.
    pub(crate) fn resume(&self, last: u64, items: impl IntoIterator<Item = (T, usize)>) {
        self.inner.lock().ring.resume(last, items);
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
            inner.ring.push(|number| (make(number), weight));
            std::mem::take(&mut inner.readers)
        };
        for reader in readers {
            reader.wake();
        }
    }

    /// Skips numbers up to `last`, if that is higher than the current one.
    pub(crate) fn skip_to(&self, last: u64) {
        self.inner.lock().ring.skip_to(last);
    }

    /// The number of the newest item, 0 before the first.
    pub(crate) fn last(&self) -> u64 {
        self.inner.lock().ring.last()
    }

    /// The first stored item after number `after`, or `None` if none will come.
    /// The reader is registered for a wake-up under the same lock, so that no
    /// item is missed.
    pub(crate) fn poll_after(
        &self,
        after: u64,
        context: &Context<'_>,
    ) -> Poll<Option<RingItem<T>>> {
        let mut inner = self.inner.lock();
        if let Some(item) = inner.ring.after(after) {
            return Poll::Ready(Some(item));
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
