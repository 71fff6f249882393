//! A page on loopback where the user types a secret.
//!
//! A form would show the secret to the client and perhaps to its model. So the
//! client is asked to open a page of Windlass instead. Its address cannot be
//! guessed and works once; the secret is passed from there to the program.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::{Form, Router};
use parking_lot::Mutex;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde::Deserialize;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use ulid::Ulid;
use windlass_protocol::{Ask, RequestRendering};
use windlass_runtime::Answered;

use crate::form;
use crate::http::serve_router;

/// The page server, shared by all secrets of a session.
pub(crate) struct SecretPage {
    authority: String,
    open: Arc<Mutex<HashMap<String, PendingSecret>>>,
    server: tokio::task::JoinHandle<()>,
}

struct PendingSecret {
    text: String,
    answer: oneshot::Sender<String>,
}

/// A requested secret. Dropping it closes its address.
pub(crate) struct SecretLink {
    key: String,
    url: String,
    message: String,
    answer: oneshot::Receiver<String>,
    open: Arc<Mutex<HashMap<String, PendingSecret>>>,
}

impl SecretPage {
    /// The session's page server, started on first use.
    pub(crate) async fn shared(slot: &Mutex<Option<Arc<Self>>>) -> Option<Arc<Self>> {
        if let Some(page) = &*slot.lock() {
            return Some(Arc::clone(page));
        }
        let page = Arc::new(Self::serve().await.ok()?);
        Some(Arc::clone(slot.lock().get_or_insert(page)))
    }

    async fn serve() -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let authority = listener.local_addr()?.to_string();
        let open = Arc::new(Mutex::new(HashMap::new()));
        let state = Arc::new((authority.clone(), Arc::clone(&open)));
        let router = Router::new()
            .route("/{key}", get(show).post(take))
            .with_state(state);
        let server = windlass_task::spawn(async move {
            // It ends with the session.
            let _ = serve_router(listener, router, CancellationToken::new()).await;
        });
        Ok(Self {
            authority,
            open,
            server,
        })
    }

    /// Opens an address for a question.
    pub(crate) fn open(&self, ask: &Ask) -> SecretLink {
        // Twice as long as anyone could guess.
        let key = format!("{}{}", Ulid::generate(), Ulid::generate());
        let (sender, answer) = oneshot::channel();
        let text = RequestRendering::of_question(ask).to_text();
        let asked = PendingSecret {
            text: text.clone(),
            answer: sender,
        };
        self.open.lock().insert(key.clone(), asked);
        SecretLink {
            url: format!("http://{}/{key}", self.authority),
            message: text,
            key,
            answer,
            open: Arc::clone(&self.open),
        }
    }
}

impl Drop for SecretPage {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl SecretLink {
    /// The elicitation for the client.
    pub(crate) fn request(&self) -> ElicitRequestParams {
        ElicitRequestParams::UrlElicitationParams {
            meta: None,
            message: self.message.clone(),
            url: self.url.clone(),
            elicitation_id: self.key.clone(),
        }
    }

    /// The outcome: if the client accepted, the user's input on the page.
    pub(crate) async fn answered(mut self, ask: &Ask, result: &ElicitResult) -> Answered {
        if result.action != ElicitationAction::Accept {
            return form::answered(ask, result);
        }
        match (&mut self.answer).await {
            Ok(secret) => Answered::With(Value::String(secret)),
            Err(_) => Answered::Nobody,
        }
    }
}

impl Drop for SecretLink {
    fn drop(&mut self) {
        self.open.lock().remove(&self.key);
    }
}

type Shared = Arc<(String, Arc<Mutex<HashMap<String, PendingSecret>>>)>;

#[derive(Deserialize)]
struct SecretSubmission {
    secret: String,
}

async fn show(
    State(state): State<Shared>,
    Path(key): Path<String>,
    headers: HeaderMap,
) -> Response {
    let text = state.1.lock().get(&key).map(|asked| escaped(&asked.text));
    match text.filter(|_| is_ours(&state.0, &headers)) {
        None => StatusCode::NOT_FOUND.into_response(),
        Some(text) => page(&format!(
            "<form method=post><p>{text}</p>\
             <input type=password name=secret autofocus autocomplete=off> <button>Send</button></form>"
        )),
    }
}

async fn take(
    State(state): State<Shared>,
    Path(key): Path<String>,
    headers: HeaderMap,
    Form(typed): Form<SecretSubmission>,
) -> Response {
    if !is_ours(&state.0, &headers) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let Some(asked) = state.1.lock().remove(&key) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    match asked.answer.send(typed.secret) {
        Ok(()) => page("<p>Sent. You can close this page.</p>"),
        Err(_) => page("<p>The question is no longer open.</p>"),
    }
}

/// Whether the `Host` is right. It differs for a page of another site that
/// resolves to loopback.
fn is_ours(authority: &str, headers: &HeaderMap) -> bool {
    headers
        .get(header::HOST)
        .is_some_and(|host| host == authority)
}

fn page(body: &str) -> Response {
    let headers = [
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
        ),
    ];
    let html = format!("<!doctype html><meta charset=utf-8><title>Windlass</title>{body}");
    (headers, Html(html)).into_response()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
