//! What is found after a runtime has died.

use std::collections::HashMap;

use serde_json::json;
use windlass_protocol::{Arguments, Decider};
use windlass_runtime::{Archive, RunMode, RunOptions};
use windlass_store::Store;
use windlass_testing::batch;

use crate::support::{Record, parts, record, session_id, state};

/// Copies a store's files as they are, as a kill would leave them: the copy's
/// runtime has no lock.
fn as_after_a_kill(from: &Record) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for name in ["record.db", "record.db-wal"] {
        std::fs::copy(from.path().join(name), copy.path().join(name)).unwrap();
    }
    copy
}

#[tokio::test]
async fn what_a_dead_runtime_left_open_is_interrupted() {
    let store = Record::new();
    let recorded = record(&store.store, "ses_1", RunMode::Ask);
    let session = recorded.session.clone();
    let calls = batch([("tool", json!({"n": 1})), ("tool", json!({"n": 2}))]);
    let running = tokio::spawn(async move { session.run(calls, RunOptions::default()).await });
    let first = recorded.person.next_permission().await;
    let _second = recorded.person.next_permission().await;
    first.once();
    let _job = recorded.tool.next().await;
    // Reading waits for everything that was told.
    assert_eq!(store.parts("ses_1").await.len(), 2);

    let copy = as_after_a_kill(&store);
    let opened = Store::open(copy.path()).unwrap();
    let parts = parts(&opened, "ses_1").await;
    let by_input: HashMap<String, Arguments> = parts
        .iter()
        .map(|part| {
            let state = state(part);
            (
                state["input"].to_string(),
                state.as_object().unwrap().clone(),
            )
        })
        .collect();
    for input in [r#"{"n":1}"#, r#"{"n":2}"#] {
        assert_eq!(
            by_input[input]["error"],
            "interrupted: the runtime ended before the call did"
        );
        assert!(by_input[input]["time"]["end"].is_number());
    }
    let session = opened.session(&session_id("ses_1")).await.unwrap().unwrap();
    assert!(session.time.ended.is_some());
    let permissions = opened.permissions(&session_id("ses_1")).await.unwrap();
    assert_eq!(
        permissions[1].decision.as_ref().unwrap().by,
        Decider::Withdrawn
    );
    running.abort();
}

#[tokio::test]
async fn what_a_living_runtime_does_is_left_alone() {
    let store = Record::new();
    let recorded = store.session("ses_1");
    let session = recorded.session.clone();
    let running = tokio::spawn(async move {
        session
            .run(batch([("tool", json!({}))]), RunOptions::default())
            .await
    });
    let job = recorded.tool.next().await;
    store.parts("ses_1").await;
    let other = Store::open(store.path()).unwrap();
    assert_eq!(state(&parts(&other, "ses_1").await[0])["status"], "running");
    job.end();
    running.await.unwrap();
    assert_eq!(
        state(&parts(&other, "ses_1").await[0])["status"],
        "completed"
    );
}

#[test]
fn many_may_open_a_new_one_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let folder = folder.path().to_owned();
            std::thread::spawn(move || Store::open(&folder).map(drop))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap().unwrap();
    }
}

#[test]
fn a_folder_that_is_none_is_said_so() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = Store::open(file.path()).err().unwrap();
    assert_eq!(
        error.to_string(),
        format!("the folder `{}` cannot be used", file.path().display())
    );
}
