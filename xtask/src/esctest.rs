//! `cargo xtask esctest PATH`: runs the terminal test suite esctest2 on one of our terminals.
//!
//! PATH is a checkout of the suite, which is not part of the project. The suite runs as a program of the built
//! `windlass`, queries the terminal only by sequences, and is configured to expect xterm at the level of a VT420. The
//! failing tests must be those that `docs/reference/terminal.md` lists, each with its reason.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use crate::workspace;

/// The page that lists the failing tests.
const PAGE: &str = "docs/reference/terminal.md";

/// The minimum number of passing tests.
const LEAST: usize = 400;

/// Options of the suite: the expected terminal, and the behaviour of xterm since the version that ours reports.
const OPTIONS: &str = "--expected-terminal=xterm --max-vt-level=4 --xterm-reverse-wrap=390 --timeout=2 --no-print-logs";

/// Runs the suite; fails if other tests fail than the page lists, or too many.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let [path] = arguments else {
        bail!("`esctest` wants the folder of a checkout of esctest2");
    };
    let suite = suite_folder(Path::new(path))?;
    let log = std::env::temp_dir().join(format!("windlass-esctest-{}.log", std::process::id()));
    workspace::cargo(["build", "--package", "windlass-cli"])?;
    let outcome = run_suite(&suite, &log).and_then(|()| {
        let text = std::fs::read(&log).context("the suite has written no log")?;
        Ok(SuiteRun::read(&String::from_utf8_lossy(&text)))
    });
    // A private file in the temporary directory: it does no harm if it stays.
    let _ = std::fs::remove_file(&log);
    let outcome = outcome?;
    let page = std::fs::read_to_string(workspace::root().join(PAGE))
        .with_context(|| format!("cannot read `{PAGE}`"))?;
    outcome.compare(&listed(&page))
}

/// The directory of the suite's program.
fn suite_folder(path: &Path) -> anyhow::Result<PathBuf> {
    let folders = [path.to_owned(), path.join("esctest")];
    let mut found = folders
        .into_iter()
        .filter(|it| it.join("esctest.py").is_file());
    let folder = found
        .next()
        .with_context(|| format!("`{}` holds no esctest.py", path.display()))?;
    folder
        .canonicalize()
        .with_context(|| format!("cannot find `{}`", folder.display()))
}

/// Runs the suite on one of our terminals until it ends.
fn run_suite(suite: &Path, log: &Path) -> anyhow::Result<()> {
    let mut drive = DriveProcess::start()?;
    let command = format!(
        "exec python3 -B esctest.py {OPTIONS} --logfile='{}'",
        log.display()
    );
    println!("$ {command}");
    let spawn = json!({
        "action": "spawn", "id": "suite", "command": command, "cwd": suite,
        "terminal": true, "rows": 25, "cols": 80,
    });
    let spawned = drive.call("shell", &spawn)?;
    ensure!(
        spawned["is_error"] == json!(false),
        "it did not start: {spawned}"
    );
    let ended = drive.call("await", &json!({"all": ["suite"], "timeout_secs": 1200}))?;
    let completed = &ended["content"]["completed"];
    ensure!(
        completed.as_array().is_some_and(|list| !list.is_empty()),
        "the suite did not end: {ended}"
    );
    drive.stop();
    Ok(())
}

/// A `windlass drive` process.
struct DriveProcess {
    child: Child,
    replies: BufReader<std::process::ChildStdout>,
}

impl DriveProcess {
    fn start() -> anyhow::Result<Self> {
        let mut child = workspace::cargo_command()
            .args(["run", "--quiet", "--package", "windlass-cli", "--", "drive"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start `windlass drive`")?;
        let stdout = child.stdout.take().context("it has no output")?;
        let replies = BufReader::new(stdout);
        Ok(Self { child, replies })
    }

    /// Makes one call and returns its reply.
    fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
        let stdin = self.child.stdin.as_mut().context("it takes no input")?;
        writeln!(stdin, "{}", json!([{"tool": tool, "arguments": arguments}]))?;
        let mut line = String::new();
        self.replies.read_line(&mut line)?;
        let reply: Value = serde_json::from_str(&line)
            .with_context(|| format!("`windlass drive` answered {line:?}"))?;
        Ok(reply["replies"][0].clone())
    }

    fn stop(mut self) {
        drop(self.child.stdin.take());
        // It ends when its input is closed; its exit code does not depend on the suite.
        let _ = self.child.wait();
    }
}

/// The tests of a run, by name.
#[derive(Debug, Default, PartialEq, Eq)]
struct SuiteRun {
    passed: BTreeSet<String>,
    others: BTreeSet<String>,
}

impl SuiteRun {
    /// Parses the suite's log. An expected failure is a failure too.
    fn read(log: &str) -> Self {
        let mut outcome = Self::default();
        let mut current: Option<String> = None;
        for line in log.lines() {
            if let Some(name) = line.strip_prefix("Run test: ") {
                outcome.others.extend(current.take());
                current = Some(name.trim().to_owned());
            } else if line.trim_end() == "Passed." {
                outcome.passed.extend(current.take());
            }
        }
        outcome.others.extend(current);
        outcome
    }

    fn compare(&self, listed: &BTreeSet<String>) -> anyhow::Result<()> {
        for name in self.others.difference(listed) {
            println!("error: {name} does not pass, and `{PAGE}` does not say why");
        }
        for name in listed.difference(&self.others) {
            println!("error: {name} passes or does not exist, and `{PAGE}` still lists it");
        }
        let (passed, all) = (self.passed.len(), self.passed.len() + self.others.len());
        println!("esctest: {passed} of {all} tests pass");
        ensure!(passed >= LEAST, "fewer than {LEAST} tests pass");
        ensure!(
            self.others == *listed,
            "`{PAGE}` does not list the tests that do not pass"
        );
        Ok(())
    }
}

/// The tests that a page lists: one list item each, which begins with its name in code.
fn listed(page: &str) -> BTreeSet<String> {
    page.lines()
        .filter_map(|line| line.strip_prefix("- `")?.split_once('`'))
        .filter(|(name, _)| name.contains(".test_"))
        .map(|(name, _)| name.to_owned())
        .collect()
}

#[cfg(test)]
#[path = "esctest_tests.rs"]
mod tests;
