//! Runs tests side by side, each in a process of its own.
//!
//! Start at [`run`]. Most tests wait more than they compute, so more of them run at once than the machine has cores.

use std::ffi::OsString;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context;

use crate::test::SKIP_LOG;
use crate::test::binaries::{BuiltTests, Test};
use crate::test::groups::{self, GROUPS};
use crate::test::guard::{GuardReport, GuardedTest};

/// The tests that run at once for each core.
const PER_CORE: usize = 3;

/// How the tests are run.
#[derive(Debug)]
pub(super) struct PoolOptions {
    /// The number of tests that run at once.
    pub(super) jobs: usize,
    /// Variables that are set for every test.
    pub(super) environment: Vec<(&'static str, OsString)>,
}

/// The result of one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestResult {
    /// The whole name of the test.
    pub(super) test: String,
    pub(super) verdict: Verdict,
    pub(super) taken: Duration,
    /// The CPU time of the test and of everything that it started.
    pub(super) cpu: Option<Duration>,
    /// The processes that it left running, and that its guard has ended.
    pub(super) left: Vec<String>,
}

/// The verdict on one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    /// It could not run on this machine, for this reason.
    Skipped(String),
    /// It failed; the text is the reason and the output of the test.
    Failed(String),
}

/// The number of tests that run at once by default.
pub(super) fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get) * PER_CORE
}

/// Runs these tests in about this order. Calls `finished` with each result.
pub(super) fn run(
    built: &BuiltTests,
    tests: &[Test],
    options: &PoolOptions,
    finished: &(dyn Fn(&TestResult) + Sync),
) -> anyhow::Result<Vec<TestResult>> {
    let folder = tempfile::tempdir().context("cannot create a folder for the outputs")?;
    let queue = Queue::new(tests);
    let results = Mutex::new(Vec::with_capacity(tests.len()));
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, tests.len().max(1)) {
            scope.spawn(|| {
                while let Some((index, test)) = queue.take() {
                    let place = TestFiles::new(folder.path(), index);
                    let result = run_test(built, test, &place, options);
                    queue.finish(test);
                    finished(&result);
                    locked(&results).push(result);
                }
            });
        }
    });
    Ok(results.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// The files of one test, outside of its own folders.
struct TestFiles {
    output: PathBuf,
    skip_log: PathBuf,
}

impl TestFiles {
    fn new(folder: &Path, index: usize) -> Self {
        Self {
            output: folder.join(format!("{index}.output")),
            skip_log: folder.join(format!("{index}.skipped")),
        }
    }

    fn remove(&self) {
        // They are removed with their folder otherwise.
        let _ = std::fs::remove_file(&self.output);
        let _ = std::fs::remove_file(&self.skip_log);
    }
}

fn run_test(
    built: &BuiltTests,
    test: &Test,
    files: &TestFiles,
    options: &PoolOptions,
) -> TestResult {
    let mut command = built.command(test);
    for (name, value) in &options.environment {
        command.env(name, value);
    }
    command.env(SKIP_LOG, &files.skip_log);
    let limit = groups::limit(test.group);
    let report = GuardedTest {
        command,
        output: &files.output,
        limit,
    }
    .run();
    let output = std::fs::read(&files.output).unwrap_or_default();
    let output = String::from_utf8_lossy(&output);
    let skipped = std::fs::read_to_string(&files.skip_log).ok();
    files.remove();
    let (taken, cpu, left) = match &report {
        Ok(report) => (report.taken, report.cpu, report.killed.clone()),
        Err(_) => (Duration::ZERO, None, Vec::new()),
    };
    let verdict = match fault(&report, limit) {
        Some(fault) => Verdict::Failed(format!("{fault}\n{output}")),
        None => match skipped {
            Some(reasons) => Verdict::Skipped(reasons.trim().replace('\n', "; ")),
            None => Verdict::Passed,
        },
    };
    TestResult {
        test: test.name.clone(),
        verdict,
        taken,
        cpu,
        left,
    }
}

/// The reason why a test has failed.
fn fault(report: &anyhow::Result<GuardReport>, limit: Duration) -> Option<String> {
    let report = match report {
        Ok(report) => report,
        Err(error) => return Some(format!("{error:#}")),
    };
    let killed = report.killed.join("\n  ");
    match report.status {
        None => Some(format!(
            "killed after {} s, with these processes:\n  {killed}",
            limit.as_secs()
        )),
        Some(status) if !status.success() => Some(format!("it ended with {status}")),
        Some(_) => None,
    }
}

/// The tests that have not begun, and the number of running ones by group.
struct Queue<'a> {
    state: Mutex<QueueState<'a>>,
    /// Notified when a test has ended.
    ended: Condvar,
}

struct QueueState<'a> {
    /// In reverse order.
    waiting: Vec<(usize, &'a Test)>,
    running: Vec<usize>,
}

impl<'a> Queue<'a> {
    fn new(tests: &'a [Test]) -> Self {
        Self {
            state: Mutex::new(QueueState {
                waiting: tests.iter().enumerate().rev().collect(),
                running: vec![0; GROUPS.len()],
            }),
            ended: Condvar::new(),
        }
    }

    /// The next test that may run now. Waits for one; `None` if none is left.
    fn take(&self) -> Option<(usize, &'a Test)> {
        let mut state = locked(&self.state);
        loop {
            if state.waiting.is_empty() {
                return None;
            }
            if let Some(next) = state.next() {
                return Some(next);
            }
            let waited = self.ended.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn finish(&self, test: &Test) {
        if let Some(group) = test.group {
            locked(&self.state).running[group] -= 1;
        }
        self.ended.notify_all();
    }
}

impl<'a> QueueState<'a> {
    fn next(&mut self) -> Option<(usize, &'a Test)> {
        let running = &self.running;
        let may_run =
            |group: Option<usize>| group.is_none_or(|group| running[group] < GROUPS[group].at_once);
        let index = self
            .waiting
            .iter()
            .rposition(|(_, test)| may_run(test.group))?;
        let next = self.waiting.remove(index);
        if let Some(group) = next.1.group {
            self.running[group] += 1;
        }
        Some(next)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
