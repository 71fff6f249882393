//! The messages of a session, from the record and the journal.
//!
//! The end of a call is recorded before its reply, its start soon after it; the
//! journal of an open session has both at once. The journal is therefore merged
//! over the record, and the more advanced version of a part counts.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::request::Parts;
use indexmap::IndexMap;
use serde::Deserialize;
use windlass_protocol::{
    MessageId, MessageInfo, MessagePart, MessageRecord, MessageTime, Millis, PartId, Role,
    SessionId, ToolPart,
};
use windlass_runtime::{Page, Session, SessionEvent};

use super::sessions::{recall, unread};
use super::translate;
use super::wire::OpencodeMessage;
use crate::api::Api;
use crate::error::ApiError;
use crate::extract::param;

/// The most messages that are given at once.
const MOST: usize = 1000;

#[derive(Deserialize)]
pub(super) struct MessagesQuery {
    /// How many, the newest; a hundred unless said.
    limit: Option<usize>,
    /// Only those before this message.
    before: Option<String>,
}

/// The messages of a session with the parts of their calls, oldest first.
pub(super) async fn list(
    State(api): State<Api>,
    mut parts: Parts,
    query: Result<Query<MessagesQuery>, QueryRejection>,
) -> Result<Json<Vec<OpencodeMessage>>, ApiError> {
    let Query(wanted) = query.map_err(|_| ApiError::bad("`limit` must be a whole number"))?;
    let id = param(&mut parts, &api, "id").await?;
    let session = recall(&api, &id).await?;
    let limit = wanted.limit.unwrap_or(100).clamp(1, MOST);
    let page = Page {
        before: wanted.before.clone(),
        limit,
    };
    let mut messages = match &api.0.archive {
        Some(archive) => archive
            .messages(&session.id, page)
            .await
            .map_err(|error| unread(&error))?,
        None => Vec::new(),
    };
    if let Some(live) = api.sessions().get(&id).filter(|_| wanted.before.is_none()) {
        overlay(&mut messages, journalled_parts(&live).await, &session.id);
    }
    let surplus = messages.len().saturating_sub(limit);
    messages.drain(..surplus);
    Ok(Json(translate::messages(messages, &session.directory)))
}

/// The latest version of each part in a session's journal, with the time of its
/// first one.
async fn journalled_parts(session: &Session) -> IndexMap<PartId, (Millis, ToolPart)> {
    let mut parts = IndexMap::new();
    let last = session.journal().last();
    let mut tail = session.journal().tail(0);
    let mut read = 0;
    while read < last {
        let Some((_, entry)) = tail.next().await else {
            break;
        };
        read = entry.number;
        if let SessionEvent::Part(part) = entry.event {
            let at = Millis::at(entry.at);
            let (_, newest) = parts
                .entry(part.id.clone())
                .or_insert_with(|| (at, (*part).clone()));
            newest.clone_from(&part);
        }
    }
    parts
}

fn overlay(
    messages: &mut Vec<MessageRecord>,
    told: IndexMap<PartId, (Millis, ToolPart)>,
    session: &SessionId,
) {
    // What is older than the page that was asked for stays out of it.
    let oldest = messages.first().map(|message| message.info.time.created);
    for (at, part) in told.into_values() {
        let found = messages
            .iter_mut()
            .find(|message| message.info.id == part.message_id);
        match found {
            Some(message) => lay(message, part),
            None if oldest.is_some_and(|oldest| at < oldest) => {}
            None => messages.push(begun(session, &part.message_id.clone(), at, part)),
        }
    }
    for message in messages.iter_mut() {
        message.info.time.completed = translate::completed(&message.parts);
    }
}

fn lay(message: &mut MessageRecord, part: ToolPart) {
    let same = message.parts.iter_mut().find_map(|known| match known {
        MessagePart::Tool(known) if known.id == part.id => Some(known),
        _ => None,
    });
    match same {
        Some(known) if translate::rank(&known.state) < translate::rank(&part.state) => {
            **known = part;
        }
        Some(_) => {}
        None => message.parts.push(MessagePart::Tool(Box::new(part))),
    }
}

fn begun(session: &SessionId, id: &MessageId, at: Millis, part: ToolPart) -> MessageRecord {
    MessageRecord {
        info: MessageInfo {
            id: id.clone(),
            session_id: session.clone(),
            role: Role::Assistant,
            time: MessageTime {
                created: at,
                completed: None,
            },
        },
        parts: vec![MessagePart::Tool(Box::new(part))],
    }
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
