//! Servers that run already, over streamable HTTP, in both eras.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequest,
    ElicitRequestParams, ErrorData, InputRequest, InputRequiredResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, RequestParamsMeta,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use windlass_mcp_client::Reach;
use windlass_runtime::{Catalogue, SessionOptions};

use crate::support::{Stage, server};

/// A server by rmcp, of one era or of both.
#[derive(Clone)]
struct Fixture {
    versions: &'static [ProtocolVersion],
}

const BOTH: Fixture = Fixture {
    versions: ProtocolVersion::KNOWN_VERSIONS,
};
const OLD: Fixture = Fixture {
    versions: &[ProtocolVersion::V_2025_11_25],
};

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(self.versions)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        let Value::Object(schema) = schema else {
            unreachable!("it is one");
        };
        let schema = Arc::new(schema);
        let tools = ["echo", "ask", "steps"];
        let tools = tools.map(|name| Tool::new(name, "A tool.", Arc::clone(&schema)));
        Ok(ListToolsResult::with_all_items(tools.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let said = match &*request.name {
            "echo" => {
                let args = request.arguments.unwrap_or_default();
                args["text"].as_str().unwrap_or_default().to_owned()
            }
            "steps" => {
                let token = context.meta.get_progress_token();
                let token = token.or_else(|| request.progress_token()).unwrap();
                for step in 1..=3 {
                    let progress = ProgressNotificationParam::new(token.clone(), f64::from(step));
                    context.peer.notify_progress(progress).await.unwrap();
                }
                "stepped".to_owned()
            }
            _ => {
                let modern = context
                    .protocol_version()
                    .is_some_and(|version| !version.has_initialize());
                match (modern, request.input_responses) {
                    (true, Some(responses)) => json!(responses["k"]).to_string(),
                    (true, None) => {
                        let request = InputRequest::Elicitation(ElicitRequest::new(form()));
                        let requests = [("k".to_owned(), request)].into();
                        return Ok(InputRequiredResult::from_input_requests(requests).into());
                    }
                    (false, _) => {
                        let answer = context.peer.create_elicitation(form()).await;
                        json!(answer.unwrap()).to_string()
                    }
                }
            }
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(said)]).into())
    }
}

fn form() -> ElicitRequestParams {
    let form = json!({
        "mode": "form",
        "message": "Sure?",
        "requestedSchema": {
            "type": "object",
            "properties": {"sure": {"type": "boolean"}},
            "required": ["sure"],
        },
    });
    serde_json::from_value(form).unwrap()
}

async fn only_with_token(request: Request, next: Next) -> Response {
    let given = request.headers().get("authorization");
    if given.is_some_and(|given| given == "Bearer t") {
        next.run(request).await
    } else {
        StatusCode::FORBIDDEN.into_response()
    }
}

/// Serves on a free port until the token is cancelled; returns the address.
async fn serve(fixture: Fixture, until: CancellationToken) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut config = StreamableHttpServerConfig::default();
    config.cancellation_token = until.clone();
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(fixture.clone()), sessions, config);
    let router = axum::Router::new()
        .fallback_service(service)
        .layer(middleware::from_fn(only_with_token));
    tokio::spawn(async move {
        tokio::select! {
            served = axum::serve(listener, router) => served.unwrap(),
            () = until.cancelled() => {}
        }
    });
    format!("http://{address}/mcp")
}

fn address(url: String) -> Reach {
    Reach::Address {
        url,
        headers: vec![("Authorization".to_owned(), "Bearer t".to_owned())],
    }
}

async fn stage(fixture: Fixture, until: &CancellationToken) -> Stage {
    let reach = address(serve(fixture, until.clone()).await);
    let folder = tempfile::tempdir().unwrap();
    Stage::at(reach, folder, SessionOptions::default()).await
}

/// Nothing is sent to the other address, least of all the headers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_do_not_follow_a_redirection_to_another_place() {
    for status in [301, 302, 303, 307, 308] {
        let other = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = other.local_addr().unwrap().port();
        let target = format!("http://localhost:{port}/mcp");
        let redirection = move || async move {
            let status = StatusCode::from_u16(status).unwrap();
            (status, [("location", target.clone())])
        };
        let router = axum::Router::new().fallback(redirection);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await });
        let tools = server(&Catalogue::new(), address(url), None).tools().await;
        assert!(tools.is_err(), "{status}");
        let asked = tokio::time::timeout(std::time::Duration::ZERO, other.accept()).await;
        assert!(asked.is_err(), "{status}");
        serving.abort();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_goes_over_http_in_either_era() {
    for fixture in [BOTH, OLD] {
        let until = CancellationToken::new();
        let stage = stage(fixture, &until).await;
        assert_eq!(stage.call("echo", json!({"text": "x"})).await, json!("x"));
        let long = "y".repeat(20 << 10);
        assert_eq!(stage.call("echo", json!({"text": long})).await, json!(long));
        stage
            .call("steps", json!({"action": "spawn", "id": "s"}))
            .await;
        let stopped = stage.stopped("s").await;
        assert_eq!(stopped["result"], "stepped", "{stopped}");
        let whole = stage
            .call("steps", json!({"action": "fetch", "id": "s"}))
            .await;
        assert_eq!(whole["content"], "[1]\n[2]\n[3]", "{whole}");
        until.cancel();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_over_http_is_a_question_of_its_call() {
    for fixture in [BOTH, OLD] {
        let until = CancellationToken::new();
        let stage = stage(fixture, &until).await;
        stage
            .call("ask", json!({"action": "spawn", "id": "a"}))
            .await;
        let waiting = json!({"until": [{"id": "a", "waiting": true}]});
        stage.call("await", waiting).await;
        let apply = json!({"action": "apply", "id": "a", "input": true});
        stage.call("ask", apply).await;
        let stopped = stage.stopped("a").await;
        let answer: Value = serde_json::from_str(stopped["result"].as_str().unwrap()).unwrap();
        assert_eq!(
            answer,
            json!({"action": "accept", "content": {"sure": true}})
        );
        until.cancel();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_not_there_or_says_no_is_reported() {
    let until = CancellationToken::new();
    let url = serve(BOTH, until.clone()).await;
    let unknown = Reach::Address {
        url: url.clone(),
        headers: Vec::new(),
    };
    let refused = server(&Catalogue::new(), unknown, None).tools().await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("403"), "{refused}");
    let bad = Reach::Address {
        url,
        headers: vec![("no header".to_owned(), "x".to_owned())],
    };
    let bad = server(&Catalogue::new(), bad, None).tools().await;
    assert_eq!(
        bad.unwrap_err().to_string(),
        "MCP server `fixture` cannot be sent the header `no header`; rename or remove it"
    );
    until.cancel();
    let nobody = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", nobody.local_addr().unwrap());
    drop(nobody);
    let missing = server(&Catalogue::new(), address(url), None).tools().await;
    let missing = missing.unwrap_err().to_string();
    assert!(
        missing.starts_with("MCP server `fixture` did not start: "),
        "{missing}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_goes_away_fails_its_calls() {
    let until = CancellationToken::new();
    let stage = stage(BOTH, &until).await;
    assert_eq!(stage.call("echo", json!({"text": "x"})).await, json!("x"));
    until.cancel();
    let failed = async {
        loop {
            let reply = stage.call("echo", json!({"text": "x"})).await;
            if let Some(error) = reply["error"].as_str() {
                return error.to_owned();
            }
        }
    };
    let error = failed.await;
    assert!(error.starts_with("MCP server `fixture` "), "{error}");
}
