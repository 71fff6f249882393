//! The service without a socket between, so that the clock can stand still: it
//! goes on only while nothing else does.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Request, Response};
use axum::{Extension, Router};
use serde_json::{Value, json};
use tower::ServiceExt as _;
use windlass_serve_mcp::{ClientIdentity, HttpOptions, HttpSessions, http_router};

use crate::support::Tools;

pub(crate) const IDLE: Duration = Duration::from_mins(30);

/// The service, and the one client that it has.
pub(crate) struct Web {
    router: Router,
    pub(crate) sessions: HttpSessions,
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
            router: router.layer(Extension(ClientIdentity("ann".into()))),
            sessions,
            headers: Vec::new(),
            meta: None,
        }
    }

    /// With a client that begins with `initialize`.
    pub(crate) async fn begun(tools: &Tools) -> Self {
        let mut web = Self::new(tools);
        web.begin_again().await;
        web
    }

    /// With a client that names its session.
    pub(crate) async fn begun_in(tools: &Tools, session: &str) -> Self {
        Self::new(tools).beside(session).await
    }

    /// Another client of the same service, which names its session.
    pub(crate) async fn beside(&self, session: &str) -> Self {
        let mut web = Self {
            router: self.router.clone(),
            sessions: self.sessions.clone(),
            headers: vec![("windlass-session", session.to_owned())],
            meta: None,
        };
        web.begin_again().await;
        web
    }

    /// Reconnects.
    pub(crate) async fn begin_again(&mut self) {
        self.headers.retain(|(name, _)| *name != "mcp-session-id");
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let response = self.post("initialize", "", params).await;
        let session = response.headers()["mcp-session-id"].to_str().unwrap();
        let session = session.to_owned();
        drop(response);
        self.headers.push(("mcp-session-id", session));
    }

    /// Calls the tool, which refuses; returns what it says.
    pub(crate) async fn refusal(&self, action: &str) -> String {
        let result = self.result(json!({"action": action, "id": "a"})).await;
        assert_eq!(result["isError"], true, "{result}");
        result["content"].to_string()
    }

    /// With a client of the stateless protocol that has these capabilities.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "values are written in place, and read better without a borrow"
    )]
    pub(crate) fn stateless(tools: &Tools, capabilities: Value) -> Self {
        let mut web = Self::new(tools);
        let version = "2026-07-28";
        web.headers
            .push(("mcp-protocol-version", version.to_owned()));
        web.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
        web
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Response<Body> {
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

    pub(crate) async fn post(&self, method: &str, name: &str, mut params: Value) -> Response<Body> {
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

    /// Calls the tool; returns the state of the handle.
    pub(crate) async fn call(&self, action: &str) -> String {
        let result = self.result(json!({"action": action, "id": "a"})).await;
        let state = result["structuredContent"]["state"].as_str();
        state.unwrap_or_else(|| panic!("{result}")).to_owned()
    }

    /// Calls the tool; returns the result.
    pub(crate) async fn result(&self, arguments: Value) -> Value {
        let params = json!({"name": "tool", "arguments": arguments});
        let response = self.post("tools/call", "tool", params).await;
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let body = String::from_utf8(body.into()).unwrap();
        let from = body
            .find("{\"jsonrpc\"")
            .unwrap_or_else(|| panic!("no answer in {body}"));
        let line = body[from..].lines().next().unwrap();
        serde_json::from_str::<Value>(line).unwrap()["result"].clone()
    }

    /// Opens the stream that clients of sessions keep open.
    pub(crate) async fn stream(&self) -> Response<Body> {
        let response = self.send("GET", &[], String::new()).await;
        assert!(response.status().is_success(), "{response:?}");
        response
    }
}
