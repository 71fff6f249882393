//! Calls that a server answers with a task, or over several rounds.

use serde_json::json;
use windlass_outside::needs;

use crate::support::{Stage, eventually};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_followed_to_its_result() {
    needs!("python3");
    let stage = Stage::new(&["--modern"]).await;
    assert_eq!(stage.call("task", json!({})).await, json!("null"));
    stage
        .call("task", json!({"action": "spawn", "id": "t"}))
        .await;
    stage.stopped("t").await;
    let all = stage
        .call("task", json!({"action": "fetch", "id": "t", "view": "all"}))
        .await;
    assert_eq!(all["content"], "look 0\nlook 1\nlook 2\nlook 3", "{all}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_task_needs_is_asked() {
    needs!("python3");
    let stage = Stage::new(&["--modern"]).await;
    let spawn = json!({"action": "spawn", "id": "t", "asks": true});
    stage.call("task", spawn).await;
    let waiting = json!({"until": [{"id": "t", "waiting": true}]});
    stage.call("await", waiting).await;
    let apply = json!({"action": "apply", "id": "t", "input": true});
    stage.call("task", apply).await;
    assert_eq!(
        stage.stopped("t").await["result"],
        "{\"k\": {\"action\": \"accept\", \"content\": {\"sure\": true}}}"
    );
    let updates = stage.came().into_iter().filter(|it| it == "tasks/update");
    assert_eq!(updates.count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_aborted_task_is_cancelled_at_the_server() {
    needs!("python3");
    let stage = Stage::new(&["--modern"]).await;
    let spawn = json!({"action": "spawn", "id": "t", "asks": false});
    stage.call("task", spawn).await;
    eventually("the task is looked at", || {
        stage.came().contains(&"tasks/get".to_owned())
    })
    .await;
    stage
        .call("task", json!({"action": "abort", "id": "t"}))
        .await;
    eventually("the server is told", || {
        stage.came().contains(&"tasks/cancel".to_owned())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_needs_to_know_more_is_made_again_with_it() {
    needs!("python3");
    let stage = Stage::new(&["--modern"]).await;
    stage
        .call("rounds", json!({"action": "spawn", "id": "r"}))
        .await;
    let waiting = json!({"until": [{"id": "r", "waiting": true}]});
    stage.call("await", waiting).await;
    let apply = json!({"action": "apply", "id": "r", "input": true});
    stage.call("rounds", apply).await;
    assert_eq!(
        stage.stopped("r").await["result"],
        "{\"responses\": {\"k\": {\"action\": \"accept\", \"content\": {\"sure\": true}}}, \
         \"state\": \"sealed\"}"
    );
}
