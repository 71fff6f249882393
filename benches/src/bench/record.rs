//! The cost of the record per call, compared with the same call without one.

use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;
use windlass::store::{SessionStart, Store};
use windlass_runtime::{Session, SessionOptions};

use super::fixture::{Fixture, call};
use super::plan::Pace;
use super::samples::Samples;
use super::table::{Goal, Line, Quantity, Unit};

/// Consecutive calls of one kind.
const PER_ROUND: u32 = 25;
/// Sessions that call concurrently.
const SESSIONS: usize = 16;

/// Rounds alternate, so that other load on the machine affects both alike.
pub(super) async fn measure(pace: Pace) -> Vec<Line> {
    let fixture = Fixture::new().await;
    let store = Store::open(&fixture.folder().join("record")).expect("a record can be made");
    let without = sessions(&fixture, None).await;
    let with = sessions(&fixture, Some(&store)).await;
    let mut one_shots = Pair::default();
    let mut fetches = Pair::default();
    let mut crowds = Pair::default();
    for round in 0..=pace.pick(60, 6) {
        let times = [
            time_one_shots(&without[0]).await,
            time_one_shots(&with[0]).await,
            time_fetches(&without[0]).await,
            time_fetches(&with[0]).await,
            time_crowd(&without).await,
            time_crowd(&with).await,
        ];
        // The first round is a warm-up.
        if round > 0 {
            one_shots.push(times[0], times[1], PER_ROUND);
            fetches.push(times[2], times[3], PER_ROUND);
            let calls = PER_ROUND * u32::try_from(SESSIONS).expect("a few");
            crowds.push(times[4], times[5], calls);
        }
    }
    join_all(without.iter().chain(&with).map(Session::close)).await;
    vec![
        one_shots.line("record: a one-shot, against none", Goal::Times(1.2)),
        fetches.line("record: a fetch, against none", Goal::Over(200.0)),
        crowds.line("record: a fetch, 16 sessions at once", Goal::Over(50.0)),
    ]
}

#[derive(Default)]
struct Pair {
    without: Samples,
    with: Samples,
}

impl Pair {
    fn push(&mut self, without: Duration, with: Duration, calls: u32) {
        self.without.push_time(without / calls);
        self.with.push_time(with / calls);
    }

    fn line(&self, what: &str, goal: Goal) -> Line {
        Line {
            what: what.to_owned(),
            measured: Quantity::of(&self.with, Unit::Micros),
            floor: Some(Quantity::of(&self.without, Unit::Micros)),
            goal,
        }
    }
}

/// Sessions, each with a handle to fetch.
async fn sessions(fixture: &Fixture, store: Option<&Store>) -> Vec<Session> {
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        let id = Session::new_id();
        let recorder = store.map(|store| {
            store.recorder(SessionStart {
                parent: None,
                id: id.clone(),
                project_id: "bench".to_owned(),
                directory: Path::new("/").to_owned(),
                front_end: "bench".to_owned(),
                title: None,
                version: "0".to_owned(),
                logs: None,
            })
        });
        let session = fixture.session_with(SessionOptions {
            id: Some(id),
            recorder,
            ..SessionOptions::default()
        });
        call(&session, "idle", json!({"action": "spawn", "id": "it"})).await;
        sessions.push(session);
    }
    sessions
}

async fn time_one_shots(session: &Session) -> Duration {
    let start = Instant::now();
    for _ in 0..PER_ROUND {
        call(session, "nothing", json!({})).await;
    }
    start.elapsed()
}

async fn time_fetches(session: &Session) -> Duration {
    let start = Instant::now();
    for _ in 0..PER_ROUND {
        call(session, "idle", json!({"action": "fetch", "id": "it"})).await;
    }
    start.elapsed()
}

async fn time_crowd(sessions: &[Session]) -> Duration {
    let start = Instant::now();
    join_all(sessions.iter().map(time_fetches)).await;
    start.elapsed()
}
