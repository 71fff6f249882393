//! The combined events of all sessions, numbered and bounded.
//!
//! Start at [`Hub::start`]. A task per session, and one per other runtime,
//! publishes events here; each reader has its own position. JSON is serialised
//! once for all readers.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use serde_json::json;
use windlass_protocol::{HandleId, Millis, SessionId, SessionUpdate, StreamedEvent};
use windlass_runtime::{RingItem, Session};

use crate::api::Api;
use crate::client::{self, Peer};
use crate::event_content::EventContent;
use crate::hub_log::{HubLog, ItemSource};
use crate::logged::{HubSession, LoggedHub, LoggedItem};
use crate::numbered::{NumberedEvents, ReadPosition};
use crate::{sessions, update};

/// The polling interval for control sockets of other runtimes: no event reports
/// a new one.
const LOOK: Duration = Duration::from_millis(500);

pub(crate) struct Hub {
    events: NumberedEvents<HubItem>,
    /// Keeps the events for the server after this one. It is locked while an event
    /// is published, so that it has the events in the order of their numbers.
    log: Mutex<Option<HubLog>>,
    /// How far the server before this one had read.
    before: LoggedHub,
}

/// One event as it is sent.
#[derive(Clone)]
pub(crate) struct HubItem {
    pub(crate) name: &'static str,
    pub(crate) data: Arc<str>,
    /// That a tool wrote, which comes often: readers may have it gathered.
    pub(crate) wrote: Option<Wrote>,
    /// It came from another runtime, which publishes it itself.
    pub(crate) relayed: bool,
}

/// Which tool wrote, by the id that a person knows it by.
#[derive(Clone)]
pub(crate) struct Wrote {
    pub(crate) session: SessionId,
    pub(crate) handle: Option<HandleId>,
}

impl Wrote {
    fn of(event: &StreamedEvent) -> Option<Self> {
        let SessionUpdate::Wrote { tool, .. } = &event.update else {
            return None;
        };
        Some(Self {
            session: event.session.clone(),
            handle: tool.handle.clone().or_else(|| tool.one_shot.clone()),
        })
    }

    fn of_content(content: &EventContent) -> Option<Self> {
        match content {
            EventContent::Update(event) => Self::of(event),
            EventContent::Session(_) | EventContent::Opaque => None,
        }
    }
}

/// The kinds of events.
const NAMES: [&str; 4] = ["update", "session", "missed", "peer_gone"];

impl HubItem {
    /// An event of the server before this one; `None` if this version does not know
    /// its kind.
    fn restore(item: &LoggedItem) -> Option<Self> {
        let name = NAMES.into_iter().find(|name| *name == item.name)?;
        Some(Self {
            name,
            data: item.data.as_str().into(),
            wrote: Wrote::of_content(&EventContent::read(name, &item.data)),
            relayed: item.origin.is_some(),
        })
    }
}

impl Hub {
    pub(crate) fn new() -> Self {
        Self {
            events: NumberedEvents::new(),
            log: Mutex::default(),
            before: LoggedHub::default(),
        }
    }

    /// Goes on with the events of a log, and keeps events there.
    pub(crate) fn resume(mut log: HubLog) -> Self {
        let mut events = NumberedEvents::new();
        log.begin(events.epoch());
        let before = log.state.clone();
        events.resume(&before.epoch, before.last, restored(&mut log));
        Self {
            events,
            log: Mutex::new(Some(log)),
            before,
        }
    }

    /// Releases the log. Events are still published.
    pub(crate) fn let_go(&self) {
        *self.log.lock() = None;
    }

    /// Begins to follow every session there is and will be.
    pub(crate) fn start(api: &Api) {
        windlass_task::spawn(follow_sessions(api.clone()));
        if let Some(folder) = api.0.peers.clone() {
            windlass_task::spawn(follow_peers(api.clone(), folder));
        }
    }

    /// Keeps events in the log again. Readers have missed what was added to it
    /// meanwhile.
    pub(crate) fn take_back(&self, mut log: HubLog) {
        log.items.clear();
        self.events.change(|events| {
            events.skip_to(log.state.last);
            *self.log.lock() = Some(log);
        });
    }

    fn push(&self, name: &'static str, data: &str) {
        self.put(name, data.to_owned(), None, ItemSource::Hub);
    }

    /// Pushes an event of a session, which may be that a tool wrote.
    fn push_update(&self, event: &StreamedEvent) {
        let Ok(data) = serde_json::to_string(event) else {
            return;
        };
        let source = ItemSource::Session {
            id: &event.session,
            number: event.number,
            is_last: matches!(event.update, SessionUpdate::Closed),
        };
        self.put("update", data, Wrote::of(event), source);
    }

    /// Pushes an event of another runtime.
    fn relay(
        &self,
        name: &'static str,
        data: String,
        content: &EventContent,
        source: ItemSource<'_>,
    ) {
        self.put(name, data, Wrote::of_content(content), source);
    }

    fn put(&self, name: &'static str, data: String, wrote: Option<Wrote>, source: ItemSource<'_>) {
        self.events.push(|number| {
            if let Some(log) = &mut *self.log.lock() {
                log.write(number, name, &data, source);
            }
            let weight = data.len();
            let item = HubItem {
                name,
                data: data.into(),
                wrote,
                relayed: source.is_peer(),
            };
            (item, weight)
        });
    }

    /// Notes how far another runtime has been read.
    fn note_peer(&self, socket: &str, id: &str) {
        if let Some(log) = &mut *self.log.lock() {
            log.note_peer(socket, id);
        }
    }

    /// How many events are kept for readers that are behind.
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// The name of a number, for `Last-Event-ID`.
    pub(crate) fn id(&self, number: u64) -> String {
        self.events.id(number)
    }

    /// The start position of a reader that has read up to this id, and whether
    /// events after it are gone.
    pub(crate) fn place(&self, id: Option<&str>) -> (ReadPosition, bool) {
        self.events.place(id)
    }

    /// Waits for the next event after a position.
    pub(crate) async fn next(&self, place: ReadPosition) -> RingItem<HubItem> {
        self.events.next(place).await
    }
}

/// The newest events of a log, with consecutive numbers, and their weights.
fn restored(log: &mut HubLog) -> Vec<(HubItem, usize)> {
    let mut items = Vec::new();
    let mut last = None;
    for item in log.items.drain(..) {
        if last.is_none_or(|last: u64| last + 1 != item.number) {
            items.clear();
        }
        last = Some(item.number);
        match HubItem::restore(&item) {
            Some(restored) => {
                let weight = restored.data.len();
                items.push((restored, weight));
            }
            None => items.clear(),
        }
    }
    if last != Some(log.state.last) {
        items.clear();
    }
    items
}

async fn follow_sessions(api: Api) {
    let mut changes = api.0.sessions.changes();
    let mut known = HashSet::new();
    let mut before = api.0.hub.before.sessions.clone();
    end_those_that_are_gone(&api, &before);
    loop {
        changes.mark_unchanged();
        let live = api.sessions().list();
        known.retain(|id| live.iter().any(|(session, _)| session.id() == id));
        for (session, began) in &live {
            if known.insert(session.id().clone()) {
                let info = sessions::info(&api, session, *began);
                let data = json!(info).to_string();
                let source = ItemSource::Session {
                    id: session.id(),
                    number: 0,
                    is_last: false,
                };
                api.0.hub.put("session", data, None, source);
                let read = before.remove(session.id()).unwrap_or_default().last;
                windlass_task::spawn(follow(api.clone(), session, read));
            }
        }
        drop(live);
        if changes.changed().await.is_err() {
            return;
        }
    }
}

/// Sessions of the server before this one that were not taken up have ended.
fn end_those_that_are_gone(api: &Api, before: &BTreeMap<SessionId, HubSession>) {
    for (id, session) in before {
        if api.sessions().get(id.as_str()).is_none() {
            api.0.hub.push_update(&StreamedEvent {
                session: id.clone(),
                number: session.last + 1,
                at: Millis::at(SystemTime::now()),
                update: SessionUpdate::Closed,
            });
        }
    }
}

/// Follows one session to its end, without keeping it alive. Its events up to
/// number `read` were already published.
fn follow(api: Api, session: &Session, read: u64) -> impl Future<Output = ()> + use<> {
    let id = session.id().clone();
    let mut tail = session.journal().tail(read);
    async move {
        while let Some((missed, entry)) = tail.next().await {
            if missed > 0 {
                let data = json!({ "count": missed }).to_string();
                api.0.hub.push("missed", &data);
            }
            api.0.metrics.note(&id, &entry);
            api.0.hub.push_update(&update::streamed(&id, entry));
        }
    }
}

async fn follow_peers(api: Api, folder: std::path::PathBuf) {
    let known = Arc::new(Mutex::new(HashSet::new()));
    let mut before = api.0.hub.before.peers.clone();
    loop {
        for peer in others(&folder).await {
            if known.lock().insert(peer.path.clone()) {
                let (api, known) = (api.clone(), Arc::clone(&known));
                let read = before.remove(&socket_name(&peer.path));
                windlass_task::spawn(async move {
                    follow_peer(&api, &peer, read.as_deref()).await;
                    known.lock().remove(&peer.path);
                });
            }
        }
        for (socket, _) in std::mem::take(&mut before) {
            peer_is_gone(&api, &socket);
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn others(folder: &Path) -> Vec<Peer> {
    let peers = client::peers(folder).await;
    let own = std::process::id();
    peers.into_iter().filter(|peer| peer.pid != own).collect()
}

/// Follows another runtime to its end, after the event of this id there.
async fn follow_peer(api: &Api, peer: &Peer, read: Option<&str>) {
    let socket = socket_name(&peer.path);
    let Ok(mut events) = peer.events("/api/v1/events", read).await else {
        if read.is_some() {
            peer_is_gone(api, &socket);
        }
        return;
    };
    while let Ok(Some(event)) = events.next().await {
        let id = event.id.as_deref().unwrap_or_default();
        let name = match event.name.as_str() {
            "update" => "update",
            "session" => "session",
            "missed" => "missed",
            "hello" => {
                api.0.hub.note_peer(&socket, id);
                continue;
            }
            _ => continue,
        };
        let content = EventContent::read(name, &event.data);
        api.0.routes.learn_event(peer, &content);
        let socket = &socket;
        let source = ItemSource::Peer { socket, id };
        api.0.hub.relay(name, event.data, &content, source);
    }
    api.0.routes.forget_peer(peer);
    peer_is_gone(api, &socket);
}

fn peer_is_gone(api: &Api, socket: &str) {
    let pid = Peer::named(Path::new(socket)).map(|peer| peer.pid);
    let gone = json!({ "pid": pid }).to_string();
    let source = ItemSource::PeerGone { socket };
    api.0.hub.put("peer_gone", gone, None, source);
}

fn socket_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
#[path = "hub_tests.rs"]
mod tests;
