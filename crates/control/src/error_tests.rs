//! Each refusal is answered with the status that tells a client what to do.

use axum::http::StatusCode;
use serde_json::{Value, json};
use windlass_runtime::RunOptions;
use windlass_testing::{ScriptedJob, batch, question};

use crate::stage::Stage;

/// A stage with a running handle `h`.
async fn with_handle() -> (Stage, ScriptedJob, String) {
    let stage = Stage::new();
    let spawn = json!({"action": "spawn", "id": "h"});
    stage
        .session
        .run(batch([("free", spawn)]), RunOptions::default())
        .await;
    let job = stage.tool.next().await;
    let path = format!("/api/v1/sessions/{}/handles/h", stage.session.id());
    (stage, job, path)
}

/// What a request is answered with, as its status and message.
async fn refused(stage: &Stage, path: &str, body: Value) -> (u16, String) {
    let (status, said) = stage.post(path, body).await;
    let message = said["error"].as_str().unwrap_or_default().to_owned();
    (status.as_u16(), message)
}

#[tokio::test]
async fn a_body_that_is_no_json_is_400_and_one_that_does_not_fit_422() {
    let (stage, _job, handle) = with_handle().await;
    let calls = format!("/api/v1/sessions/{}/calls", stage.session.id());
    for path in [&calls, &format!("{handle}/input")] {
        let (status, _) = stage.post_bytes(path, "{").await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{path}");
    }
    for (path, body) in [
        (calls.clone(), json!([{"tool": 3}])),
        (calls, json!({"turn_end": true})),
        (format!("{handle}/input"), json!({"typing": 3})),
        (format!("{handle}/input"), json!({})),
        (format!("{handle}/input"), json!({"bytes": "?"})),
        (format!("{handle}/resize"), json!({"rows": 0, "cols": 9})),
    ] {
        let (status, message) = refused(&stage, &path, body).await;
        assert_eq!(status, 422, "{path}: {message}");
    }
}

#[tokio::test]
async fn an_answer_of_the_wrong_type_is_422_and_leaves_the_question_open() {
    let (stage, job, handle) = with_handle().await;
    job.ask(question("q", "Really?"));
    let input = format!("{handle}/input");
    let (status, message) = refused(&stage, &input, json!({"answer": "perhaps"})).await;
    assert_eq!(status, 422, "{message}");
    let (status, _) = refused(&stage, &input, json!({"answer": true})).await;
    assert_eq!(status, 204);
}

#[tokio::test]
async fn an_answer_to_nothing_and_input_for_a_stopped_handle_are_409() {
    let (stage, job, handle) = with_handle().await;
    let input = format!("{handle}/input");
    assert_eq!(
        refused(&stage, &input, json!({"answer": "x"})).await,
        (
            409,
            "handle `h` has no open question; type into it instead".to_owned()
        )
    );
    job.end();
    let typed = json!({"typing": {"input": "x"}});
    assert_eq!(
        refused(&stage, &input, typed).await,
        (
            409,
            "handle `h` has stopped and takes no input; its output is in its log".to_owned()
        )
    );
}

#[tokio::test]
async fn a_handle_and_a_session_that_never_were_are_404() {
    let stage = Stage::new();
    let id = stage.session.id();
    for path in [
        format!("/api/v1/sessions/{id}/handles/none"),
        "/api/v1/sessions/ses_none".to_owned(),
        "/api/v1/sessions/ses_none/handles".to_owned(),
    ] {
        let (status, _) = stage.get(&path).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn a_session_that_has_ended_is_410() {
    let stage = Stage::new();
    let path = format!("/api/v1/sessions/{}", stage.session.id());
    stage.session.close().await;
    let (status, said) = stage.get(&path).await;
    assert_eq!(status, StatusCode::GONE);
    let message = said["error"].as_str().unwrap();
    assert!(
        message.contains("has ended; GET /api/v1/sessions"),
        "{said}"
    );
    let calls = json!([{"tool": "free"}]);
    assert_eq!(
        refused(&stage, &format!("{path}/calls"), calls).await.0,
        410
    );
}

#[tokio::test]
async fn a_batch_for_a_session_that_is_being_ended_is_410() {
    let (stage, job, _) = with_handle().await;
    job.hold_on();
    let session = stage.session.clone();
    let closing = tokio::spawn(async move { session.close().await });
    job.aborted(1).await;
    let path = format!("/api/v1/sessions/{}/calls", stage.session.id());
    let calls = json!([{"tool": "free"}]);
    assert_eq!(refused(&stage, &path, calls).await.0, 410);
    job.let_go();
    closing.await.unwrap();
}

#[tokio::test]
async fn a_reply_to_a_request_that_is_no_longer_open_is_409_and_to_none_404() {
    let stage = Stage::new();
    stage.tool.opening(ScriptedJob::end);
    let session = stage.session.clone();
    let call = tokio::spawn(async move {
        let calls = batch([("asked", json!({}))]);
        session.run(calls, RunOptions::default()).await
    });
    let id = stage.session.requests().watch().next().await.unwrap();
    let id = id.request().id().to_owned();
    let here = format!("/api/v1/sessions/{}/permissions", stage.session.id());
    for (status, path) in [
        (204, format!("{here}/{id}")),
        (409, format!("{here}/{id}")),
        (409, format!("/api/v1/permissions/{id}")),
        (404, format!("{here}/per_never")),
        (404, "/api/v1/permissions/per_never".to_owned()),
    ] {
        let (answered, message) = refused(&stage, &path, json!({"reply": "once"})).await;
        assert_eq!(answered, status, "{path}: {message}");
    }
    call.await.unwrap();
}
