//! What compilers and tests say, as a short list.

use std::io::BufRead;

use cargo_metadata::Message;
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel, DiagnosticSpan};
use windlass_sdk::{Error, ToolHandle};

/// How many entries of each kind the result lists.
const LISTED: usize = 20;
/// How many lines of a failed test's output it holds.
const TEST_LINES: usize = 30;

/// What was said.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Messages {
    errors: Vec<String>,
    warnings: Vec<String>,
    /// The failed tests, each with its output.
    failed: Vec<(String, Vec<String>)>,
    /// The test whose output is being read.
    reading: Option<usize>,
    passed: usize,
    ignored: usize,
    /// Some tests were run.
    tested: bool,
}

impl Messages {
    /// Reads what cargo prints to its end, and tells errors and failed tests
    /// as they come.
    pub(super) fn read(stdout: impl BufRead, handle: &ToolHandle) -> Result<Self, Error> {
        let mut messages = Self::default();
        for message in Message::parse_stream(stdout) {
            if let Some(news) = messages.take(message?) {
                handle.report(news);
            }
        }
        Ok(messages)
    }

    /// Takes in one message; gives what is worth telling at once.
    fn take(&mut self, message: Message) -> Option<String> {
        match message {
            Message::CompilerMessage(message) => self.take_diagnostic(&message.message),
            Message::TextLine(line) => self.take_line(&line),
            _ => None,
        }
    }

    fn take_diagnostic(&mut self, diagnostic: &Diagnostic) -> Option<String> {
        let list = match diagnostic.level {
            DiagnosticLevel::Error | DiagnosticLevel::Ice => &mut self.errors,
            DiagnosticLevel::Warning => &mut self.warnings,
            _ => return None,
        };
        // A last word without a place only counts the others.
        let primary = diagnostic.spans.iter().find(|span| span.is_primary)?;
        let entry = entry(diagnostic, primary);
        // A library is compiled once more for its tests.
        if list.contains(&entry) {
            return None;
        }
        list.push(entry.clone());
        let is_error = !matches!(diagnostic.level, DiagnosticLevel::Warning);
        is_error.then_some(entry)
    }

    /// A line of the test harness, or of a test.
    fn take_line(&mut self, line: &str) -> Option<String> {
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.tested = true;
            self.reading = None;
            self.passed += count(counts, "passed");
            self.ignored += count(counts, "ignored");
            return None;
        }
        if let Some(name) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            self.failed.push((name.to_owned(), Vec::new()));
            return Some(format!("test failed: {name}"));
        }
        let output_of = line
            .strip_prefix("---- ")
            .and_then(|rest| rest.strip_suffix(" stdout ----"));
        if let Some(name) = output_of {
            // The same name may be in several binaries; this is the newest.
            self.reading = self.failed.iter().rposition(|(failed, _)| failed == name);
        } else if line == "failures:" {
            self.reading = None;
        } else if let Some(reading) = self.reading {
            let lines = &mut self.failed[reading].1;
            if lines.len() < TEST_LINES && !line.trim().is_empty() {
                lines.push(line.to_owned());
            }
        }
        None
    }

    /// What is to be said at the end; `said` is what cargo itself said last.
    pub(super) fn conclude(self, success: bool, said: &[String]) -> Result<String, Error> {
        if !success && self.errors.is_empty() && self.failed.is_empty() {
            // It was no compiler and no test.
            return Err(Error::new(format_args!(
                "cargo failed\n{}",
                said.join("\n")
            )));
        }
        let mut lines = vec![self.counts()];
        lines.extend(listed(&self.errors));
        for (name, output) in self.failed.iter().take(LISTED) {
            lines.push(format!("test failed: {name}"));
            lines.extend(output.iter().map(|line| format!("  {line}")));
        }
        if success {
            lines.extend(listed(&self.warnings));
            return Ok(lines.join("\n"));
        }
        Err(Error::new(lines.join("\n")))
    }

    fn counts(&self) -> String {
        let mut counts = vec![
            counted(self.errors.len(), "error"),
            counted(self.warnings.len(), "warning"),
        ];
        if self.tested {
            counts.push(format!(
                "{} passed, {} failed, {} ignored",
                self.passed,
                self.failed.len(),
                self.ignored
            ));
        }
        counts.join(", ")
    }
}

/// `error[E0308] src/main.rs:3:5: mismatched types: expected …`
fn entry(diagnostic: &Diagnostic, span: &DiagnosticSpan) -> String {
    let level = match diagnostic.level {
        DiagnosticLevel::Warning => "warning",
        _ => "error",
    };
    let code = diagnostic
        .code
        .as_ref()
        .map(|code| format!("[{}]", code.code));
    let label = span.label.as_ref().map(|label| format!(": {label}"));
    format!(
        "{level}{} {}:{}:{}: {}{}",
        code.unwrap_or_default(),
        span.file_name,
        span.line_start,
        span.column_start,
        diagnostic.message,
        label.unwrap_or_default(),
    )
}

fn listed(entries: &[String]) -> Vec<String> {
    let mut listed: Vec<String> = entries.iter().take(LISTED).cloned().collect();
    if entries.len() > LISTED {
        listed.push(format!("and {} more", entries.len() - LISTED));
    }
    listed
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// The number before a word in `ok. 3 passed; 0 failed; …`.
fn count(counts: &str, word: &str) -> usize {
    let words: Vec<&str> = counts
        .split([' ', ';', '.'])
        .filter(|word| !word.is_empty())
        .collect();
    let place = words.iter().position(|other| *other == word);
    place
        .and_then(|place| words.get(place.checked_sub(1)?)?.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
