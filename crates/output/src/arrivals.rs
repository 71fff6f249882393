//! Approximate arrival times of output, in bounded memory.

use std::time::{Duration, Instant};

/// Bytes that arrive within this interval share a mark.
const STEP: Duration = Duration::from_millis(20);
/// The maximum number of marks. Beyond it every second one is dropped.
const MOST: usize = 4096;

/// Marks in the order of arrival.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    first: Option<Instant>,
    /// The time since the first byte, and the number of bytes that had arrived
    /// then.
    marks: Vec<(Duration, u64)>,
}

impl Arrivals {
    /// Records that the output has grown to `end`.
    pub(super) fn note(&mut self, end: u64, now: Instant) {
        let first = *self.first.get_or_insert(now);
        let at = now.saturating_duration_since(first);
        match self.marks.last_mut() {
            Some((last, until)) if at < *last + STEP => *until = end,
            _ => self.marks.push((at, end)),
        }
        if self.marks.len() > MOST {
            let mut place = 0;
            self.marks.retain(|_| {
                place += 1;
                place % 2 == 0
            });
        }
    }

    /// The time at which the byte before `offset` arrived, relative to the
    /// first byte.
    pub(super) fn at(&self, offset: u64) -> Duration {
        let place = self.marks.partition_point(|(_, end)| *end < offset);
        let mark = self.marks.get(place).or(self.marks.last());
        mark.map_or(Duration::ZERO, |(at, _)| *at)
    }

    /// The offset up to which bytes had arrived at `time`.
    pub(super) fn written_at(&self, time: Instant) -> u64 {
        let Some(first) = self.first.filter(|first| *first <= time) else {
            return 0;
        };
        let since = time - first;
        let place = self.marks.partition_point(|(at, _)| *at <= since);
        place.checked_sub(1).map_or(0, |last| self.marks[last].1)
    }

    /// A copy that can be read without a lock.
    pub(super) fn since(&self, offset: u64) -> Self {
        let place = self.marks.partition_point(|(_, end)| *end < offset);
        Self {
            first: self.first,
            marks: self.marks[place..].to_vec(),
        }
    }
}

#[cfg(test)]
#[path = "arrivals_tests.rs"]
mod tests;
