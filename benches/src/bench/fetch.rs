//! The rate at which a running handle can be fetched, on one core and without
//! JSON text.

use std::time::{Duration, Instant};

use serde_json::json;
use windlass_protocol::{Batch, HandleState, ReplyContent};
use windlass_runtime::{RunOptions, Session};
use windlass_testing::batch;

use super::fixture::{Fixture, call, view};
use super::plan::Pace;
use super::samples::Samples;
use super::table::{Goal, Line, Quantity, Unit};

/// The number of calls prepared at a time: few enough to stay in the cache,
/// like a call that was just received.
const AT_ONCE: u32 = 64;
const PER_ROUND: u32 = 300 * AT_ONCE;

/// Everything runs on this one thread, including the task that reads the tool.
pub(super) fn measure(pace: Pace) -> Vec<Line> {
    let executor = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("an executor needs little");
    executor.block_on(rates(pace))
}

async fn rates(pace: Pace) -> Vec<Line> {
    let fixture = Fixture::new().await;
    let session = fixture.session();
    let spawned = call(&session, "idle", json!({"action": "spawn", "id": "f"})).await;
    assert_eq!(view(spawned).state, HandleState::Running);
    let fetch = batch([("idle", json!({"action": "fetch", "id": "f"}))]);
    let (mut floor, mut rate) = (Samples::default(), Samples::default());
    for _ in 0..pace.pick(50, 5) {
        let (mut cloning, mut fetching) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..PER_ROUND / AT_ONCE {
            let start = Instant::now();
            let batches: Vec<Batch> = (0..AT_ONCE).map(|_| fetch.clone()).collect();
            cloning += start.elapsed();
            let start = Instant::now();
            fetch_all(&session, batches).await;
            fetching += start.elapsed();
        }
        floor.push(f64::from(PER_ROUND) / cloning.as_secs_f64());
        rate.push(f64::from(PER_ROUND) / fetching.as_secs_f64());
    }
    session.close().await;
    vec![Line {
        what: "fetch of a running handle, against cloning the call".to_owned(),
        measured: Quantity::of(&rate, Unit::PerSecond),
        floor: Some(Quantity::of(&floor, Unit::PerSecond)),
        goal: Goal::AtLeast(500_000.0),
    }]
}

async fn fetch_all(session: &Session, batches: Vec<Batch>) {
    for batch in batches {
        let reply = session.run(batch, RunOptions::default()).await;
        let ReplyContent::Handle(view) = &reply.replies[0].content else {
            panic!("{}", reply.replies[0].content.to_text());
        };
        assert_eq!(view.state, HandleState::Running);
    }
}
