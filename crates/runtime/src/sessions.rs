//! The open sessions of a runtime.
//!
//! Start at [`Sessions::list`]. A session is listed until it ends; the list
//! does not keep it alive.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::SystemTime;

use indexmap::IndexMap;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use windlass_protocol::SessionId;

use crate::session::{Session, SessionInner};

/// The number of ended sessions that are remembered by their ids.
const REMEMBERED: usize = 1024;

/// The sessions of one runtime.
pub struct Sessions {
    live: Mutex<IndexMap<SessionId, ListedSession>>,
    /// The newest of those that have ended, oldest first.
    ended: Mutex<VecDeque<SessionId>>,
    changes: watch::Sender<u64>,
}

struct ListedSession {
    session: WeakSession,
    began: SystemTime,
}

/// A weak reference to a session.
#[derive(Clone)]
pub(crate) struct WeakSession {
    inner: Weak<SessionInner>,
    session_guard: Weak<SessionGuard>,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            live: Mutex::default(),
            ended: Mutex::default(),
            changes: watch::Sender::new(0),
        }
    }
}

impl Sessions {
    /// Every open session with its start time, oldest first.
    pub fn list(&self) -> Vec<(Session, SystemTime)> {
        let live = self.live.lock();
        let sessions = live
            .values()
            .filter_map(|listed| Some((listed.session.upgrade()?, listed.began)))
            .collect();
        // An upgraded session may be the last clone by now, and its end looks
        // into this list.
        drop(live);
        sessions
    }

    /// The session of that id.
    pub fn get(&self, id: &str) -> Option<Session> {
        let id = SessionId::new(id).ok()?;
        let session = self.live.lock().get(&id)?.session.clone();
        session.upgrade()
    }

    /// Whether a session with this id was open here and has ended. Only the
    /// newest 1024 are remembered.
    pub fn has_ended(&self, id: &str) -> bool {
        self.ended.lock().iter().any(|ended| ended.as_str() == id)
    }

    /// Marked as changed whenever a session begins or ends.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(crate) fn add(&self, session: &Session) {
        let listed = ListedSession {
            session: session.downgrade(),
            began: session.inner.options.began.unwrap_or_else(SystemTime::now),
        };
        self.live.lock().insert(session.id().clone(), listed);
        self.notify();
    }

    pub(crate) fn remove(&self, id: &SessionId) {
        if self.live.lock().shift_remove(id).is_some() {
            {
                let mut ended = self.ended.lock();
                if ended.len() == REMEMBERED {
                    ended.pop_front();
                }
                ended.push_back(id.clone());
            }
            self.notify();
        }
    }

    fn notify(&self) {
        self.changes.send_modify(|number| *number += 1);
    }
}

impl WeakSession {
    pub(crate) fn upgrade(&self) -> Option<Session> {
        Some(Session {
            inner: self.inner.upgrade()?,
            session_guard: self.session_guard.upgrade()?,
        })
    }
}

impl Session {
    pub(crate) fn downgrade(&self) -> WeakSession {
        WeakSession {
            inner: Arc::downgrade(&self.inner),
            session_guard: Arc::downgrade(&self.session_guard),
        }
    }
}

/// Guard: dropping the last clone of a session stops its background tasks and
/// removes it from the list.
pub(crate) struct SessionGuard {
    _closing: DropGuard,
    sessions: Arc<Sessions>,
    id: SessionId,
}

impl SessionGuard {
    pub(crate) fn new(
        closing: &CancellationToken,
        sessions: &Arc<Sessions>,
        id: &SessionId,
    ) -> Self {
        Self {
            _closing: closing.clone().drop_guard(),
            sessions: Arc::clone(sessions),
            id: id.clone(),
        }
    }
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        self.sessions.remove(&self.id);
    }
}
