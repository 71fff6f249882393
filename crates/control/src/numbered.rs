//! Numbered events with any number of readers, each at its own position.
//!
//! Start at [`NumberedEvents::next`]. A reader names its position by an id, which
//! contains the epoch of the numbers: those of another process mean nothing here.

use std::time::SystemTime;

use parking_lot::Mutex;
use tokio::sync::watch;
use windlass_runtime::{NumberedRing, RingBounds, RingItem};

/// The limits of the events that are kept for readers that are behind; the weight
/// is in bytes.
const BOUNDS: RingBounds = RingBounds {
    items: 8192,
    weight: 8 << 20,
};

pub(crate) struct NumberedEvents<T> {
    /// Distinguishes these numbers from those of another process.
    epoch: String,
    ring: Mutex<NumberedRing<T>>,
    last: watch::Sender<u64>,
}

/// Everything up to this number has been read.
#[derive(Clone, Copy)]
pub(crate) struct ReadPosition(pub(crate) u64);

impl<T: Clone> NumberedEvents<T> {
    pub(crate) fn new() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.unwrap_or_default().as_millis();
        Self {
            epoch: format!("{}x{now:x}", std::process::id()),
            ring: Mutex::new(NumberedRing::new(BOUNDS)),
            last: watch::Sender::new(0),
        }
    }

    /// Goes on with the numbers and the newest events of another process, each
    /// given with its weight.
    pub(crate) fn resume(&mut self, epoch: &str, last: u64, events: Vec<(T, usize)>) {
        epoch.clone_into(&mut self.epoch);
        self.ring.get_mut().resume(last, events);
        self.last.send_replace(last);
    }

    pub(crate) fn epoch(&self) -> &str {
        &self.epoch
    }

    /// Publishes the event that `make` returns for its number, with its weight.
    /// `make` is called in the order of the numbers.
    pub(crate) fn push(&self, make: impl FnOnce(u64) -> (T, usize)) {
        self.change(|ring| {
            ring.push(make);
            self.last.send_replace(ring.last());
        });
    }

    /// Changes the ring without waking readers.
    pub(crate) fn change(&self, change: impl FnOnce(&mut NumberedRing<T>)) {
        change(&mut self.ring.lock());
    }

    /// Records a gap: every reader is told that it has missed events.
    #[cfg(any(feature = "opencode", test))]
    pub(crate) fn lose(&self) {
        self.change(|ring| ring.skip_to(ring.last() + 1));
    }

    /// How many events are kept.
    pub(crate) fn len(&self) -> usize {
        self.ring.lock().len()
    }

    /// The name of a number, for `Last-Event-ID`.
    pub(crate) fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.epoch)
    }

    /// The start position of a reader that has read up to this id, and whether
    /// events after it are gone.
    pub(crate) fn place(&self, id: Option<&str>) -> (ReadPosition, bool) {
        let last = self.ring.lock().last();
        let Some(id) = id else {
            return (ReadPosition(last), false);
        };
        let number = id
            .strip_prefix(&self.epoch)
            .and_then(|rest| rest.strip_prefix('-'))
            .and_then(|number| number.parse().ok());
        match number {
            Some(number) => (ReadPosition(last.min(number)), false),
            None => (ReadPosition(last), true),
        }
    }

    /// Waits for the next event after a position.
    pub(crate) async fn next(&self, place: ReadPosition) -> RingItem<T> {
        let mut last = self.last.subscribe();
        loop {
            // Marked before the ring is read, so that an event pushed
            // afterwards wakes the wait below.
            last.mark_unchanged();
            if let Some(item) = self.ring.lock().after(place.0) {
                return item;
            }
            // The number alone does not say that there is an event: `lose`
            // clears the ring. The sender is in `self`.
            let _ = last.changed().await;
        }
    }
}

#[cfg(test)]
#[path = "numbered_tests.rs"]
mod tests;
