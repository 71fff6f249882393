//! Telling every open session something that no handle is behind.
//!
//! Start at [`Announcer::announce`]. Executors never see sessions; one that has
//! something to say to all of them, such as that a server has gone, is given
//! the catalogue's announcer when it is set up.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use windlass_protocol::Notice;

use crate::session::SessionInner;

/// Reaches the sessions that are open. Clones are the same announcer.
#[derive(Clone, Default)]
pub struct Announcer {
    sessions: Arc<Mutex<Vec<Weak<SessionInner>>>>,
}

impl Announcer {
    /// Queues the notice in every session that is open now. Sessions that
    /// begin later are not told.
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
