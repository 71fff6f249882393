//! Runs the examples in the documentation of libraries, which only rustdoc can compile.
//!
//! Their counts are read from the output. The output of a test binary contains that of its tests, which may run test
//! binaries of their own, and if it fails, its output includes that of the binary. So a result counts only if it matches
//! the announcement before it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use anyhow::Context;

use crate::test::Tally;
use crate::workspace;

/// Runs the examples with this command, shows its output and adds its counts. Returns whether all passed.
pub(super) fn run(mut command: Command, tally: &mut Tally) -> anyhow::Result<bool> {
    let said = workspace::shown(&command);
    println!("$ {said}");
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run `{said}`"))?;
    let stdout = child.stdout.take().context("cargo has no stdout")?;
    let mut counts = DoctestCounts::default();
    let mut ours = std::io::stdout().lock();
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line?;
        counts.read(&String::from_utf8_lossy(&line));
        ours.write_all(&line)?;
        ours.write_all(b"\n")?;
        ours.flush()?;
    }
    drop(ours);
    tally.passed += counts.passed;
    tally.failed += counts.failed;
    Ok(child.wait()?.success())
}

/// The sum over all libraries. Examples marked `ignore` are not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct DoctestCounts {
    passed: usize,
    failed: usize,
    /// The running binary.
    binary: Option<Binary>,
}

/// A binary without a result yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Binary {
    /// The announced number of tests.
    tests: usize,
    /// Whether it has begun to print the output of its tests.
    showing: bool,
}

/// A line such as `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
#[derive(Debug, Clone, Copy, Default)]
struct ResultLine {
    passed: usize,
    failed: usize,
    ignored: usize,
    measured: usize,
}

impl DoctestCounts {
    /// Handles the next line of the output.
    fn read(&mut self, line: &str) {
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
        } else if let Some(result) = ResultLine::read(line)
            && self
                .binary
                .is_some_and(|binary| result.tests() == binary.tests)
        {
            self.passed += result.passed;
            self.failed += result.failed;
            self.binary = None;
        }
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

impl ResultLine {
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

#[cfg(test)]
#[path = "doctests_tests.rs"]
mod tests;
