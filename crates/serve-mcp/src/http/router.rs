//! The service: who asks is known, then the session, then the protocol.

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

use super::sessions::{Key, Sessions};
use crate::server::McpServer;

/// After how long a client whose stream broke should open another.
pub(super) const RETRY: Duration = Duration::from_secs(1);
/// The header that names a session.
pub(super) const SESSION: &str = "mcp-session-id";
/// A header by which clients of one owner and one name can be told apart.
pub(super) const CLIENT: &str = "windlass-client";
/// A header by which a client names the session that it comes back to, for
/// those that connect anew for every call.
pub(super) const CHOSEN: &str = "windlass-session";

/// Whoever a request comes from, as the access layer has found out: a token, a
/// user. It stands in the request's extensions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Owner(pub Arc<str>);

/// How the service behaves.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Whoever nests the service has checked host and origin already, and the
    /// two lists below are not looked at.
    pub guarded: bool,
    /// The hosts that it may be called by, with or without a port.
    pub hosts: Vec<String>,
    /// The origins whose pages may call it, such as `http://localhost:*`.
    pub origins: Vec<String>,
    /// How long a client may be silent before its session ends.
    pub idle: Duration,
    /// The largest body that is taken, in bytes.
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

/// The server as a service for its one path, and the sessions that it holds.
/// A request without an [`Owner`] in its extensions is refused.
pub fn http_router(server: &McpServer, options: HttpOptions) -> (Router, Sessions) {
    let mut session_config = SessionConfig::default();
    // Presence decides when a session ends.
    session_config.keep_alive = None;
    let mut manager = LocalSessionManager::default();
    manager.session_config = session_config;
    let manager = Arc::new(manager);
    let factory = Arc::clone(&server.shared().factory);
    let sessions = Sessions::new(factory, options.idle, Arc::clone(&manager));
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

/// Lets nobody near a session of somebody else's, and notes who is there.
async fn attend(State(sessions): State<Sessions>, request: Request, next: Next) -> Response {
    let Some(owner) = request.extensions().get::<Owner>().cloned() else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    let method = request.method().clone();
    let named = session_of(request.headers());
    let chosen = Key::chosen(request.headers(), &owner);
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
