//! The cost of a large argument, compared with the same call with a small one.

use std::time::{Duration, Instant};

use windlass_protocol::Batch;
use windlass_runtime::{RunOptions, Session};

use super::fixture::{Fixture, expect_well};
use super::plan::Pace;
use super::samples::Samples;
use super::table::{Goal, Line, Quantity, Unit};

/// Consecutive calls of one kind.
const PER_ROUND: u32 = 10;
const LARGE: usize = 1_000_000;
const SMALL: usize = 10;

/// Each call is read from a line, as `drive` does, and runs a program that
/// ignores the argument: the difference is the number of copies of the
/// argument. Rounds alternate, so that other load on the machine affects both
/// alike.
pub(super) async fn measure(pace: Pace) -> Vec<Line> {
    let fixture = Fixture::new().await;
    let session = fixture.session();
    let (small, large) = (line(SMALL), line(LARGE));
    let mut floor = Samples::default();
    let mut measured = Samples::default();
    for round in 0..=pace.pick(60, 6) {
        let times = [time(&session, &small).await, time(&session, &large).await];
        // The first round is a warm-up.
        if round > 0 {
            floor.push_time(times[0] / PER_ROUND);
            measured.push_time(times[1] / PER_ROUND);
        }
    }
    session.close().await;
    vec![Line {
        what: "argument: 1 MB, against 10 bytes".to_owned(),
        measured: Quantity::of(&measured, Unit::Micros),
        floor: Some(Quantity::of(&floor, Unit::Micros)),
        goal: Goal::Times(2.5),
    }]
}

/// A line with a call whose argument has this many bytes.
fn line(bytes: usize) -> String {
    let text = "x".repeat(bytes);
    format!(r#"[{{"tool":"ignoring","arguments":{{"unused":"{text}"}}}}]"#)
}

async fn time(session: &Session, line: &str) -> Duration {
    let start = Instant::now();
    for _ in 0..PER_ROUND {
        let batch = Batch::read(line, 1).expect("it is a batch");
        expect_well(&session.run(batch, RunOptions::default()).await);
    }
    start.elapsed()
}
