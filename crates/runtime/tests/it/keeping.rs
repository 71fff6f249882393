//! What stopped handles came to is kept until it was read.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::json;
use windlass_protocol::Ending;
use windlass_testing::ScriptedJob;

use crate::support::{NOBODY, Stage};

/// Spawns handles `h0`, `h1` and so on. Each has stopped, its result is its
/// number, and nobody has read it.
async fn stopped(count: usize, logs: Option<&Path>) -> Stage {
    let stage = Stage::with(NOBODY, |setup| {
        setup.options.log_dir = logs.map(Path::to_owned);
    });
    for number in 0..count {
        let id = format!("h{number}");
        stage
            .run([("tool", json!({"action": "spawn", "id": id}))])
            .await;
        let job = stage.tool.job(&id).unwrap();
        job.write("said before\n");
        job.end_with(Ending::reported(Ok(number.to_string())));
    }
    stage.session.take_notices();
    stage
}

async fn fetch(stage: &Stage, number: usize) -> String {
    let id = format!("h{number}");
    stage
        .run([("tool", json!({"action": "fetch", "id": id}))])
        .await
}

fn files(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

#[tokio::test]
async fn every_unread_result_can_be_read_and_old_ones_lie_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let stage = stopped(200, Some(folder.path())).await;
    assert_eq!(stage.session.handles().len(), 200);
    assert_eq!(files(folder.path()), 136);
    let dropped = stage.tool.started().into_iter();
    assert_eq!(dropped.filter(ScriptedJob::is_dropped).count(), 136);
    for number in 0..200 {
        let told = format!(
            r#"c1 {{"id":"h{number}","state":"stopped","content":"said before\n","result":"{number}"}}"#
        );
        assert_eq!(fetch(&stage, number).await, told);
        assert_eq!(fetch(&stage, number).await, told, "and again");
    }
    assert_eq!(stage.notices(), "");
    stage.session.close().await;
    assert_eq!(files(folder.path()), 0);
}

#[tokio::test]
async fn an_onlooker_reads_what_is_kept_of_an_old_handle() {
    let folder = tempfile::tempdir().unwrap();
    let stage = stopped(100, Some(folder.path())).await;
    for id in ["h0", "h99"] {
        let handle = stage.session.handle(id).unwrap();
        let info = handle.info();
        assert_eq!(info.last_line.as_deref(), Some("said before"), "{id}");
        assert_eq!(info.written, 12, "{id}");
        assert_eq!(handle.log(0..u64::MAX), b"said before\n", "{id}");
        assert_eq!(handle.log(5..11), b"before", "{id}");
        assert!(handle.log(12..20).is_empty(), "{id}");
    }
}

#[tokio::test]
async fn without_a_folder_they_stay_in_memory() {
    let stage = stopped(100, None).await;
    assert_snapshot!(fetch(&stage, 0).await, @r#"c1 {"id":"h0","state":"stopped","content":"said before\n","result":"0"}"#);
    let awaited = stage.run([("await", json!({"all": ["h1", "h99"]}))]).await;
    assert_snapshot!(awaited, @r#"c1 {"completed":[{"id":"h1","state":"stopped","content":"said before\n","result":"1"},{"id":"h99","state":"stopped","content":"said before\n","result":"99"}],"pending":[]}"#);
    let aborted = [("tool", json!({"action": "abort", "id": "h2"}))];
    let aborted = stage.run(aborted).await;
    assert_snapshot!(aborted, @r#"c1 {"id":"h2","state":"stopped","content":"said before\n","result":"2","ended":0}"#);
}

/// With room for the results of 20 handles beside those that are whole.
fn crowded() -> Stage {
    Stage::with(NOBODY, |setup| {
        setup.options.stored_bytes = Some(20 * (4096 + 300));
    })
}

/// Spawns handles with this name and a number, and ends each. Gives everything
/// that was told meanwhile.
async fn end_all(stage: &Stage, name: &str, count: usize) -> String {
    let mut told = String::new();
    for number in 0..count {
        let id = format!("{name}{number}");
        let spawn = [("tool", json!({"action": "spawn", "id": id}))];
        told.push_str(&stage.run(spawn).await);
        stage.tool.job(&id).unwrap().end_saying("done");
    }
    told + &stage.notices()
}

#[tokio::test]
async fn of_results_that_take_too_much_room_those_that_were_read_go_first() {
    let stage = crowded();
    end_all(&stage, "h", 80).await;
    for number in 3..80 {
        fetch(&stage, number).await;
    }
    let told = end_all(&stage, "i", 70).await;
    let handles = stage.session.handles().into_iter();
    let left: Vec<String> = handles.map(|handle| handle.id.to_string()).collect();
    assert_eq!(left[..3], ["h0", "h1", "h2"]);
    assert!(!left.contains(&"h3".to_owned()), "{left:?}");
    assert!((64..90).contains(&left.len()), "{}", left.len());
    assert!(!told.contains("dropped"), "what went had been read: {told}");
}

#[tokio::test]
async fn an_unread_result_that_has_to_go_is_told() {
    let stage = crowded();
    let told = end_all(&stage, "h", 100).await;
    let dropped = "notice warning failure: the unread result of `h0` was deleted";
    assert!(told.contains(dropped), "{told}");
    let gone = fetch(&stage, 0).await;
    assert!(gone.starts_with("c1 ! Handle `h0` not found"), "{gone}");
}

#[tokio::test]
async fn a_fetch_before_a_spawn_of_the_same_id_reads_the_old_handle() {
    let stage = stopped(1, None).await;
    let batch = [
        ("tool", json!({"action": "fetch", "id": "h0"})),
        ("tool", json!({"action": "spawn", "id": "h0"})),
        ("tool", json!({"action": "fetch", "id": "h0"})),
    ];
    assert_snapshot!(stage.run(batch).await, @r#"
    c1 {"id":"h0","state":"stopped","content":"said before\n","result":"0"}
    c2 {"id":"h0","state":"running"}
    c3 {"id":"h0","state":"running"}
    "#);
}

#[tokio::test]
async fn an_unread_result_is_told_when_its_id_is_spawned_again() {
    let stage = stopped(1, None).await;
    let again = [("tool", json!({"action": "spawn", "id": "h0"}))];
    assert_snapshot!(stage.run(again).await, @r#"
    c1 {"id":"h0","state":"running"}
    notice info success: `h0` stopped: 0
    said before
    "#);
}

#[tokio::test]
async fn a_refusal_lists_what_runs_and_the_newest_that_have_stopped() {
    let stage = stopped(100, None).await;
    stage
        .run([("tool", json!({"action": "spawn", "id": "runs"}))])
        .await;
    let refused = fetch(&stage, 1000).await;
    assert!(!refused.contains("h35 "), "{refused}");
    assert!(
        refused.contains("handles: h36 (tool, stopped), "),
        "{refused}"
    );
    let end = "h99 (tool, stopped), runs (tool, running), and 36 older ones that have stopped";
    assert!(refused.ends_with(end), "{refused}");
}
