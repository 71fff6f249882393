//! The service: identifies the client, finds the session, then runs the
//! protocol.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::sessions::{HttpSessions, SessionKey};
use crate::server::McpServer;

/// The delay after which a client should reopen a broken stream.
pub(super) const RETRY: Duration = Duration::from_secs(1);
/// The header that names a session.
pub(super) const SESSION: &str = "mcp-session-id";
/// A header that distinguishes clients of one owner with the same name.
pub(super) const CLIENT: &str = "windlass-client";
/// A header that names the session to continue, for clients that reconnect for
/// every call.
pub(super) const CHOSEN: &str = "windlass-session";

/// The authenticated client of a request, set by the access layer in the
/// request's extensions: a token or a user.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClientIdentity(pub Arc<str>);

/// Options of the service.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The embedding server has already checked host and origin; the two lists
    /// below are ignored.
    pub guarded: bool,
    /// The accepted hosts, with or without a port.
    pub hosts: Vec<String>,
    /// The accepted origins, such as `http://localhost:*`.
    pub origins: Vec<String>,
    /// The time without a request after which a session ends.
    pub idle: Duration,
    /// The maximum size of a body, in bytes.
    pub max_body: usize,
    /// Ends all streams when it is cancelled.
    pub stop: CancellationToken,
}

impl Default for HttpOptions {
    fn default() -> Self {
        let loopback = ["localhost", "127.0.0.1", "[::1]"];
        Self {
            guarded: false,
            hosts: loopback.map(str::to_owned).to_vec(),
            origins: loopback.map(|host| format!("http://{host}:*")).to_vec(),
            idle: Duration::from_mins(30),
            max_body: 8 << 20,
            stop: CancellationToken::new(),
        }
    }
}

/// The service for the single path of the server, and its sessions. A request
/// without a [`ClientIdentity`] in its extensions is refused.
pub fn http_router(server: &McpServer, options: HttpOptions) -> (Router, HttpSessions) {
    let mut session_config = SessionConfig::default();
    // Presence decides when a session ends.
    session_config.keep_alive = None;
    let mut manager = LocalSessionManager::default();
    manager.session_config = session_config;
    let manager = Arc::new(manager);
    let factory = Arc::clone(&server.shared().factory);
    let sessions = HttpSessions::new(factory, options.idle, Arc::clone(&manager));
    let config = StreamableHttpServerConfig::default();
    let config = if options.guarded {
        config.disable_allowed_hosts().disable_allowed_origins()
    } else {
        config
            .with_allowed_hosts(options.hosts)
            .with_allowed_origins(options.origins)
            .enforce_origin_validation()
    };
    let config = config
        .with_sse_retry(Some(RETRY))
        .with_json_response(true)
        .with_max_request_body_bytes(options.max_body)
        .with_cancellation_token(options.stop);
    let server = server.on_http(sessions.clone());
    let service = StreamableHttpService::new(move || Ok(server.clone()), manager, config);
    let known = middleware::from_fn_with_state(sessions.clone(), attend);
    let router = Router::new().fallback_service(service).layer(known);
    (router, sessions)
}

/// Rejects requests for the session of another owner, and records the client's
/// presence.
async fn attend(State(sessions): State<HttpSessions>, request: Request, next: Next) -> Response {
    let Some(owner) = request.extensions().get::<ClientIdentity>().cloned() else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    let method = request.method().clone();
    let named = session_of(request.headers());
    let chosen = SessionKey::chosen(request.headers(), &owner);
    let visit = match &named {
        None => None,
        Some(id) if sessions.belongs(id, &owner) => Some(sessions.visit_given(id, chosen.clone())),
        Some(_) => return (StatusCode::NOT_FOUND, "Not Found: Session not found").into_response(),
    };
    if let (Some(visit), &Method::GET) = (&visit, &method) {
        visit.stands();
    }
    let response = next.run(request).await;
    if let (Some(id), true) = (&named, method == Method::DELETE) {
        if response.status().is_success() {
            sessions.end(id).await;
            // Clients take nothing but 200 and 204 for an end.
            return StatusCode::NO_CONTENT.into_response();
        }
        return response;
    }
    let visit = match (visit, session_of(response.headers())) {
        (None, Some(id)) => {
            sessions.given(&id, owner);
            Some(sessions.visit_given(&id, chosen))
        }
        (visit, _) => visit,
    };
    let Some(visit) = visit else {
        return response;
    };
    // The client is there for as long as it reads.
    response.map(|body| {
        let attended = body.into_data_stream().map(move |chunk| {
            let _there = &visit;
            chunk
        });
        Body::from_stream(attended)
    })
}

fn session_of(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(SESSION)?;
    id.to_str().ok().map(str::to_owned)
}
