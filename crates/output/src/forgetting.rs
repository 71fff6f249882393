//! Positions from which another process can continue an output whose older bytes are forgotten.
//!
//! A position is only valid where it was taken: the streams of a program are interleaved, and incomplete characters are
//! held back.

use std::collections::VecDeque;

use super::output::Checkpoint;

/// The minimum distance between two positions.
const STEP: u64 = 128 << 10;
/// The maximum number of positions. Output of this length without acknowledgement is in the log anyway.
const MOST: usize = 64;

/// The positions of one output, oldest first.
#[derive(Debug, Default)]
pub(super) struct Forgetting {
    positions: VecDeque<Checkpoint>,
    /// The end of the forgotten bytes.
    until: u64,
    /// The offset of the newest position.
    newest: u64,
}

impl Forgetting {
    /// Forgets everything before this offset.
    pub(super) fn advance(&mut self, offset: u64) {
        self.until = self.until.max(offset);
    }

    /// Whether a position at this offset is to be noted.
    pub(super) fn is_due(&self, end: u64) -> bool {
        end >= self.newest + STEP
    }

    pub(super) fn note(&mut self, position: Checkpoint) {
        if self.positions.len() == MOST {
            self.positions.pop_front();
        }
        self.newest = position.stored;
        self.positions.push_back(position);
    }

    /// Takes the newest position before which everything is forgotten.
    pub(super) fn take(&mut self) -> Option<Checkpoint> {
        let count = self
            .positions
            .partition_point(|position| position.stored <= self.until);
        self.positions.drain(..count).next_back()
    }
}

#[cfg(test)]
#[path = "forgetting_tests.rs"]
mod tests;
