//! Which other runtime has a session, a permission request or a question.
//!
//! Start at [`RouteTable`]. It is learned from listings and events, so that a
//! request goes to one runtime however many there are. An entry is a hint:
//! `proxy.rs` checks it by using it, and asks every runtime where there is none
//! or it was wrong.

use std::collections::HashMap;

use parking_lot::Mutex;
use windlass_protocol::{
    OpenQuestion, PermissionRequest, SessionInfo, SessionUpdate, StreamedEvent,
};

use crate::client::Peer;
use crate::event_content::EventContent;

/// The most ids that are kept. A full table is emptied: what is still needed is
/// learned again.
const MOST: usize = 16 << 10;

/// Runtimes by the ids of what they have. Ids of all kinds are unique.
#[derive(Default)]
pub(crate) struct RouteTable(Mutex<HashMap<String, Peer>>);

/// Something that belongs to the runtime that lists it.
pub(crate) trait Routed {
    /// Its id, which no other runtime uses.
    fn id(&self) -> &str;
}

impl Routed for SessionInfo {
    fn id(&self) -> &str {
        self.id.as_str()
    }
}

impl Routed for PermissionRequest {
    fn id(&self) -> &str {
        self.id.as_str()
    }
}

impl Routed for OpenQuestion {
    fn id(&self) -> &str {
        &self.ask.ask
    }
}

impl RouteTable {
    /// The runtime that had this when it was last heard of.
    pub(crate) fn find(&self, id: &str) -> Option<Peer> {
        self.0.lock().get(id).cloned()
    }

    /// Notes that a runtime has this. Another that had it before has it no
    /// more.
    pub(crate) fn learn(&self, id: &str, peer: &Peer) {
        let mut routes = self.0.lock();
        if routes.get(id) == Some(peer) {
            return;
        }
        if routes.len() >= MOST {
            routes.clear();
        }
        routes.insert(id.to_owned(), peer.clone());
    }

    /// Notes that a runtime does not have this, or not any more. What was
    /// learned of another meanwhile stays.
    pub(crate) fn forget(&self, id: &str, peer: &Peer) {
        let mut routes = self.0.lock();
        if routes.get(id) == Some(peer) {
            routes.remove(id);
        }
    }

    /// Forgets everything that a runtime had.
    pub(crate) fn forget_peer(&self, peer: &Peer) {
        self.0.lock().retain(|_, known| known != peer);
    }

    /// Learns from an event of a runtime's own.
    pub(crate) fn learn_event(&self, peer: &Peer, content: &EventContent) {
        match content {
            EventContent::Session(info) => self.learn(info.id(), peer),
            EventContent::Update(event) => self.learn_update(peer, event),
            EventContent::Opaque => {}
        }
    }

    fn learn_update(&self, peer: &Peer, event: &StreamedEvent) {
        match &event.update {
            SessionUpdate::Permission { request } => self.learn(request.id(), peer),
            SessionUpdate::PermissionReplied { permission, .. } => {
                self.forget(permission.as_str(), peer);
            }
            SessionUpdate::Question(ask) => self.learn(&ask.ask, peer),
            SessionUpdate::QuestionClosed { ask } => self.forget(ask, peer),
            SessionUpdate::Closed => self.forget(event.session.as_str(), peer),
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "routing_tests.rs"]
mod tests;
