//! Tools on a host, compared with the same tools here: a step of a REPL, much output, and a step during a flood.
//!
//! The host is this machine, over a plain pipe and over ssh on loopback, so that only the link is measured.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use windlass_runtime::Session;

use super::fixture::{Fixture, at_prompt, call, view};
use super::flood::write_text;
use super::plan::Pace;
use super::samples::Samples;
use super::ssh_server::LoopbackSsh;
use super::startup::binary;
use super::table::{Goal, Line, Quantity, Unit};

/// The maximum additional time of a step over ssh, in microseconds.
const OVER_SSH: f64 = 2_000.0;
/// The maximum additional time of a step during a flood on the same host, in microseconds.
const BESIDE_FLOOD: f64 = 10_000.0;

/// Empty if there is no `windlass` or `sshd` binary.
pub(super) async fn measure(pace: Pace) -> Vec<Line> {
    let (binary, server) = match binary().and_then(|it| Ok((it, LoopbackSsh::start()?))) {
        Ok(found) => found,
        Err(problem) => {
            eprintln!("hosts are left out: {problem:#}");
            return Vec::new();
        }
    };
    let state = tempfile::tempdir().expect("a folder can be made");
    let fixture = Fixture::with(&config(&binary, state.path(), &server)).await;
    let session = fixture.session();
    let mut lines = steps(&session, pace).await;
    for host in ["pipe", "ssh"] {
        lines.push(beside_flood(&session, host, pace).await);
    }
    lines.extend(floods(&session, &fixture, &server, pace).await);
    session.close().await;
    lines
}

/// The hosts, `shell` with a choice of hosts, and a program that prints a file on each.
fn config(binary: &Path, state: &Path, server: &LoopbackSsh) -> String {
    let state = format!("XDG_STATE_HOME={}", state.display());
    let host = ["env", &state, &binary.display().to_string(), "host"].map(str::to_owned);
    let via = server.ssh(&host);
    let print = |host: &str| {
        format!(
            "[conversation.tools.print_{host}]\nsource = \"local\"\nhost = \"{host}\"\n\
             command = \"/bin/cat {{{{tool.arguments.path}}}}\"\nparameters.path = {{ type = \"string\", required = true }}\n"
        )
    };
    format!(
        "[hosts.pipe]\nvia = {}\n[hosts.ssh]\nvia = {}\n[conversation.tools.shell]\nhosts = [\"pipe\", \"ssh\"]\n{}{}",
        json!(host),
        json!(via),
        print("pipe"),
        print("ssh"),
    )
}

async fn spawn(session: &Session, id: &str, host: Option<&str>, command: &str, terminal: bool) {
    let mut arguments =
        json!({"action": "spawn", "id": id, "command": command, "terminal": terminal});
    if let Some(host) = host {
        arguments["host"] = Value::from(host);
    }
    call(session, "shell", arguments).await;
}

/// Alternately sends a statement to a Python here and on each host.
async fn steps(session: &Session, pace: Pace) -> Vec<Line> {
    let places = [
        ("here", None),
        ("piped", Some("pipe")),
        ("over", Some("ssh")),
    ];
    for (id, host) in places {
        spawn(session, id, host, "exec python3 -q", true).await;
        at_prompt(session, id).await;
    }
    let mut samples = [(); 3].map(|()| Samples::default());
    for round in 0..=pace.pick(300, 30) {
        for ((id, _), samples) in places.iter().zip(&mut samples) {
            let time = step(session, id).await;
            // The first round is a warm-up.
            if round > 0 {
                samples.push_time(time);
            }
        }
    }
    for (id, _) in places {
        call(session, "shell", json!({"action": "abort", "id": id})).await;
    }
    let [here, piped, over] = samples;
    let line = |what: &str, samples: &Samples, goal| Line {
        what: what.to_owned(),
        measured: Quantity::of(samples, Unit::Micros),
        floor: Some(Quantity::of(&here, Unit::Micros)),
        goal,
    };
    vec![
        line(
            "a step of `python3` on a host over a pipe, against here",
            &piped,
            Goal::Times(1.5),
        ),
        line("… over ssh on the loopback", &over, Goal::Over(OVER_SSH)),
    ]
}

/// Types a statement; returns the time until its reply.
async fn step(session: &Session, id: &str) -> Duration {
    let apply = json!({"action": "apply", "id": id, "input": "111*3"});
    let start = Instant::now();
    let reply = call(session, "shell", apply).await;
    let time = start.elapsed();
    let view = view(reply);
    let told = view.content.unwrap_or_default();
    assert!(told.contains("333"), "the whole answer, not `{told}`");
    assert!(view.awaiting_input, "it waits for the next line");
    time
}

/// A step on a host while another handle there writes at full speed, compared with one without that load.
async fn beside_flood(session: &Session, host: &str, pace: Pace) -> Line {
    let (id, flood) = (format!("quiet-{host}"), format!("flood-{host}"));
    spawn(session, &id, Some(host), "exec python3 -q", true).await;
    at_prompt(session, &id).await;
    let rounds = pace.pick(100, 20);
    let mut alone = Samples::default();
    let mut beside = Samples::default();
    for _ in 0..rounds {
        alone.push_time(step(session, &id).await);
    }
    let command = "exec yes a line of a flood that does not end";
    spawn(session, &flood, Some(host), command, false).await;
    for _ in 0..rounds {
        beside.push_time(step(session, &id).await);
    }
    for id in [&flood, &id] {
        call(session, "shell", json!({"action": "abort", "id": id})).await;
    }
    Line {
        what: format!("a step beside a flood on the same host, {host}"),
        measured: Quantity::of(&beside, Unit::Micros),
        floor: Some(Quantity::of(&alone, Unit::Micros)),
        goal: Goal::Over(BESIDE_FLOOD),
    }
}

/// Prints a file on a host, compared with `ssh` and a reader that only counts, or also writes a file as our log is
/// written, and with the same here.
async fn floods(
    session: &Session,
    fixture: &Fixture,
    server: &LoopbackSsh,
    pace: Pace,
) -> Vec<Line> {
    let path = fixture.folder().join("text");
    let megabytes = pace.pick(200, 20);
    let size = write_text(&path, megabytes as u64 * 1_000_000);
    let cat = server.ssh(&["cat".to_owned(), path.display().to_string()]);
    let tools = ["print", "print_pipe", "print_ssh"];
    let mut printed = [(); 3].map(|()| Samples::default());
    let (mut floor, mut file_floor) = (Samples::default(), Samples::default());
    let copy = fixture.folder().join("copy");
    for _ in 0..pace.pick(7, 3) {
        let (counted, time) = count(&cat, &mut std::io::sink());
        assert_eq!(counted, size);
        floor.push(rate(size, time));
        fixture.free_pages(size);
        let mut file = std::fs::File::create(&copy).expect("a file can be made");
        file_floor.push(rate(size, count(&cat, &mut file).1));
        for (tool, samples) in tools.iter().zip(&mut printed) {
            fixture.free_pages(size);
            let start = Instant::now();
            let answer = call(session, tool, json!({ "path": path })).await;
            assert!(answer.to_text().contains("all of it: "), "it was logged");
            samples.push(rate(size, start.elapsed()));
        }
    }
    let [here, piped, over] = printed;
    let line = |what: String, samples, floor, goal| Line {
        what,
        measured: Quantity::of(samples, Unit::MegabytesPerSecond),
        floor: Some(Quantity::of(floor, Unit::MegabytesPerSecond)),
        goal,
    };
    vec![
        line(
            format!("{megabytes} MB of a tool on a host over ssh, against `ssh cat`"),
            &over,
            &floor,
            Goal::TimesAtLeast(0.8),
        ),
        line(
            "… against `ssh cat` into a file".to_owned(),
            &over,
            &file_floor,
            Goal::TimesAtLeast(0.8),
        ),
        line(
            "… over a pipe, against here".to_owned(),
            &piped,
            &here,
            Goal::Nothing,
        ),
    ]
}

/// Runs a program, counts its output and writes it to `copy`; returns the time since its first byte, because our link is already
/// established.
#[expect(clippy::disallowed_methods, reason = "it is a floor")]
fn count(words: &[String], copy: &mut impl Write) -> (u64, Duration) {
    let mut child = Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdout = child.stdout.take().expect("it was asked for");
    let mut buffer = vec![0; 64 * 1024];
    let mut count = stdout.read(&mut buffer).expect("it prints") as u64;
    let start = Instant::now();
    while let Ok(length @ 1..) = stdout.read(&mut buffer) {
        copy.write_all(&buffer[..length]).expect("there is room");
        count += length as u64;
    }
    let time = start.elapsed();
    child.wait().expect("it is ours");
    (count, time)
}

/// Megabytes per second.
#[expect(
    clippy::cast_precision_loss,
    reason = "it is about two hundred million"
)]
fn rate(bytes: u64, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}
