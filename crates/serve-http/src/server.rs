//! Connections: taking them, bounding them, and letting go of slow ones.
//!
//! Start at [`Server::run`]. Every listener here ends in [`serve`], where a
//! connection has its limits; what is asked over it is the router's.

use std::io;
use std::os::fd::AsFd as _;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::api::Api;
use crate::first_bytes::FirstBytes;
use crate::gate::{PeerCheck, admit, admit_if};
use crate::places::{Places, Visitor};

/// How much is taken of clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many connections at once. For a further one the oldest leaves that
    /// has not shown the token; where all have, it waits.
    pub connections: usize,
    /// A client that takes nothing for this long is cut off.
    pub stall: Duration,
    /// How long a client may take to say which HTTP it speaks, from its
    /// connection on.
    pub first: Duration,
    /// How long a client may take for a request's head, and stay silent
    /// between requests.
    pub head: Duration,
    /// How large a head may be.
    pub head_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            stall: Duration::from_secs(20),
            first: Duration::from_secs(10),
            head: Duration::from_mins(1),
            head_bytes: 64 << 10,
        }
    }
}

/// A port that is listened on.
pub struct Server {
    /// Where connections come in.
    pub listener: TcpListener,
    /// What is behind it, access checked.
    pub router: Router,
    /// Encrypts, where that is wanted.
    pub tls: Option<TlsAcceptor>,
    /// Its bounds.
    pub limits: Limits,
    /// Finds the tools among its peers, which are refused.
    pub is_tool: PeerCheck,
}

impl Server {
    /// Serves until told to leave ([`Api::leave`]), and resolves when all
    /// connections have ended. `closing` lets go of them at any moment.
    pub async fn run(self, api: &Api, closing: CancellationToken) {
        let connections = TaskTracker::new();
        self.accept(api, &closing, &connections).await;
        connections.close();
        closing.run_until_cancelled(connections.wait()).await;
    }

    async fn accept(self, api: &Api, closing: &CancellationToken, connections: &TaskTracker) {
        api.wake();
        let leaving = api.leaving();
        let places = Places::new(self.limits.connections);
        let ending = async {
            tokio::select! {
                () = leaving.cancelled() => {}
                () = closing.cancelled() => {}
            }
        };
        tokio::pin!(ending);
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut ending => return,
                accepted = self.listener.accept() => accepted,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    pause_after(&error).await;
                    continue;
                }
            };
            let Some(place) = closing.run_until_cancelled(places.take()).await else {
                return;
            };
            // Small answers must not wait for an acknowledgement.
            let _ = stream.set_nodelay(true);
            let (api, router, tls) = (api.clone(), self.router.clone(), self.tls.clone());
            let (limits, closing, is_tool) = (self.limits, closing.clone(), self.is_tool);
            connections.spawn(async move {
                let serving = async {
                    let Some(stream) = admit(stream, is_tool).await else {
                        return;
                    };
                    let visitor = place.visitor.clone();
                    let Some(tls) = tls else {
                        return serve(stream, visitor, router, limits, &api, closing).await;
                    };
                    let shaken = tokio::time::timeout(limits.stall, tls.accept(stream)).await;
                    if let Ok(Ok(stream)) = shaken {
                        serve(stream, visitor, router, limits, &api, closing).await;
                    }
                };
                place.leave.run_until_cancelled(serving).await;
            });
        }
    }
}

/// Takes this user's connections on a Unix socket.
pub(crate) async fn accept_unix(
    listener: UnixListener,
    api: Api,
    limits: Limits,
    is_tool: PeerCheck,
    (accepting, closing): (CancellationToken, CancellationToken),
) {
    let router = api.router();
    let places = Places::new(limits.connections);
    let own = rustix::process::geteuid().as_raw();
    loop {
        let stream = match accepting.run_until_cancelled(listener.accept()).await {
            None => return,
            Some(Ok((stream, _))) => stream,
            Some(Err(error)) => {
                pause_after(&error).await;
                continue;
            }
        };
        if !stream.peer_cred().is_ok_and(|peer| peer.uid() == own) {
            continue;
        }
        let Some(place) = closing.run_until_cancelled(places.take()).await else {
            return;
        };
        place.visitor.is_known();
        let (router, api, closing) = (router.clone(), api.clone(), closing.clone());
        tokio::spawn(async move {
            let visitor = place.visitor.clone();
            // A Unix socket tells its peer at once.
            let admitted = !is_tool(stream.as_fd());
            if let Some(stream) = admit_if(admitted, stream) {
                serve(stream, visitor, router, limits, &api, closing).await;
            }
            drop(place);
        });
    }
}

/// Where there are no descriptors left, trying again at once would only spin.
async fn pause_after(error: &io::Error) {
    tracing::debug!(%error, "a connection could not be taken");
    tokio::time::sleep(Duration::from_millis(50)).await;
}

async fn serve<S>(
    stream: S,
    visitor: Visitor,
    router: Router,
    limits: Limits,
    api: &Api,
    closing: CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let _open = Open::new(api);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.stall));
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_buf_size(limits.head_bytes);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(limits.head)
        .keep_alive_timeout(limits.stall)
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        .max_concurrent_streams(256);
    let stream = FirstBytes::within(limits.first, Box::pin(stream));
    let spoken = stream.spoken();
    let io = TokioIo::new(stream);
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(visitor.clone());
        router.call(request)
    });
    let mut connection = pin!(builder.serve_connection_with_upgrades(io, service));
    let leaving = api.leaving();
    let is_time_to_leave = async {
        leaving.cancelled().await;
        // Whoever has just connected has a request, which is answered first.
        spoken.cancelled().await;
    };
    let ended = tokio::select! {
        biased;
        ended = closing.run_until_cancelled(connection.as_mut()) => ended,
        () = is_time_to_leave => {
            connection.as_mut().graceful_shutdown();
            closing.run_until_cancelled(connection).await
        }
    };
    if let Some(Err(error)) = ended {
        tracing::debug!(error, "a connection ended");
    }
}

/// Counted while it is open; a first one begins to follow what happens.
struct Open(Api);

impl Open {
    fn new(api: &Api) -> Self {
        api.0.metrics.connections.fetch_add(1, Ordering::Relaxed);
        Self(api.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.0.metrics.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
