use std::time::Duration;

use axum::http::StatusCode;
use serde_json::{Value, json};
use windlass_runtime::RunOptions;
use windlass_testing::batch;

use super::OpencodeItem;
use crate::stage::{Events, Stage};

async fn connected(stage: &Stage, path: &str) -> Events {
    let mut events = stage.follow(path).await;
    let first = events.next().await.unwrap();
    assert_eq!(first["type"], "server.connected");
    assert_eq!(first["properties"], json!({}));
    assert!(first["id"].as_str().unwrap().starts_with("evt_"));
    events
}

/// The types of events up to one of this type, one after the other.
async fn types(events: &mut Events, last: &str) -> String {
    let mut types = Vec::new();
    loop {
        let event = events.next().await.unwrap();
        let status = &event["properties"]["part"]["state"]["status"];
        let name = event["type"].as_str().unwrap().to_owned();
        let is_last = name == last;
        types.push(match status {
            Value::String(status) => format!("{name} {status}"),
            _ => name,
        });
        if is_last {
            return types.join("\n");
        }
    }
}

#[tokio::test]
async fn a_call_is_told_from_its_coming_in_to_its_end() {
    let stage = Stage::new();
    let mut events = connected(&stage, "/event").await;
    let run = stage
        .session
        .run(batch([("asked", json!({"x": 1}))]), RunOptions::default());
    let answer = async {
        let before = types(&mut events, "permission.updated").await;
        let (_, asked) = stage.get("/permission").await;
        let id = asked[0]["id"].as_str().unwrap();
        let path = format!("/permission/{id}/reply");
        let replied = stage.post(&path, json!({"reply": "once"})).await;
        assert_eq!(replied, (StatusCode::OK, json!(true)));
        stage.tool.next().await.end_saying("done");
        format!("{before}\n{}", types(&mut events, "session.idle").await)
    };
    let (reply, told) = tokio::join!(run, answer);
    assert!(!reply.replies[0].is_error);
    assert_eq!(
        told,
        "session.created\n\
         session.status\n\
         message.updated\n\
         message.part.updated pending\n\
         permission.asked\n\
         permission.updated\n\
         permission.replied\n\
         message.part.updated running\n\
         message.part.updated completed\n\
         message.updated\n\
         session.status\n\
         session.idle"
    );
}

#[tokio::test]
async fn a_request_is_told_and_answered_in_the_words_of_both_generations() {
    let stage = Stage::new();
    let mut events = connected(&stage, "/event").await;
    let run = stage
        .session
        .run(batch([("asked", json!({}))]), RunOptions::default());
    let answer = async {
        let second = events.of_type("permission.asked").await;
        let first = events.of_type("permission.updated").await;
        assert_eq!(first["id"], second["id"]);
        assert_eq!(first["type"], "asked");
        assert_eq!(first["pattern"], second["patterns"]);
        assert_eq!(first["messageID"], second["tool"]["messageID"]);
        assert_eq!(first["callID"], "c1");
        assert_eq!(first["title"], "asked: asked");
        assert!(first["time"]["created"].as_u64().unwrap() > 0);

        let (session, id) = (stage.session.id(), first["id"].as_str().unwrap());
        let path = format!("/session/{session}/permissions/{id}");
        let replied = stage.post(&path, json!({"response": "reject"})).await;
        assert_eq!(replied, (StatusCode::OK, json!(true)));
        let told = events.of_type("permission.replied").await;
        assert_eq!(
            told,
            json!({
                "sessionID": session, "requestID": id, "reply": "reject",
                "permissionID": id, "response": "reject",
            })
        );
        stage.post(&path, json!({"response": "once"})).await
    };
    let (reply, (status, refused)) = tokio::join!(run, answer);
    assert!(reply.replies[0].is_error);
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert_eq!(refused["name"], "NotFoundError");
    assert_eq!(refused["data"]["message"], refused["message"]);
}

#[tokio::test]
async fn refusals_have_the_shape_that_its_clients_read() {
    let stage = Stage::new();
    for id in ["per_1", "x", "per_..%2f..", "per_%00"] {
        let path = format!("/permission/{id}/reply");
        let (status, refused) = stage.post(&path, json!({"reply": "once"})).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{id}");
        assert_eq!(refused["_tag"], "PermissionNotFoundError");
        assert!(refused["requestID"].is_string());
        assert_eq!(refused["data"]["message"], refused["message"]);
    }
    let (status, refused) = stage
        .post("/permission/per_1/reply", json!({"reply": "perhaps"}))
        .await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(refused["name"], "BadRequest");
    for path in [
        "/session/ses_none",
        "/session/none/message",
        "/session/..%2f",
    ] {
        let (status, refused) = stage.get(path).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(refused["name"], "NotFoundError");
    }
    let (status, _) = stage.get("/session?limit=many").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_session_is_begun_under_its_title_where_the_server_works() {
    let stage = Stage::new();
    let mut events = connected(&stage, "/event?directory=/project").await;
    let mut elsewhere = connected(&stage, "/event?directory=/elsewhere").await;
    let (status, session) = stage.post("/session", json!({"title": "mine"})).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(session["title"], "mine");
    assert_eq!(session["directory"], "/project");
    let id = &session["id"];
    loop {
        let created = events.of_type("session.created").await;
        if created["sessionID"] == *id {
            break;
        }
    }
    let (_, all) = stage.get("/session?directory=/project").await;
    assert_eq!(all.as_array().unwrap().len(), 2);
    assert_eq!(
        stage.get("/session?directory=/elsewhere").await.1,
        json!([])
    );
    let (_, found) = stage.get("/session?search=MINE&limit=5").await;
    assert_eq!(found[0]["id"], *id);
    assert_eq!(found.as_array().unwrap().len(), 1);
    let (_, shown) = stage
        .get(&format!("/session/{}", id.as_str().unwrap()))
        .await;
    assert_eq!(shown, session);

    let (status, refused) = stage.post("/session?directory=/elsewhere", json!({})).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(
        refused["message"].as_str().unwrap().contains("/project"),
        "{refused}"
    );
    assert_eq!(stage.api.0.owned.lock().len(), 1);
    // Nothing of the other folder has happened there.
    tokio::time::pause();
    assert_eq!(elsewhere.next().await.unwrap()["type"], "server.heartbeat");
}

#[tokio::test(start_paused = true)]
async fn the_stream_has_a_heartbeat() {
    let stage = Stage::new();
    let mut events = connected(&stage, "/event").await;
    events.of_type("session.created").await;
    let began = tokio::time::Instant::now();
    let mut ids = std::collections::HashSet::new();
    for _ in 0..3 {
        let event = events.next().await.unwrap();
        assert_eq!(event["type"], "server.heartbeat");
        assert!(ids.insert(event["id"].to_string()));
    }
    let since = began.elapsed();
    assert!(since > Duration::from_secs(19) && since < Duration::from_secs(31));
}

fn empty_item() -> OpencodeItem {
    OpencodeItem {
        data: "{}".into(),
        directory: "/project".into(),
    }
}

#[tokio::test]
async fn a_reader_that_would_miss_something_is_let_go_of() {
    let stage = Stage::new();
    let mut slow = connected(&stage, "/event").await;
    let published = &stage.api.0.opencode.events;
    for _ in 0..9000 {
        published.push(|_| (empty_item(), 2));
    }
    while slow.next().await.is_some() {}
    connected(&stage, "/event").await;
}

#[tokio::test]
async fn readers_are_let_go_of_when_something_was_missed_for_them() {
    let stage = Stage::new();
    let mut events = connected(&stage, "/event").await;
    events.of_type("session.created").await;
    let published = &stage.api.0.opencode.events;
    published.lose();
    published.push(|_| (empty_item(), 2));
    assert_eq!(events.next().await, None);
    connected(&stage, "/event").await;
}

#[tokio::test]
async fn messages_are_there_while_their_calls_run() {
    let stage = Stage::new();
    let session = stage.session.id();
    let path = format!("/session/{session}/message");
    let run = stage
        .session
        .run(batch([("free", json!({"x": 1}))]), RunOptions::default());
    let look = async {
        let job = stage.tool.next().await;
        let (status, running) = stage.get(&path).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(running.as_array().unwrap().len(), 1);
        job.end_saying("done");
        running
    };
    let (_, running) = tokio::join!(run, look);
    let (info, part) = (&running[0]["info"], &running[0]["parts"][0]);
    assert_eq!(part["state"]["status"], "running");
    assert_eq!(info["role"], "assistant");
    assert_eq!(info["id"], part["messageID"]);
    assert_eq!(info["time"]["completed"], Value::Null);
    assert_eq!(info["path"]["root"], "/project");
    let (_, ended) = stage.get(&path).await;
    assert_eq!(ended[0]["parts"][0]["state"]["output"], "done");
    assert!(ended[0]["info"]["time"]["completed"].is_number());
}
