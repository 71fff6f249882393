//! Repeated measurements.

use std::time::Duration;

/// The samples of one measurement.
#[derive(Debug, Default)]
pub(super) struct Samples(Vec<f64>);

impl Samples {
    /// Adds a sample.
    pub(super) fn push(&mut self, sample: f64) {
        self.0.push(sample);
    }

    /// Adds a time, in microseconds.
    pub(super) fn push_time(&mut self, time: Duration) {
        self.push(micros(time));
    }

    /// The median.
    pub(super) fn median(&self) -> f64 {
        self.quantile(5)
    }

    /// The 10th and the 90th percentile.
    pub(super) fn spread(&self) -> (f64, f64) {
        (self.quantile(1), self.quantile(9))
    }

    /// The quantile at this many tenths.
    fn quantile(&self, tenths: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1);
        sorted[last.expect("something was measured") * tenths / 10]
    }
}

/// A time in microseconds.
pub(super) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

#[cfg(test)]
#[path = "samples_tests.rs"]
mod tests;
