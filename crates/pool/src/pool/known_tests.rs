use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::{KnownWorker, take_silent};
use crate::WorkerPresence;

/// A worker with a heartbeat of one second that was heard at `heard`.
fn worker(heard: Instant) -> KnownWorker {
    worker_with(heard, 1000)
}

fn worker_with(heard: Instant, heartbeat_ms: u64) -> KnownWorker {
    let presence = serde_json::json!({
        "name": "w1", "instance": "", "machine": "", "os": "", "arch": "", "cpus": 1, "load": 0, "version": "",
        "labels": [], "slots": 1, "running": 0, "is_draining": false, "heartbeat_ms": heartbeat_ms, "programs": [],
    });
    KnownWorker {
        presence: serde_json::from_value::<WorkerPresence>(presence).unwrap(),
        heard: Arc::new(Mutex::new(heard)),
        suspected: None,
        placed: 0,
        host: None,
    }
}

#[test]
fn a_silent_worker_is_given_up_after_three_heartbeats() {
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    let mut worker = worker(start);
    assert_eq!(worker.next_look(start, at(0)), Some(at(2750)));
    assert_eq!(worker.next_look(start, at(2750)), Some(at(3000)));
    assert_eq!(worker.next_look(start, at(3000)), None);
}

#[test]
fn silence_counts_from_the_connection() {
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    let mut worker = worker(start);
    assert_eq!(worker.next_look(at(10_000), at(10_000)), Some(at(12_750)));
}

#[test]
fn a_runtime_that_was_stopped_reads_heartbeats_before_it_gives_up() {
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    let mut worker = worker(start);
    assert_eq!(worker.next_look(start, at(60_000)), Some(at(60_250)));
    *worker.heard.lock() = at(60_100);
    assert_eq!(worker.next_look(start, at(60_250)), Some(at(62_850)));
    // It was a new silence.
    assert_eq!(worker.next_look(start, at(62_850)), Some(at(63_100)));
    assert_eq!(worker.next_look(start, at(63_100)), None);
}

/// Checks for silent workers until this time, whenever a check is due; returns when each was given up.
fn given_up(
    mut workers: HashMap<String, KnownWorker>,
    start: Instant,
    until: Instant,
) -> Vec<(String, Duration)> {
    let mut now = start;
    let mut all = Vec::new();
    while now <= until {
        let (gone, next) = take_silent(&mut workers, start, now);
        let at = now - start;
        all.extend(gone.into_iter().map(|it| (it.presence.name, at)));
        now = next;
    }
    all
}

#[test]
fn a_dead_worker_is_given_up_on_time_whatever_others_do() {
    let start = Instant::now();
    let named = |name: &str, heartbeat_ms| {
        let mut worker = worker_with(start, heartbeat_ms);
        name.clone_into(&mut worker.presence.name);
        (name.to_owned(), worker)
    };
    let workers = HashMap::from([
        named("slow", 60_000),
        named("fast", 100),
        named("usual", 1000),
    ]);
    let given_up = given_up(workers, start, start + Duration::from_mins(2));
    // A fast worker is suspected at once, and then has the time of a process that was stopped.
    let expected = [("fast", 300), ("usual", 3000)];
    let expected = expected.map(|(name, at)| (name.to_owned(), Duration::from_millis(at)));
    assert_eq!(given_up, expected);
}
