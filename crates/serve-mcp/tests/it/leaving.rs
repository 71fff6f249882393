//! When the session of a client over HTTP ends.
//!
//! The service is called without a socket between, so that the clock can stand
//! still: it goes on only while nothing else does.

use std::time::Duration;

use axum::Extension;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response};
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::ServiceExt as _;
use windlass_serve_mcp::{HttpOptions, Owner, Sessions, http_router};

use crate::support::Tools;

const IDLE: Duration = Duration::from_mins(30);

/// The service, and the one client that it has.
struct Web {
    router: Router,
    sessions: Sessions,
    headers: Vec<(&'static str, String)>,
    meta: Option<Value>,
}

impl Web {
    fn new(tools: &Tools) -> Self {
        let options = HttpOptions {
            idle: IDLE,
            ..HttpOptions::default()
        };
        let (router, sessions) = http_router(&tools.server(Duration::from_hours(2)), options);
        Self {
            router: router.layer(Extension(Owner("ann".into()))),
            sessions,
            headers: Vec::new(),
            meta: None,
        }
    }

    /// With a client that begins with `initialize`.
    async fn begun(tools: &Tools) -> Self {
        let mut web = Self::new(tools);
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let response = web.post("initialize", "", params).await;
        let session = response.headers()["mcp-session-id"].to_str().unwrap();
        let session = session.to_owned();
        drop(response);
        web.headers.push(("mcp-session-id", session));
        web
    }

    /// With a client of the stateless protocol.
    fn stateless(tools: &Tools) -> Self {
        let mut web = Self::new(tools);
        let version = "2026-07-28";
        web.headers
            .push(("mcp-protocol-version", version.to_owned()));
        web.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }));
        web
    }

    async fn send(&self, method: &str, headers: &[(&str, &str)], body: String) -> Response<Body> {
        let mut request = Request::builder()
            .method(method)
            .uri("/")
            .header("host", "localhost")
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body)).unwrap();
        self.router.clone().oneshot(request).await.unwrap()
    }

    async fn post(&self, method: &str, name: &str, mut params: Value) -> Response<Body> {
        let mut headers = Vec::new();
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
            headers.push(("mcp-method", method));
            headers.extend((!name.is_empty()).then_some(("mcp-name", name)));
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let response = self.send("POST", &headers, body.to_string()).await;
        assert!(response.status().is_success(), "{response:?}");
        response
    }

    /// Calls the tool; gives the state of the handle.
    async fn call(&self, action: &str) -> String {
        let arguments = json!({"action": action, "id": "a"});
        let params = json!({"name": "tool", "arguments": arguments});
        let response = self.post("tools/call", "tool", params).await;
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let body = String::from_utf8(body.into()).unwrap();
        let from = body
            .find("{\"jsonrpc\"")
            .unwrap_or_else(|| panic!("no answer in {body}"));
        let line = body[from..].lines().next().unwrap();
        let answer: Value = serde_json::from_str(line).unwrap();
        let state = &answer["result"]["structuredContent"]["state"];
        state
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"))
            .to_owned()
    }

    /// Opens the stream that clients of sessions keep open.
    async fn stream(&self) -> Response<Body> {
        let response = self.send("GET", &[], String::new()).await;
        assert!(response.status().is_success(), "{response:?}");
        response
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_when_its_client_says_so() {
    let tools = Tools::new();
    let web = Web::begun(&tools).await;
    assert_eq!(web.call("spawn").await, "running");
    let job = tools.tool.next().await;
    let response = web.send("DELETE", &[], String::new()).await;
    assert!(response.status().is_success(), "{response:?}");
    job.aborted(1).await;
    assert_eq!(web.sessions.count(), 0);
    let response = web.send("GET", &[], String::new()).await;
    assert_eq!(response.status(), 404);
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_when_its_client_has_been_silent() {
    let tools = Tools::new();
    for web in [Web::begun(&tools).await, Web::stateless(&tools)] {
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
    let stateless = Web::stateless(&tools);
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
