//! Tells a program that polls its terminal in turns from one that waits for a moment.

use std::time::Instant;

use super::foreground::{BRIEF, BriefWait};

/// The number of brief waits that are remembered.
const SEEN: usize = 64;

/// Brief waits since the last input.
#[derive(Debug, Default)]
pub(crate) struct BriefWaits {
    typed: Option<Instant>,
    /// The first wait of each thread with each limit.
    seen: Vec<BriefWait>,
    since: Option<Instant>,
}

impl BriefWaits {
    /// Whether all of these waits have occurred before, or have lasted for
    /// longer than a moment.
    pub(crate) fn come_again(&mut self, typed: Option<Instant>, waits: &[BriefWait]) -> bool {
        if self.typed != typed || self.since.is_none() {
            *self = Self {
                typed,
                seen: Vec::new(),
                since: Some(Instant::now()),
            };
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
        come_again || self.since.is_some_and(|since| since.elapsed() > BRIEF)
    }
}
