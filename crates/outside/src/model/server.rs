//! The server: receives requests, answers them from the script, and stores
//! them.

use std::collections::HashSet;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Json, Response};
use futures_util::stream;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::format::ProviderFormat;
use super::script::{Fault, Script, Turn, refusal};
use super::segment::Segment;

/// A scripted model server on loopback. Dropping it stops it.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<ModelServerState>,
    task: AbortHandle,
}

/// A request that came.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenRequest {
    /// The format of the request.
    pub format: ProviderFormat,
    /// The path, with its query.
    pub path: String,
    /// Its headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Value,
    /// The time at which it had arrived completely.
    pub at: std::time::Instant,
}

impl SeenRequest {
    /// The header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

struct ModelServerState {
    script: Mutex<Script>,
    seen: watch::Sender<Vec<SeenRequest>>,
    /// The released names; `None` if nothing is held.
    released: watch::Sender<Option<HashSet<String>>>,
    /// The time at which the last byte of the newest reply was handed over.
    sent: watch::Sender<Option<std::time::Instant>>,
}

impl ModelServer {
    /// Starts on a free port of loopback.
    pub async fn start(script: Script) -> io::Result<Self> {
        Self::start_at(script, SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    /// Starts at this address.
    pub async fn start_at(script: Script, address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(ModelServerState {
            script: Mutex::new(script),
            seen: watch::Sender::new(Vec::new()),
            released: watch::Sender::new(Some(HashSet::new())),
            sent: watch::Sender::new(None),
        });
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&shared));
        let serving = tokio::spawn(async move {
            let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
                // A word at a time must not wait for the next.
                let _ = stream.set_nodelay(true);
            });
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self {
            address,
            shared,
            task: serving.abort_handle(),
        })
    }

    /// Its address, such as `http://127.0.0.1:4242`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests to a model so far.
    pub fn seen(&self) -> Vec<SeenRequest> {
        self.shared.seen.borrow().clone()
    }

    /// Resolves with the requests once there are `count` of them.
    pub async fn wait_for(&self, count: usize) -> Vec<SeenRequest> {
        let mut seen = self.shared.seen.subscribe();
        let enough = seen.wait_for(|seen| seen.len() >= count).await;
        enough.expect("the server holds the sender").clone()
    }

    /// The time at which the last byte of the newest reply was handed over.
    pub fn last_sent(&self) -> Option<std::time::Instant> {
        *self.shared.sent.borrow()
    }

    /// Adds turns to the script.
    pub fn extend(&self, turns: impl IntoIterator<Item = Turn>) {
        self.shared.script.lock().turns.extend(turns);
    }

    /// Releases the pause of this name, now or when it is reached.
    pub fn release(&self, name: &str) {
        self.shared.released.send_modify(|released| {
            if let Some(released) = released {
                released.insert(name.to_owned());
            }
        });
    }

    /// Releases all pauses, including later ones.
    pub fn release_all(&self) {
        self.shared.released.send_replace(None);
    }

    /// Resolves when the server was ended.
    pub async fn forever(self) {
        std::future::pending::<()>().await;
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
        // Streams that hold end with the test, not after it.
        self.release_all();
    }
}

async fn answer(
    State(shared): State<Arc<ModelServerState>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri.path();
    let Some(format) = ProviderFormat::of_path(path).filter(|_| method == Method::POST) else {
        return beside(&method, path);
    };
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        let body = refusal(400, Some("the body is not JSON"));
        return (StatusCode::BAD_REQUEST, Json(body)).into_response();
    };
    let seen = SeenRequest {
        format,
        path: uri.to_string(),
        headers: headers
            .iter()
            .map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                (name.as_str().to_owned(), value)
            })
            .collect(),
        body: body.clone(),
        at: std::time::Instant::now(),
    };
    let number = shared.seen.borrow().len() + 1;
    let turn = shared.next_turn(format, &body);
    let chunk = shared.script.lock().chunk;
    shared.seen.send_modify(|all| all.push(seen));
    let Some(turn) = turn else {
        let body = refusal(400, Some("the script has no turn for this request"));
        return (StatusCode::BAD_REQUEST, Json(body)).into_response();
    };
    if let Some(Fault::Refuse {
        status,
        retry_after,
        message,
    }) = &turn.fault
    {
        return refuse(*status, *retry_after, message.as_deref());
    }
    if !format.wants_stream(path, &body) {
        return Json(format.whole(&turn, number)).into_response();
    }
    let segments = format.segments(&turn, number);
    let body = Body::from_stream(send(shared, plan(segments, &turn, chunk)));
    ([(header::CONTENT_TYPE, format.content_type())], body).into_response()
}

/// Answers requests other than those to the model.
fn beside(method: &Method, path: &str) -> Response {
    let body = if path.ends_with("/count_tokens") {
        json!({"input_tokens": 1})
    } else if path.ends_with("/api/tags") {
        json!({"models": [{"name": "scripted", "model": "scripted"}]})
    } else if path.ends_with("/v1beta/models") {
        json!({"models": [{"name": "models/scripted"}]})
    } else if path.ends_with("/models") {
        json!({"object": "list", "has_more": false,
            "data": [{"id": "scripted", "object": "model", "type": "model"}]})
    } else if *method == Method::HEAD {
        json!({})
    } else {
        let body = refusal(404, Some("there is nothing here"));
        return (StatusCode::NOT_FOUND, Json(body)).into_response();
    };
    Json(body).into_response()
}

fn refuse(status: u16, retry_after: Option<u64>, message: Option<&str>) -> Response {
    let status_code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status_code, Json(refusal(status, message))).into_response();
    if let Some(seconds) = retry_after {
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

impl ModelServerState {
    /// The turn that answers the request. It is used up unless repeatable.
    fn next_turn(&self, format: ProviderFormat, body: &Value) -> Option<Turn> {
        let text = body.to_string();
        let structured = format.wants_structure(body);
        let mut script = self.script.lock();
        let place = script.turns.iter().position(|turn| {
            turn.when.as_ref().is_none_or(|when| text.contains(when))
                && turn.structured.is_none_or(|wanted| wanted == structured)
        })?;
        if script.turns[place].repeat {
            Some(script.turns[place].clone())
        } else {
            Some(script.turns.remove(place))
        }
    }
}

/// A step in sending a body.
enum BodyStep {
    Send(Bytes),
    Hold(String),
    Pause(u64),
    Break,
    Hang,
}

fn plan(segments: Vec<Segment>, turn: &Turn, chunk: Option<usize>) -> Vec<BodyStep> {
    let (limit, then) = match turn.fault {
        Some(Fault::Cut(at)) => (at, Some(BodyStep::Break)),
        Some(Fault::Hang(at)) => (at, Some(BodyStep::Hang)),
        Some(Fault::End(at)) => (at, None),
        _ => (usize::MAX, None),
    };
    let mut left = limit;
    let mut steps = Vec::new();
    for segment in segments {
        match segment {
            Segment::Hold(name) => steps.push(BodyStep::Hold(name)),
            Segment::Pause(millis) => steps.push(BodyStep::Pause(millis)),
            Segment::Event(text) => {
                let bytes = &text.as_bytes()[..text.len().min(left)];
                left -= bytes.len();
                for piece in bytes.chunks(chunk.unwrap_or(usize::MAX)) {
                    steps.push(BodyStep::Send(Bytes::copy_from_slice(piece)));
                }
                if left == 0 {
                    break;
                }
            }
        }
    }
    steps.extend(then);
    steps
}

fn send(
    shared: Arc<ModelServerState>,
    steps: Vec<BodyStep>,
) -> impl futures_util::Stream<Item = io::Result<Bytes>> {
    let state = (shared, steps.into_iter());
    stream::unfold(state, |(shared, mut steps)| async move {
        loop {
            match steps.next() {
                None => return None,
                Some(BodyStep::Send(bytes)) => {
                    shared.sent.send_replace(Some(std::time::Instant::now()));
                    return Some((Ok(bytes), (shared, steps)));
                }
                Some(BodyStep::Pause(millis)) => {
                    tokio::time::sleep(Duration::from_millis(millis)).await;
                }
                Some(BodyStep::Hold(name)) => {
                    let mut released = shared.released.subscribe();
                    let free = |released: &Option<HashSet<String>>| {
                        released
                            .as_ref()
                            .is_none_or(|released| released.contains(&name))
                    };
                    let _ = released.wait_for(free).await;
                }
                Some(BodyStep::Break) => {
                    // What was said before is sent while this waits, and
                    // would be lost otherwise.
                    tokio::task::yield_now().await;
                    let error = io::Error::other("the script breaks the connection here");
                    return Some((Err(error), (shared, steps)));
                }
                Some(BodyStep::Hang) => std::future::pending().await,
            }
        }
    })
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
