//! Several runtimes, each behind a control socket. They are all of this
//! process, so that their sockets are given the names of others.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::UnixListener;
use windlass_protocol::SessionId;
use windlass_runtime::{Catalogue, RunOptions, Runtime, Session, SessionOptions};
use windlass_testing::batch;

use super::*;
use crate::socket::ControlSocket;
use crate::stage::{Events, Stage};

/// Lets a runtime be found as that of another process.
fn listen(folder: &Path, pid: u32, api: &Api) -> (ControlSocket, Peer) {
    let socket = ControlSocket::listen(folder, api, |_| false).unwrap();
    let peer = peer(folder, pid);
    std::fs::rename(socket.path(), &peer.path).unwrap();
    (socket, peer)
}

fn peer(folder: &Path, pid: u32) -> Peer {
    Peer {
        front_end: "drive".to_owned(),
        pid,
        path: folder.join(format!("drive-{pid}.sock")),
    }
}

/// A runtime with this session and nothing else.
fn runtime_with(session: &SessionId) -> (Api, Session) {
    let runtime = Runtime::new(Catalogue::new());
    let session = runtime.session(SessionOptions {
        id: Some(session.clone()),
        ..SessionOptions::default()
    });
    (Api::new(&runtime, "drive"), session)
}

/// A runtime that only counts how often it is asked.
fn bystander(folder: &Path, pid: u32) -> Arc<AtomicUsize> {
    let listener = UnixListener::bind(peer(folder, pid).path).unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    asked
}

#[tokio::test]
async fn only_the_first_request_about_a_session_asks_every_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let near = Stage::with(|api| api.reaching(folder.path()));
    let far = Stage::new();
    let _socket = listen(folder.path(), 1, &far.api);
    let asked = bystander(folder.path(), 2);
    let path = format!("/api/v1/sessions/{}/handles", far.session.id());
    assert_eq!(near.get(&path).await.0, StatusCode::OK);
    let first = asked.load(Ordering::Relaxed);
    assert!(first > 0);
    for _ in 0..3 {
        assert_eq!(near.get(&path).await.0, StatusCode::OK);
    }
    // No handle of that name is no reason to ask the others either.
    let missing = near.get(&format!("{path}/none")).await;
    assert_eq!(missing.0, StatusCode::NOT_FOUND);
    assert_eq!(asked.load(Ordering::Relaxed), first);
}

#[tokio::test]
async fn a_session_that_moved_to_another_runtime_is_found_there() {
    let folder = tempfile::tempdir().unwrap();
    let near = Stage::with(|api| api.reaching(folder.path()));
    let id = SessionId::new("ses_moves").unwrap();
    let path = format!("/api/v1/sessions/{id}/turn_end");

    let (api, session) = runtime_with(&id);
    let (socket, first) = listen(folder.path(), 1, &api);
    assert_eq!(near.post(&path, json!({})).await.0, StatusCode::OK);
    assert_eq!(near.api.0.routes.find(id.as_str()), Some(first.clone()));

    // The runtime has died, and left its socket.
    session.close().await;
    drop((session, socket, api));
    while tokio::net::UnixStream::connect(&first.path).await.is_ok() {
        tokio::task::yield_now().await;
    }
    let (api, session) = runtime_with(&id);
    let (_socket, second) = listen(folder.path(), 2, &api);
    assert_eq!(near.post(&path, json!({})).await.0, StatusCode::OK);
    assert_eq!(near.api.0.routes.find(id.as_str()), Some(second));

    // The runtime is there, and has the session no more.
    session.close().await;
    drop(session);
    let (api, _session) = runtime_with(&id);
    let (_other_socket, third) = listen(folder.path(), 3, &api);
    assert_eq!(near.post(&path, json!({})).await.0, StatusCode::OK);
    assert_eq!(near.api.0.routes.find(id.as_str()), Some(third));
}

#[tokio::test]
async fn a_session_that_has_ended_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let near = Stage::with(|api| api.reaching(folder.path()));
    let id = SessionId::new("ses_ends").unwrap();
    let path = format!("/api/v1/sessions/{id}");
    let (api, session) = runtime_with(&id);
    let _socket = listen(folder.path(), 1, &api);
    assert_eq!(near.get(&path).await.0, StatusCode::OK);
    session.close().await;
    drop(session);
    let (status, refused) = near.get(&path).await;
    assert_eq!(status, StatusCode::GONE);
    assert!(refused["error"].as_str().unwrap().contains("ses_ends"));
    assert_eq!(near.api.0.routes.find(id.as_str()), None);
}

#[tokio::test]
async fn a_request_for_permission_is_replied_to_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let near = Stage::with(|api| api.reaching(folder.path()));
    let far = Stage::new();
    let (_socket, home) = listen(folder.path(), 3, &far.api);
    let asked = bystander(folder.path(), 1);
    far.tool.opening(|job| job.end_saying("done"));
    for wrong in [
        None,
        Some(peer(folder.path(), 1)),
        Some(peer(folder.path(), 9)),
    ] {
        let session = far.session.clone();
        let run = tokio::spawn(async move {
            session
                .run(batch([("asked", json!({}))]), RunOptions::default())
                .await
        });
        let id = loop {
            let (_, open) = near.get("/api/v1/permissions").await;
            if let Some(id) = open[0]["id"].as_str() {
                break id.to_owned();
            }
        };
        // The listing has told where it is.
        assert_eq!(near.api.0.routes.find(&id), Some(home.clone()));
        if let Some(wrong) = &wrong {
            near.api.0.routes.learn(&id, wrong);
        }
        let before = asked.load(Ordering::Relaxed);
        let path = format!("/api/v1/permissions/{id}");
        let (status, _) = near.post(&path, json!({"reply": "once"})).await;
        assert_eq!(status, StatusCode::NO_CONTENT);
        if wrong.is_none() {
            assert_eq!(asked.load(Ordering::Relaxed), before);
        }
        assert!(!run.await.unwrap().replies[0].is_error);
    }
    let (status, _) = near
        .post("/api/v1/permissions/per_none", json!({"reply": "once"}))
        .await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

/// Everything up to the first event that `ends` is true of.
async fn events_until(events: &mut Events, ends: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut seen = Vec::new();
    loop {
        let event = events.next().await.expect("the stream goes on");
        let is_last = ends(&event);
        seen.push(event);
        if is_last {
            return seen;
        }
    }
}

#[tokio::test]
async fn two_servers_that_reach_each_other_tell_an_event_once() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [left, right] = [0, 1].map(|own| Stage::with(|api| api.reaching(folders[own].path())));
    let _left = listen(folders[1].path(), 1, &left.api);
    let _right = listen(folders[0].path(), 2, &right.api);
    let [mut at_left, mut at_right] = [
        left.follow("/api/v1/events").await,
        right.follow("/api/v1/events").await,
    ];
    // Both follow each other once an event has come across.
    for (stage, events) in [(&left, &mut at_right), (&right, &mut at_left)] {
        let id = stage.session.id().as_str();
        let mut has_come = false;
        while !has_come {
            stage.session.end_turn().await;
            let come = events_until(events, |event| event["session"] == id);
            let within = Duration::from_millis(50);
            has_come = tokio::time::timeout(within, come).await.is_ok();
        }
    }
    let called = |stage: &Stage| {
        let id = stage.session.id().to_string();
        move |event: &Value| event["session"] == id && event["type"] == "called"
    };
    for stage in [&left, &right] {
        stage.tool.opening(|job| job.end_saying("done"));
    }
    // An echo of the first call would come back before the second one does.
    left.session
        .run(batch([("free", json!({}))]), RunOptions::default())
        .await;
    events_until(&mut at_right, called(&left)).await;
    right
        .session
        .run(batch([("free", json!({}))]), RunOptions::default())
        .await;
    let seen = events_until(&mut at_left, called(&right)).await;
    let is_left = called(&left);
    assert_eq!(seen.iter().filter(|event| is_left(event)).count(), 1);
}
