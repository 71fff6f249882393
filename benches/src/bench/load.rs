//! `windlass serve` with many readers and many calls: lost events, latency of
//! calls, and memory.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use windlass_outside::load::{Load, LoadReport, LoadTarget, Stalled};

use super::plan::Pace;
use super::proc;
use super::samples::Samples;
use super::startup::binary;
use super::table::{Goal, Line, Quantity, Unit};

/// The maximum growth of a server's memory after the load, in KiB. It is
/// bounded because the events stored for slow readers are.
const MEMORY: f64 = 96.0 * 1024.0;
/// The maximum time that a client which does not read stays connected.
const STALLED: Duration = Duration::from_secs(30);

/// Empty if there is no `windlass` binary.
pub(super) async fn measure(pace: Pace) -> Vec<Line> {
    let binary = match binary() {
        Ok(binary) => binary,
        Err(problem) => {
            eprintln!("load is left out: {problem}");
            return Vec::new();
        }
    };
    let seconds = pace.pick(30, 3);
    let many = Load {
        readers: 200,
        callers: 4,
        calls: 20 * seconds,
        rate: Some(20.0),
    };
    let fast = Load {
        readers: 5,
        callers: 5,
        calls: 500 * seconds,
        rate: Some(500.0),
    };
    let mut lines = Sitting::new(&binary)
        .hold("200 readers, 20 calls/s", &many)
        .await;
    let sitting = Sitting::new(&binary);
    let stalled = Stalled::before(&sitting.target).await;
    let stalled = stalled.expect("it can be asked");
    lines.extend(sitting.hold("5 readers, 500 calls/s", &fast).await);
    // A short run has too little output to stall on.
    if pace == Pace::Thorough {
        let cut_off = stalled.is_cut_off(STALLED).await;
        lines.push(Line {
            what: "load: clients that do not read and stay".to_owned(),
            measured: Quantity::once(if cut_off { 0.0 } else { 1.0 }, Unit::Pieces),
            floor: None,
            goal: Goal::AtMost(0.0),
        });
    }
    lines
}

/// A server in a temporary directory. Dropping it kills it and its processes.
struct Sitting {
    child: Child,
    target: LoadTarget,
    _folder: tempfile::TempDir,
}

impl Sitting {
    #[expect(clippy::disallowed_methods, reason = "a whole runtime is started")]
    fn new(binary: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let mut child = Command::new(binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--json"])
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_CACHE_HOME")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stdout = child.stdout.take().expect("it is a pipe");
        let mut line = String::new();
        let read = BufReader::new(stdout).read_line(&mut line);
        read.expect("it says where it listens");
        let said: Value = serde_json::from_str(&line).expect("it is JSON");
        let text = |name: &str| said[name].as_str().expect("it is said").to_owned();
        let target = LoadTarget {
            address: text("url").replace("http://", ""),
            token: text("token"),
        };
        Self {
            child,
            target,
            _folder: folder,
        }
    }

    /// Applies the load and reports the results.
    async fn hold(self, name: &str, load: &Load) -> Vec<Line> {
        // One-time costs are not growth.
        let first = Load {
            readers: load.readers,
            callers: load.callers,
            calls: load.callers,
            rate: None,
        };
        let warm = first.put_on(&self.target).await;
        warm.expect("it answers");
        let before = proc::resident_of(self.child.id());
        let outcome = load.put_on(&self.target).await;
        let outcome = outcome.expect("it answers");
        let after = proc::resident_of(self.child.id());
        let memory = Line {
            what: format!("load: {name}: memory after, against before"),
            measured: Quantity::once(after, Unit::KiB),
            floor: Some(Quantity::once(before, Unit::KiB)),
            goal: Goal::Over(MEMORY),
        };
        let mut lines = lines(name, load, &outcome);
        lines.push(memory);
        lines
    }
}

impl Drop for Sitting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are not that many")]
fn lines(name: &str, load: &Load, outcome: &LoadReport) -> Vec<Line> {
    let mut latencies = Samples::default();
    for latency in &outcome.latencies {
        latencies.push_time(*latency);
    }
    let rate = outcome.latencies.len() as f64 / outcome.took.as_secs_f64();
    let wrong = outcome.lost + outcome.out_of_order;
    let unseen = outcome.answers_given.saturating_sub(outcome.answers);
    let line = |what: &str, measured, goal| Line {
        what: format!("load: {name}: {what}"),
        measured,
        floor: None,
        goal,
    };
    let wanted = load.rate.unwrap_or_default() * 0.95;
    vec![
        line(
            "calls answered",
            Quantity::once(rate, Unit::PerSecond),
            Goal::AtLeast(wanted),
        ),
        line(
            "a call",
            Quantity::of(&latencies, Unit::Millis),
            Goal::Nothing,
        ),
        line(
            "events read",
            Quantity::once(outcome.events as f64, Unit::Pieces),
            Goal::Nothing,
        ),
        line(
            "events lost, late or unseen",
            Quantity::once((wrong + unseen) as f64, Unit::Pieces),
            Goal::AtMost(0.0),
        ),
    ]
}
