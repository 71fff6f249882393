//! Access to other runtimes through their control sockets.
//!
//! Start at [`peers`], which finds them and removes the sockets of dead ones. A
//! [`Peer`] accepts requests of the interface that is served here.

use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::http::{Method, Request, Response, StatusCode};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::UnixStream;
use windlass_protocol::ErrorBody;

use crate::socket::within_reach;

/// Says that only the runtime's own sessions are meant.
pub(crate) const LOCAL: &str = "windlass-local";
/// The most that is read of an answer.
const ANSWER: usize = 64 << 20;

/// Another runtime on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// How the outside reaches it: `drive`, `mcp`, `query`, `serve`.
    pub front_end: String,
    /// Its process.
    pub pid: u32,
    /// Its control socket.
    pub path: PathBuf,
}

/// A runtime that did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// It is gone, or does not take connections.
    #[error("the runtime cannot be reached at `{}`", .0.display())]
    Unreachable(PathBuf, #[source] io::Error),
    /// The connection broke.
    #[error("the connection to the runtime broke")]
    Broken(#[from] hyper::Error),
    /// It refused, and says why.
    #[error("{message}")]
    Refused {
        status: StatusCode,
        /// Its own words.
        message: String,
    },
    /// The reply cannot be parsed.
    #[error("the runtime's answer is not understood")]
    Strange(#[source] serde_json::Error),
}

/// The runtimes whose control sockets are in this folder, oldest name first.
/// Sockets without a listener are removed.
pub async fn peers(run_dir: &Path) -> Vec<Peer> {
    let Ok(entries) = std::fs::read_dir(run_dir) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let is_socket = entry.file_type().is_ok_and(|kind| kind.is_socket());
        if let Some(peer) = Peer::named(&entry.path()).filter(|_| is_socket) {
            match peer.connect().await {
                Ok(_) => found.push(peer),
                // Nobody listens, and nobody will again.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    let _ = std::fs::remove_file(&peer.path);
                }
                Err(_) => {}
            }
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

impl Peer {
    /// By the name of a socket, `drive-1234.sock`.
    pub(crate) fn named(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.strip_suffix(".sock")?;
        let (front_end, pid) = name.rsplit_once('-')?;
        Some(Self {
            front_end: front_end.to_owned(),
            pid: pid.parse().ok()?,
            path: path.to_owned(),
        })
    }

    async fn connect(&self) -> io::Result<UnixStream> {
        let (path, _folder) = within_reach(&self.path)?;
        UnixStream::connect(path).await
    }

    /// This process can see the runtime's: it is not in a PID namespace that
    /// the runtime is outside of.
    pub async fn is_in_sight(&self) -> bool {
        let stream = self.connect().await;
        let credentials = stream.and_then(|stream| stream.peer_cred());
        // The kernel gives 0 for a process that has no id here.
        credentials.is_ok_and(|peer| peer.pid().is_none_or(|pid| pid != 0))
    }

    /// Sends a request as it is.
    pub async fn send(&self, mut request: Request<Body>) -> Result<Response<Incoming>, PeerError> {
        let stream = self.connect().await;
        let stream = stream.map_err(|error| PeerError::Unreachable(self.path.clone(), error))?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        // It ends with the response's body.
        windlass_task::spawn(connection);
        let headers = request.headers_mut();
        headers.insert("host", "localhost".parse().expect("it is plain text"));
        headers.insert(LOCAL, "1".parse().expect("it is plain text"));
        Ok(sender.send_request(request).await?)
    }

    /// Asks for something.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, PeerError> {
        let bytes = self.bytes(path).await?;
        serde_json::from_slice(&bytes).map_err(PeerError::Strange)
    }

    /// Asks for something that is no JSON.
    pub async fn bytes(&self, path: &str) -> Result<Bytes, PeerError> {
        self.call(Method::GET, path, Body::empty()).await
    }

    /// Posts a body and gives what is answered, which may be nothing.
    pub async fn post<B: Serialize>(&self, path: &str, body: &B) -> Result<Bytes, PeerError> {
        let body = serde_json::to_vec(body).map_err(PeerError::Strange)?;
        self.call(Method::POST, path, body.into()).await
    }

    /// Removes what is at a path.
    pub async fn delete(&self, path: &str) -> Result<Bytes, PeerError> {
        self.call(Method::DELETE, path, Body::empty()).await
    }

    /// Reads an event stream, after an event that was read before.
    pub async fn events(&self, path: &str, after: Option<&str>) -> Result<EventReader, PeerError> {
        let mut request = request(Method::GET, path, Body::empty())?;
        if let Some(after) = after.and_then(|after| after.parse().ok()) {
            request.headers_mut().insert("last-event-id", after);
        }
        let response = self.send(request).await?;
        let status = response.status();
        if !status.is_success() {
            return Err(refused(status, response.into_body()).await);
        }
        Ok(EventReader {
            body: response.into_body(),
            read: Vec::new(),
            event: ServerSent::default(),
        })
    }

    async fn call(&self, method: Method, path: &str, body: Body) -> Result<Bytes, PeerError> {
        let response = self.send(request(method, path, body)?).await?;
        let status = response.status();
        if !status.is_success() {
            return Err(refused(status, response.into_body()).await);
        }
        Ok(response.into_body().collect().await?.to_bytes())
    }
}

fn request(method: Method, path: &str, body: Body) -> Result<Request<Body>, PeerError> {
    let built = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json")
        .body(body);
    built.map_err(|error| PeerError::Refused {
        status: StatusCode::BAD_REQUEST,
        message: format!("`{path}` cannot be asked for: {error}"),
    })
}

async fn refused(status: StatusCode, body: Incoming) -> PeerError {
    let body = http_body_util::Limited::new(body, ANSWER).collect().await;
    let bytes = body.map_or_else(|_| Bytes::new(), http_body_util::Collected::to_bytes);
    let message = match serde_json::from_slice::<ErrorBody>(&bytes) {
        Ok(body) => body.error,
        Err(_) => format!("the runtime answered {status}"),
    };
    PeerError::Refused { status, message }
}

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerSent {
    /// Its kind.
    pub name: String,
    /// Names it for resuming.
    pub id: Option<String>,
    /// The payload.
    pub data: String,
}

/// Reads an event stream.
pub struct EventReader {
    body: Incoming,
    read: Vec<u8>,
    event: ServerSent,
}

impl EventReader {
    /// The next event; `None` when the stream has ended.
    pub async fn next(&mut self) -> Result<Option<ServerSent>, PeerError> {
        loop {
            while let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line);
                if let Some(event) = self.event.line(line.trim_end_matches(['\r', '\n'])) {
                    return Ok(Some(event));
                }
            }
            match self.body.frame().await {
                Some(frame) => {
                    if let Ok(data) = frame?.into_data() {
                        self.read.extend_from_slice(&data);
                    }
                }
                None => return Ok(None),
            }
        }
    }
}

impl ServerSent {
    /// Takes a line in; gives the event that an empty one ends.
    fn line(&mut self, line: &str) -> Option<Self> {
        if line.is_empty() {
            let event = std::mem::take(self);
            return (event != Self::default()).then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "id" => self.id = Some(value.to_owned()),
            "data" => {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
