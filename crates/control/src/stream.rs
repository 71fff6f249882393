//! One reader's stream of a session: its journal and screen changes.
//!
//! Start at [`SessionStream::next`]. The next event is computed when the reader
//! has room for it, with the current screen: nothing is queued, however fast a
//! program draws and however slow the reader is.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use axum::response::sse::Event;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use serde_json::json;
use windlass_protocol::{SessionId, SessionUpdate, StreamedScreen};
use windlass_runtime::{HandleRef, Session, Tail};

use crate::api::Api;
use crate::metrics::Watched;
use crate::update;

/// The minimum time between two updates of a screen.
const PAUSE: Duration = Duration::from_millis(30);
/// The longest that may be asked for instead.
const SLOWEST: Duration = Duration::from_secs(5);

pub(crate) struct SessionStream {
    api: Api,
    session: SessionId,
    tail: Tail,
    screens: Option<Screens>,
    /// Journal events are sent too, not only screens.
    updates: bool,
    /// Events that are sent first.
    ready: VecDeque<Event>,
    _watched: Watched,
}

/// The screens that a reader draws.
pub(crate) struct Screens {
    /// `None` is every one.
    wanted: Option<HashSet<String>>,
    changing: FuturesUnordered<BoxFuture<'static, (HandleRef, Option<u64>)>>,
    /// The minimum time between two updates of a screen.
    pause: Duration,
}

impl SessionStream {
    pub(crate) fn new(api: &Api, session: &Session, tail: Tail, screens: Option<Screens>) -> Self {
        let id = session.id().clone();
        let mut stream = Self {
            _watched: Watched::new(api, Some(id.as_str())),
            api: api.clone(),
            session: id,
            tail,
            screens,
            updates: true,
            ready: VecDeque::from([Event::default().event("hello").data("{}")]),
        };
        for handle in session.handles() {
            stream.look_at(handle.id.as_str());
        }
        stream
    }

    /// Begins with a gap: the reader knows an event that is not in this
    /// journal.
    pub(crate) fn begins_with_a_gap(&mut self, last: u64) {
        let missed = Event::default().event("missed").id(last.to_string());
        self.ready.push_back(missed.data(r#"{"count":0}"#));
    }

    /// Tells only what is drawn.
    pub(crate) fn only_screens(mut self) -> Self {
        self.updates = false;
        self.ready.clear();
        self
    }

    /// The next thing to send; `None` after the session's last.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            tokio::select! {
                entry = self.tail.next() => {
                    let (missed, entry) = entry?;
                    self.take(missed, entry);
                }
                Some((handle, seen)) = changed(&mut self.screens) => {
                    self.show(handle, seen);
                }
            }
        }
    }

    fn take(&mut self, missed: u64, entry: windlass_runtime::Entry) {
        let number = entry.number;
        if missed > 0 && self.updates {
            let data = json!({ "count": missed }).to_string();
            let id = (number - 1).to_string();
            self.ready
                .push_back(Event::default().event("missed").data(data).id(id));
        }
        let streamed = update::streamed(&self.session, entry);
        if let SessionUpdate::Started(place) = &streamed.update
            && let Some(handle) = &place.handle
        {
            let handle = handle.clone();
            self.look_at(handle.as_str());
        }
        if self.updates {
            let event = Event::default().event("update").id(number.to_string());
            self.ready.extend(event.json_data(&streamed).ok());
        }
    }

    /// Begins to follow a handle's screen, if it has one that is wanted.
    fn look_at(&mut self, id: &str) {
        let Some(screens) = &mut self.screens else {
            return;
        };
        let wanted = screens.wanted.as_ref();
        if wanted.is_some_and(|wanted| !wanted.contains(id)) {
            return;
        }
        let session = self.api.sessions().get(self.session.as_str());
        if let Some(handle) = session.and_then(|session| session.handle(id).ok()) {
            let first = async move { (handle, None) };
            screens.changing.push(Box::pin(first));
        }
    }

    fn show(&mut self, handle: HandleRef, seen: Option<u64>) {
        // Looked at first: what is drawn before the end is shown then.
        let is_stopped = handle.is_stopped();
        let Some(screen) = handle.screen(seen) else {
            return;
        };
        let generation = screen.generation;
        if seen != Some(generation) {
            let streamed = StreamedScreen {
                session: self.session.clone(),
                handle: handle.id().clone(),
                screen,
            };
            let event = Event::default().event("screen").json_data(&streamed);
            self.ready.extend(event.ok());
        }
        if let Some(screens) = self.screens.as_ref().filter(|_| !is_stopped) {
            let pause = screens.pause;
            screens.changing.push(Box::pin(async move {
                tokio::time::sleep(pause).await;
                tokio::select! {
                    () = handle.screen_changed(generation) => {}
                    () = handle.stopped() => {}
                }
                (handle, Some(generation))
            }));
        }
    }
}

impl Screens {
    /// Those of a list by comma, or all for `*`.
    pub(crate) fn wanted(list: &str) -> Self {
        let names = || list.split(',').map(str::trim).map(str::to_owned).collect();
        Self {
            wanted: (list.trim() != "*").then(names),
            changing: FuturesUnordered::new(),
            pause: PAUSE,
        }
    }

    /// Sets the minimum time between two updates of a screen in milliseconds,
    /// clamped to the permitted range.
    pub(crate) fn every(mut self, pause: Option<u64>) -> Self {
        if let Some(pause) = pause {
            self.pause = Duration::from_millis(pause).clamp(PAUSE, SLOWEST);
        }
        self
    }
}

/// The next screen that has changed; `None` when none is followed.
async fn changed(screens: &mut Option<Screens>) -> Option<(HandleRef, Option<u64>)> {
    screens.as_mut()?.changing.next().await
}
