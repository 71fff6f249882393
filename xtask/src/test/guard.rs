//! Runs one test in a process of its own, and ends everything that it started.
//!
//! `cargo xtask guard` is that process; [`GuardedTest::run`] starts it. On Linux the guard adopts every orphan of the test, so
//! that at its end nothing of the test's tree is left, and all of its CPU time is counted. The guard ends the tree
//! when the test exceeds its limit, or when the runner is gone.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustix::process::{Pid, Signal, WaitOptions};
use serde_json::{Value, json};

use crate::test::tree;
use crate::{cpu, workspace};

/// The chore's name. It is not for people, and not in the usage.
pub(crate) const CHORE: &str = "guard";

/// The time that the processes of a finished test have to end on their own.
const LINGER: Duration = Duration::from_secs(10);
/// The pause between two attempts to kill a tree that grows meanwhile.
const AGAIN: Duration = Duration::from_millis(20);
/// The time after which processes that survive SIGKILL are given up.
const GIVE_UP: Duration = Duration::from_secs(20);

/// A command that runs one test.
pub(super) struct GuardedTest<'a> {
    /// The command, with its environment and directory.
    pub(super) command: Command,
    /// Receives the output of the test.
    pub(super) output: &'a Path,
    /// The time after which the test is killed.
    pub(super) limit: Duration,
}

/// How a guarded test ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GuardReport {
    /// How its process ended; `None` if it was killed at the limit.
    pub(super) status: Option<ExitStatus>,
    /// The time until then.
    pub(super) taken: Duration,
    /// The CPU time of its whole tree, if the system tells.
    pub(super) cpu: Option<Duration>,
    /// The command lines of the processes that the guard had to end.
    pub(super) killed: Vec<String>,
}

impl GuardedTest<'_> {
    /// Runs the test and waits until nothing of it is left.
    pub(super) fn run(self) -> anyhow::Result<GuardReport> {
        let mut command = Command::new(workspace::own_program()?);
        command
            .arg(CHORE)
            .arg(self.limit.as_millis().to_string())
            .arg(self.output)
            .arg(self.command.get_program())
            .args(self.command.get_args())
            // The guard ends the test when this pipe is closed.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(folder) = self.command.get_current_dir() {
            command.current_dir(folder);
        }
        let mut child = command.spawn().context("cannot start a guard")?;
        let lifeline = child.stdin.take();
        let output = child
            .wait_with_output()
            .context("cannot wait for a guard")?;
        drop(lifeline);
        let said = String::from_utf8_lossy(&output.stdout);
        let report: Value = serde_json::from_str(&said)
            .with_context(|| format!("the guard of the test ended with {}", output.status))?;
        GuardReport::read(&report).context("a guard's report cannot be read")
    }
}

impl GuardReport {
    fn write(&self) -> Value {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        json!({
            "status": self.status.map(ExitStatus::into_raw),
            "taken": milliseconds(self.taken),
            "cpu": self.cpu.map(milliseconds),
            "killed": self.killed,
        })
    }

    fn read(report: &Value) -> Option<Self> {
        let status = report["status"].as_i64().map(i32::try_from).transpose();
        let killed = report["killed"].as_array()?.iter();
        Some(Self {
            status: status.ok()?.map(ExitStatus::from_raw),
            taken: Duration::from_millis(report["taken"].as_u64()?),
            cpu: report["cpu"].as_u64().map(Duration::from_millis),
            killed: killed
                .map(|line| line.as_str().map(str::to_owned))
                .collect::<Option<_>>()?,
        })
    }
}

/// What the guard waits for.
enum Event {
    /// A child has ended and was reaped.
    Reaped(Pid, ExitStatus),
    /// No child is left, so nothing of the tree is.
    Empty,
    /// The runner has gone.
    Abandoned,
}

/// The guard: `LIMIT OUTPUT PROGRAM ARGUMENTS…`. Prints its report as JSON.
pub(crate) fn run(arguments: &[OsString]) -> anyhow::Result<()> {
    let [limit, output, program, arguments @ ..] = arguments else {
        bail!("`{CHORE}` is started by `cargo xtask test` only");
    };
    let limit = limit.to_str().and_then(|limit| limit.parse().ok());
    let limit = Duration::from_millis(limit.context("the limit is not a number")?);
    // No terminal: a test must not depend on where it was started, and Ctrl-C is for the runner alone.
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .context("cannot adopt orphans")?;
    let output = File::create(PathBuf::from(output)).context("cannot create the output")?;
    let begun = Instant::now();
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(output.try_clone()?)
        .stdout(output);
    // A thread of `watch` reaps every child.
    let test = command
        .spawn()
        .with_context(|| format!("cannot run `{}`", program.display()))?;
    let test = Pid::from_child(&test);
    let events = watch();
    let status = wait_for(&events, test, begun + limit);
    let taken = begun.elapsed();
    let killed = if status.is_some() {
        end_leftovers(&events, Instant::now() + LINGER)?
    } else {
        end_leftovers(&events, Instant::now())?
    };
    let report = GuardReport {
        status,
        taken,
        cpu: cpu::used(),
        killed,
    };
    println!("{}", report.write());
    Ok(())
}

/// Reaps all children, and waits for the runner's end, each in a thread.
fn watch() -> Receiver<Event> {
    let (sender, events) = channel();
    let reaper = sender.clone();
    std::thread::spawn(move || {
        // It fails when no child is left.
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::empty()) {
            let status = ExitStatus::from_raw(status.as_raw());
            if reaper.send(Event::Reaped(pid, status)).is_err() {
                return;
            }
        }
        let _ = reaper.send(Event::Empty);
    });
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        let _ = sender.send(Event::Abandoned);
    });
    events
}

/// Waits for the end of the test. `None`: at the limit, or the runner is gone.
fn wait_for(events: &Receiver<Event>, test: Pid, limit: Instant) -> Option<ExitStatus> {
    loop {
        match events.recv_timeout(limit.saturating_duration_since(Instant::now())) {
            Ok(Event::Reaped(pid, status)) if pid == test => return Some(status),
            Ok(Event::Reaped(..)) => {}
            Ok(Event::Empty | Event::Abandoned) | Err(_) => return None,
        }
    }
}

/// Waits until no descendant is left; after `patience` kills them. Returns the command lines of those.
fn end_leftovers(events: &Receiver<Event>, patience: Instant) -> anyhow::Result<Vec<String>> {
    let mut killed = Vec::new();
    let mut wait = patience.saturating_duration_since(Instant::now());
    let mut given_up = None;
    loop {
        match events.recv_timeout(wait) {
            Ok(Event::Empty) => return Ok(killed),
            Ok(Event::Reaped(..)) if given_up.is_none() => {
                wait = patience.saturating_duration_since(Instant::now());
            }
            Ok(Event::Reaped(..)) => {}
            Ok(Event::Abandoned) | Err(RecvTimeoutError::Timeout) => {
                let end = *given_up.get_or_insert_with(|| Instant::now() + GIVE_UP);
                ensure!(
                    Instant::now() < end,
                    "the processes of a test cannot be killed"
                );
                for process in tree::descendants(rustix::process::getpid()) {
                    // Several attempts may meet the same process.
                    if !process.is_zombie && !killed.contains(&process.shown) {
                        killed.push(process.shown);
                    }
                    // It may have ended meanwhile.
                    let _ = rustix::process::kill_process(process.pid, Signal::KILL);
                }
                wait = AGAIN;
            }
            Err(RecvTimeoutError::Disconnected) => bail!("the guard's threads have ended"),
        }
    }
}
