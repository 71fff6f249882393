//! What sessions are told of a server.

use windlass_protocol::{Notice, NoticeKind, NoticeLevel};
use windlass_runtime::Announcer;

/// Tells every open session about one server.
#[derive(Clone)]
pub(crate) struct Telling {
    pub(crate) server: String,
    pub(crate) announcer: Announcer,
}

impl Telling {
    /// Gives notice of what the server has done.
    pub(crate) fn tell(&self, level: NoticeLevel, what: &str) {
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
