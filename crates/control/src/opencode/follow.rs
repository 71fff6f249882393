//! Converts the events of all sessions to opencode's format.
//!
//! Start at [`begin`]: the first client starts one task, which converts every
//! event once for all clients. It keeps only the state of open items.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use axum::http::HeaderMap;
use windlass_protocol::{
    MessageId, MessageInfo, MessageTime, Millis, PartId, Role, SessionId, SessionInfo,
    SessionUpdate, StreamedEvent, ToolPart,
};

use super::sessions::titled;
use super::wire::{
    OpencodeEvent, OpencodeSession, OpencodeSessionNews, OpencodeStatus, OpencodeUpdate,
};
use super::{OpencodeItem, translate};
use crate::api::Api;
use crate::hub::HubItem;
use crate::numbered::ReadPosition;
use crate::{proxy, sessions};

/// Starts the conversion of future events, unless it is running.
pub(super) fn begin(api: &Api) {
    api.wake();
    api.0.opencode.follows.call_once(|| {
        let (place, _) = api.0.hub.place(None);
        let follower = Follower {
            api: api.clone(),
            known: HashMap::new(),
        };
        windlass_task::spawn(follower.run(place));
    });
}

struct Follower {
    api: Api,
    known: HashMap<SessionId, KnownSession>,
}

/// A session that is under way.
struct KnownSession {
    session: OpencodeSession,
    directory: Arc<str>,
    /// The process that has it.
    pid: u32,
    /// Messages with calls that are open, and the newest.
    messages: HashMap<MessageId, OpenMessage>,
    newest: Option<MessageId>,
}

struct OpenMessage {
    created: Millis,
    /// The calls that are open, and how far they have come.
    parts: HashMap<PartId, u8>,
    /// Those that have been answered; a part never goes back.
    ended: HashSet<PartId>,
}

impl Follower {
    async fn run(mut self, mut place: ReadPosition) {
        loop {
            let item = self.api.0.hub.next(place).await;
            place = ReadPosition(item.number);
            if item.missed > 0 || item.value.name == "missed" {
                self.api.0.opencode.events.lose();
            }
            self.take(&item.value).await;
        }
    }

    async fn take(&mut self, item: &HubItem) {
        match item.name {
            "session" => {
                if let Ok(info) = serde_json::from_str::<SessionInfo>(&item.data) {
                    self.session(&info);
                }
            }
            "update" => {
                if let Ok(event) = serde_json::from_str::<StreamedEvent>(&item.data) {
                    self.update(event).await;
                }
            }
            "peer_gone" => {
                let gone = serde_json::from_str::<serde_json::Value>(&item.data);
                let pid = gone.ok().and_then(|gone| gone["pid"].as_u64());
                self.known
                    .retain(|_, known| Some(u64::from(known.pid)) != pid);
            }
            _ => {}
        }
    }

    /// A session is under way.
    fn session(&mut self, info: &SessionInfo) {
        let known = KnownSession::new(info);
        let news = news(&self.api, &known);
        let directory = Arc::clone(&known.directory);
        if self.known.insert(info.id.clone(), known).is_none() {
            self.publish(&directory, OpencodeUpdate::SessionCreated(news));
        }
    }

    async fn update(&mut self, event: StreamedEvent) {
        let StreamedEvent {
            session,
            at,
            update,
            ..
        } = event;
        if !self.known.contains_key(&session) && !self.find(&session).await {
            return;
        }
        let Some(known) = self.known.get_mut(&session) else {
            return;
        };
        known.session.time.updated = known.session.time.updated.max(at);
        let directory = Arc::clone(&known.directory);
        let told = match update {
            SessionUpdate::Part { part } => known.part(*part, at),
            SessionUpdate::Permission { request } => {
                let first = translate::permission(&request, at);
                vec![
                    OpencodeUpdate::PermissionAsked(request),
                    OpencodeUpdate::PermissionUpdated(first),
                ]
            }
            SessionUpdate::PermissionReplied { permission, reply } => {
                let replied = translate::replied(session, permission, reply);
                vec![OpencodeUpdate::PermissionReplied(replied)]
            }
            SessionUpdate::TurnEnded => vec![
                OpencodeUpdate::SessionUpdated(news(&self.api, known)),
                OpencodeUpdate::SessionIdle {
                    session_id: session,
                },
            ],
            SessionUpdate::Closed => {
                let news = news(&self.api, known);
                self.known.remove(&session);
                // What is recorded is still there to be read.
                vec![match &self.api.0.archive {
                    Some(_) => OpencodeUpdate::SessionUpdated(news),
                    None => OpencodeUpdate::SessionDeleted(news),
                }]
            }
            _ => Vec::new(),
        };
        for update in told {
            self.publish(&directory, update);
        }
    }

    /// Looks up a session that began before this task.
    async fn find(&mut self, id: &SessionId) -> bool {
        let mut here = sessions::local(&self.api).into_iter();
        let mut found = here.find(|info| info.id == *id);
        if found.is_none() {
            let owner = proxy::owner(&self.api, &HeaderMap::new(), id.as_str()).await;
            found = owner.map(|(_, info)| info);
        }
        if let Some(info) = &found {
            self.known.insert(id.clone(), KnownSession::new(info));
        }
        found.is_some()
    }

    fn publish(&self, directory: &Arc<str>, update: OpencodeUpdate) {
        let events = &self.api.0.opencode.events;
        events.push(|number| {
            let id = format!("evt_{}", events.id(number));
            let data = serde_json::to_string(&OpencodeEvent { id, update }).unwrap_or_default();
            let weight = data.len();
            let item = OpencodeItem {
                data: data.into(),
                directory: Arc::clone(directory),
            };
            (item, weight)
        });
    }
}

/// A session as it stands.
fn news(api: &Api, known: &KnownSession) -> OpencodeSessionNews {
    OpencodeSessionNews {
        session_id: known.session.id.clone(),
        info: titled(api, known.session.clone()),
    }
}

impl KnownSession {
    fn new(info: &SessionInfo) -> Self {
        let session = translate::live(info);
        Self {
            directory: session.directory.as_str().into(),
            session,
            pid: info.pid,
            messages: HashMap::new(),
            newest: None,
        }
    }

    /// Handles a change of a call. Its message is published before it and after
    /// the last of its calls, together with whether the session is busy.
    fn part(&mut self, part: ToolPart, at: Millis) -> Vec<OpencodeUpdate> {
        let was_idle = self.is_idle();
        let id = part.message_id.clone();
        let open = self
            .messages
            .entry(id.clone())
            .or_insert_with(|| OpenMessage {
                created: at,
                parts: HashMap::new(),
                ended: HashSet::new(),
            });
        let was_open = !open.parts.is_empty();
        if !open.take(&part) {
            return Vec::new();
        }
        let (created, is_open) = (open.created, !open.parts.is_empty());
        if self
            .newest
            .replace(id.clone())
            .is_some_and(|newest| newest != id)
        {
            self.messages
                .retain(|known, open| *known == id || !open.parts.is_empty());
        }
        let (is_idle, session_id) = (self.is_idle(), self.session.id.clone());
        let mut told = Vec::new();
        if was_idle && !is_idle {
            told.push(self.status(OpencodeStatus::Busy));
        }
        if !was_open {
            told.push(self.message(&id, created, None));
        }
        told.push(OpencodeUpdate::PartUpdated {
            session_id: session_id.clone(),
            part: Box::new(part),
            time: at,
        });
        if !is_open {
            told.push(self.message(&id, created, Some(at)));
        }
        if is_idle {
            told.push(self.status(OpencodeStatus::Idle));
            told.push(OpencodeUpdate::SessionIdle { session_id });
        }
        told
    }

    fn is_idle(&self) -> bool {
        self.messages.values().all(|open| open.parts.is_empty())
    }

    fn status(&self, status: OpencodeStatus) -> OpencodeUpdate {
        OpencodeUpdate::SessionStatus {
            session_id: self.session.id.clone(),
            status,
        }
    }

    fn message(
        &self,
        id: &MessageId,
        created: Millis,
        completed: Option<Millis>,
    ) -> OpencodeUpdate {
        let info = MessageInfo {
            id: id.clone(),
            session_id: self.session.id.clone(),
            role: Role::Assistant,
            time: MessageTime { created, completed },
        };
        OpencodeUpdate::MessageUpdated {
            session_id: self.session.id.clone(),
            info: translate::message_info(info, &self.directory, None),
        }
    }
}

impl OpenMessage {
    /// Takes a part in, unless it has come further already.
    fn take(&mut self, part: &ToolPart) -> bool {
        let rank = translate::rank(&part.state);
        let known = self.parts.get(&part.id);
        if self.ended.contains(&part.id) || known.is_some_and(|known| *known > rank) {
            return false;
        }
        if rank == 2 {
            self.parts.remove(&part.id);
            self.ended.insert(part.id.clone());
        } else {
            self.parts.insert(part.id.clone(), rank);
        }
        true
    }
}

#[cfg(test)]
#[path = "follow_tests.rs"]
mod tests;
