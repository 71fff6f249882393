//! Starts `/bin/true` and waits for it, with its process tree tracked.

use std::time::{Duration, Instant};

use serde_json::json;
use windlass_process::{Command, Launcher};
use windlass_runtime::Session;

use super::bare;
use super::fixture::{Fixture, call, launcher};
use super::plan::Pace;
use super::samples::Samples;
use super::table::{Goal, Line, Quantity, Unit};

/// Consecutive starts of one kind. Processes prepared in advance must not gain
/// time from the other kinds.
const PER_ROUND: u32 = 25;

/// Rounds alternate, so that other load on the machine affects all alike.
pub(super) async fn measure(pace: Pace) -> Vec<Line> {
    let fixture = Fixture::new().await;
    let session = fixture.session();
    let launcher = &launcher();
    let mut floor = Samples::default();
    let mut without_pipes = Samples::default();
    let mut with_pipes = Samples::default();
    let mut runtime = Samples::default();
    for round in 0..=pace.pick(60, 6) {
        let times = [
            time_bare(),
            time_process(launcher, || Command::new("/bin/true").discard_output()).await,
            time_process(launcher, || Command::new("/bin/true")).await,
            time_runtime(&session).await,
        ];
        // The first round is a warm-up.
        if round > 0 {
            let samples = [
                &mut floor,
                &mut without_pipes,
                &mut with_pipes,
                &mut runtime,
            ];
            for (samples, time) in samples.into_iter().zip(times) {
                samples.push_time(time / PER_ROUND);
            }
        }
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
            "one-shot: process, against posix_spawn",
            &without_pipes,
            Goal::Times(1.35),
        ),
        line("one-shot: process, two pipes", &with_pipes, Goal::Nothing),
        line("one-shot: runtime, two pipes", &runtime, Goal::Times(1.55)),
    ]
}

fn time_bare() -> Duration {
    let start = Instant::now();
    for _ in 0..PER_ROUND {
        bare::wait(bare::spawn(c"/bin/true", &[]));
    }
    start.elapsed()
}

async fn time_process(launcher: &Launcher, command: fn() -> Command) -> Duration {
    let start = Instant::now();
    for _ in 0..PER_ROUND {
        let process = launcher.start(command()).await.expect("it starts");
        assert!(process.wait().await.success());
    }
    start.elapsed()
}

async fn time_runtime(session: &Session) -> Duration {
    let start = Instant::now();
    for _ in 0..PER_ROUND {
        call(session, "nothing", json!({})).await;
    }
    start.elapsed()
}
