//! The times of the tests: a file below `target`, and the slowest on the screen.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use serde_json::{Value, json};

use crate::test::pool::{TestResult, Verdict};
use crate::workspace;

/// The number of tests that are printed.
const SLOWEST: usize = 30;

/// `target/test-times.json`.
fn file() -> anyhow::Result<PathBuf> {
    Ok(workspace::target_folder()?.join("test-times.json"))
}

/// Writes the times of all tests, slowest first.
pub(super) fn write(results: &[TestResult], jobs: usize) -> anyhow::Result<()> {
    let tests: Vec<Value> = sorted(results).into_iter().map(row).collect();
    let text = serde_json::to_string_pretty(&json!({"jobs": jobs, "tests": tests}))?;
    let file = file()?;
    std::fs::write(&file, text + "\n").with_context(|| format!("cannot write `{}`", file.display()))
}

/// The times of the previous run by the names of the tests; empty if there was none.
pub(super) fn previous() -> HashMap<String, Duration> {
    let text = file()
        .ok()
        .and_then(|file| std::fs::read_to_string(file).ok());
    let read = text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let rows = read.as_ref().and_then(|read| read["tests"].as_array());
    let time = |row: &Value| {
        let taken = Duration::from_millis(row["milliseconds"].as_u64()?);
        Some((row["test"].as_str()?.to_owned(), taken))
    };
    rows.into_iter().flatten().filter_map(time).collect()
}

/// A table of the slowest tests.
pub(super) fn table(results: &[TestResult]) -> String {
    let mut table = "\nseconds  CPU s  slowest tests\n".to_owned();
    for result in sorted(results).into_iter().take(SLOWEST) {
        let cpu = result.cpu.map_or("?".to_owned(), seconds);
        let _ = writeln!(
            table,
            "{:>7} {cpu:>6}  {}",
            seconds(result.taken),
            result.test
        );
    }
    table
}

fn seconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64())
}

fn sorted(results: &[TestResult]) -> Vec<&TestResult> {
    let mut sorted: Vec<_> = results.iter().collect();
    sorted.sort_by(|one, other| (other.taken, &one.test).cmp(&(one.taken, &other.test)));
    sorted
}

fn row(result: &TestResult) -> Value {
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    json!({
        "test": result.test,
        "milliseconds": milliseconds(result.taken),
        "cpu_milliseconds": result.cpu.map(milliseconds),
        "result": match result.verdict {
            Verdict::Passed => "passed",
            Verdict::Skipped(_) => "skipped",
            Verdict::Failed(_) => "failed",
        },
    })
}
