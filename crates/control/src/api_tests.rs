//! Bodies that mean no good: whatever comes, it is answered, and never with an
//! error of ours.

use axum::body::Body;
use axum::http::StatusCode;
use bytes::Bytes;
use futures_util::stream;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use tower::ServiceExt;
use windlass_runtime::RunOptions;
use windlass_testing::{batch, text_question};

use super::*;
use crate::stage::Stage;

/// A stage on which everything that takes a body is there to take it.
struct Crowded {
    stage: Stage,
    paths: Vec<String>,
}

impl Crowded {
    async fn new() -> Self {
        let stage = Stage::new();
        let session = stage.session.clone();
        let spawn = json!({"action": "spawn", "id": "h"});
        session
            .run(batch([("free", spawn)]), RunOptions::default())
            .await;
        let job = stage.tool.next().await;
        job.ask(text_question("q", "What?"));
        // Whatever a body starts has ended before it is waited for.
        stage.tool.opening(windlass_testing::ScriptedJob::end);
        let asking = session.clone();
        tokio::spawn(async move {
            asking
                .run(batch([("asked", json!({}))]), RunOptions::default())
                .await
        });
        let permission = loop {
            if let Some(request) = session.requests().permissions().first() {
                break request.id.clone();
            }
            tokio::task::yield_now().await;
        };
        let id = session.id();
        let here = format!("/api/v1/sessions/{id}");
        let mut paths = vec![
            "/api/v1/sessions".to_owned(),
            format!("{here}/calls"),
            format!("{here}/turn_end"),
            format!("{here}/handles/h/input"),
            format!("{here}/handles/h/resize"),
            format!("{here}/handles/h/lock"),
            format!("{here}/permissions/{permission}"),
            format!("/api/v1/permissions/{permission}"),
            format!("{here}/questions/q_1"),
            "/api/v1/questions/q_1".to_owned(),
        ];
        if cfg!(feature = "opencode") {
            paths.push("/session".to_owned());
            paths.push(format!("/session/{id}/permissions/{permission}"));
            paths.push(format!("/permission/{permission}/reply"));
        }
        Self { stage, paths }
    }

    /// Every path is given the body, and answers for it.
    async fn take(&self, body: &[u8]) {
        for path in &self.paths {
            let (status, said) = self.stage.post_bytes(path, body.to_vec()).await;
            assert!(!status.is_server_error(), "{path}: {status} {said:?}");
            if status.is_client_error() {
                let said: Value = serde_json::from_slice(&said).expect("it says why");
                let why = said.get("error").or(said.get("message"));
                assert!(why.is_some_and(Value::is_string), "{path}: {said}");
            }
        }
    }
}

/// Bodies that are understood somewhere.
fn good() -> Vec<Value> {
    vec![
        json!([{"id": "1", "tool": "free", "arguments": {"x": [1, null]}}]),
        json!({"batch": "b", "calls": [{"tool": "free", "arguments": {"action": "fetch", "id": "h"}}]}),
        json!({"trusted": true, "idle_secs": 18_446_744_073_709_551_615_u64}),
        json!({"typing": {"input": "x", "keys": ["esc"], "enter": false}, "lock": "l"}),
        json!({"bytes": "Y28K"}),
        json!({"answer": {"a": "b"}}),
        json!({"rows": 10, "cols": 20}),
        json!({"reply": "reject", "message": "no", "arguments": {}}),
        json!({"response": "once"}),
        json!({"value": true}),
        json!({"title": "t", "parentID": "ses_1"}),
    ]
}

/// Bytes of any kind, and good bodies with something wrong about them.
fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let good: Vec<Vec<u8>> = good().iter().map(|body| body.to_string().into()).collect();
    let change = (
        any::<prop::sample::Index>(),
        vec(any::<u8>(), 0..4),
        0..3_u8,
    );
    let mutated =
        (prop::sample::select(good), vec(change, 0..4)).prop_map(|(mut body, changes)| {
            for (place, bytes, kind) in changes {
                let at = place.index(body.len() + 1);
                match kind {
                    0 => drop(body.splice(at..at, bytes)),
                    1 => body.truncate(at),
                    _ => drop(body.splice(at..(at + 1).min(body.len()), bytes)),
                }
            }
            body
        });
    prop_oneof![vec(any::<u8>(), 0..64), mutated]
}

#[test]
fn no_body_brings_an_error_of_ours() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let crowded = runtime.block_on(Crowded::new());
    for body in good() {
        runtime.block_on(crowded.take(body.to_string().as_bytes()));
    }
    let mut runner = TestRunner::new(Config::with_cases(128));
    let outcome = runner.run(&bodies(), |body| {
        runtime.block_on(crowded.take(&body));
        Ok(())
    });
    outcome.unwrap();
}

#[tokio::test]
async fn a_body_that_says_too_little_of_its_size_is_cut_off() {
    let stage = Stage::new();
    // Nothing says beforehand how much is to come.
    let piece = Bytes::from(vec![b' '; 1 << 20]);
    let pieces = stream::repeat_with(move || Ok::<_, std::io::Error>(piece.clone()));
    let body = Body::from_stream(pieces);
    let (status, _) = stage.post_bytes("/api/v1/sessions", body).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let stage = Stage::new();
    let id = stage.session.id();
    let opencode = cfg!(feature = "opencode").then(|| "/session".to_owned());
    let calls = format!("/api/v1/sessions/{id}/calls");
    for path in opencode.into_iter().chain([calls]) {
        let never = stream::pending::<Result<Bytes, std::io::Error>>();
        let asking = stage.api.router().oneshot(crate::stage::request(
            "POST",
            &path,
            Body::from_stream(never),
        ));
        let response = asking.await.unwrap();
        assert_eq!(response.status(), StatusCode::REQUEST_TIMEOUT);
    }
}

#[tokio::test]
async fn a_session_may_stay_for_longer_than_any_clock_runs() {
    let stage = Stage::new();
    let new = json!({"idle_secs": u64::MAX});
    let (status, begun) = stage.post("/api/v1/sessions", new).await;
    assert_eq!(status, StatusCode::CREATED);
    let id = begun["id"].as_str().unwrap().to_owned();
    sessions::expire(stage.api.clone(), id.clone()).await;
    let (status, _) = stage.get(&format!("/api/v1/sessions/{id}")).await;
    assert_eq!(status, StatusCode::OK);
}
