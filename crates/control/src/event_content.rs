//! Serialised events of sessions, parsed once for everybody who needs a part of
//! one: the route table and the hub.

use windlass_protocol::{SessionInfo, StreamedEvent};

/// The content of an event that another runtime, or an earlier server, has
/// serialised.
#[derive(Debug)]
pub(crate) enum EventContent {
    /// A session is under way.
    Session(Box<SessionInfo>),
    /// Something happened in a session.
    Update(Box<StreamedEvent>),
    /// Nobody needs its content, or it cannot be parsed. It is relayed as it is.
    Opaque,
}

impl EventContent {
    /// Parses an event of this kind. Most events are opaque, and some of those are
    /// large.
    pub(crate) fn read(name: &str, data: &str) -> Self {
        let read = match name {
            "session" => serde_json::from_str(data).map(Self::Session),
            "update" if is_needed(data) => serde_json::from_str(data).map(Self::Update),
            _ => return Self::Opaque,
        };
        read.unwrap_or(Self::Opaque)
    }
}

/// Whether the update says that a tool wrote, or which runtime has what. Within a
/// JSON string the quotes would be escaped.
fn is_needed(data: &str) -> bool {
    [
        r#""type":"wrote""#,
        r#""type":"permission"#,
        r#""type":"question"#,
        r#""type":"closed""#,
    ]
    .iter()
    .any(|kind| data.contains(kind))
}
