use serde_json::json;
use windlass_runtime::RunOptions;
use windlass_testing::batch;

use super::*;
use crate::stage::Stage;

/// A stage with a handle that was taken over; gives the list that names it.
async fn locked() -> (Stage, String) {
    let stage = Stage::new();
    let spawn = json!({"action": "spawn", "id": "h"});
    let spawning = stage
        .session
        .run(batch([("free", spawn)]), RunOptions::default());
    spawning.await;
    let handle = stage.session.handle("h").unwrap();
    let lock = handle.lock(Duration::from_hours(1)).unwrap();
    let list = format!("{}/h/{lock}", stage.session.id());
    (stage, list)
}

fn is_locked(stage: &Stage) -> bool {
    stage.session.handle("h").unwrap().info().locked
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_handed_back_when_no_stream_names_it_any_more() {
    let (stage, list) = locked().await;
    let first = Holding::new(&stage.api, &list).unwrap();
    let second = Holding::new(&stage.api, &list).unwrap();
    drop(first);
    tokio::time::sleep(GRACE * 2).await;
    assert!(is_locked(&stage), "another stream names it");
    drop(second);
    tokio::time::sleep(GRACE * 2).await;
    assert!(!is_locked(&stage));
    assert!(stage.api.0.holders.lock().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_read_again_in_time_keeps_its_locks() {
    let (stage, list) = locked().await;
    drop(Holding::new(&stage.api, &list).unwrap());
    tokio::time::sleep(GRACE / 2).await;
    let again = Holding::new(&stage.api, &list).unwrap();
    tokio::time::sleep(GRACE * 2).await;
    assert!(is_locked(&stage));
    drop(again);
}

#[tokio::test]
async fn a_list_that_names_no_lock_is_refused() {
    let stage = Stage::new();
    for list in ["x", "a/b", "a/b/c/d", "a//c", "a/b/../c", "a/b/c%2f"] {
        assert!(Holding::new(&stage.api, list).is_err(), "{list}");
    }
    let many = vec!["a/b/c"; MOST + 1].join(",");
    assert!(Holding::new(&stage.api, &many).is_err());
    assert!(Holding::new(&stage.api, " ").is_ok());
}
