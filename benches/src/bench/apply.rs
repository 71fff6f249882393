//! The time from typing a line on a terminal to the program's reply, compared
//! with a bare terminal.
//!
//! The bare reader knows the reply and stops at its last byte. Windlass must
//! detect that the program has finished its reply and waits again.

use std::time::{Duration, Instant};

use serde_json::json;
use windlass_process::{Command, Launcher, Process, TerminalSize};
use windlass_runtime::Session;

use super::bare_terminal::BareTerminal;
use super::fixture::{Fixture, at_prompt, call, launcher, view};
use super::plan::Pace;
use super::samples::Samples;
use super::table::{Goal, Line, Quantity, Unit};

/// Much longer than any program takes.
const SETTLED: Duration = Duration::from_secs(20);

/// A program that replies to lines.
struct Talker {
    name: &'static str,
    /// The command line.
    command: &'static str,
    /// Its output when it is ready.
    ready: &'static str,
    /// The line to type.
    line: &'static str,
    /// The terminal's output after that, in this order.
    answer: [&'static str; 2],
    /// The expected part in the reply to the call.
    told: &'static str,
    /// The maximum delay after the bare reader, in microseconds.
    most: f64,
}

const CAT: Talker = Talker {
    name: "cat",
    command: "echo ready; exec cat",
    ready: "ready",
    line: "a line",
    // The terminal's echo, then the program's reply.
    answer: ["a line\r\n", "a line\r\n"],
    told: "a line",
    most: 3_000.0,
};

const PYTHON: Talker = Talker {
    name: "python3",
    command: "exec python3 -q",
    ready: ">>> ",
    line: "111*3",
    answer: ["333", ">>> "],
    told: "333",
    most: 10_000.0,
};

pub(super) async fn measure(pace: Pace) -> Vec<Line> {
    let fixture = Fixture::new().await;
    let session = fixture.session();
    let launcher = launcher();
    let mut lines = Vec::new();
    for talker in [CAT, PYTHON] {
        if is_here(talker.name) {
            lines.extend(Box::pin(talk(&talker, &session, &launcher, pace)).await);
        } else {
            eprintln!("`{}` is not here and is left out", talker.name);
        }
    }
    session.close().await;
    lines
}

/// Rounds alternate, so that other load on the machine affects all alike.
async fn talk(talker: &Talker, session: &Session, launcher: &Launcher, pace: Pace) -> [Line; 2] {
    let bare = BareTerminal::start(talker.command);
    bare.read_until(&[talker.ready]);
    let process = start(talker, launcher).await;
    let spawn = json!({
        "action": "spawn", "id": talker.name, "command": talker.command, "terminal": true,
    });
    call(session, "shell", spawn).await;
    at_prompt(session, talker.name).await;
    let mut floor = Samples::default();
    let mut settled = Samples::default();
    let mut applied = Samples::default();
    for round in 0..=pace.pick(300, 30) {
        let times = [
            bare.answer(talker.line, &talker.answer),
            time_process(talker, &process).await,
            time_apply(talker, session).await,
        ];
        // The first round is a warm-up.
        if round > 0 {
            let samples = [&mut floor, &mut settled, &mut applied];
            for (samples, time) in samples.into_iter().zip(times) {
                samples.push_time(time);
            }
        }
    }
    process.end(Duration::ZERO).await;
    let floor = Quantity::of(&floor, Unit::Micros);
    let line = |what, samples, goal| Line {
        what,
        measured: Quantity::of(samples, Unit::Micros),
        floor: Some(floor),
        goal,
    };
    let name = talker.name;
    [
        line(
            format!("a line to `{name}` on a terminal until Process::settle"),
            &settled,
            Goal::Nothing,
        ),
        line(
            format!("… until the reply of `apply`, {name}"),
            &applied,
            Goal::Over(talker.most),
        ),
    ]
}

async fn start(talker: &Talker, launcher: &Launcher) -> Process {
    let command = Command::new("/bin/sh")
        .args(["-c", talker.command])
        .terminal(TerminalSize::default());
    let process = launcher.start(command).await.expect("it starts");
    process.prompted(|_| true).await.expect("it asks for lines");
    process
}

async fn time_process(talker: &Talker, process: &Process) -> Duration {
    let line = [talker.line.as_bytes(), b"\r"].concat();
    let start = Instant::now();
    process.write(&line).expect("it runs");
    process.settle(SETTLED).await;
    start.elapsed()
}

async fn time_apply(talker: &Talker, session: &Session) -> Duration {
    let apply = json!({"action": "apply", "id": talker.name, "input": talker.line});
    let start = Instant::now();
    let reply = call(session, "shell", apply).await;
    let time = start.elapsed();
    let view = view(reply);
    let told = view.content.unwrap_or_default();
    assert!(told.contains(talker.told), "the whole answer, not `{told}`");
    assert!(view.awaiting_input, "it waits for the next line");
    time
}

fn is_here(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
