//! The interface under `/api/v1`, as a router.
//!
//! Start at [`Api::router`]: the table of what there is. Handlers are in
//! `sessions.rs`, `handles.rs`, `asks.rs`, `events.rs` and `record.rs`. Sessions of other
//! runtimes are reached by `proxy.rs`, before a handler is asked.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware;
use axum::routing::{get, post};
use parking_lot::Mutex;
use tokio::time::Instant;
use windlass_runtime::{Archive, Runtime, Session, SessionOptions, Sessions};

use crate::error::ApiError;
use crate::hub::Hub;
use crate::metrics::Metrics;
use crate::opencode::{self, Opencode};
use crate::routing::RouteTable;
use crate::{asks, events, grpc, handles, history, log, metrics, openapi};
use crate::{proxy, record, sessions, watching};

/// The largest body that is read.
pub(crate) const BODY: usize = 8 << 20;

/// Begins a session in the place that its front end has for them.
pub type OpenSession = Arc<dyn Fn(SessionOptions) -> Session + Send + Sync>;

/// What a runtime offers over HTTP. Cloning is cheap and gives the same.
#[derive(Clone)]
pub struct Api(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) front_end: String,
    pub(crate) open: Option<OpenSession>,
    /// Where the control sockets of other runtimes are, if they are reached.
    pub(crate) peers: Option<PathBuf>,
    /// What was recorded, of sessions that have ended too.
    pub(crate) archive: Option<Arc<dyn Archive>>,
    /// Looks whether the project has been trusted meanwhile.
    pub(crate) look_again: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Sessions that were begun over HTTP, which this keeps alive.
    pub(crate) owned: Mutex<HashMap<String, Owned>>,
    pub(crate) hub: Hub,
    /// Which other runtime has what.
    pub(crate) routes: RouteTable,
    pub(crate) metrics: Metrics,
    pub(crate) opencode: Opencode,
    woken: Once,
}

/// A session that was begun over HTTP.
pub(crate) struct Owned {
    pub(crate) session: Session,
    pub(crate) idle: Duration,
    pub(crate) last: Instant,
    /// How many event streams of it are open.
    pub(crate) streams: usize,
}

impl Api {
    /// Offers the sessions of a runtime, which are reached by this front end.
    pub fn new(runtime: &Runtime, front_end: &str) -> Self {
        Self(Arc::new(Inner {
            sessions: Arc::clone(runtime.sessions()),
            front_end: front_end.to_owned(),
            open: None,
            peers: None,
            archive: None,
            look_again: None,
            owned: Mutex::default(),
            hub: Hub::new(),
            routes: RouteTable::default(),
            metrics: Metrics::default(),
            opencode: Opencode::new(),
            woken: Once::new(),
        }))
    }

    /// Lets clients begin sessions.
    pub fn opening(self, open: OpenSession) -> Self {
        self.change(|inner| inner.open = Some(open))
    }

    /// Shows and reaches the sessions of all runtimes whose control sockets are
    /// in this folder.
    pub fn reaching(self, run_dir: &Path) -> Self {
        self.change(|inner| inner.peers = Some(run_dir.to_owned()))
    }

    /// Shows what was recorded, too.
    pub fn recalling(self, archive: Arc<dyn Archive>) -> Self {
        self.change(|inner| inner.archive = Some(archive))
    }

    /// Has the runtime look again, when it is asked to, whether its project has
    /// been trusted.
    pub fn looking_again(self, look: impl Fn() + Send + Sync + 'static) -> Self {
        self.change(|inner| inner.look_again = Some(Arc::new(look)))
    }

    fn change(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        let inner = Arc::get_mut(&mut self.0);
        change(inner.expect("an interface is set up before it is cloned"));
        self
    }

    /// Everything there is, without any check of who asks.
    pub fn router(&self) -> Router {
        let session = Router::new()
            .route("/", get(sessions::show).delete(sessions::close))
            .route("/calls", post(sessions::calls))
            .route("/turn_end", post(sessions::end_turn))
            .route("/events", get(events::of_session))
            .route("/history", get(history::of_session))
            .route("/handles", get(handles::list))
            .route("/handles/{handle}", get(handles::show))
            .route("/handles/{handle}/screen", get(handles::screen))
            .route("/handles/{handle}/log", get(log::read))
            .route("/handles/{handle}/search", get(log::search))
            .route("/handles/{handle}/scrollback", get(log::scrollback))
            .route("/handles/{handle}/input", post(handles::input))
            .route("/handles/{handle}/resize", post(handles::resize))
            .route("/handles/{handle}/lock", post(handles::lock))
            .route(
                "/handles/{handle}/lock/{lock}",
                axum::routing::delete(handles::unlock),
            )
            .route("/handles/{handle}/abort", post(handles::abort))
            .route("/permissions", get(asks::permissions))
            .route("/permissions/{permission}", post(asks::reply))
            .route("/questions", get(asks::questions))
            .route("/questions/{ask}", post(asks::answer));
        let reached = middleware::from_fn_with_state(self.clone(), proxy::elsewhere);
        let v1 = Router::new()
            .route("/sessions", get(sessions::list).post(sessions::open))
            .nest("/sessions/{id}", session.route_layer(reached))
            .route("/events", get(watching::of_all))
            .nest("/record", record::router())
            .route("/permissions", get(asks::all_permissions))
            .route("/permissions/{permission}", post(asks::reply_anywhere))
            .route("/trust", post(asks::look_again))
            .route("/questions", get(asks::all_questions))
            .route("/questions/{ask}", post(asks::answer_anywhere));
        Router::new()
            .nest("/api/v1", v1)
            .merge(opencode::router(self))
            .merge(grpc::routes(self))
            .route("/health", get(metrics::health))
            .route("/metrics", get(metrics::show))
            .route("/openapi.json", get(openapi::show))
            .fallback(nothing)
            .method_not_allowed_fallback(not_so)
            .layer(DefaultBodyLimit::max(BODY))
            .with_state(self.clone())
    }

    /// Begins to follow what happens. A runtime that nobody looks at does not
    /// pay for being looked at.
    pub(crate) fn wake(&self) {
        self.0.woken.call_once(|| Hub::start(self));
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.0.sessions
    }

    /// Something was asked of the session.
    pub(crate) fn touch(&self, id: &str) {
        if let Some(owned) = self.0.owned.lock().get_mut(id) {
            owned.last = Instant::now();
        }
    }

    /// Ends the sessions that were begun over HTTP, with at most this grace.
    pub async fn close(&self, grace: Duration) {
        let owned: Vec<Owned> = {
            let mut all = self.0.owned.lock();
            all.drain().map(|(_, owned)| owned).collect()
        };
        let closing = owned.iter().map(|owned| owned.session.close_within(grace));
        futures_util::future::join_all(closing).await;
    }
}

async fn nothing() -> ApiError {
    ApiError::not_found("there is nothing at this path; the interface is under /api/v1")
}

async fn not_so() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "this path does not take that method",
    )
}

#[cfg(test)]
#[path = "api_tests.rs"]
mod tests;
