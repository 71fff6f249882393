//! A caller in a hurry: one-shots go on as handles, and waits end.

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use windlass_protocol::HandleId;
use windlass_runtime::{Attendance, PersonRequest, RunMode, RunOptions, RunPolicy, SessionEvent};
use windlass_testing::{batch, question};

use crate::support::{NOBODY, PERSON, Stage, told};

/// Runs one call beside the test, for a caller who can be hurried.
fn go(stage: &Stage, tool: &str, args: Value) -> (JoinHandle<String>, RunOptions) {
    let session = stage.session.clone();
    let batch = batch([(tool, args)]);
    let options = RunOptions::default();
    let hurried = options.clone();
    let running = tokio::spawn(async move { told(&session.run(batch, hurried).await) });
    (running, options)
}

#[tokio::test]
async fn a_one_shot_that_still_runs_goes_on_as_a_handle() {
    let stage = Stage::new();
    let (running, options) = go(&stage, "tool", json!({}));
    let job = stage.tool.next().await;
    job.write("half\n");
    options.hurry.cancel();
    assert_eq!(
        running.await.unwrap(),
        r#"c1 {"id":"tool-1","state":"running","content":"half\n"}"#
    );
    let awaiting = stage.go([("await", json!({"all": ["tool-1"]}))]);
    job.write("the rest\n");
    job.end();
    assert_snapshot!(
        awaiting.await.unwrap(),
        @r#"c1 {"completed":[{"id":"tool-1","state":"stopped","result":"the rest\n"}],"pending":[]}"#
    );
    assert!(job.aborts().is_empty());
}

#[tokio::test]
async fn what_was_handed_over_is_told_of_and_can_be_ended() {
    let stage = Stage::new();
    let (running, options) = go(&stage, "tool", json!({}));
    let first = stage.tool.next().await;
    options.hurry.cancel();
    running.await.unwrap();
    let (running, options) = go(&stage, "tool", json!({}));
    stage.tool.next().await;
    options.hurry.cancel();
    running.await.unwrap();
    first.fail("broken");
    stage
        .seen(|event| matches!(event, SessionEvent::Noticed(_)))
        .await;
    assert_snapshot!(
        stage
            .run([("tool", json!({"action": "abort", "id": "tool-2"}))])
            .await,
        @r#"
    c1 {"id":"tool-2","state":"stopped","result":"aborted by the assistant","error":{"transient":false},"ended":1}
    notice error failure: `tool-1` stopped: broken
    "#
    );
}

#[tokio::test]
async fn an_id_that_the_assistant_has_taken_is_passed_by() {
    let stage = Stage::new();
    stage
        .run([("tool", json!({"action": "spawn", "id": "tool-2"}))])
        .await;
    stage.tool.next().await;
    let (running, options) = go(&stage, "tool", json!({}));
    stage.tool.next().await;
    options.hurry.cancel();
    assert_eq!(
        running.await.unwrap(),
        r#"c1 {"id":"tool-2_","state":"running"}"#
    );
}

#[tokio::test(start_paused = true)]
async fn its_time_limit_goes_on() {
    let stage = Stage::with(NOBODY, |setup| {
        setup.tool.limits.timeout = Duration::from_mins(1);
    });
    let began = tokio::time::Instant::now();
    let (running, options) = go(&stage, "tool", json!({}));
    stage.tool.next().await;
    tokio::time::sleep(Duration::from_secs(50)).await;
    options.hurry.cancel();
    running.await.unwrap();
    assert_snapshot!(
        stage.run([("await", json!({"all": ["tool-1"]}))]).await,
        @r#"c1 {"completed":[{"id":"tool-1","state":"stopped","result":"timed out after 60 s","error":{"transient":false}}],"pending":[]}"#
    );
    assert_eq!(began.elapsed().as_secs(), 60);
}

#[tokio::test]
async fn it_ends_with_the_session() {
    let stage = Stage::new();
    let (running, options) = go(&stage, "tool", json!({}));
    let job = stage.tool.next().await;
    options.hurry.cancel();
    running.await.unwrap();
    stage.session.close().await;
    assert_eq!(job.aborts().len(), 1);
}

#[tokio::test]
async fn its_open_question_stays_open_and_becomes_the_handles() {
    let stage = Stage::with(PERSON, |_| {});
    let (running, options) = go(&stage, "tool", json!({}));
    let job = stage.tool.next().await;
    job.ask_beside(question("sure", "Sure?"), "a hunk");
    let asked = stage.person.next_question().await;
    let id = asked.asked.ask.clone();
    assert_eq!(asked.asked.call.as_deref(), Some("c1"));
    assert_eq!(asked.asked.content.as_deref(), Some("a hunk"));
    options.hurry.cancel();
    let told = running.await.unwrap();
    assert_snapshot!(told.replace(&*id, "[ask]"), @r#"c1 {"id":"tool-1","state":"waiting","question":{"id":"sure","text":"Sure?","answer_type":"Boolean"},"note":"waiting for the user: they answer with `windlass answer [ask]` or on the page; tell them, and await this handle"}"#);
    let open = stage.session.requests().questions();
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].ask, id);
    assert_eq!(
        open[0].handle.as_ref().map(HandleId::as_str),
        Some("tool-1")
    );
    assert!(asked.is_open());
    asked.reply(json!(true));
    job.answered(1).await;
    assert_eq!(job.answers(), [("sure".to_owned(), json!(true))]);
    job.end();
    assert_snapshot!(
        stage.run([("await", json!({"all": ["tool-1"]}))]).await,
        @r#"c1 {"completed":[{"id":"tool-1","state":"stopped","result":""}],"pending":[]}"#
    );
}

#[tokio::test]
async fn its_next_question_is_put_once_and_the_assistant_may_answer_it() {
    let stage = Stage::with(PERSON, |_| {});
    let (running, options) = go(&stage, "tool", json!({}));
    let job = stage.tool.next().await;
    job.ask(question("sure", "Sure?"));
    let first = stage.person.next_question().await;
    let first_id = first.asked.ask.clone();
    options.hurry.cancel();
    running.await.unwrap();
    let apply = json!({"action": "apply", "id": "tool-1", "input": true});
    stage.run([("tool", apply)]).await;
    first.withdrawn().await;
    job.ask(question("again", "Again?"));
    // The first was given to the person again when it became the handle's.
    let given_again = stage.person.next_question().await;
    assert_eq!(given_again.asked.ask, first_id);
    let second = stage.person.next_question().await;
    assert_eq!(second.asked.question.id, "again");
    assert_eq!(
        second.asked.handle.as_ref().map(HandleId::as_str),
        Some("tool-1")
    );
    assert_eq!(stage.session.requests().len(), 1);
}

#[tokio::test]
async fn an_await_answers_as_if_its_time_were_up() {
    let stage = Stage::new();
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let (running, options) = go(&stage, "await", json!({"all": ["a"], "timeout_secs": 1000}));
    stage.called("c1").await;
    options.hurry.cancel();
    assert_snapshot!(
        running.await.unwrap(),
        @r#"c1 {"completed":[],"pending":[{"id":"a","state":"running"}],"timed_out":true}"#
    );
}

/// The handle that waits for permission, and the reply that names it.
fn waits_for_permission(id: &str, permission: &str) -> String {
    format!(
        "c1 {{\"id\":\"{id}\",\"state\":\"pending\",\"note\":\"waiting for the user: they allow it with \
         `windlass permissions reply {permission} once` or on the page; tell them, and await this handle\"}}"
    )
}

fn asking() -> Stage {
    Stage::with(PERSON, |setup| {
        setup.tool.run = RunPolicy::starting(RunMode::Ask);
    })
}

#[tokio::test]
async fn a_one_shot_whose_permission_is_late_runs_as_a_handle_once_it_is_given() {
    let stage = asking();
    let (running, options) = go(&stage, "tool", json!({}));
    let asked = stage.person.next_permission().await;
    options.hurry.cancel();
    let permission = asked.asked.id.to_string();
    assert_eq!(
        running.await.unwrap(),
        waits_for_permission("tool-1", &permission)
    );
    assert!(asked.is_open());
    assert!(stage.tool.started().is_empty());
    let awaiting = stage.go([("await", json!({"all": ["tool-1"]}))]);
    asked.once();
    let job = stage.tool.next().await;
    job.write("done");
    job.end();
    assert_snapshot!(
        awaiting.await.unwrap(),
        @r#"c1 {"completed":[{"id":"tool-1","state":"stopped","result":"done"}],"pending":[]}"#
    );
}

#[tokio::test]
async fn a_spawn_whose_permission_is_late_starts_once_it_is_given() {
    let stage = asking();
    let (running, options) = go(&stage, "tool", json!({"action": "spawn", "id": "a"}));
    let asked = stage.person.next_permission().await;
    options.hurry.cancel();
    let permission = asked.asked.id.to_string();
    assert_eq!(
        running.await.unwrap(),
        waits_for_permission("a", &permission)
    );
    assert_eq!(
        stage
            .run([("tool", json!({"action": "fetch", "id": "a"}))])
            .await,
        waits_for_permission("a", &permission)
    );
    asked.once();
    stage.tool.next().await;
}

#[tokio::test]
async fn a_late_rejection_ends_the_handle_and_nothing_has_run() {
    let stage = asking();
    let (running, options) = go(&stage, "tool", json!({}));
    let asked = stage.person.next_permission().await;
    options.hurry.cancel();
    running.await.unwrap();
    asked.reject(Some("not today"));
    assert_snapshot!(
        stage.run([("await", json!({"all": ["tool-1"]}))]).await,
        @r#"c1 {"completed":[{"id":"tool-1","state":"stopped","result":"the user rejected `tool`: not today","error":{"transient":false}}],"pending":[]}"#
    );
    assert!(stage.tool.started().is_empty());
}

#[tokio::test]
async fn aborting_what_waits_for_permission_withdraws_the_request() {
    let stage = asking();
    let (running, options) = go(&stage, "tool", json!({}));
    let asked = stage.person.next_permission().await;
    options.hurry.cancel();
    running.await.unwrap();
    stage
        .run([("tool", json!({"action": "abort", "id": "tool-1"}))])
        .await;
    asked.withdrawn().await;
    assert!(stage.tool.started().is_empty());
}

#[tokio::test]
async fn what_waits_for_permission_ends_with_the_session() {
    let stage = asking();
    let (running, options) = go(&stage, "tool", json!({}));
    let asked = stage.person.next_permission().await;
    options.hurry.cancel();
    running.await.unwrap();
    stage.session.close().await;
    asked.withdrawn().await;
    assert!(stage.tool.started().is_empty());
}

#[tokio::test]
async fn a_declined_question_ends_the_tool() {
    let stage = Stage::with(NOBODY, |setup| {
        setup.options.attendance = Attendance::Attended;
    });
    let mut watch = stage.session.requests().watch();
    tokio::spawn(async move {
        while let Some(open) = watch.next().await {
            let PersonRequest::Question(ask) = open.request() else {
                continue;
            };
            open.decline(format!("the user declined: {}", ask.question.text));
        }
    });
    stage.tool.opening(|job| job.ask(question("sure", "Sure?")));
    assert_eq!(
        stage.run([("tool", json!({}))]).await,
        "c1 ! the user declined: Sure?"
    );
    assert_snapshot!(
        stage
            .run([
                ("tool", json!({"action": "spawn", "id": "a"})),
                ("await", json!({"all": ["a"]})),
            ])
            .await
            .lines()
            .last()
            .unwrap(),
        @r#"c2 {"completed":[{"id":"a","state":"stopped","result":"the user declined: Sure?","error":{"transient":false}}],"pending":[]}"#
    );
}

/// A tool whose start needs an answer of the person.
fn asking_to_start() -> Stage {
    let stage = Stage::with(PERSON, |_| {});
    stage
        .tool
        .ask_before_start(question("carrier", "Password:"));
    stage
}

fn waits_for_answer(id: &str, ask: &str) -> String {
    format!(
        "c1 {{\"id\":\"{id}\",\"state\":\"pending\",\"note\":\"waiting for the user: they answer with \
         `windlass answer {ask}` or on the page; tell them, and await this handle\"}}"
    )
}

#[tokio::test]
async fn a_start_that_needs_an_answer_goes_on_as_a_handle_with_the_same_request() {
    let spawn = json!({"action": "spawn", "id": "tool-1"});
    let mut told = Vec::new();
    for args in [json!({}), spawn] {
        let stage = asking_to_start();
        let (running, options) = go(&stage, "tool", args);
        let asked = stage.person.next_question().await;
        let ask = asked.asked.ask.clone();
        options.hurry.cancel();
        let waits = waits_for_answer("tool-1", &ask);
        assert_eq!(running.await.unwrap(), waits);
        assert!(asked.is_open());
        let open = stage.session.requests().questions();
        let opened = open[0].handle.as_ref().map(HandleId::as_str);
        assert_eq!(
            (open.len(), &open[0].ask, opened),
            (1, &ask, Some("tool-1"))
        );
        // Calls on the handle do not wait for the answer.
        let fetch = json!({"action": "fetch", "id": "tool-1"});
        assert_eq!(stage.run([("tool", fetch)]).await, waits);
        let apply = json!({"action": "apply", "id": "tool-1", "input": "no"});
        assert_eq!(
            stage.run([("tool", apply)]).await,
            "c1 ! handle `tool-1` has not started yet"
        );
        let awaiting = stage.go([("await", json!({"all": ["tool-1"]}))]);
        asked.reply(json!(true));
        let job = stage.tool.next().await;
        job.write("done");
        job.end();
        told.push(awaiting.await.unwrap());
    }
    assert_snapshot!(told.join("\n"), @r#"
    c1 {"completed":[{"id":"tool-1","state":"stopped","result":"done"}],"pending":[]}
    c1 {"completed":[{"id":"tool-1","state":"stopped","result":"done"}],"pending":[]}
    "#);
}

#[tokio::test]
async fn aborting_what_waits_for_an_answer_to_start_withdraws_the_question() {
    let mut told = Vec::new();
    for args in [json!({}), json!({"action": "spawn", "id": "tool-1"})] {
        let stage = asking_to_start();
        let (running, options) = go(&stage, "tool", args);
        let asked = stage.person.next_question().await;
        options.hurry.cancel();
        running.await.unwrap();
        let abort = json!({"action": "abort", "id": "tool-1"});
        told.push(stage.run([("tool", abort)]).await);
        asked.withdrawn().await;
        assert!(stage.tool.started().is_empty());
    }
    assert_snapshot!(told.join("\n"), @r#"
    c1 {"id":"tool-1","state":"stopped","result":"aborted by the assistant","error":{"transient":false},"ended":0}
    c1 {"id":"tool-1","state":"stopped","result":"aborted by the assistant","error":{"transient":false},"ended":0}
    "#);
}

#[tokio::test]
async fn what_waits_for_an_answer_to_start_ends_with_the_session() {
    for args in [json!({}), json!({"action": "spawn", "id": "tool-1"})] {
        let stage = asking_to_start();
        let (running, options) = go(&stage, "tool", args);
        let asked = stage.person.next_question().await;
        options.hurry.cancel();
        running.await.unwrap();
        stage.session.close().await;
        asked.withdrawn().await;
        assert!(stage.tool.started().is_empty());
    }
}

#[tokio::test]
async fn a_start_that_is_permitted_late_may_ask_too() {
    let stage = asking();
    stage
        .tool
        .ask_before_start(question("carrier", "Password:"));
    let (running, options) = go(&stage, "tool", json!({}));
    let permission = stage.person.next_permission().await;
    options.hurry.cancel();
    running.await.unwrap();
    permission.once();
    let asked = stage.person.next_question().await;
    let waits = waits_for_answer("tool-1", &asked.asked.ask);
    let fetch = json!({"action": "fetch", "id": "tool-1"});
    assert_eq!(stage.run([("tool", fetch)]).await, waits);
    asked.reply(json!(true));
    stage.tool.next().await;
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_begins_once_the_answer_is_given() {
    let stage = Stage::with(PERSON, |setup| {
        setup.tool.limits.timeout = Duration::from_mins(1);
    });
    stage
        .tool
        .ask_before_start(question("carrier", "Password:"));
    let (running, options) = go(&stage, "tool", json!({}));
    let asked = stage.person.next_question().await;
    options.hurry.cancel();
    running.await.unwrap();
    tokio::time::sleep(Duration::from_mins(10)).await;
    asked.reply(json!(true));
    stage.tool.next().await;
    let answered = tokio::time::Instant::now();
    let ended = stage.run([("await", json!({"all": ["tool-1"]}))]).await;
    assert_snapshot!(ended, @r#"c1 {"completed":[{"id":"tool-1","state":"stopped","result":"timed out after 60 s","error":{"transient":false}}],"pending":[]}"#);
    assert_eq!(answered.elapsed().as_secs(), 60);
}
