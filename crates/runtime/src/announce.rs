//! Notices to every open session that do not concern a handle.
//!
//! Start at [`Announcer::announce`]. Executors have no access to sessions. An
//! executor with news for all of them, such as the loss of a server, gets the
//! catalogue's announcer when it is set up.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use windlass_protocol::Notice;

use crate::session::SessionInner;

/// Sends notices to all open sessions. Clones share it.
#[derive(Clone, Default)]
pub struct Announcer {
    sessions: Arc<Mutex<Vec<Weak<SessionInner>>>>,
}

impl Announcer {
    /// Queues the notice in every session that is open now. Later sessions do
    /// not get it.
    pub fn announce(&self, notice: &Notice) {
        let open: Vec<_> = self
            .sessions
            .lock()
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        for session in open {
            if !session.closing.is_cancelled() {
                session.push_notice(0, notice.clone());
            }
        }
    }

    pub(crate) fn join(&self, session: &Arc<SessionInner>) {
        let mut sessions = self.sessions.lock();
        sessions.retain(|known| known.strong_count() > 0);
        sessions.push(Arc::downgrade(session));
    }
}
