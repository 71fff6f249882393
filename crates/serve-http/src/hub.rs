//! The events of all sessions in one line, numbered and bounded.
//!
//! Start at [`Hub::start`]. A task per session, and one per other runtime that
//! is reached, puts what happens here; readers take it from here, each at its
//! own place. What is written as JSON is written once, however many read.

use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::watch;
use windlass_protocol::{HandleId, SessionId, SessionUpdate, StreamedEvent};
use windlass_runtime::Session;

use crate::api::Api;
use crate::client::{self, Peer};
use crate::{sessions, update};

/// How many events are kept.
const ITEMS: usize = 8192;
/// How much they may be together.
const BYTES: usize = 8 << 20;
/// How often the control sockets of other runtimes are looked for: nothing
/// tells when one is made.
const LOOK: Duration = Duration::from_millis(500);

pub(crate) struct Hub {
    /// Tells the numbers of this process from those of another.
    epoch: String,
    ring: Mutex<Ring>,
    last: watch::Sender<u64>,
}

#[derive(Default)]
struct Ring {
    items: VecDeque<Item>,
    bytes: usize,
    last: u64,
}

/// One event as it is sent.
#[derive(Clone)]
pub(crate) struct Item {
    pub(crate) number: u64,
    pub(crate) name: &'static str,
    pub(crate) data: Arc<str>,
    /// That a tool wrote, which comes often: readers may have it gathered.
    pub(crate) wrote: Option<Wrote>,
    /// The folder that it is about, where readers may ask for one.
    pub(crate) scope: Option<Arc<str>>,
    /// It came from another runtime, which tells it by itself.
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

    /// The same of an event that was written by another runtime.
    fn read(data: &str) -> Option<Self> {
        // Within a JSON string the quotes would be escaped.
        if !data.contains(r#""type":"wrote""#) {
            return None;
        }
        Self::of(&serde_json::from_str(data).ok()?)
    }
}

/// Everything up to this number has been read.
#[derive(Clone, Copy)]
pub(crate) struct Place(pub(crate) u64);

impl Hub {
    pub(crate) fn new() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.unwrap_or_default().as_millis();
        Self {
            epoch: format!("{}x{now:x}", std::process::id()),
            ring: Mutex::default(),
            last: watch::Sender::new(0),
        }
    }

    /// Begins to follow every session there is and will be.
    pub(crate) fn start(api: &Api) {
        tokio::spawn(follow_sessions(api.clone()));
        if let Some(folder) = api.0.peers.clone() {
            tokio::spawn(follow_peers(api.clone(), folder));
        }
    }

    fn push(&self, name: &'static str, data: &str) {
        self.put(None, false, |_| (name, data.to_owned(), None));
    }

    /// The same of an update, which may be that a tool wrote.
    fn push_update(&self, name: &'static str, data: &str, wrote: Option<Wrote>) {
        self.put(wrote, false, |_| (name, data.to_owned(), None));
    }

    /// Pushes an event of another runtime.
    fn relay(&self, name: &'static str, data: &str) {
        let wrote = Wrote::read(data);
        self.put(wrote, true, |_| (name, data.to_owned(), None));
    }

    /// The same of what holds its own id, which is given first.
    pub(crate) fn push_with(
        &self,
        make: impl FnOnce(&str) -> (&'static str, String, Option<Arc<str>>),
    ) {
        self.put(None, false, make);
    }

    fn put(
        &self,
        wrote: Option<Wrote>,
        relayed: bool,
        make: impl FnOnce(&str) -> (&'static str, String, Option<Arc<str>>),
    ) {
        let mut ring = self.ring.lock();
        ring.last += 1;
        let number = ring.last;
        let (name, data, scope) = make(&self.id(number));
        ring.bytes += data.len();
        ring.items.push_back(Item {
            number,
            name,
            data: data.into(),
            scope,
            wrote,
            relayed,
        });
        while ring.items.len() > ITEMS || ring.bytes > BYTES && ring.items.len() > 1 {
            let gone = ring.items.pop_front();
            ring.bytes -= gone.map_or(0, |item| item.data.len());
        }
        self.last.send_replace(number);
    }

    /// Something was missed that should have been told here: every reader is
    /// told that it has missed something.
    pub(crate) fn lose(&self) {
        let mut ring = self.ring.lock();
        ring.items.clear();
        ring.bytes = 0;
        ring.last += 1;
    }

    /// How many events are kept for readers that are behind.
    pub(crate) fn len(&self) -> usize {
        self.ring.lock().items.len()
    }

    /// The name of a number, for `Last-Event-ID`.
    pub(crate) fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.epoch)
    }

    /// Where a reader begins that has read up to this id, and whether it may
    /// have missed something that is gone.
    pub(crate) fn place(&self, id: Option<&str>) -> (Place, bool) {
        let last = self.ring.lock().last;
        let Some(id) = id else {
            return (Place(last), false);
        };
        let number = id
            .strip_prefix(&self.epoch)
            .and_then(|rest| rest.strip_prefix('-'))
            .and_then(|number| number.parse().ok());
        match number {
            Some(number) => (Place(last.min(number)), false),
            None => (Place(last), true),
        }
    }

    /// Waits for the next event after a place, and tells how many before it
    /// are gone.
    pub(crate) async fn next(&self, place: Place) -> (u64, Item) {
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
    /// The first kept event after a place, and how many before it are gone.
    fn after(&self, place: Place) -> Option<(u64, Item)> {
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
    loop {
        changes.mark_unchanged();
        let live = api.sessions().list();
        known.retain(|id| live.iter().any(|(session, _)| session.id() == id));
        for (session, began) in &live {
            if known.insert(session.id().clone()) {
                let info = sessions::info(&api, session, *began);
                let data = json!(info).to_string();
                api.0.hub.push("session", &data);
                tokio::spawn(follow(api.clone(), session));
            }
        }
        drop(live);
        if changes.changed().await.is_err() {
            return;
        }
    }
}

/// Follows one session to its end, without keeping it alive.
fn follow(api: Api, session: &Session) -> impl Future<Output = ()> + use<> {
    let id = session.id().clone();
    let mut tail = session.journal().tail(0);
    async move {
        while let Some((missed, entry)) = tail.next().await {
            if missed > 0 {
                let data = json!({ "count": missed }).to_string();
                api.0.hub.push("missed", &data);
            }
            api.0.metrics.note(&id, &entry);
            let streamed = update::streamed(&id, entry);
            if let Ok(data) = serde_json::to_string(&streamed) {
                let wrote = Wrote::of(&streamed);
                api.0.hub.push_update("update", &data, wrote);
            }
        }
    }
}

async fn follow_peers(api: Api, folder: std::path::PathBuf) {
    let known = Arc::new(Mutex::new(HashSet::new()));
    loop {
        for peer in others(&folder).await {
            if known.lock().insert(peer.path.clone()) {
                let (api, known) = (api.clone(), Arc::clone(&known));
                tokio::spawn(async move {
                    follow_peer(&api, &peer).await;
                    known.lock().remove(&peer.path);
                });
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn others(folder: &Path) -> Vec<Peer> {
    let peers = client::peers(folder).await;
    let own = std::process::id();
    peers.into_iter().filter(|peer| peer.pid != own).collect()
}

async fn follow_peer(api: &Api, peer: &Peer) {
    let Ok(mut events) = peer.events("/api/v1/events", None).await else {
        return;
    };
    while let Ok(Some(event)) = events.next().await {
        let name = match event.name.as_str() {
            "update" => "update",
            "session" => "session",
            "missed" => "missed",
            _ => continue,
        };
        api.0.routes.learn_event(peer, name, &event.data);
        api.0.hub.relay(name, &event.data);
    }
    api.0.routes.forget_peer(peer);
    let gone = json!({ "pid": peer.pid }).to_string();
    api.0.hub.push("peer_gone", &gone);
}

#[cfg(test)]
#[path = "hub_tests.rs"]
mod tests;
