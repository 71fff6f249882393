//! Connections: their limits, and how they end.
//!
//! Start at [`ConnectionService::serve`]. Every listener, whatever it listens
//! on, passes its streams to one. The router answers the requests.

use std::io;
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
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;

use crate::api::Api;
use crate::first_bytes::FirstBytes;
use crate::slots::SlotClient;

/// The limits of the clients of a listener.
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

/// The service behind the connections of one listener.
#[derive(Clone)]
pub struct ConnectionService {
    /// The interface whose [`Api::leave`] ends the connections.
    pub api: Api,
    /// Answers the requests.
    pub router: Router,
    /// The limits of each connection.
    pub limits: Limits,
    /// Closes all connections at once when it is cancelled.
    pub closing: CancellationToken,
}

impl ConnectionService {
    /// Serves one connection to its end.
    pub async fn serve<S>(self, stream: S, client: SlotClient)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(self.limits.stall));
        let stream = FirstBytes::within(self.limits.first, stream);
        self.serve_bytes(stream, client).await;
    }

    async fn serve_bytes(self, stream: FirstBytes, client: SlotClient) {
        let Self {
            api,
            router,
            limits,
            closing,
        } = self;
        let _open = Open::new(&api);
        let spoken = stream.spoken();
        let io = TokioIo::new(stream);
        let router = TowerToHyperService::new(router);
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(client.clone());
            router.call(request)
        });
        let builder = builder(limits);
        let mut connection = pin!(builder.serve_connection_with_upgrades(io, service));
        let leaving = api.leaving();
        let is_time_to_leave = async {
            leaving.cancelled().await;
            // A client that has just connected has a request, which is answered
            // first.
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
}

fn builder(limits: Limits) -> auto::Builder<TokioExecutor> {
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
    builder
}

/// Waits after a failed `accept`: without free file descriptors, an immediate
/// retry would only spin.
pub async fn pause_after(error: &io::Error) {
    tracing::debug!(%error, "a connection could not be taken");
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// A connection, counted while it is open.
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
