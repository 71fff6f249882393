use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::KnownWorker;
use crate::WorkerPresence;

/// A worker with a heartbeat of one second that was heard at `heard`.
fn worker(heard: Instant) -> KnownWorker {
    let presence = serde_json::json!({
        "name": "w1", "instance": "", "machine": "", "os": "", "arch": "", "cpus": 1, "load": 0, "version": "",
        "labels": [], "slots": 1, "running": 0, "is_draining": false, "heartbeat_ms": 1000, "programs": [],
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
