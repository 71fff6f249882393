//! A conversation: its events, and their storage.
//!
//! Each event is appended before it is acted on, so that a conversation can
//! resume after its process died: [`Conversation::load`] adds replies for
//! unanswered calls.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use serde_json::{Value, json};
use ulid::Ulid;
use windlass_protocol::{
    CallReply, ConversationEvent, MessageId, Millis, Role, Said, SessionId, TurnEvent,
};
use windlass_runtime::{ArchiveError, Conversations};

/// The reply to a call whose process died first.
const LOST: &str = "not answered: Windlass ended before this call did; it may have run";

/// A conversation. It can be read while it continues.
#[derive(Default)]
pub struct Conversation {
    events: Mutex<Vec<Arc<TurnEvent>>>,
    /// The newest message, which replies and notices belong to.
    newest: Mutex<Option<MessageId>>,
    kept: Option<(Arc<dyn Conversations>, SessionId)>,
}

impl Conversation {
    /// An empty one that is kept nowhere.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty one, kept under this session.
    pub fn kept(record: Arc<dyn Conversations>, session: SessionId) -> Self {
        Self {
            kept: Some((record, session)),
            ..Self::default()
        }
    }

    /// Loads the conversation of this session, ready to continue. Unreadable
    /// events, such as those of a later version, are skipped.
    pub async fn load(
        record: Arc<dyn Conversations>,
        session: SessionId,
    ) -> Result<Self, ArchiveError> {
        let recorded = record.load(&session).await?;
        let newest = recorded.last().map(|event| event.message.clone());
        let events = recorded.into_iter().filter_map(read).map(Arc::new);
        let (mended, lost) = mend(events.collect());
        let conversation = Self {
            events: Mutex::new(mended),
            newest: Mutex::new(newest),
            kept: Some((record, session)),
        };
        if let Some(replies) = lost {
            conversation.append(replies).await?;
        }
        Ok(conversation)
    }

    /// Appends an event; it is stored when the future resolves. Returns the
    /// message that contains it: a new one for text of the user or the
    /// assistant, else the newest one.
    pub async fn append(&self, event: TurnEvent) -> Result<MessageId, ArchiveError> {
        let message = {
            let mut newest = self.newest.lock();
            if let TurnEvent::User { .. } | TurnEvent::Assistant { .. } = event {
                *newest = None;
            }
            let new = || MessageId::from_suffix(&Ulid::generate().to_string());
            newest.get_or_insert_with(new).clone()
        };
        if let Some((record, session)) = &self.kept {
            record.append(session, recorded(&event, &message)).await?;
        }
        self.events.lock().push(Arc::new(event));
        Ok(message)
    }

    /// Everything so far.
    pub fn events(&self) -> Vec<Arc<TurnEvent>> {
        self.events.lock().clone()
    }
}

/// The recorded form of an event. Replies are stored beside the payload.
fn recorded(event: &TurnEvent, message: &MessageId) -> ConversationEvent {
    let mut recorded = ConversationEvent {
        message: message.clone(),
        role: Role::User,
        text: None,
        payload: Value::Null,
        replies: Vec::new(),
        at: Millis::at(SystemTime::now()),
    };
    match event {
        TurnEvent::Replies { replies, notices } => {
            recorded.role = Role::Assistant;
            recorded.replies.clone_from(replies);
            recorded.payload = json!(TurnEvent::Replies {
                replies: Vec::new(),
                notices: notices.clone(),
            });
            return recorded;
        }
        TurnEvent::Assistant { said, .. } => {
            recorded.role = Role::Assistant;
            let texts = said.iter().filter_map(|said| match said {
                Said::Text { text } => Some(text.as_str()),
                _ => None,
            });
            recorded.text = Some(texts.collect()).filter(|text: &String| !text.is_empty());
        }
        TurnEvent::User { text, .. } => recorded.text = Some(text.clone()),
        TurnEvent::Notices { .. } | TurnEvent::TurnEnded => {}
    }
    recorded.payload = json!(event);
    recorded
}

/// Reads a recorded event. Older records have the replies in the payload.
fn read(recorded: ConversationEvent) -> Option<TurnEvent> {
    let mut event = serde_json::from_value(recorded.payload).ok()?;
    if let TurnEvent::Replies { replies, .. } = &mut event
        && !recorded.replies.is_empty()
    {
        *replies = recorded.replies;
    }
    Some(event)
}

/// Adds replies for unanswered calls, which no provider accepts. Replies to
/// calls of the last event are returned instead, since they are not recorded.
fn mend(events: Vec<Arc<TurnEvent>>) -> (Vec<Arc<TurnEvent>>, Option<TurnEvent>) {
    let answered: HashSet<String> = events
        .iter()
        .filter_map(|event| match &**event {
            TurnEvent::Replies { replies, .. } => Some(replies),
            _ => None,
        })
        .flatten()
        .map(|reply| reply.id.clone())
        .collect();
    let mut mended = Vec::with_capacity(events.len() + 1);
    let count = events.len();
    for (place, event) in events.into_iter().enumerate() {
        let lost = lost_calls(&event, &answered);
        mended.push(event);
        if !lost.is_empty() {
            let replies = TurnEvent::Replies {
                replies: lost,
                notices: Vec::new(),
            };
            if place + 1 == count {
                return (mended, Some(replies));
            }
            mended.push(Arc::new(replies));
        }
    }
    (mended, None)
}

fn lost_calls(event: &TurnEvent, answered: &HashSet<String>) -> Vec<CallReply> {
    let TurnEvent::Assistant { said, .. } = event else {
        return Vec::new();
    };
    said.iter()
        .filter_map(|said| match said {
            Said::Call { call, .. } if !answered.contains(&call.id) => {
                Some(CallReply::refused(call.id.clone(), LOST))
            }
            _ => None,
        })
        .collect()
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
