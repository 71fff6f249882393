//! `drive` over a connection of `windlass serve`.
//!
//! `GET /api/v1/drive` with `Upgrade: windlass-drive` turns the connection into the lines of `drive`. The session ends
//! with the connection.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, Request, State, rejection::QueryRejection};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use windlass::Windlass;
use windlass_protocol::ErrorBody;
use windlass_runtime::SessionOptions;

use super::dispatch::Drive;
use super::lines::{self, LineOutput};
use crate::exit;

/// The path of the route.
pub(crate) const PATH: &str = "/api/v1/drive";
/// The protocol that the connection is upgraded to.
const PROTOCOL: &str = "windlass-drive";
/// The maximum number of drivers at once.
const MOST: usize = 256;

/// The connected drivers. Clones share them.
#[derive(Clone)]
pub(crate) struct Drivers {
    windlass: Arc<Windlass>,
    closing: CancellationToken,
    connected: TaskTracker,
}

impl Drivers {
    pub(crate) fn new(windlass: &Arc<Windlass>, closing: CancellationToken) -> Self {
        Self {
            windlass: Arc::clone(windlass),
            closing,
            connected: TaskTracker::new(),
        }
    }

    /// The route, for a router that authenticates clients.
    pub(crate) fn router(&self) -> Router {
        Router::new()
            .route(PATH, get(upgrade))
            .with_state(self.clone())
    }

    /// Resolves when every driver's session has ended, or after `limit`. The token must be cancelled before.
    pub(crate) async fn closed(&self, limit: Duration) {
        self.connected.close();
        let _ = tokio::time::timeout(limit, self.connected.wait()).await;
    }

    async fn drive(&self, connection: hyper::upgrade::Upgraded, ask: bool) {
        let (reader, writer) = tokio::io::split(TokioIo::new(connection));
        let lines = lines::read_connection(reader);
        let mut driver = Drive::begin(
            &self.windlass,
            lines,
            LineOutput::connection(writer),
            ask,
            SessionOptions::default(),
        );
        let stop = async {
            self.closing.cancelled().await;
            exit::TERMINATED
        };
        let code = driver.run(pin!(stop)).await;
        driver.close(code).await;
    }
}

#[derive(Deserialize)]
struct UpgradeQuery {
    /// Whether the driver acts as the user, as with `--ask`.
    #[serde(default)]
    ask: bool,
}

async fn upgrade(
    State(drivers): State<Drivers>,
    query: Result<Query<UpgradeQuery>, QueryRejection>,
    mut request: Request,
) -> Response {
    let Ok(Query(UpgradeQuery { ask })) = query else {
        return refused(StatusCode::BAD_REQUEST, "`ask` must be true or false");
    };
    let protocol = request.headers().get(header::UPGRADE);
    if protocol.is_none_or(|protocol| protocol != PROTOCOL) {
        let error = "this address requires HTTP/1.1 with `Connection: upgrade` and `Upgrade: windlass-drive`";
        return refused(StatusCode::UPGRADE_REQUIRED, error);
    }
    if drivers.connected.len() >= MOST {
        let error = "too many drivers are connected; end the session of one";
        return refused(StatusCode::SERVICE_UNAVAILABLE, error);
    }
    let upgraded = hyper::upgrade::on(&mut request);
    let driver = drivers.clone();
    drivers.connected.spawn(async move {
        match upgraded.await {
            Ok(connection) => driver.drive(connection, ask).await,
            Err(error) => tracing::debug!(%error, "a connection was not upgraded"),
        }
    });
    let headers = [(header::CONNECTION, "upgrade"), (header::UPGRADE, PROTOCOL)];
    (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
}

fn refused(status: StatusCode, error: &str) -> Response {
    let body = ErrorBody {
        error: error.to_owned(),
    };
    let upgrade = [(header::UPGRADE, PROTOCOL)];
    if status == StatusCode::UPGRADE_REQUIRED {
        return (status, upgrade, Json(body)).into_response();
    }
    (status, Json(body)).into_response()
}
