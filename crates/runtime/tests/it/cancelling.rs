//! A caller that gives up on a batch, a session that is closed, and one that
//! is dropped.

use insta::assert_snapshot;
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use windlass_protocol::{Decider, DecisionRecord};
use windlass_runtime::{RunMode, RunOptions, RunPolicy, SessionEvent};
use windlass_testing::{batch, question};

use crate::support::{PERSON, Stage, told};

/// Runs a batch beside the test that the token cancels.
fn go<const N: usize>(
    stage: &Stage,
    cancel: &CancellationToken,
    calls: [(&str, serde_json::Value); N],
) -> JoinHandle<String> {
    let session = stage.session.clone();
    let cancel = cancel.clone();
    let batch = batch(calls);
    tokio::spawn(async move { told(&session.run(batch, RunOptions::until(&cancel)).await) })
}

#[tokio::test]
async fn one_shots_of_a_cancelled_batch_are_ended_and_handles_stay() {
    let stage = Stage::new();
    let cancel = CancellationToken::new();
    let running = go(
        &stage,
        &cancel,
        [
            ("tool", json!({"action": "spawn", "id": "a"})),
            ("other", json!({})),
            ("await", json!({"all": ["a"]})),
        ],
    );
    let one_shot = stage.other.next().await;
    stage
        .seen(|event| matches!(event, SessionEvent::Replied { call, .. } if &**call == "c1"))
        .await;
    cancel.cancel();
    assert_snapshot!(running.await.unwrap(), @r#"
    c1 {"id":"a","state":"running"}
    c2 ! cancelled
    c3 ! cancelled
    "#);
    one_shot.ended().await;
    assert_eq!(one_shot.aborts().len(), 1);
    assert!(!stage.tool.next().await.has_ended());
    assert_eq!(
        stage
            .run([("tool", json!({"action": "fetch", "id": "a"}))])
            .await,
        r#"c1 {"id":"a","state":"running"}"#
    );
}

#[tokio::test]
async fn a_handle_that_was_settling_when_its_batch_was_cancelled_stays() {
    let stage = Stage::new();
    stage.tool.opening(windlass_testing::ScriptedJob::hold);
    let cancel = CancellationToken::new();
    let running = go(
        &stage,
        &cancel,
        [("tool", json!({"action": "spawn", "id": "a"}))],
    );
    let job = stage.tool.next().await;
    stage
        .seen(|event| matches!(event, SessionEvent::Tool { .. }))
        .await;
    cancel.cancel();
    assert_eq!(running.await.unwrap(), "c1 ! cancelled");
    job.write("still here");
    assert_eq!(
        stage
            .run([("tool", json!({"action": "fetch", "id": "a"}))])
            .await,
        r#"c1 {"id":"a","state":"running","content":"still here"}"#
    );
}

#[tokio::test]
async fn a_spawn_that_is_cancelled_before_it_started_gives_its_id_back() {
    let stage = Stage::new();
    stage.tool.hold();
    let cancel = CancellationToken::new();
    let running = go(
        &stage,
        &cancel,
        [("tool", json!({"action": "spawn", "id": "a"}))],
    );
    stage.tool.attempted(1).await;
    cancel.cancel();
    let answered = running.await.unwrap();
    assert!(answered.starts_with("c1 ! cancelled"), "{answered}");
    stage.tool.release();
    assert_eq!(
        stage
            .run([("tool", json!({"action": "spawn", "id": "a"}))])
            .await,
        r#"c1 {"id":"a","state":"running"}"#
    );
}

#[tokio::test]
async fn cancelling_withdraws_what_a_person_is_asked() {
    let stage = Stage::with(PERSON, |setup| {
        setup.tool.run = RunPolicy::starting(RunMode::Ask);
    });
    stage.other.opening(|job| job.ask(question("q", "Really?")));
    let cancel = CancellationToken::new();
    let calls = [("tool", json!({})), ("other", json!({}))];
    let running = go(&stage, &cancel, calls);
    let permission = stage.person.next_permission().await;
    let asked = stage.person.next_question().await;
    cancel.cancel();
    assert_eq!(running.await.unwrap(), "c1 ! cancelled\nc2 ! cancelled");
    let id = permission.asked.id.clone();
    permission.withdrawn().await;
    asked.withdrawn().await;
    let events = stage.events().await;
    let decision = DecisionRecord::new(Decider::Withdrawn, None).into();
    assert!(events.contains(&SessionEvent::PermissionReplied { id, decision }));
    assert!(
        events
            .iter()
            .any(|event| matches!(event, SessionEvent::QuestionClosed { .. }))
    );
    assert!(stage.tool.started().is_empty());
}

#[tokio::test]
async fn a_batch_that_was_cancelled_beforehand_runs_nothing() {
    let stage = Stage::new();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let calls = [
        ("tool", json!({})),
        ("tool", json!({"action": "spawn", "id": "a"})),
    ];
    let answered = go(&stage, &cancel, calls).await.unwrap();
    assert!(
        answered.starts_with("c1 ! cancelled\nc2 ! cancelled"),
        "{answered}"
    );
    assert!(stage.tool.started().is_empty());
}

#[tokio::test]
async fn dropping_a_running_batch_ends_its_one_shots() {
    let stage = Stage::new();
    let running = stage.go([("tool", json!({}))]);
    let job = stage.tool.next().await;
    running.abort();
    job.ended().await;
}

#[tokio::test]
async fn closing_ends_handles_one_shots_and_what_was_left_running() {
    let stage = Stage::new();
    stage.other.opening(|job| {
        job.leave_running(1);
        job.end();
    });
    stage
        .run([
            ("other", json!({})),
            ("tool", json!({"action": "spawn", "id": "a"})),
        ])
        .await;
    let handle = stage.tool.next().await;
    let left = stage.other.next().await;
    let running = stage.go([("tool", json!({}))]);
    let one_shot = stage.tool.next().await;
    stage.session.close().await;
    assert!(handle.has_ended() && one_shot.has_ended());
    assert_eq!(left.aborts().len(), 1);
    let answered = running.await.unwrap();
    assert!(answered.starts_with("c1 ! "), "{answered}");
    assert!(stage.session.handles().is_empty());
}

#[tokio::test]
async fn closing_waits_until_everything_is_gone() {
    let stage = Stage::new();
    stage.tool.opening(windlass_testing::ScriptedJob::hold_on);
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let job = stage.tool.next().await;
    let session = stage.session.clone();
    let closing = tokio::spawn(async move { session.close().await });
    job.aborted(1).await;
    assert!(!closing.is_finished());
    job.let_go();
    closing.await.unwrap();
    assert!(job.has_ended());
}

#[tokio::test]
async fn nothing_runs_in_a_closed_session_and_its_journal_has_ended() {
    let stage = Stage::new();
    stage.session.close().await;
    let why = "the session has ended; start another one";
    assert_eq!(
        stage
            .run([
                ("tool", json!({})),
                ("tool", json!({"action": "spawn", "id": "a"}))
            ])
            .await,
        format!("c1 ! {why}\nc2 ! {why}")
    );
    assert!(stage.tool.started().is_empty());
    let mut tail = stage.session.journal().tail(0);
    let last = tail.next().await.unwrap().1;
    assert_eq!(last.event, SessionEvent::Closed);
    assert!(tail.next().await.is_none());
}

#[tokio::test]
async fn dropping_the_last_clone_ends_everything() {
    let stage = Stage::new();
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let job = stage.tool.next().await;
    let clone = stage.session.clone();
    drop(stage.session);
    assert!(!job.is_dropped());
    drop(clone);
    assert!(job.is_dropped());
}

#[tokio::test]
async fn a_question_to_a_person_does_not_keep_a_dropped_session_alive() {
    let stage = Stage::with(PERSON, |_| {});
    stage.tool.opening(|job| job.ask(question("q", "Really?")));
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let job = stage.tool.next().await;
    let prompt = stage.person.next_question().await;
    drop(stage.session);
    prompt.withdrawn().await;
    job.ended().await;
    assert!(job.is_dropped());
}
