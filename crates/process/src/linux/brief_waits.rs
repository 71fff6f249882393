//! Tells a program that polls its terminal in turns from one that waits for a moment.

use std::time::Instant;

use super::foreground::{BRIEF, BriefWait};

/// The number of brief waits that are remembered.
const SEEN: usize = 64;
/// The number of waits from which they are a chain.
const CHAIN: u32 = 3;

/// Brief waits since the last input.
#[derive(Debug, Default)]
pub(crate) struct BriefWaits {
    typed: Option<Instant>,
    /// The first wait of each thread with each limit.
    seen: Vec<BriefWait>,
    /// The latest waits.
    latest: Vec<BriefWait>,
    /// The number of waits in a row.
    turns: u32,
    since: Option<Instant>,
}

impl BriefWaits {
    /// Whether all of these waits have occurred before, or are part of a chain
    /// that lasts for longer than a moment.
    pub(crate) fn come_again(
        &mut self,
        typed: Option<Instant>,
        waits: &[BriefWait],
        now: Instant,
    ) -> bool {
        if self.typed != typed || self.since.is_none() {
            *self = Self {
                typed,
                since: Some(now),
                ..Self::default()
            };
        }
        if self.latest != waits {
            self.latest = waits.to_vec();
            self.turns += 1;
        }
        let mut come_again = true;
        for wait in waits {
            let is_same = |it: &&BriefWait| it.thread == wait.thread && it.limit == wait.limit;
            if let Some(seen) = self.seen.iter().find(is_same) {
                come_again &= seen.runs != wait.runs;
            } else {
                come_again = false;
                if self.seen.len() < SEEN {
                    self.seen.push(wait.clone());
                }
            }
        }
        // On a busy machine, two waits may take any time.
        let is_chain = self.turns >= CHAIN && self.since.is_some_and(|since| now - since > BRIEF);
        come_again || is_chain
    }
}

#[cfg(test)]
#[path = "brief_waits_tests.rs"]
mod tests;
