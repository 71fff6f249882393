//! When the session of a client over HTTP ends.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use crate::support::Tools;
use crate::web::{IDLE, Web};

#[tokio::test(start_paused = true)]
async fn a_session_ends_when_its_client_says_so() {
    let tools = Tools::new();
    let web = Web::begun(&tools).await;
    assert_eq!(web.call("spawn").await, "running");
    let job = tools.tool.next().await;
    let response = web.send("DELETE", &[], String::new()).await;
    assert_eq!(response.status(), 204);
    job.aborted(1).await;
    assert_eq!(web.sessions.count(), 0);
    let response = web.send("GET", &[], String::new()).await;
    assert_eq!(response.status(), 404);
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_when_its_client_has_been_silent() {
    let tools = Tools::new();
    for web in [Web::begun(&tools).await, Web::stateless(&tools, json!({}))] {
        let began = Instant::now();
        assert_eq!(web.call("spawn").await, "running");
        let job = tools.tool.started().pop().unwrap();
        job.aborted(1).await;
        assert!(began.elapsed() >= IDLE);
        assert_eq!(web.sessions.count(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_whose_stream_breaks_has_gone() {
    let tools = Tools::new();
    let begun = Web::begun(&tools).await;
    let stateless = Web::stateless(&tools, json!({}));
    let listen = json!({"notifications": {}});
    let streams = [
        begun.stream().await,
        stateless.post("subscriptions/listen", "", listen).await,
    ];
    for (web, stream) in [begun, stateless].iter().zip(streams) {
        assert_eq!(web.call("spawn").await, "running");
        let job = tools.tool.started().pop().unwrap();
        // It is there, however silent, for as long as the stream is.
        tokio::time::sleep(IDLE * 2).await;
        assert_eq!(web.call("fetch").await, "running");
        let broke = Instant::now();
        drop(stream);
        job.aborted(1).await;
        assert!(
            broke.elapsed() < Duration::from_secs(10),
            "{:?}",
            broke.elapsed()
        );
        assert_eq!(web.sessions.count(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_comes_back_keeps_its_handles() {
    let tools = Tools::new();
    let web = Web::begun(&tools).await;
    let stream = web.stream().await;
    assert_eq!(web.call("spawn").await, "running");
    drop(stream);
    tokio::time::sleep(Duration::from_secs(3)).await;
    let again = web.stream().await;
    tokio::time::sleep(IDLE * 2).await;
    assert_eq!(web.call("fetch").await, "running");
    drop(again);
    tools.tool.next().await.aborted(1).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_named_continues_for_its_idle_time() {
    let tools = Tools::new();
    let began = Instant::now();
    let mut web = Web::begun_in(&tools, "nightly").await;
    assert_eq!(web.call("spawn").await, "running");
    let job = tools.tool.next().await;
    // Every call is a connection of its own, which its client ends in one way
    // or another.
    let response = web.send("DELETE", &[], String::new()).await;
    assert_eq!(response.status(), 204);
    for _ in 0..3 {
        web.begin_again().await;
        assert_eq!(web.call("fetch").await, "running");
        drop(web.stream().await);
        tokio::time::sleep(Duration::from_secs(20)).await;
    }
    job.aborted(1).await;
    assert!(began.elapsed() >= IDLE);
}

#[tokio::test(start_paused = true)]
async fn a_session_of_another_name_is_another_one() {
    let tools = Tools::new();
    let web = Web::begun_in(&tools, "nightly").await;
    assert_eq!(web.call("spawn").await, "running");
    let other = web.beside("other").await;
    let refusal = other.refusal("fetch").await;
    assert!(refusal.contains("this session is new"), "{refusal}");
}
