//! Connections: taking them, bounding them, and letting go of slow ones.
//!
//! Start at [`Server::run`]. Every listener here ends in [`serve`], where a
//! connection has its limits; what is asked over it is the router's.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::api::Api;

/// How much is taken of clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many connections at once; further ones wait.
    pub connections: usize,
    /// A client that takes nothing for this long is cut off.
    pub stall: Duration,
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
}

impl Server {
    /// Serves until told to end; then open connections are let go of.
    pub async fn run(self, api: &Api, closing: CancellationToken) {
        api.wake();
        let places = Arc::new(Semaphore::new(self.limits.connections));
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else {
                return;
            };
            let accepted = closing.run_until_cancelled(self.listener.accept()).await;
            let stream = match accepted {
                None => return,
                Some(Ok((stream, _))) => stream,
                Some(Err(error)) => {
                    pause_after(&error).await;
                    continue;
                }
            };
            // Small answers must not wait for an acknowledgement.
            let _ = stream.set_nodelay(true);
            let (api, router, tls) = (api.clone(), self.router.clone(), self.tls.clone());
            let (limits, closing) = (self.limits, closing.clone());
            tokio::spawn(async move {
                let _place = place;
                let Some(tls) = tls else {
                    return serve(stream, router, limits, &api, closing).await;
                };
                let shaken = tokio::time::timeout(limits.stall, tls.accept(stream)).await;
                if let Ok(Ok(stream)) = shaken {
                    serve(stream, router, limits, &api, closing).await;
                }
            });
        }
    }
}

/// Takes this user's connections on a Unix socket.
pub(crate) async fn accept_unix(
    listener: UnixListener,
    api: Api,
    limits: Limits,
    closing: CancellationToken,
) {
    let router = api.router();
    let places = Arc::new(Semaphore::new(limits.connections));
    let own = rustix::process::geteuid().as_raw();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let stream = match closing.run_until_cancelled(listener.accept()).await {
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
        let (router, api, closing) = (router.clone(), api.clone(), closing.clone());
        tokio::spawn(async move {
            let _place = place;
            serve(stream, router, limits, &api, closing).await;
        });
    }
}

/// Where there are no descriptors left, trying again at once would only spin.
async fn pause_after(error: &io::Error) {
    tracing::debug!(%error, "a connection could not be taken");
    tokio::time::sleep(Duration::from_millis(50)).await;
}

async fn serve<S>(stream: S, router: Router, limits: Limits, api: &Api, closing: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
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
    let io = TokioIo::new(Box::pin(stream));
    let connection = builder.serve_connection(io, TowerToHyperService::new(router));
    if let Some(Err(error)) = closing.run_until_cancelled(connection).await {
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
