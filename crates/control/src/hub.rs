//! The combined events of all sessions, numbered and bounded.
//!
//! Start at [`Hub::start`]. A task per session, and one per other runtime,
//! publishes events here; each reader has its own position. JSON is serialised
//! once for all readers.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::watch;
use windlass_protocol::{
    HandleId, HubSession, LoggedHub, LoggedItem, Millis, SessionId, SessionUpdate, StreamedEvent,
};
use windlass_runtime::Session;

use crate::api::Api;
use crate::client::{self, Peer};
use crate::hub_log::{HubLog, ItemSource};
use crate::{sessions, update};

/// How many events are kept.
const ITEMS: usize = 8192;
/// How much they may be together.
const BYTES: usize = 8 << 20;
/// The polling interval for control sockets of other runtimes: no event reports
/// a new one.
const LOOK: Duration = Duration::from_millis(500);

pub(crate) struct Hub {
    /// Tells the numbers of this hub from those of another.
    epoch: String,
    ring: Mutex<Ring>,
    last: watch::Sender<u64>,
    /// How far the server before this one had read.
    before: LoggedHub,
}

#[derive(Default)]
struct Ring {
    items: VecDeque<HubItem>,
    bytes: usize,
    last: u64,
    /// Keeps the events for the server after this one.
    log: Option<HubLog>,
}

/// One event as it is sent.
#[derive(Clone)]
pub(crate) struct HubItem {
    pub(crate) number: u64,
    pub(crate) name: &'static str,
    pub(crate) data: Arc<str>,
    /// That a tool wrote, which comes often: readers may have it gathered.
    pub(crate) wrote: Option<Wrote>,
    /// The folder that it is about, where readers may ask for one.
    pub(crate) scope: Option<Arc<str>>,
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

    /// Parses an event that another runtime has serialised.
    fn read(data: &str) -> Option<Self> {
        // Within a JSON string the quotes would be escaped.
        if !data.contains(r#""type":"wrote""#) {
            return None;
        }
        Self::of(&serde_json::from_str(data).ok()?)
    }
}

/// The kinds of events.
const NAMES: [&str; 4] = ["update", "session", "missed", "peer_gone"];

/// Everything up to this number has been read.
#[derive(Clone, Copy)]
pub(crate) struct ReadPosition(pub(crate) u64);

impl Hub {
    pub(crate) fn new() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.unwrap_or_default().as_millis();
        Self {
            epoch: format!("{}x{now:x}", std::process::id()),
            ring: Mutex::default(),
            last: watch::Sender::new(0),
            before: LoggedHub::default(),
        }
    }

    /// Goes on with the events of a log, and keeps events there.
    pub(crate) fn resume(mut log: HubLog) -> Self {
        let mut hub = Self::new();
        log.begin(&hub.epoch);
        hub.epoch.clone_from(&log.state.epoch);
        hub.before.clone_from(&log.state);
        let mut ring = Ring {
            last: log.state.last,
            ..Ring::default()
        };
        for item in log.items.drain(..) {
            ring.restore(&item);
        }
        if ring
            .items
            .back()
            .is_some_and(|item| item.number != ring.last)
        {
            ring.items.clear();
            ring.bytes = 0;
        }
        ring.log = Some(log);
        hub.last.send_replace(ring.last);
        hub.ring = Mutex::new(ring);
        hub
    }

    /// Releases the log. Events are still published.
    pub(crate) fn let_go(&self) {
        self.ring.lock().log = None;
    }

    /// Begins to follow every session there is and will be.
    pub(crate) fn start(api: &Api) {
        tokio::spawn(follow_sessions(api.clone()));
        if let Some(folder) = api.0.peers.clone() {
            tokio::spawn(follow_peers(api.clone(), folder));
        }
    }

    /// Keeps events in the log again. Readers have missed what was added to it
    /// meanwhile.
    pub(crate) fn take_back(&self, mut log: HubLog) {
        let mut ring = self.ring.lock();
        log.items.clear();
        if log.state.last > ring.last {
            ring.items.clear();
            ring.bytes = 0;
            ring.last = log.state.last;
        }
        ring.log = Some(log);
    }

    fn push(&self, name: &'static str, data: &str) {
        self.put(None, ItemSource::Hub, |_| (name, data.to_owned(), None));
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
        self.put(Wrote::of(event), source, |_| ("update", data, None));
    }

    /// Pushes an event of another runtime.
    fn relay(&self, name: &'static str, data: &str, source: ItemSource<'_>) {
        let wrote = Wrote::read(data);
        self.put(wrote, source, |_| (name, data.to_owned(), None));
    }

    /// Publishes a value that contains its own id, which is passed to the
    /// callback.
    pub(crate) fn push_with(
        &self,
        make: impl FnOnce(&str) -> (&'static str, String, Option<Arc<str>>),
    ) {
        self.put(None, ItemSource::Hub, make);
    }

    fn put(
        &self,
        wrote: Option<Wrote>,
        source: ItemSource<'_>,
        make: impl FnOnce(&str) -> (&'static str, String, Option<Arc<str>>),
    ) {
        let mut ring = self.ring.lock();
        ring.last += 1;
        let number = ring.last;
        let (name, data, scope) = make(&self.id(number));
        if let Some(log) = &mut ring.log {
            log.write(number, name, &data, source);
        }
        ring.push(HubItem {
            number,
            name,
            data: data.into(),
            scope,
            wrote,
            relayed: source.is_peer(),
        });
        self.last.send_replace(number);
    }

    /// Records a gap: every reader is told that it has missed events.
    pub(crate) fn lose(&self) {
        let mut ring = self.ring.lock();
        ring.items.clear();
        ring.bytes = 0;
        ring.last += 1;
    }

    /// Notes how far another runtime has been read.
    fn note_peer(&self, socket: &str, id: &str) {
        if let Some(log) = &mut self.ring.lock().log {
            log.note_peer(socket, id);
        }
    }

    /// How many events are kept for readers that are behind.
    pub(crate) fn len(&self) -> usize {
        self.ring.lock().items.len()
    }

    /// The name of a number, for `Last-Event-ID`.
    pub(crate) fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.epoch)
    }

    /// The start position of a reader that has read up to this id, and whether
    /// events after it are gone.
    pub(crate) fn place(&self, id: Option<&str>) -> (ReadPosition, bool) {
        let last = self.ring.lock().last;
        let Some(id) = id else {
            return (ReadPosition(last), false);
        };
        let number = id
            .strip_prefix(&self.epoch)
            .and_then(|rest| rest.strip_prefix('-'))
            .and_then(|number| number.parse().ok());
        match number {
            Some(number) => (ReadPosition(last.min(number)), false),
            None => (ReadPosition(last), true),
        }
    }

    /// Waits for the next event after a position, and returns the number of
    /// events before it that are gone.
    pub(crate) async fn next(&self, place: ReadPosition) -> (u64, HubItem) {
        let mut last = self.last.subscribe();
        loop {
            // Marked before the ring is read, so that an event pushed
            // afterwards wakes the wait below.
            last.mark_unchanged();
            if let Some(found) = self.ring.lock().after(place) {
                return found;
            }
            // The number alone does not say that there is an event: `lose`
            // clears the ring. The sender is in `self`.
            let _ = last.changed().await;
        }
    }
}

impl Ring {
    fn push(&mut self, item: HubItem) {
        self.bytes += item.data.len();
        self.items.push_back(item);
        while self.items.len() > ITEMS || self.bytes > BYTES && self.items.len() > 1 {
            let gone = self.items.pop_front();
            self.bytes -= gone.map_or(0, |item| item.data.len());
        }
    }

    /// Adds an event of the server before this one. Numbers have no gap: what
    /// came before one is gone.
    fn restore(&mut self, item: &LoggedItem) {
        let name = NAMES.into_iter().find(|name| *name == item.name);
        let follows = |last: &HubItem| last.number + 1 == item.number;
        if name.is_none() || !self.items.back().is_none_or(follows) {
            self.items.clear();
            self.bytes = 0;
        }
        let Some(name) = name else { return };
        self.push(HubItem {
            number: item.number,
            name,
            data: item.data.as_str().into(),
            wrote: Wrote::read(&item.data),
            scope: None,
            relayed: item.origin.is_some(),
        });
    }

    /// The first kept event after a place, and how many before it are gone.
    fn after(&self, place: ReadPosition) -> Option<(u64, HubItem)> {
        let oldest = self.items.front()?.number;
        let missed = oldest.saturating_sub(place.0 + 1);
        let index = (place.0 + 1 + missed).saturating_sub(oldest);
        let item = self.items.get(usize::try_from(index).ok()?)?;
        Some((missed, item.clone()))
    }
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
                api.0.hub.put(None, source, |_| ("session", data, None));
                let read = before.remove(session.id()).unwrap_or_default().last;
                tokio::spawn(follow(api.clone(), session, read));
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
                tokio::spawn(async move {
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
        api.0.routes.learn_event(peer, name, &event.data);
        let socket = &socket;
        api.0
            .hub
            .relay(name, &event.data, ItemSource::Peer { socket, id });
    }
    api.0.routes.forget_peer(peer);
    peer_is_gone(api, &socket);
}

fn peer_is_gone(api: &Api, socket: &str) {
    let pid = Peer::named(Path::new(socket)).map(|peer| peer.pid);
    let gone = json!({ "pid": pid }).to_string();
    let source = ItemSource::PeerGone { socket };
    api.0.hub.put(None, source, |_| ("peer_gone", gone, None));
}

fn socket_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
#[path = "hub_tests.rs"]
mod tests;
