//! The log of the combined events, with the hub's numbers.
//!
//! Start at [`HubLog::new`]. A new server continues the numbers of the previous
//! one, and knows how far that one had read each session and each other
//! runtime.

use windlass_protocol::SessionId;

use crate::line_log::LineLog;
use crate::logged::{LoggedHub, LoggedItem};

/// The log of a hub.
pub(crate) struct HubLog {
    /// `None` once it could not be written.
    log: Option<LineLog>,
    /// How far everything has been read.
    pub(crate) state: LoggedHub,
    /// The events that were in the log when it was opened.
    pub(crate) items: Vec<LoggedItem>,
}

/// The origin of an event.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ItemSource<'a> {
    /// The hub itself.
    Hub,
    /// A session of this process.
    Session {
        id: &'a SessionId,
        /// The event's number in the session; 0 for an event about the session
        /// itself.
        number: u64,
        /// The session has ended with it.
        is_last: bool,
    },
    /// Another runtime.
    Peer {
        socket: &'a str,
        /// The event's id there.
        id: &'a str,
    },
    /// Another runtime, which has ended.
    PeerGone { socket: &'a str },
}

impl ItemSource<'_> {
    pub(crate) fn is_peer(self) -> bool {
        matches!(self, Self::Peer { .. })
    }
}

impl HubLog {
    pub(crate) fn new(log: LineLog, lines: &[String]) -> Self {
        let mut hub = Self {
            log: Some(log),
            state: LoggedHub::default(),
            items: Vec::new(),
        };
        for line in lines {
            if let Ok(item) = serde_json::from_str::<LoggedItem>(line) {
                hub.note(&item);
                hub.items.push(item);
            } else if let Ok(state) = serde_json::from_str::<LoggedHub>(line) {
                hub.state = state;
            }
        }
        hub
    }

    /// Begins a numbering, unless there is one to go on with.
    pub(crate) fn begin(&mut self, epoch: &str) {
        if self.state.epoch.is_empty() {
            epoch.clone_into(&mut self.state.epoch);
            self.save();
        }
    }

    /// Writes an event before anybody can read it.
    pub(crate) fn write(&mut self, number: u64, name: &str, data: &str, source: ItemSource<'_>) {
        let (session, origin) = match source {
            ItemSource::Hub | ItemSource::PeerGone { .. } => (None, None),
            ItemSource::Session { id, number, .. } => (Some((id.clone(), number)), None),
            ItemSource::Peer { socket, id } => (None, Some((socket.to_owned(), id.to_owned()))),
        };
        let item = LoggedItem {
            number,
            name: name.to_owned(),
            data: data.to_owned(),
            session,
            origin,
        };
        self.append(&item);
        self.note(&item);
        match source {
            ItemSource::Session {
                id, is_last: true, ..
            } => {
                self.state.sessions.remove(id);
                self.save();
            }
            ItemSource::PeerGone { socket } => {
                self.state.peers.remove(socket);
                self.save();
            }
            _ => {}
        }
    }

    /// Notes how far another runtime has been read, without an event.
    pub(crate) fn note_peer(&mut self, socket: &str, id: &str) {
        self.state.peers.insert(socket.to_owned(), id.to_owned());
        self.save();
    }

    fn note(&mut self, item: &LoggedItem) {
        self.state.last = item.number;
        if let Some((id, number)) = &item.session {
            let session = self.state.sessions.entry(id.clone()).or_default();
            session.last = session.last.max(*number);
        }
        if let Some((socket, id)) = &item.origin {
            self.state.peers.insert(socket.clone(), id.clone());
        }
    }

    fn save(&mut self) {
        self.append(&self.state.clone());
    }

    /// Appends a line. A log that cannot be written is removed: returning
    /// readers are then told that they have missed events.
    fn append(&mut self, line: &impl serde::Serialize) {
        let Some(log) = &mut self.log else {
            return;
        };
        let Ok(line) = serde_json::to_string(line) else {
            return;
        };
        let state = &self.state;
        let first = || serde_json::to_string(state).into_iter().collect();
        if let Err(error) = log.append(&line, first) {
            tracing::warn!(%error, "events are not kept any longer");
            if let Some(log) = self.log.take() {
                log.remove();
            }
        }
    }
}

#[cfg(test)]
#[path = "hub_log_tests.rs"]
mod tests;
