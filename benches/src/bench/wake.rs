//! From the end of a tool until its waiter runs again.
//!
//! In the floor and in ours, the thread that kills the tool at a known instant
//! is the one that then waits.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use futures_util::poll;
use rustix::process::Pid;
use serde_json::json;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use windlass_process::{Command, Launcher, LauncherOptions};
use windlass_protocol::HandleState;
use windlass_runtime::{RunOptions, Session};
use windlass_testing::batch;

use super::fixture::{Fixture, call, expect_well, launcher, view};
use super::plan::Pace;
use super::samples::Samples;
use super::table::{Goal, Line, Quantity, Unit};
use super::{bare, proc};

/// Ours are idle for about this long while they settle, and an idle machine
/// wakes more slowly.
const IDLE: Duration = Duration::from_millis(25);

pub(super) async fn measure(pace: Pace) -> Vec<Line> {
    let fixture = Fixture::new().await;
    let session = fixture.session();
    let launcher = launcher();
    let without_trees = LauncherOptions {
        hold_trees: false,
        ..LauncherOptions::default()
    };
    let without_trees = Launcher::new(without_trees).expect("programs can be started");
    let mut floor = Samples::default();
    let mut registered = Samples::default();
    let mut plain = Samples::default();
    let mut unread = Samples::default();
    let mut process = Samples::default();
    let mut awaited = Samples::default();
    for _ in 0..pace.pick(300, 30) {
        let pid = sleeper();
        std::thread::sleep(IDLE);
        floor.push_time(bare::kill_and_poll(pid));
        registered.push_time(time_registered(sleeper()).await);
        plain.push_time(time_process(&without_trees, sleep().discard_output()).await);
        unread.push_time(time_process(&launcher, sleep().discard_output()).await);
        process.push_time(time_process(&launcher, sleep()).await);
        awaited.push_time(Box::pin(time_await(&session)).await);
    }
    session.close().await;
    let floor = Quantity::of(&floor, Unit::Micros);
    let line = |what: &str, samples, goal| Line {
        what: what.to_owned(),
        measured: Quantity::of(samples, Unit::Micros),
        floor: Some(floor),
        goal,
    };
    vec![
        line(
            "exit to a pidfd on tokio, against a bare pidfd",
            &registered,
            Goal::Nothing,
        ),
        line(
            "exit to Process::wait, no pipes, no tree held",
            &plain,
            Goal::Nothing,
        ),
        line("exit to Process::wait, no pipes", &unread, Goal::Nothing),
        line("exit to Process::wait, two pipes", &process, Goal::Nothing),
        line("exit to `await` returning", &awaited, Goal::Times(2.5)),
    ]
}

fn sleep() -> Command {
    Command::new("/bin/sleep").arg("1000")
}

async fn time_process(launcher: &Launcher, command: Command) -> Duration {
    let process = launcher.start(command).await.expect("it starts");
    process.settle(Duration::from_secs(10)).await;
    let pid = Pid::from_raw(process.pid().cast_signed()).expect("a process has an id");
    let waiting = process.wait();
    tokio::pin!(waiting);
    assert!(poll!(&mut waiting).is_pending());
    let start = Instant::now();
    bare::kill(pid);
    waiting.await;
    start.elapsed()
}

async fn time_await(session: &Session) -> Duration {
    let spawn = json!({"action": "spawn", "id": "w"});
    let spawned = view(call(session, "named", spawn).await);
    assert_eq!(spawned.state, HandleState::Running);
    let told = spawned.content.unwrap_or_default();
    let pid = told.trim().parse().ok().and_then(Pid::from_raw);
    let pid = pid.expect("it says who it is");
    let waiting = session.run(
        batch([("await", json!({"any": ["w"]}))]),
        RunOptions::default(),
    );
    tokio::pin!(waiting);
    assert!(poll!(&mut waiting).is_pending());
    let start = Instant::now();
    bare::kill(pid);
    let reply = waiting.await;
    let time = start.elapsed();
    expect_well(&reply);
    time
}

/// The overhead of an executor alone, without Windlass.
async fn time_registered(pid: Pid) -> Duration {
    let pidfd = register(bare::pidfd(pid));
    tokio::time::sleep(IDLE).await;
    let start = Instant::now();
    bare::kill(pid);
    let readable = pidfd.readable().await;
    let time = start.elapsed();
    readable.expect("the executor runs").clear_ready();
    bare::wait(pid);
    time
}

#[expect(
    unsafe_code,
    reason = "the executor must be promised that the descriptor stays what it is"
)]
fn register(pidfd: OwnedFd) -> AsyncFd<OwnedFd> {
    // SAFETY: the registration owns the descriptor, which stays open and
    // unchanged meanwhile.
    let registered = unsafe { AsyncFd::register_with_interest(pidfd, Interest::READABLE) };
    registered.expect("a pidfd can be polled")
}

/// A child that already sleeps, like ours once they have settled.
fn sleeper() -> Pid {
    let pid = bare::spawn(c"/bin/sleep", &[c"1000"]);
    while !proc::sleeps(pid) {
        std::thread::yield_now();
    }
    pid
}
