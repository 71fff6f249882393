//! A rate limit.

use std::time::Instant;

use parking_lot::Mutex;

/// So many a second, with twice as many at once.
pub(crate) struct Rate {
    per_second: f64,
    left: Mutex<(f64, Instant)>,
}

impl Rate {
    pub(crate) fn per_second(per_second: f64) -> Self {
        Self {
            per_second,
            left: Mutex::new((per_second * 2.0, Instant::now())),
        }
    }

    /// Takes one, if there is one left.
    pub(crate) fn take(&self) -> bool {
        self.take_at(Instant::now())
    }

    fn take_at(&self, now: Instant) -> bool {
        let mut left = self.left.lock();
        let (tokens, last) = *left;
        let since = now.saturating_duration_since(last).as_secs_f64();
        let tokens = (tokens + since * self.per_second).min(self.per_second * 2.0);
        let taken = tokens >= 1.0;
        *left = (if taken { tokens - 1.0 } else { tokens }, now);
        taken
    }
}

#[cfg(test)]
#[path = "rate_tests.rs"]
mod tests;
