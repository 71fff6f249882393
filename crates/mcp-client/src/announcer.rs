//! Notices to sessions about a server.

use windlass_protocol::{Notice, NoticeKind, NoticeLevel};
use windlass_runtime::Announcer;

/// Tells every open session about one server.
#[derive(Clone)]
pub(crate) struct ServerAnnouncer {
    pub(crate) server: String,
    pub(crate) announcer: Announcer,
}

impl ServerAnnouncer {
    /// Sends a notice about the server.
    pub(crate) fn notify(&self, level: NoticeLevel, what: &str) {
        let text = format!("MCP server `{}` {what}", self.server);
        self.announcer.announce(&Notice {
            level,
            kind: NoticeKind::Server,
            handle: None,
            tool: None,
            text,
        });
    }
}
