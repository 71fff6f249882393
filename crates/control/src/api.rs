//! The interface under `/api/v1`, as a router.
//!
//! Start at [`Api::router`]: the table of what there is. Handlers are in
//! `sessions.rs`, `handles.rs`, `asks.rs`, `events.rs` and `record.rs`. Sessions of other
//! runtimes are reached by `proxy.rs`, before a handler is asked.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Once};
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware;
use axum::routing::{get, post};
use futures_util::{Stream, StreamExt as _};
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use windlass_kept::KeptStore;
use windlass_runtime::{Archive, Runtime, Session, SessionOptions, Sessions};

use crate::ask::{self, AskBackend, AskTable};
use crate::error::ApiError;
use crate::event_logs::EventLogs;
#[cfg(feature = "grpc")]
use crate::grpc;
use crate::holding::Holders;
use crate::hosts::{self, ReachHosts};
use crate::hub::Hub;
use crate::metrics::Metrics;
#[cfg(feature = "opencode")]
use crate::opencode::{self, Opencode};
use crate::routing::RouteTable;
use crate::{asks, events, handles, held, history, log, metrics, openapi};
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
    /// Models that can be asked.
    pub(crate) ask: Option<Arc<dyn AskBackend>>,
    /// The turns that were asked for.
    pub(crate) asked: AskTable,
    /// Looks whether the project has been trusted meanwhile.
    pub(crate) look_again: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Sessions that were begun over HTTP, which this keeps alive.
    pub(crate) owned: Mutex<HashMap<String, Owned>>,
    pub(crate) hub: Hub,
    /// Locks that readers of the event stream hold.
    pub(crate) holders: Holders,
    /// The handles that outlive their runtimes, if they are shown.
    pub(crate) kept: Option<KeptStore>,
    /// Looks at the hosts of the project, if they are shown.
    pub(crate) hosts: Option<Arc<dyn ReachHosts>>,
    /// Keeps events for the server after this one.
    pub(crate) logs: Option<EventLogs>,
    /// Which other runtime has what.
    pub(crate) routes: RouteTable,
    pub(crate) metrics: Metrics,
    #[cfg(feature = "opencode")]
    pub(crate) opencode: Opencode,
    /// Cancelled when connections are to end with the requests under way.
    leaving: Mutex<CancellationToken>,
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
            ask: None,
            asked: AskTable::default(),
            look_again: None,
            owned: Mutex::default(),
            hub: Hub::new(),
            holders: Holders::default(),
            kept: None,
            hosts: None,
            logs: None,
            routes: RouteTable::default(),
            metrics: Metrics::default(),
            #[cfg(feature = "opencode")]
            opencode: Opencode::new(),
            leaving: Mutex::default(),
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

    /// Lets people ask models.
    pub fn asking(self, backend: Arc<dyn AskBackend>) -> Self {
        self.change(|inner| inner.ask = Some(backend))
    }

    /// Shows the kept handles whose runtimes are gone, and ends them when it is
    /// asked to.
    pub fn holding(self, kept: KeptStore) -> Self {
        self.change(|inner| inner.kept = Some(kept))
    }

    /// Shows the hosts of the project, and the workers of its pools.
    pub fn surveying(self, hosts: Arc<dyn ReachHosts>) -> Self {
        self.change(|inner| inner.hosts = Some(hosts))
    }

    /// Keeps events in these logs, and goes on with those that are there.
    pub fn keeping_events(self, logs: EventLogs) -> Self {
        self.change(|inner| {
            if let Some(log) = logs.hub() {
                inner.hub = Hub::resume(log);
            }
            inner.logs = Some(logs);
        })
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
            .route("/tools", get(sessions::tools))
            .route("/history", get(history::of_session))
            .route("/handles", get(handles::list))
            .route("/handles/{handle}", get(handles::show))
            .route("/handles/{handle}/screen", get(handles::screen))
            .route("/handles/{handle}/log", get(log::read))
            .route("/handles/{handle}/search", get(log::search))
            .route("/handles/{handle}/scrollback", get(log::scrollback))
            .route("/handles/{handle}/past", get(log::past))
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
            .route("/held", get(held::list))
            .route("/held/{name}/output", get(held::output))
            .route("/held/{name}/end", post(held::end))
            .route("/hosts", get(hosts::list))
            .nest("/record", record::router())
            .route("/permissions", get(asks::all_permissions))
            .route("/permissions/{permission}", post(asks::reply_anywhere))
            .route("/ask", get(ask::models).post(ask::ask))
            .route("/ask/{id}/events", get(ask::progress))
            .route("/ask/{id}/stop", post(ask::stop))
            .route("/trust", post(asks::look_again))
            .route("/questions", get(asks::all_questions))
            .route("/questions/{ask}", post(asks::answer_anywhere));
        let router = Router::new().nest("/api/v1", v1);
        #[cfg(feature = "opencode")]
        let router = router.merge(opencode::router(self));
        #[cfg(feature = "grpc")]
        let router = router.merge(grpc::routes(self));
        router
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
    pub fn wake(&self) {
        self.0.woken.call_once(|| Hub::start(self));
    }

    /// Has all connections end with the requests that are under way, and event
    /// streams at once: their readers come back to whoever serves then.
    pub fn leave(&self) {
        self.leaving().cancel();
    }

    /// Connections that are made from now on are served as before
    /// [`Api::leave`].
    pub fn come_back(&self) {
        *self.0.leaving.lock() = CancellationToken::new();
    }

    /// The logs that keep its events, if they are kept.
    pub fn event_logs(&self) -> Option<&EventLogs> {
        self.0.logs.as_ref()
    }

    /// Lets go of the events that are kept, as they are, for another process to
    /// go on with.
    pub fn let_go_of_events(&self) {
        if let Some(logs) = &self.0.logs {
            self.0.hub.let_go();
            logs.let_go();
        }
    }

    /// Keeps events again that another process was to go on with. What that one
    /// has told meanwhile, readers here have missed.
    pub fn take_events_back(&self) -> std::io::Result<()> {
        let Some(logs) = &self.0.logs else {
            return Ok(());
        };
        for (id, last) in logs.take_back()? {
            if let Some(session) = self.sessions().get(id.as_str()) {
                session.journal().skip_to(last);
            }
        }
        if let Some(log) = logs.hub() {
            self.0.hub.take_back(log);
        }
        Ok(())
    }

    /// The number of open connections, as in the metrics.
    pub fn connections(&self) -> usize {
        self.0.metrics.connections.load(Ordering::Relaxed)
    }

    /// Counts a request that access was refused to, for the metrics.
    pub fn count_refusal(&self) {
        self.0.metrics.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Keeps a session alive that was begun over HTTP in a process before this
    /// one. It ends when nothing was asked of it for as long as `idle`.
    pub fn take_up(&self, session: &Session, idle: Option<Duration>) {
        sessions::own(self, session, idle);
    }

    /// Cancelled by [`Api::leave`].
    pub fn leaving(&self) -> CancellationToken {
        self.0.leaving.lock().clone()
    }

    /// A stream of events that ends when connections do.
    pub(crate) fn until_leaving<S: Stream>(
        &self,
        events: S,
    ) -> impl Stream<Item = S::Item> + use<S> {
        events.take_until(self.leaving().cancelled_owned())
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

    /// Lets go of the kept handles of the sessions that were begun over HTTP, for
    /// another process to adopt.
    pub async fn leave_kept(&self) {
        let owned: Vec<Session> = {
            let all = self.0.owned.lock();
            all.values().map(|owned| owned.session.clone()).collect()
        };
        futures_util::future::join_all(owned.iter().map(Session::leave_kept)).await;
    }

    /// Ends the sessions that were begun over HTTP, with at most this grace. Kept
    /// handles are left.
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
