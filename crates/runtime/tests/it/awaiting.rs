//! `await` for handles that stop: any, all, both, and time.

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::json;
use tokio::time::Instant;
use windlass_testing::question;

use crate::support::{NOBODY, PERSON, Stage};

/// Handles `a`, `b` and `c` of `tool` run.
async fn three() -> Stage {
    let stage = Stage::new();
    for id in ["a", "b", "c"] {
        stage
            .run([("tool", json!({"action": "spawn", "id": id}))])
            .await;
    }
    stage
}

impl Stage {
    fn end(&self, id: &str) {
        self.tool
            .job(id)
            .unwrap()
            .end_saying(&format!("{id} is done"));
    }
}

#[tokio::test]
async fn all_waits_for_every_one() {
    let stage = three().await;
    let waiting = stage.go([("await", json!({"all": ["b", "a"]}))]);
    stage.called("c1").await;
    stage.end("a");
    stage.end("b");
    assert_snapshot!(
        waiting.await.unwrap(),
        @r#"c1 {"completed":[{"id":"b","state":"stopped","result":"b is done"},{"id":"a","state":"stopped","result":"a is done"}],"pending":[]}"#
    );
}

#[tokio::test]
async fn any_waits_for_the_first_and_shows_the_others_without_content() {
    let stage = three().await;
    let waiting = stage.go([("await", json!({"any": ["a", "b"]}))]);
    stage.called("c1").await;
    stage.tool.job("a").unwrap().write("noise");
    stage.end("b");
    assert_snapshot!(
        waiting.await.unwrap(),
        @r#"c1 {"completed":[{"id":"b","state":"stopped","result":"b is done"}],"pending":[{"id":"a","state":"running"}]}"#
    );
    assert_eq!(
        stage
            .run([("tool", json!({"action": "fetch", "id": "a"}))])
            .await,
        r#"c1 {"id":"a","state":"running","content":"noise"}"#,
        "a pending entry does not move the cursor"
    );
}

#[tokio::test]
async fn any_and_all_must_both_hold() {
    let stage = three().await;
    let waiting = stage.go([("await", json!({"any": ["a", "b"], "all": ["c"]}))]);
    stage.called("c1").await;
    stage.end("a");
    let looking = stage
        .run([("await", json!({"all": ["c"], "timeout_secs": 0}))])
        .await;
    assert_snapshot!(looking, @r#"
    c1 {"completed":[],"pending":[{"id":"c","state":"running"}],"timed_out":true}
    notice info success: `a` finished successfully; fetch it to read its result
    "#);
    assert!(!waiting.is_finished(), "`all` does not hold yet");
    stage.end("c");
    assert_snapshot!(
        waiting.await.unwrap(),
        @r#"c1 {"completed":[{"id":"c","state":"stopped","result":"c is done"},{"id":"a","state":"stopped","result":"a is done"}],"pending":[{"id":"b","state":"running"}]}"#
    );
}

#[tokio::test]
async fn what_has_stopped_already_counts_at_once() {
    let stage = three().await;
    stage.end("a");
    assert_snapshot!(
        stage.run([("await", json!({"any": ["a", "b"]}))]).await,
        @r#"c1 {"completed":[{"id":"a","state":"stopped","result":"a is done"}],"pending":[{"id":"b","state":"running"}]}"#
    );
}

#[tokio::test]
async fn a_completed_entry_moves_the_cursor() {
    let stage = Stage::new();
    stage.tool.opening(|job| job.write("one\n"));
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let job = stage.tool.next().await;
    job.write("two\n");
    job.end();
    let wait = || [("await", json!({"all": ["a"]}))];
    assert_snapshot!(
        stage.run(wait()).await,
        @r#"c1 {"completed":[{"id":"a","state":"stopped","result":"two\n"}],"pending":[]}"#
    );
    assert_snapshot!(
        stage.run(wait()).await,
        @r#"c1 {"completed":[{"id":"a","state":"stopped","result":"one\ntwo\n"}],"pending":[]}"#
    );
}

#[tokio::test]
async fn spawn_spawn_await_works_in_one_batch() {
    let stage = Stage::new();
    let running = stage.go([
        ("await", json!({"all": ["a", "b"]})),
        ("tool", json!({"action": "spawn", "id": "a"})),
        ("other", json!({"action": "spawn", "id": "b"})),
    ]);
    stage.tool.next().await.end_saying("ok");
    stage.other.next().await.fail("broke");
    let answered = running.await.unwrap();
    assert!(
        answered.starts_with(
            r#"c1 {"completed":[{"id":"a","state":"stopped","result":"ok"},{"id":"b","state":"stopped","result":"broke","error":{"transient":false}}],"pending":[]}"#
        ),
        "{answered}"
    );
}

#[tokio::test]
async fn an_await_overlaps_with_other_calls_on_its_handle() {
    let stage = Stage::new();
    stage
        .tool
        .opening(|job| job.on_input(|job, _| job.end_saying("typed")));
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let answered = stage
        .run([
            ("await", json!({"all": ["a"]})),
            ("tool", json!({"action": "apply", "id": "a", "input": "x"})),
        ])
        .await;
    assert!(
        answered.starts_with(r#"c1 {"completed":[{"id":"a","state":"stopped","result":"typed"}]"#),
        "{answered}"
    );
}

#[tokio::test(start_paused = true)]
async fn time_runs_out_and_nothing_is_aborted() {
    let stage = three().await;
    stage.end("a");
    let began = Instant::now();
    assert_snapshot!(
        stage
            .run([("await", json!({"all": ["a", "b"], "timeout_secs": 2.5}))])
            .await,
        @r#"c1 {"completed":[{"id":"a","state":"stopped","result":"a is done"}],"pending":[{"id":"b","state":"running"}],"timed_out":true}"#
    );
    assert_eq!(began.elapsed().as_millis(), 2500);
    assert!(!stage.tool.job("b").unwrap().has_ended());
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_it_waits_for_as_long_as_it_takes() {
    let stage = three().await;
    let waiting = stage.go([("await", json!({"all": ["a"]}))]);
    tokio::time::sleep(Duration::from_secs(1_000_000)).await;
    assert!(!waiting.is_finished());
    stage.end("a");
    waiting.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_no_clock_reaches_is_fine() {
    let stage = three().await;
    let waiting = stage.go([("await", json!({"all": ["a"], "timeout_secs": 1e18}))]);
    stage.called("c1").await;
    stage.end("a");
    assert!(
        waiting
            .await
            .unwrap()
            .starts_with(r#"c1 {"completed":[{"id":"a""#)
    );
}

#[tokio::test]
async fn several_awaits_may_wait_for_one_handle() {
    let stage = three().await;
    let first = stage.go([("await", json!({"all": ["a"]}))]);
    let second = stage.go([
        ("await", json!({"any": ["a", "b"]})),
        ("await", json!({"all": ["a"]})),
    ]);
    stage.called("c2").await;
    stage.end("a");
    assert_snapshot!(first.await.unwrap(), @r#"c1 {"completed":[{"id":"a","state":"stopped","result":"a is done"}],"pending":[]}"#);
    assert_snapshot!(second.await.unwrap(), @r#"
    c1 {"completed":[{"id":"a","state":"stopped","result":"a is done"}],"pending":[{"id":"b","state":"running"}]}
    c2 {"completed":[{"id":"a","state":"stopped","result":"a is done"}],"pending":[]}
    "#);
}

#[tokio::test]
async fn its_errors_are_those_of_the_protocol() {
    let stage = Stage::new();
    let check = async |arguments, refusal: &str| {
        assert_eq!(
            stage.run([("await", arguments)]).await,
            format!("c1 ! {refusal}")
        );
    };
    check(json!({}), "At least one handle ID required").await;
    check(
        json!({"any": [], "all": []}),
        "At least one handle ID required",
    )
    .await;
    check(
        json!({"all": ["my_handle"]}),
        "Handle `my_handle` not found; this session is new, and a handle belongs to the session that spawned it",
    )
    .await;
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    stage
        .run([("other", json!({"action": "spawn", "id": "b"}))])
        .await;
    stage.other.job("b").unwrap().end();
    stage.session.take_notices();
    let listed = "handles: a (tool, running), b (other, stopped)";
    check(
        json!({}),
        &format!("At least one handle ID required; {listed}"),
    )
    .await;
    check(
        json!({"all": ["a"], "any": ["my_handle"]}),
        &format!("Handle `my_handle` not found; {listed}"),
    )
    .await;
    check(
        json!({"some": ["a"]}),
        "unknown argument `some`; this tool takes any, all, until, timeout_secs",
    )
    .await;
    check(json!({"all": "a"}), r#"`all`: "a" is not of type "array""#).await;
    check(
        json!({"all": ["a"], "timeout_secs": -1}),
        "`timeout_secs` must be a non-negative number of seconds",
    )
    .await;
}

#[tokio::test]
async fn null_is_the_same_as_absent() {
    let stage = three().await;
    stage.end("a");
    let arguments = json!({
        "all": ["a"],
        "any": null,
        "until": [{"id": "b", "idle_secs": 0, "pattern": null, "new": null, "port": null, "waiting": null}],
        "timeout_secs": null
    });
    let answered = stage.run([("await", arguments)]).await;
    assert!(answered.starts_with("c1 {"), "{answered}");
}

#[tokio::test]
async fn a_handle_that_waits_for_a_person_is_waited_for() {
    let stage = Stage::with(PERSON, |_| {});
    stage.tool.opening(|job| {
        job.on_answer(|job, _| job.end_saying("thanks"));
        job.ask(question("q", "Really?"));
    });
    let running = stage.go([
        ("tool", json!({"action": "spawn", "id": "a"})),
        ("await", json!({"all": ["a"]})),
    ]);
    stage.person.next_question().await.reply(json!(true));
    let answered = running.await.unwrap();
    assert!(
        answered.ends_with(
            r#"c2 {"completed":[{"id":"a","state":"stopped","result":"thanks"}],"pending":[]}"#
        ),
        "{answered}"
    );
}

#[tokio::test]
async fn it_does_not_block_for_what_only_its_caller_can_give() {
    let stage = Stage::new();
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let waiting = stage.go([("await", json!({"all": ["a"]}))]);
    stage.called("c1").await;
    stage.tool.job("a").unwrap().ask(question("q", "Really?"));
    let stuck = r#"c1 {"completed":[],"pending":[{"id":"a","state":"waiting","question":{"id":"q","text":"Really?","answer_type":"Boolean"}}],"needs_answer":["a"]}"#;
    assert_eq!(waiting.await.unwrap(), stuck);
    assert_eq!(stage.run([("await", json!({"all": ["a"]}))]).await, stuck);
}

#[tokio::test]
async fn an_answer_before_it_in_its_batch_counts() {
    let stage = Stage::new();
    stage.tool.opening(|job| {
        job.on_answer(|job, _| job.end_saying("thanks"));
        job.ask(question("q", "Really?"));
    });
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let answer_and_wait = |answer: serde_json::Value| {
        stage.run([
            (
                "tool",
                json!({"action": "apply", "id": "a", "input": answer}),
            ),
            ("await", json!({"all": ["a"]})),
        ])
    };
    let refused = answer_and_wait(json!("maybe")).await;
    assert_snapshot!(refused, @r#"
    c1 ! question `q` needs true or false, not "maybe"
    c2 {"completed":[],"pending":[{"id":"a","state":"waiting","question":{"id":"q","text":"Really?","answer_type":"Boolean"}}],"needs_answer":["a"]}
    "#);
    let answered = answer_and_wait(json!(true)).await;
    assert_snapshot!(answered, @r#"
    c1 {"id":"a","state":"stopped","result":"thanks"}
    c2 {"completed":[{"id":"a","state":"stopped","result":"thanks"}],"pending":[]}
    "#);
}

#[tokio::test]
async fn it_does_not_block_for_a_person_who_does_not_answer() {
    let stage = Stage::with(PERSON, |_| {});
    stage.tool.opening(|job| job.ask(question("q", "Really?")));
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let prompt = stage.person.next_question().await;
    let waiting = stage.go([("await", json!({"all": ["a"]}))]);
    stage.called("c1").await;
    prompt.decline();
    let answered = waiting.await.unwrap();
    assert_snapshot!(answered, @r#"c1 {"completed":[],"pending":[{"id":"a","state":"waiting","question":{"id":"q","text":"Really?","answer_type":"Boolean"}}],"needs_answer":["a"]}"#);
    // A later question is a new request to the person.
    let job = stage.tool.next().await;
    job.on_answer(|job, _| job.end_saying("thanks"));
    job.ask(question("again", "Sure?"));
    let waiting = stage.go([("await", json!({"all": ["a"]}))]);
    stage.person.next_question().await.reply(json!(true));
    let answered = waiting.await.unwrap();
    assert_snapshot!(answered, @r#"c1 {"completed":[{"id":"a","state":"stopped","result":"thanks"}],"pending":[]}"#);
}

#[tokio::test]
async fn a_preset_answer_that_does_not_fit_is_nobodys() {
    let stage = Stage::with(NOBODY, |setup| {
        let preset = windlass_runtime::QuestionPolicy {
            answer: Some(json!("perhaps")),
            ..Default::default()
        };
        setup.tool.questions.insert("q".into(), preset);
    });
    stage.tool.opening(|job| job.ask(question("q", "Really?")));
    let answered = stage
        .run([
            ("tool", json!({"action": "spawn", "id": "a"})),
            ("await", json!({"all": ["a"]})),
        ])
        .await;
    assert_snapshot!(answered, @r#"
    c1 {"id":"a","state":"waiting","question":{"id":"q","text":"Really?","answer_type":"Boolean"}}
    c2 {"completed":[],"pending":[{"id":"a","state":"waiting","question":{"id":"q","text":"Really?","answer_type":"Boolean"}}],"needs_answer":["a"]}
    "#);
}

#[tokio::test]
async fn many_long_results_share_a_reply_and_can_be_fetched() {
    let stage = Stage::new();
    let ids: Vec<String> = (0..20).map(|number| format!("h{number}")).collect();
    for id in &ids {
        stage
            .run([("tool", json!({"action": "spawn", "id": id}))])
            .await;
        let job = stage.tool.job(id).unwrap();
        job.write(&"line\n".repeat(4000));
        job.end();
    }
    let told = stage.run([("await", json!({"all": ids}))]).await;
    assert!(told.len() < 50_000, "{} bytes", told.len());
    assert_eq!(told.matches("fetch it to read it whole").count(), 20);
    let whole = stage
        .run([("tool", json!({"action": "fetch", "id": "h7"}))])
        .await;
    assert_eq!(whole.matches("line").count(), 4000);
}
