//! A server, started on demand and restarted after it ended.
//!
//! Start at [`UpstreamServer::connection`]. Repeated failures lead to longer
//! and longer pauses; all waiters share one attempt.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::ServiceError;
use tokio::sync::broadcast;
use tokio::time::Instant;
use windlass_process::Launcher;
use windlass_protocol::NoticeLevel;
use windlass_runtime::Announcer;

use crate::announcer::ServerAnnouncer;
use crate::connection::{self, Era, ServerConnection};
use crate::error::{ServerError, chain};
use crate::handler::{Handler, ServerNews};
use crate::listing::ToolListing;
use crate::routes::Routes;
use crate::spec::{Reach, ServerSpec};
use crate::standing::StandingWishes;

/// The pause after the first failure; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// No pause is longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// After this time, or a result, a start counts as successful.
const STEADY: Duration = Duration::from_secs(10);

/// The buffer of changes for a slow listener.
const NEWS: usize = 256;

/// One MCP server. Clones share it; it ends when the last clone and the last
/// tool made from it are dropped.
#[derive(Clone)]
pub struct UpstreamServer {
    inner: Arc<ServerInner>,
}

struct ServerInner {
    spec: ServerSpec,
    launcher: Launcher,
    announcer: ServerAnnouncer,
    listed: Arc<Mutex<Option<Vec<ToolListing>>>>,
    state: tokio::sync::Mutex<ConnectionState>,
    /// The number of finished attempts to connect.
    attempts: AtomicU64,
    standing: Arc<StandingWishes>,
    news: broadcast::Sender<ServerNews>,
    /// It gave a result on its present connection.
    worked: Arc<std::sync::atomic::AtomicBool>,
}

#[derive(Default)]
struct ConnectionState {
    connection: Option<Arc<ServerConnection>>,
    /// The number of failures since it last worked.
    failures: u32,
    not_before: Option<Instant>,
    /// The error of the last attempt, if it failed.
    error: Option<ServerError>,
    only_handshake: bool,
    was_up: bool,
}

impl UpstreamServer {
    /// Creates a server without starting it. Sessions are notified of its end
    /// through the announcer.
    pub fn new(spec: ServerSpec, launcher: Launcher, announcer: Announcer) -> Self {
        let announcer = ServerAnnouncer {
            server: spec.name.clone(),
            announcer,
        };
        Self {
            inner: Arc::new(ServerInner {
                spec,
                launcher,
                announcer,
                listed: Arc::default(),
                state: tokio::sync::Mutex::default(),
                attempts: AtomicU64::new(0),
                standing: Arc::default(),
                news: broadcast::Sender::new(NEWS),
                worked: Arc::default(),
            }),
        }
    }

    pub fn name(&self) -> &str {
        &self.inner.spec.name
    }

    /// Lists its tools. Starts the server if needed.
    pub async fn tools(&self) -> Result<Vec<ToolListing>, ServerError> {
        let listing = async {
            let connection = self.connection().await?;
            let tools = tokio::select! {
                biased;
                tools = connection.peer().list_all_tools() => tools,
                why = connection.gone() => return Err(self.gone(&why)),
            };
            let tools = match tools {
                Ok(tools) => tools,
                Err(ServiceError::TransportClosed) => {
                    return Err(self.gone(&connection.closed().await));
                }
                Err(error) => {
                    return Err(ServerError::List {
                        server: self.name().to_owned(),
                        why: chain(&error),
                    });
                }
            };
            Ok(tools.into_iter().map(ToolListing::from).collect::<Vec<_>>())
        };
        let tools = self.within_limit(listing).await?;
        *self.inner.listed.lock() = Some(tools.clone());
        Ok(tools)
    }

    /// Returns a working connection: the current one, or a new one. After a
    /// failure this waits for the pause and then for the start.
    pub(crate) async fn connection(&self) -> Result<Arc<ServerConnection>, ServerError> {
        let before = self.inner.attempts.load(Ordering::Acquire);
        let mut state = self.inner.state.lock().await;
        if let Some(connection) = state.connection.take() {
            if connection.is_alive() {
                state.connection = Some(Arc::clone(&connection));
                return Ok(connection);
            }
            let worked = self.inner.worked.swap(false, Ordering::AcqRel);
            if worked || connection.opened.elapsed() > STEADY {
                state.failures = 0;
                state.not_before = None;
            } else {
                state.failed();
            }
        }
        // Another caller has tried while this one waited for the lock.
        if let Some(error) = &state.error
            && self.inner.attempts.load(Ordering::Acquire) != before
        {
            return Err(error.clone());
        }
        if let Some(at) = state.not_before.take() {
            tokio::time::sleep_until(at).await;
        }
        let opened = self.open(&mut state).await;
        self.inner.attempts.fetch_add(1, Ordering::AcqRel);
        match opened {
            Ok(connection) => {
                if std::mem::replace(&mut state.was_up, true) {
                    self.inner
                        .announcer
                        .notify(NoticeLevel::Info, "was restarted");
                }
                state.error = None;
                let connection = Arc::new(connection);
                state.connection = Some(Arc::clone(&connection));
                Ok(connection)
            }
            Err(error) => {
                state.failed();
                state.error = Some(error.clone());
                Err(error)
            }
        }
    }

    async fn open(&self, state: &mut ConnectionState) -> Result<ServerConnection, ServerError> {
        let era = if state.only_handshake {
            Era::Handshake
        } else {
            Era::Either
        };
        match self.attempt(era).await {
            // A server of the years before may leave, close the connection or
            // say that it supports nothing newer.
            Err(ServerError::Gone { .. } | ServerError::Handshake { .. }) if era == Era::Either => {
                let opened = self.attempt(Era::Handshake).await;
                state.only_handshake = opened.is_ok();
                opened
            }
            opened => opened,
        }
    }

    async fn attempt(&self, era: Era) -> Result<ServerConnection, ServerError> {
        let inner = &self.inner;
        let handler = Arc::new(Handler {
            routes: Arc::new(Routes::default()),
            announcer: inner.announcer.clone(),
            listed: Arc::clone(&inner.listed),
            lends_clients: inner.spec.lends_clients,
            news: inner.news.clone(),
        });
        let announcer = inner.announcer.clone();
        let again = match inner.spec.reach {
            Reach::Program { .. } => "it is restarted when one of its tools is next called",
            Reach::Address { .. } => "Windlass reconnects when one of its tools is next called",
        };
        let ended = move |why: &str| {
            announcer.notify(NoticeLevel::Warning, &format!("has ended: {why}; {again}"));
        };
        let opening = connection::open(&inner.spec, &inner.launcher, handler, era, ended);
        let connection = self.within_limit(Box::pin(opening)).await?;
        let (standing, news) = (Arc::clone(&inner.standing), inner.news.clone());
        let peer = connection.peer().clone();
        // A server that is slow to take note holds up no call.
        windlass_task::spawn(async move { standing.tell_all(&peer, &news).await });
        Ok(connection)
    }

    /// The lasting requests of clients.
    pub(crate) fn standing(&self) -> &StandingWishes {
        &self.inner.standing
    }

    /// The connection, if there is one just now.
    pub(crate) async fn present(&self) -> Option<Arc<ServerConnection>> {
        let state = self.inner.state.lock().await;
        let connection = state.connection.clone();
        connection.filter(|connection| connection.is_alive())
    }

    /// Subscribes to changes.
    pub fn news(&self) -> broadcast::Receiver<ServerNews> {
        self.inner.news.subscribe()
    }

    pub(crate) fn news_sender(&self) -> &broadcast::Sender<ServerNews> {
        &self.inner.news
    }

    async fn within_limit<T>(
        &self,
        work: impl Future<Output = Result<T, ServerError>>,
    ) -> Result<T, ServerError> {
        let Some(limit) = self.inner.spec.startup_timeout else {
            return work.await;
        };
        let slow = |_| ServerError::Slow {
            server: self.name().to_owned(),
            seconds: limit.as_secs_f64(),
        };
        tokio::time::timeout(limit, work).await.map_err(slow)?
    }

    /// It gave a result.
    pub(crate) fn worked(&self) {
        self.inner.worked.store(true, Ordering::Release);
    }

    /// The error of a server that has ended.
    pub(crate) fn gone(&self, why: &Arc<str>) -> ServerError {
        ServerError::Gone {
            server: self.name().to_owned(),
            why: Arc::clone(why),
        }
    }
}

impl ConnectionState {
    /// Records a failure and schedules the next attempt.
    fn failed(&mut self) {
        self.failures = self.failures.saturating_add(1);
        self.not_before = Some(Instant::now() + pause(self.failures));
    }
}

/// The pause after so many failures in a row.
fn pause(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    (FIRST_PAUSE * 2_u32.pow(doublings)).min(LONGEST_PAUSE)
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
