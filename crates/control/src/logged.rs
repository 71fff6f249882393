//! Lines of the files in which `windlass serve` stores events for its
//! successor.
//!
//! Another version of Windlass may read them; unknown lines are skipped.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use windlass_protocol::{Millis, SessionId};

/// The first line of a session's file. Each other line is a
/// [`StreamedEvent`](windlass_protocol::StreamedEvent).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedSession {
    /// The session.
    pub session: SessionId,
    /// Its front end.
    pub front_end: String,
    /// The name that it was given, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its driver needs no permission for any call.
    #[serde(default)]
    pub trusted: bool,
    /// Set if it was created over HTTP: it ends after this many seconds without
    /// a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_secs: Option<u64>,
    /// When it began.
    pub created: Millis,
}

/// The first line of the file with the events of all sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct LoggedHub {
    /// The id of the numbering.
    pub(crate) epoch: String,
    /// The number of the last event before the next line.
    pub(crate) last: u64,
    /// The server's sessions that had not ended by then.
    #[serde(default)]
    pub(crate) sessions: BTreeMap<SessionId, HubSession>,
    /// The position up to which the events of other runtimes were read, by
    /// socket.
    #[serde(default)]
    pub(crate) peers: BTreeMap<String, String>,
}

/// A session of the server whose events are part of the combined stream.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct HubSession {
    /// The number of its newest event.
    pub(crate) last: u64,
}

/// One event in the file with the events of all sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LoggedItem {
    /// Its number.
    pub(crate) number: u64,
    /// Its kind.
    pub(crate) name: String,
    /// Its data, as JSON text.
    pub(crate) data: String,
    /// The server's session that it is an event of, and its number there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<(SessionId, u64)>,
    /// The socket of the other runtime that it came from, and its id there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<(String, String)>,
}
