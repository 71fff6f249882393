//! A caller in a hurry whose call on a handle needs permission: the request
//! stays open, and the same call made again finds the reply.

use insta::assert_snapshot;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use windlass_runtime::{RunMode, RunOptions, RunPolicy};
use windlass_testing::batch;

use crate::support::{PERSON, Stage, told};

/// A handle `a` whose every further action needs permission.
async fn guarded() -> Stage {
    let stage = Stage::with(PERSON, |setup| {
        setup.tool.run = RunPolicy {
            one_shot: RunMode::Unattended,
            spawn: RunMode::Unattended,
            fetch: RunMode::Ask,
            apply: RunMode::Ask,
            abort: RunMode::Ask,
        };
    });
    let spawn = json!({"action": "spawn", "id": "a"});
    let running = stage.go([("tool", spawn)]);
    stage.tool.next().await.settle();
    running.await.unwrap();
    stage
}

fn go(stage: &Stage, args: &Value) -> (JoinHandle<String>, RunOptions) {
    let session = stage.session.clone();
    let batch = batch([("tool", args.clone())]);
    let options = RunOptions::default();
    let hurried = options.clone();
    let running = tokio::spawn(async move { told(&session.run(batch, hurried).await) });
    (running, options)
}

fn apply(input: &str) -> Value {
    json!({"action": "apply", "id": "a", "input": input})
}

fn unpermitted(permission: &str) -> String {
    format!(
        "c1 ! waiting for the user: `tool` needs permission for this call, and nothing has run \
         yet; \
         they allow it with `windlass permissions reply {permission} once` or on the page; tell them; \
         make the same call again once they have replied"
    )
}

#[tokio::test]
async fn input_that_is_allowed_late_is_typed_when_the_same_call_is_made_again() {
    let stage = guarded().await;
    let (running, options) = go(&stage, &apply("yes"));
    let asked = stage.person.next_permission().await;
    options.hurry.cancel();
    let permission = asked.asked.id.to_string();
    assert_eq!(running.await.unwrap(), unpermitted(&permission));
    assert!(asked.is_open());
    asked.once();
    let job = stage.tool.job("a").unwrap();
    assert!(job.inputs().is_empty(), "nothing is typed by itself");
    let running = stage.go([("tool", apply("yes"))]);
    job.settle();
    assert_snapshot!(running.await.unwrap(), @r#"c1 {"id":"a","state":"running"}"#);
    assert_eq!(job.inputs().len(), 1);
    assert!(stage.session.requests().is_empty());
    // It was good once, and for that input.
    for input in ["yes", "no"] {
        let (running, options) = go(&stage, &apply(input));
        let again = stage.person.next_permission().await;
        assert_ne!(again.asked.id.to_string(), permission);
        options.cancel.cancel();
        running.await.unwrap();
        again.withdrawn().await;
    }
    assert_eq!(job.inputs().len(), 1);
}

#[tokio::test]
async fn the_same_call_waits_for_the_request_that_is_open() {
    for args in [
        apply("yes"),
        json!({"action": "fetch", "id": "a"}),
        json!({"action": "abort", "id": "a"}),
    ] {
        let stage = guarded().await;
        let (running, options) = go(&stage, &args);
        let asked = stage.person.next_permission().await;
        options.hurry.cancel();
        running.await.unwrap();
        let running = stage.go([("tool", args.clone())]);
        // The request is shown again, to a front end that can ask within the new call.
        let again = stage.person.next_permission().await;
        assert_eq!(again.asked.id, asked.asked.id);
        assert_eq!(stage.session.requests().len(), 1);
        again.once();
        stage.tool.job("a").unwrap().settle();
        let reply = running.await.unwrap();
        assert!(reply.starts_with(r#"c1 {"id":"a""#), "{args}: {reply}");
    }
}

#[tokio::test]
async fn a_late_rejection_is_told_to_the_same_call() {
    let stage = guarded().await;
    let (running, options) = go(&stage, &apply("yes"));
    let asked = stage.person.next_permission().await;
    options.hurry.cancel();
    running.await.unwrap();
    asked.reject(Some("not today"));
    assert_eq!(
        stage.run([("tool", apply("yes"))]).await,
        "c1 ! the user rejected `tool`: not today"
    );
    assert!(stage.tool.job("a").unwrap().inputs().is_empty());
}

#[tokio::test]
async fn a_request_for_input_goes_with_its_handle() {
    let stage = guarded().await;
    let (running, options) = go(&stage, &apply("yes"));
    let asked = stage.person.next_permission().await;
    options.hurry.cancel();
    running.await.unwrap();
    stage.tool.job("a").unwrap().end();
    asked.withdrawn().await;
}
