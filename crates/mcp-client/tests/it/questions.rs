//! What servers ask, as questions of the call that they belong to.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_outside::needs;
use windlass_runtime::{Attendance, SessionOptions};
use windlass_testing::ScriptedPerson;

use crate::support::{Stage, eventually, fixture};

async fn spawned(stage: &Stage, tool: &str) -> Value {
    stage
        .call(tool, json!({"action": "spawn", "id": "a"}))
        .await;
    let waiting = json!({"until": [{"id": "a", "waiting": true}]});
    stage.call("await", waiting).await;
    stage
        .call(tool, json!({"action": "fetch", "id": "a"}))
        .await
}

/// What the server was answered.
fn answered(stopped: &Value) -> Value {
    serde_json::from_str(stopped["result"].as_str().unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_elicitation_is_a_question() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    let waiting = spawned(&stage, "ask").await;
    assert_eq!(waiting["state"], "waiting");
    assert_eq!(
        waiting["question"],
        json!({"id": "sure", "text": "Sure?", "answer_type": "Boolean"})
    );
    stage
        .call("ask", json!({"action": "apply", "id": "a", "input": "yes"}))
        .await;
    assert_eq!(
        answered(&stage.stopped("a").await),
        json!({"action": "accept", "content": {"sure": true}})
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_is_asked_field_by_field() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    let mut shown = spawned(&stage, "ask_form").await;
    let mut asked = Vec::new();
    // What is no age is asked for again.
    let mut ages = vec!["7", "seven"];
    while shown["state"] == "waiting" {
        let question = shown["question"].clone();
        asked.push(question["text"].as_str().unwrap().to_owned());
        let input = match question["id"].as_str().unwrap() {
            "name" => "Ada",
            "age" => ages.pop().unwrap(),
            "colour" => "Green",
            _ => "",
        };
        let apply = json!({"action": "apply", "id": "a", "input": input});
        shown = stage.call("ask_form", apply).await;
        if shown["state"] == "running" {
            let next = json!({"any": ["a"], "until": [{"id": "a", "waiting": true}]});
            stage.call("await", next).await;
            shown = stage
                .call("ask_form", json!({"action": "fetch", "id": "a"}))
                .await;
        }
    }
    asked.sort();
    assert_eq!(
        asked,
        [
            "About you (Name: yours)",
            "About you (age)",
            "About you (age) (\"seven\" is not a whole number)",
            "About you (colour)",
            "About you (note)",
        ]
    );
    assert_eq!(
        answered(&shown),
        json!({"action": "accept", "content": {"name": "Ada", "age": 7, "colour": "g"}})
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_no_declines_and_an_abort_cancels() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    spawned(&stage, "ask_consent").await;
    stage
        .call(
            "ask_consent",
            json!({"action": "apply", "id": "a", "input": false}),
        )
        .await;
    assert_eq!(
        answered(&stage.stopped("a").await),
        json!({"action": "decline"})
    );
    let before = stage.came().iter().filter(|it| *it == "answer").count();
    spawned(&stage, "ask").await;
    stage
        .call("ask", json!({"action": "abort", "id": "a"}))
        .await;
    eventually("the server is answered", || {
        stage.came().iter().filter(|it| *it == "answer").count() > before
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_one_shots_question_goes_to_the_person() {
    needs!("python3");
    let person = Arc::new(ScriptedPerson::new());
    let folder = tempfile::tempdir().unwrap();
    let options = SessionOptions {
        attendance: Attendance::Attended,
        ..SessionOptions::default()
    };
    let stage = Stage::at(fixture(&folder, &[]), folder, options).await;
    person.attend(stage.session.requests());
    let (reply, ()) = tokio::join!(stage.call("ask", json!({})), async {
        person.next_question().await.reply(json!(false));
    });
    assert_eq!(
        reply,
        json!("{\"action\": \"accept\", \"content\": {\"sure\": false}}")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_one_shot_that_nobody_answers_fails_with_what_was_asked() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    let reply = stage.call("ask", json!({})).await;
    let error = reply["error"].as_str().unwrap();
    assert!(error.contains("asked \"Sure?\""), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_gets_no_model() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    let reply = stage.call("sample", json!({})).await;
    assert!(
        reply.as_str().unwrap().contains("does not offer sampling"),
        "{reply}"
    );
}
