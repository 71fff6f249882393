//! Calls without an action: run to the end and answer with a string.

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::json;
use windlass_protocol::ToolError;
use windlass_runtime::{Ending, RunOptions};

use crate::support::Stage;

#[tokio::test]
async fn its_output_is_the_answer() {
    let stage = Stage::new();
    stage.tool.opening(|job| {
        job.write("one\n");
        job.write("two\n");
        job.end();
    });
    assert_eq!(
        stage.run([("tool", json!({"path": "a"}))]).await,
        "c1 one\ntwo"
    );
    let job = stage.tool.next().await;
    assert_eq!(job.id(), None);
    assert_eq!(json!(job.args()), json!({"path": "a"}));
}

#[tokio::test]
async fn a_result_of_its_own_is_passed_on_exactly() {
    let stage = Stage::new();
    stage.tool.opening(|job| {
        job.write("noise");
        job.end_saying("  exactly this\n");
    });
    let reply = stage
        .session
        .run(
            windlass_testing::batch([("tool", json!({}))]),
            RunOptions::default(),
        )
        .await;
    assert_eq!(json!(reply.replies[0].content), json!("  exactly this\n"));
}

#[tokio::test]
async fn a_failure_is_the_output_and_then_the_message() {
    let stage = Stage::new();
    stage.tool.opening(|job| {
        job.write("half of it");
        job.fail("exit code 2");
    });
    assert_eq!(
        stage.run([("tool", json!({}))]).await,
        "c1 ! half of it\nexit code 2"
    );
}

#[tokio::test]
async fn what_cannot_start_is_an_error_that_says_why() {
    let stage = Stage::new();
    stage.tool.fail_to_start(ToolError::new("no such program"));
    assert_eq!(
        stage.run([("tool", json!({}))]).await,
        "c1 ! no such program"
    );
}

#[tokio::test(start_paused = true)]
async fn it_is_ended_when_its_time_is_up() {
    let stage = Stage::with(crate::support::NOBODY, |setup| {
        setup.tool.limits.timeout = Duration::from_secs(5);
        setup.tool.limits.grace = Duration::from_secs(3);
    });
    stage.tool.opening(|job| job.write("so far\n"));
    let began = tokio::time::Instant::now();
    assert_eq!(
        stage.run([("tool", json!({}))]).await,
        "c1 ! so far\ntimed out after 5 s"
    );
    assert_eq!(began.elapsed().as_secs(), 5);
    let job = stage.tool.next().await;
    assert_eq!(job.aborts(), [Duration::from_secs(3)]);
}

#[tokio::test(start_paused = true)]
async fn arguments_may_set_the_time_limit() {
    let stage = Stage::new();
    stage.tool.set_timeout(Duration::from_millis(1500));
    assert_eq!(
        stage.run([("tool", json!({}))]).await,
        "c1 ! timed out after 1.5 s"
    );
}

#[tokio::test(start_paused = true)]
async fn its_time_limit_is_ten_minutes_unless_said() {
    let stage = Stage::new();
    let began = tokio::time::Instant::now();
    assert_eq!(
        stage.run([("tool", json!({}))]).await,
        "c1 ! timed out after 600 s"
    );
    assert_eq!(began.elapsed().as_secs(), 600);
}

#[tokio::test]
async fn a_batch_runs_at_once_and_is_answered_in_call_order() {
    let stage = Stage::new();
    let running = stage.go([
        ("tool", json!({"n": 1})),
        ("other", json!({})),
        ("tool", json!({"n": 2})),
    ]);
    let first = stage.tool.next().await;
    let second = stage.tool.next().await;
    let other = stage.other.next().await;
    second.end_saying("third");
    other.end_saying("second");
    first.end_saying("first");
    assert_eq!(running.await.unwrap(), "c1 first\nc2 second\nc3 third");
}

#[tokio::test]
async fn what_it_leaves_running_is_told_with_its_reply_and_ended_with_the_session() {
    let stage = Stage::new();
    stage.tool.opening(|job| {
        job.write("ok");
        job.leave_running(2);
        job.end();
    });
    assert_snapshot!(stage.run([("tool", json!({}))]).await, @"
    c1 ok
    notice warning left_running: `tool` left 2 processes running until the session ends; action `spawn` would give a handle to watch and end them
    ");
    let job = stage.tool.next().await;
    assert!(job.aborts().is_empty());
    stage.session.close().await;
    assert_eq!(job.aborts().len(), 1);
}

#[tokio::test]
async fn output_beyond_the_limit_is_cut_and_says_where_the_rest_is() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::with(crate::support::NOBODY, |setup| {
        setup.tool.limits.output_limit = 1000;
        setup.options.log_dir = Some(folder.path().to_owned());
    });
    let whole = "0123456789\n".repeat(200);
    let written = whole.clone();
    stage.tool.opening(move |job| {
        job.write(&written);
        job.end();
    });
    let reply = stage.run([("tool", json!({}))]).await;
    let log = folder.path().join("1.log");
    let rest = format!("[all of it: {}]", log.display());
    assert!(reply.len() < 1100 && reply.ends_with(&rest), "{reply}");
    assert_eq!(std::fs::read_to_string(log).unwrap(), whole);
}

#[tokio::test]
async fn an_end_reported_twice_counts_once() {
    let stage = Stage::new();
    stage.tool.opening(|job| {
        job.write("well");
        job.end();
        job.report(windlass_runtime::ToolEvent::Ended(Ending::failed("late")));
    });
    assert_eq!(stage.run([("tool", json!({}))]).await, "c1 well");
}
