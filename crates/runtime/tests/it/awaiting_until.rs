//! `await` with conditions: what a handle says, does or does not do.

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::Instant;
use windlass_testing::{ScriptedJob, question};

use crate::support::Stage;

/// A handle `a` that has written "ready on 80".
async fn ready() -> (Stage, ScriptedJob) {
    let stage = Stage::new();
    stage
        .tool
        .opening(|job| job.write("loading\nready on 80\n"));
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let job = stage.tool.next().await;
    (stage, job)
}

#[tokio::test]
async fn a_pattern_matches_what_has_been_read_already() {
    let (stage, _job) = ready().await;
    assert_snapshot!(
        stage
            .run([(
                "await",
                json!({"until": [{"id": "a", "pattern": "ready on \\d+"}]})
            )])
            .await,
        @r#"c1 {"completed":[],"pending":[{"id":"a","state":"running"}],"matched":[{"id":"a","pattern":"ready on \\d+","line":"ready on 80"}]}"#
    );
}

#[tokio::test]
async fn a_pattern_waits_for_its_line() {
    let (stage, job) = ready().await;
    let waiting = stage.go([("await", json!({"until": [{"id": "a", "pattern": "^done"}]}))]);
    stage.called("c1").await;
    job.write("nearly done\n");
    job.write("done at last\n");
    assert_snapshot!(
        waiting.await.unwrap(),
        @r#"c1 {"completed":[],"pending":[{"id":"a","state":"running"}],"matched":[{"id":"a","pattern":"^done","line":"done at last"}]}"#
    );
}

#[tokio::test]
async fn new_counts_later_lines_only() {
    let (stage, job) = ready().await;
    let waiting = stage.go([(
        "await",
        json!({"until": [{"id": "a", "pattern": "ready", "new": true}]}),
    )]);
    stage.called("c1").await;
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    job.write("ready on 81\n");
    assert_snapshot!(
        waiting.await.unwrap(),
        @r#"c1 {"completed":[],"pending":[{"id":"a","state":"running"}],"matched":[{"id":"a","pattern":"ready","new":true,"line":"ready on 81"}]}"#
    );
}

#[tokio::test(start_paused = true)]
async fn an_apply_begins_the_output_anew() {
    let (stage, _job) = ready().await;
    stage
        .run([("tool", json!({"action": "apply", "id": "a", "input": "x"}))])
        .await;
    let arguments = json!({"until": [{"id": "a", "pattern": "ready"}], "timeout_secs": 1});
    assert_snapshot!(
        stage.run([("await", arguments)]).await,
        @r#"c1 {"completed":[],"pending":[{"id":"a","state":"running"}],"timed_out":true}"#
    );
}

#[tokio::test]
async fn a_handle_that_stops_first_leaves_its_condition_unmet() {
    let (stage, job) = ready().await;
    let waiting = stage.go([(
        "await",
        json!({"until": [{"id": "a", "pattern": "ready"}, {"id": "a", "pattern": "never"}, {"id": "a", "idle_secs": 999}]}),
    )]);
    stage.called("c1").await;
    job.fail("crashed");
    assert_snapshot!(
        waiting.await.unwrap(),
        @r#"c1 {"completed":[{"id":"a","state":"stopped","result":"crashed","error":{"transient":false}}],"pending":[],"matched":[{"id":"a","pattern":"ready","line":"ready on 80"}],"unmet":[{"id":"a","pattern":"never"},{"id":"a","idle_secs":999.0}]}"#
    );
}

#[tokio::test]
async fn a_stopped_handle_can_still_match() {
    let (stage, job) = ready().await;
    job.end();
    let answered = stage
        .run([("await", json!({"until": [{"id": "a", "pattern": "ready"}]}))])
        .await;
    assert!(
        answered.ends_with(r#""matched":[{"id":"a","pattern":"ready","line":"ready on 80"}]}"#),
        "{answered}"
    );
}

#[tokio::test(start_paused = true)]
async fn idle_counts_from_the_last_output() {
    let (stage, job) = ready().await;
    let began = Instant::now();
    let waiting = stage.go([("await", json!({"until": [{"id": "a", "idle_secs": 3}]}))]);
    tokio::time::sleep(Duration::from_secs(2)).await;
    job.write("not yet\n");
    assert_snapshot!(
        waiting.await.unwrap(),
        @r#"c1 {"completed":[],"pending":[{"id":"a","state":"running"}],"matched":[{"id":"a","idle_secs":3.0}]}"#
    );
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test]
async fn a_port_is_met_when_somebody_listens() {
    let (stage, _job) = ready().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let waiting = stage.go([("await", json!({"until": [{"id": "a", "port": port}]}))]);
    stage.called("c1").await;
    assert!(!waiting.is_finished());
    let _listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let told = waiting.await.unwrap();
    assert_snapshot!(told.replace(&port.to_string(), "[port]"), @r#"c1 {"completed":[],"pending":[{"id":"a","state":"running"}],"matched":[{"id":"a","port":[port]}]}"#);
}

#[tokio::test]
async fn waiting_is_met_by_a_question() {
    let (stage, job) = ready().await;
    let waiting = stage.go([("await", json!({"until": [{"id": "a", "waiting": true}]}))]);
    stage.called("c1").await;
    job.ask(question("q", "Really?"));
    assert_snapshot!(
        waiting.await.unwrap(),
        @r#"c1 {"completed":[],"pending":[{"id":"a","state":"waiting","question":{"id":"q","text":"Really?","answer_type":"Boolean"}}],"matched":[{"id":"a","waiting":true}]}"#
    );
}

#[tokio::test]
async fn conditions_any_and_all_must_hold_together() {
    let (stage, job) = ready().await;
    stage.other.opening(|job| job.end_saying("b is done"));
    stage
        .run([("other", json!({"action": "spawn", "id": "b"}))])
        .await;
    let waiting = stage.go([(
        "await",
        json!({"all": ["b"], "until": [{"id": "a", "pattern": "ready"}, {"id": "a", "pattern": "set"}]}),
    )]);
    stage.called("c1").await;
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    job.write("set\n");
    assert_snapshot!(
        waiting.await.unwrap(),
        @r#"c1 {"completed":[{"id":"b","state":"stopped","result":"b is done"}],"pending":[{"id":"a","state":"running"}],"matched":[{"id":"a","pattern":"ready","line":"ready on 80"},{"id":"a","pattern":"set","line":"set"}]}"#
    );
}

#[tokio::test]
async fn a_condition_works_in_the_batch_of_its_spawn() {
    let stage = Stage::new();
    stage.tool.opening(|job| job.write("ready\n"));
    let answered = stage
        .run([
            ("await", json!({"until": [{"id": "a", "pattern": "ready"}]})),
            ("tool", json!({"action": "spawn", "id": "a"})),
        ])
        .await;
    assert_snapshot!(answered, @r#"
    c1 {"completed":[],"pending":[{"id":"a","state":"running"}],"matched":[{"id":"a","pattern":"ready","line":"ready"}]}
    c2 {"id":"a","state":"running","content":"ready\n"}
    "#);
}

#[tokio::test]
async fn a_condition_on_what_never_started_is_unmet() {
    let stage = Stage::new();
    stage
        .tool
        .fail_to_start(windlass_protocol::ToolError::new("no such program"));
    let answered = stage
        .run([
            (
                "await",
                json!({"until": [{"id": "a", "pattern": "ready"}, {"id": "a", "idle_secs": 1}]}),
            ),
            ("tool", json!({"action": "spawn", "id": "a"})),
        ])
        .await;
    assert_snapshot!(answered, @r#"
    c1 {"completed":[{"id":"a","state":"stopped","result":"no such program","error":{"transient":false}}],"pending":[],"unmet":[{"id":"a","pattern":"ready"},{"id":"a","idle_secs":1.0}]}
    c2 {"id":"a","state":"stopped","result":"no such program","error":{"transient":false}}
    "#);
}

#[tokio::test]
async fn conditions_that_cannot_be_read_are_refused() {
    let (stage, _job) = ready().await;
    let check = async |condition, refusal: &str| {
        let answered = stage.run([("await", json!({"until": [condition]}))]).await;
        assert!(
            answered.starts_with(&format!("c1 ! {refusal}")),
            "{answered}"
        );
    };
    check(
        json!({"id": "a"}),
        "a condition in `until` needs `id` and exactly one of `pattern`, `idle_secs`, `port` and `waiting`; the one for `a` has 0",
    )
    .await;
    check(
        json!({"id": "a", "port": 1, "waiting": true}),
        "a condition in `until` needs `id` and exactly one of `pattern`, `idle_secs`, `port` and `waiting`; the one for `a` has 2",
    )
    .await;
    check(
        json!({"id": "a", "pattern": "("}),
        "pattern `(`: regex parse error",
    )
    .await;
    check(
        json!({"id": "a", "waiting": false}),
        "`waiting` must be true, in the condition for `a`",
    )
    .await;
    check(
        json!({"id": "z", "waiting": true}),
        "Handle `z` not found; handles: a (tool, running)",
    )
    .await;
}

#[tokio::test]
async fn a_stuck_handle_ends_the_wait_for_other_conditions() {
    let (stage, job) = ready().await;
    let waiting = stage.go([("await", json!({"until": [{"id": "a", "pattern": "never"}]}))]);
    stage.called("c1").await;
    job.ask(question("q", "Really?"));
    let answered = waiting.await.unwrap();
    assert_snapshot!(answered, @r#"c1 {"completed":[],"pending":[{"id":"a","state":"waiting","question":{"id":"q","text":"Really?","answer_type":"Boolean"}}],"needs_answer":["a"]}"#);
}
