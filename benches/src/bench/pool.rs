//! Programs on a pool, compared with the same programs here: a spawn and a one-shot.
//!
//! The broker and the only worker are on this machine, so that only the path through the broker is measured.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use windlass_runtime::Session;

use super::fixture::{Fixture, call};
use super::plan::Pace;
use super::samples::Samples;
use super::startup::binary;
use super::table::{Goal, Line, Quantity, Unit};

/// The maximum additional time of a spawn on the pool, in microseconds.
const OVER_BROKER: f64 = 5_000.0;
/// How long the broker and the worker may take to start.
const STARTING: Duration = Duration::from_secs(20);

/// Empty if there is no `windlass` or `nats-server` binary.
pub(super) async fn measure(pace: Pace) -> Vec<Line> {
    let pool = match binary().and_then(|binary| LoopbackPool::start(&binary)) {
        Ok(pool) => pool,
        Err(problem) => {
            eprintln!("pool is left out: {problem:#}");
            return Vec::new();
        }
    };
    let config = format!(
        "[hosts.fleet]\nnats = \"{}\"\npool = \"bench\"\n[conversation.tools.shell]\nhosts = [\"fleet\"]\n",
        pool.url
    );
    let fixture = Fixture::with(&config).await;
    let session = fixture.session();
    let rounds = pace.pick(300, 30);
    let mut spawns = [(); 2].map(|()| Samples::default());
    let mut one_shots = [(); 2].map(|()| Samples::default());
    // Alternates, so that other load on the machine affects all alike.
    for round in 0..=rounds {
        for (place, host) in [None, Some("fleet")].into_iter().enumerate() {
            let spawned = spawn(&session, host, round).await;
            let ran = one_shot(&session, host).await;
            // The first round is a warm-up.
            if round > 0 {
                spawns[place].push_time(spawned);
                one_shots[place].push_time(ran);
            }
        }
    }
    session.close().await;
    let line = |what: &str, [here, pooled]: &[Samples; 2], goal| Line {
        what: what.to_owned(),
        measured: Quantity::of(pooled, Unit::Micros),
        floor: Some(Quantity::of(here, Unit::Micros)),
        goal,
    };
    vec![
        line(
            "a spawn on a pool, against here",
            &spawns,
            Goal::Over(OVER_BROKER),
        ),
        line("… a one-shot", &one_shots, Goal::Nothing),
    ]
}

fn at(host: Option<&str>, mut arguments: Value) -> Value {
    if let Some(host) = host {
        arguments["host"] = Value::from(host);
    }
    arguments
}

/// The time of a spawn, until its reply. The program waits for input on its terminal, so that it settles at once.
async fn spawn(session: &Session, host: Option<&str>, round: usize) -> Duration {
    let id = format!("{}-{round}", host.unwrap_or("here"));
    let spawn = json!({"action": "spawn", "id": id, "command": "exec cat", "terminal": true});
    let start = Instant::now();
    call(session, "shell", at(host, spawn)).await;
    let time = start.elapsed();
    call(session, "shell", json!({"action": "abort", "id": id})).await;
    time
}

async fn one_shot(session: &Session, host: Option<&str>) -> Duration {
    let start = Instant::now();
    call(session, "shell", at(host, json!({"command": "true"}))).await;
    start.elapsed()
}

/// A broker and a worker. Dropping this ends them.
struct LoopbackPool {
    children: Vec<Child>,
    url: String,
    folder: TempDir,
}

impl LoopbackPool {
    /// Starts both; the error names what is missing.
    #[expect(
        clippy::disallowed_methods,
        reason = "the broker is no tool, and the worker is another runtime"
    )]
    fn start(binary: &Path) -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        let broker = Command::new("nats-server")
            .args(["-js", "-a", "127.0.0.1", "-p", "-1", "-sd"])
            .arg(folder.path().join("store"))
            .arg("--ports_file_dir")
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("`nats-server` is missing; `cargo xtask bench` installs it")?;
        let ports = format!("nats-server_{}.ports", broker.id());
        let mut pool = Self {
            children: vec![broker],
            url: String::new(),
            folder,
        };
        let folder = pool.folder.path();
        let ports = folder.join(ports);
        pool.url = wait_for("the broker", || {
            let text = std::fs::read_to_string(&ports).ok()?;
            let ports: Value = serde_json::from_str(&text).ok()?;
            Some(ports["nats"][0].as_str()?.to_owned())
        })?;
        let said = folder.join("said");
        let worker = Command::new(binary)
            .args(["worker", "--nats", &pool.url, "--pool", "bench"])
            .env("HOME", folder)
            .env("XDG_STATE_HOME", folder.join("state"))
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(&said)?)
            .spawn()?;
        pool.children.push(worker);
        wait_for("the worker", || {
            let text = std::fs::read_to_string(&said).ok()?;
            text.contains("is in pool `bench`").then_some(())
        })?;
        Ok(pool)
    }
}

fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> anyhow::Result<T> {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return Ok(found);
        }
        ensure!(start.elapsed() < STARTING, "{what} does not start");
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl Drop for LoopbackPool {
    fn drop(&mut self) {
        for child in self.children.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
