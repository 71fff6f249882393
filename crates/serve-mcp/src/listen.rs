//! Sends notices to a client as they occur, if it listens.
//!
//! A client listens once it has set a level. Notices are also part of the next
//! result, because the client may not show these messages to anyone.

#![expect(
    deprecated,
    reason = "the newest version of the protocol has no logging; the clients of all others have"
)]

use std::sync::Arc;

use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::{Peer, RoleServer};
use serde_json::json;
use windlass_protocol::NoticeLevel;
use windlass_runtime::SessionEvent;

use crate::conversation::ClientSession;

/// The minimum level of notices for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Level(u8);

impl From<LoggingLevel> for Level {
    fn from(level: LoggingLevel) -> Self {
        Self(match level {
            LoggingLevel::Debug => 0,
            LoggingLevel::Info => 1,
            LoggingLevel::Notice => 2,
            LoggingLevel::Warning => 3,
            LoggingLevel::Error => 4,
            LoggingLevel::Critical => 5,
            LoggingLevel::Alert => 6,
            LoggingLevel::Emergency => 7,
        })
    }
}

/// Sends notices from this level to the client, for as long as it is connected.
pub(crate) fn listen(
    conversation: &Arc<ClientSession>,
    level: LoggingLevel,
    peer: Peer<RoleServer>,
) {
    let listened = conversation.level.lock().replace(level.into());
    if listened.is_some() {
        return;
    }
    let mut tail = {
        let journal = conversation.session.journal();
        journal.tail(journal.last())
    };
    let conversation = Arc::downgrade(conversation);
    windlass_task::spawn(async move {
        while let Some((_, entry)) = tail.next().await {
            let SessionEvent::Noticed(notice) = entry.event else {
                continue;
            };
            let Some(conversation) = conversation.upgrade() else {
                return;
            };
            let level = match notice.level {
                NoticeLevel::Info => LoggingLevel::Info,
                NoticeLevel::Warning => LoggingLevel::Warning,
                NoticeLevel::Error => LoggingLevel::Error,
                NoticeLevel::Critical => LoggingLevel::Critical,
            };
            let wanted = *conversation.level.lock();
            if wanted.is_some_and(|wanted| Level::from(level) < wanted) {
                continue;
            }
            let told = LoggingMessageNotificationParam::new(level, json!(notice));
            let told = told.with_logger("windlass");
            if peer.notify_logging_message(told).await.is_err() {
                return;
            }
        }
    });
}
