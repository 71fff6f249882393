//! The sessions of HTTP clients, and when each ends.
//!
//! HTTP does not report that a client has gone, so presence is counted: a
//! [`Visit`] is a request or an open stream. A client has gone when its last
//! stream is closed. A client without streams is given more time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::request::Parts;
use parking_lot::Mutex;
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::sync::watch;

use super::router::{CHOSEN, CLIENT, ClientIdentity, SESSION};
use crate::conversation::{ClientSession, SessionFactory};

/// The longest time that a client with streams may be without one. It is told
/// to reconnect after [`super::router::RETRY`].
const LINGER: Duration = Duration::from_secs(5);

/// The owner of a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum SessionKey {
    /// A client that sent `initialize`, by its session id.
    Given(String),
    /// A stateless client.
    Named {
        owner: ClientIdentity,
        client: String,
    },
    /// A client that names its session, however often it connects.
    Chosen {
        owner: ClientIdentity,
        session: String,
    },
}

/// The sessions of all clients. Cloning is cheap and gives the same ones.
#[derive(Clone)]
pub struct HttpSessions(Arc<SessionTable>);

struct SessionTable {
    factory: SessionFactory,
    idle: Duration,
    manager: Arc<LocalSessionManager>,
    held: Mutex<HashMap<SessionKey, Held>>,
    owners: Mutex<HashMap<String, ClientIdentity>>,
}

#[derive(Clone)]
struct Held {
    conversation: Arc<ClientSession>,
    presence: watch::Sender<Presence>,
    /// The conversation belongs to a named session and outlives this one.
    is_shared: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Presence {
    visits: usize,
    /// A stream was kept open at some time.
    stood: bool,
}

impl HttpSessions {
    pub(super) fn new(
        factory: SessionFactory,
        idle: Duration,
        manager: Arc<LocalSessionManager>,
    ) -> Self {
        Self(Arc::new(SessionTable {
            factory,
            idle,
            manager,
            held: Mutex::default(),
            owners: Mutex::default(),
        }))
    }

    /// The number of sessions.
    pub fn count(&self) -> usize {
        self.0.held.lock().len()
    }

    /// Ends all sessions, with at most `grace` for each tool. Resolves when all
    /// processes are gone.
    pub async fn close(&self, grace: Duration) {
        let held = std::mem::take(&mut *self.0.held.lock());
        let closing = held
            .values()
            .filter(|held| !held.is_shared)
            .map(|held| held.conversation.close_within(grace));
        futures_util::future::join_all(closing).await;
    }

    /// The session of a request; `None` if the request does not identify its
    /// client.
    pub(crate) fn of_request(&self, context: &RequestContext<RoleServer>) -> Option<Visit> {
        let parts = context.extensions.get::<Parts>()?;
        if let Some(visit) = self.of_session(parts) {
            return Some(visit);
        }
        let owner = parts.extensions.get::<ClientIdentity>()?.clone();
        let info = context.client_info();
        let name = info.map(|info| format!("{}\n{}", info.name, info.version));
        let client = format!(
            "{}\n{}",
            name.unwrap_or_default(),
            header(&parts.headers, CLIENT).unwrap_or_default()
        );
        Some(self.visit(SessionKey::Named { owner, client }))
    }

    /// The session that a request names, or whose id it carries.
    pub(crate) fn of_session(&self, parts: &Parts) -> Option<Visit> {
        let owner = parts.extensions.get::<ClientIdentity>();
        let chosen = owner.and_then(|owner| SessionKey::chosen(&parts.headers, owner));
        match header(&parts.headers, SESSION) {
            Some(id) => Some(self.visit_given(&id, chosen)),
            None => chosen.map(|key| self.visit(key)),
        }
    }

    pub(super) fn given(&self, id: &str, owner: ClientIdentity) {
        self.0.owners.lock().insert(id.to_owned(), owner);
    }

    /// Whether the id was given to this owner.
    pub(super) fn belongs(&self, id: &str, owner: &ClientIdentity) -> bool {
        self.0.owners.lock().get(id) == Some(owner)
    }

    /// Returns the session, created if needed. It stays at least as long as the
    /// visit.
    pub(super) fn visit(&self, key: SessionKey) -> Visit {
        self.hold(key, None)
    }

    /// The session of the client with this id, or the session that the client
    /// names.
    pub(super) fn visit_given(&self, id: &str, chosen: Option<SessionKey>) -> Visit {
        let given = SessionKey::Given(id.to_owned());
        let Some(chosen) = chosen else {
            return self.visit(given);
        };
        let mut visit = self.visit(chosen);
        let own = self.hold(given, Some(Arc::clone(&visit.conversation)));
        visit.connection = Some(Box::new(own));
        visit
    }

    fn hold(&self, key: SessionKey, shared: Option<Arc<ClientSession>>) -> Visit {
        let mut held = self.0.held.lock();
        let entry = held.entry(key.clone()).or_insert_with(|| {
            let is_shared = shared.is_some();
            let name = match &key {
                SessionKey::Chosen { session, .. } => Some(session.clone()),
                SessionKey::Given(_) | SessionKey::Named { .. } => None,
            };
            let begin = || ClientSession::begin(&self.0.factory, name);
            let entry = Held {
                conversation: shared.unwrap_or_else(begin),
                presence: watch::Sender::default(),
                is_shared,
            };
            let sessions = Arc::downgrade(&self.0);
            let (watched, idle) = (entry.clone(), self.0.idle);
            windlass_task::spawn(async move {
                // A client that names a session returns to it, with or without a stream.
                let linger = match &key {
                    SessionKey::Chosen { .. } => idle,
                    SessionKey::Given(_) | SessionKey::Named { .. } => LINGER.min(idle),
                };
                while gone(&watched.presence, idle, linger).await {
                    let Some(inner) = sessions.upgrade() else {
                        break;
                    };
                    if Self(inner).end_if_gone(&key, &watched).await {
                        return;
                    }
                }
            });
            entry
        });
        entry.presence.send_modify(|presence| presence.visits += 1);
        Visit {
            conversation: Arc::clone(&entry.conversation),
            presence: Some(entry.presence.clone()),
            connection: None,
        }
    }

    /// Ends the session of a client that says goodbye.
    pub(super) async fn end(&self, id: &str) {
        let key = SessionKey::Given(id.to_owned());
        let held = self.0.held.lock().remove(&key);
        self.0.owners.lock().remove(id);
        if let Some(held) = held
            && !held.is_shared
        {
            held.conversation.close().await;
        }
    }

    /// Ends a session unless its client has returned. Returns whether it ended.
    async fn end_if_gone(&self, key: &SessionKey, watched: &Held) -> bool {
        {
            let mut held = self.0.held.lock();
            if watched.presence.borrow().visits > 0 {
                return false;
            }
            let same = |held: &Held| Arc::ptr_eq(&held.conversation, &watched.conversation);
            if held.get(key).is_some_and(same) {
                held.remove(key);
            }
        }
        if let SessionKey::Given(id) = key {
            self.0.owners.lock().remove(id);
            // It is gone already when its client said so.
            let _ = self.0.manager.close_session(&id.as_str().into()).await;
        }
        if !watched.is_shared {
            watched.conversation.close().await;
        }
        true
    }
}

impl SessionKey {
    /// The session that a request names in its headers, if any.
    pub(super) fn chosen(headers: &HeaderMap, owner: &ClientIdentity) -> Option<Self> {
        let session = header(headers, CHOSEN)?.trim().to_owned();
        let owner = owner.clone();
        (!session.is_empty()).then_some(Self::Chosen { owner, session })
    }
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?;
    value.to_str().ok().map(str::to_owned)
}

/// Resolves to true after the client was absent for long enough.
async fn gone(presence: &watch::Sender<Presence>, idle: Duration, linger: Duration) -> bool {
    let mut presence = presence.subscribe();
    loop {
        let empty = presence.wait_for(|presence| presence.visits == 0).await;
        let Ok(stood) = empty.map(|presence| presence.stood) else {
            return true;
        };
        let limit = if stood { linger } else { idle };
        let back = presence.wait_for(|presence| presence.visits > 0);
        if tokio::time::timeout(limit, back).await.is_err() {
            return true;
        }
    }
}

/// A client that is there.
pub(crate) struct Visit {
    conversation: Arc<ClientSession>,
    presence: Option<watch::Sender<Presence>>,
    /// The client's own connection, if the session is a named one.
    connection: Option<Box<Visit>>,
}

impl Visit {
    /// A connection's own session, which ends with it.
    pub(crate) fn to(conversation: Arc<ClientSession>) -> Self {
        Self {
            conversation,
            presence: None,
            connection: None,
        }
    }

    pub(crate) fn conversation(&self) -> &Arc<ClientSession> {
        &self.conversation
    }

    /// The visit is a stream that is kept open.
    pub(crate) fn stands(&self) {
        if let Some(presence) = &self.presence {
            presence.send_modify(|presence| presence.stood = true);
        }
        if let Some(connection) = &self.connection {
            connection.stands();
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if let Some(presence) = &self.presence {
            presence.send_modify(|presence| presence.visits -= 1);
        }
    }
}
