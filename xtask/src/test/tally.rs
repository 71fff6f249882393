//! Counts tests from the output of `cargo test`.
//!
//! A test may itself run a test binary, and if it fails, its output includes
//! that of the binary. So a result counts only if it matches the announcement
//! before it.

use std::fmt;

/// The sum over all test binaries and doc tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Tests that passed.
    pub(super) passed: usize,
    /// Tests that failed.
    pub(super) failed: usize,
    /// Tests that did not run.
    pub(super) skipped: usize,
    /// The running binary.
    binary: Option<Binary>,
}

/// A test binary without a result yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Binary {
    /// The announced number of tests.
    tests: usize,
    /// Whether it has begun to print the output of its tests.
    showing: bool,
}

/// A line such as `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    passed: usize,
    failed: usize,
    ignored: usize,
    measured: usize,
    filtered: usize,
}

impl Tally {
    /// Handles the next line of the output.
    pub(super) fn read(&mut self, line: &str) {
        if let Some(tests) = announced(line) {
            // In the output of a test, this is another binary; otherwise the
            // binary before it died without a result.
            if !self.binary.is_some_and(|binary| binary.showing) {
                self.binary = Some(Binary {
                    tests,
                    showing: false,
                });
            }
        } else if line == "failures:" || line == "successes:" {
            if let Some(binary) = &mut self.binary {
                binary.showing = true;
            }
        } else if let Some(counts) = Counts::read(line)
            && self
                .binary
                .is_some_and(|binary| counts.tests() == binary.tests)
        {
            self.passed += counts.passed;
            self.failed += counts.failed;
            self.skipped += counts.ignored + counts.filtered;
            self.binary = None;
        }
    }

    /// Counts one test as skipped that the test harness counted as passed.
    pub(super) fn skip_one(&mut self) {
        self.passed = self.passed.saturating_sub(1);
        self.skipped += 1;
    }

    /// Whether at least one test ran.
    pub(super) fn ran(self) -> bool {
        self.passed + self.failed > 0
    }
}

/// The number in a line such as `running 3 tests`.
fn announced(line: &str) -> Option<usize> {
    let rest = line.strip_prefix("running ")?;
    let number = rest
        .strip_suffix(" tests")
        .or_else(|| rest.strip_suffix(" test"))?;
    number.parse().ok()
}

impl Counts {
    fn read(line: &str) -> Option<Self> {
        let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
        let mut read = Self::default();
        for count in counts.split(';') {
            let Some((number, word)) = count.trim().split_once(' ') else {
                continue;
            };
            let place = match word {
                "passed" => &mut read.passed,
                "failed" => &mut read.failed,
                "ignored" => &mut read.ignored,
                "measured" => &mut read.measured,
                "filtered out" => &mut read.filtered,
                _ => continue,
            };
            *place = number.parse().ok()?;
        }
        Some(read)
    }

    /// The number of tests that the binary must have announced.
    fn tests(self) -> usize {
        self.passed + self.failed + self.ignored + self.measured
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

#[cfg(test)]
#[path = "tally_tests.rs"]
mod tests;
