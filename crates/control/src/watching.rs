//! The events of every session on one stream, with the screens that a reader
//! draws: a page needs one of the six connections of a browser.
//!
//! Start at [`of_all`]. Screens come from the session's own stream, here or in
//! its runtime, and are read when this reader has room. Write events can be
//! batched, since they are frequent and carry little information.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Query, State, rejection::QueryRejection};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::response::sse::{Event, Sse};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream, SelectAll};
use indexmap::{IndexMap, IndexSet};
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;
use windlass_protocol::HandleId;
use windlass_runtime::RingItem;

use crate::api::Api;
use crate::client::LOCAL;
use crate::error::ApiError;
use crate::events::{heartbeat, last_event_id, respond};
use crate::holding::{Holding, is_name};
use crate::hub::{HubItem, Wrote};
use crate::metrics::Watched;
use crate::numbered::ReadPosition;
use crate::proxy;
use crate::stream::{Screens, SessionStream};

/// The most sessions whose screens one reader may draw at once.
const SESSIONS: usize = 64;

#[derive(Deserialize)]
pub(crate) struct WatchQuery {
    /// Screens, as `SESSION/HANDLE` by comma; a handle may be `*`.
    screens: Option<String>,
    /// How soon a screen that keeps changing is told again, in milliseconds.
    pause_ms: Option<u64>,
    /// Gathers what tools wrote and tells it at most this often.
    written_ms: Option<u64>,
    /// Locks that the reader holds, as `SESSION/HANDLE/LOCK` by comma.
    holding: Option<String>,
}

/// The events of every session, those of other runtimes included where they
/// are reached. Its numbers are its own.
pub(crate) async fn of_all(
    State(api): State<Api>,
    headers: HeaderMap,
    query: Result<Query<WatchQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(query) =
        query.map_err(|_| ApiError::bad("`pause_ms` and `written_ms` must be numbers"))?;
    let holding = Holding::new(&api, query.holding.as_deref().unwrap_or_default())?;
    api.wake();
    let watched = Watched::new(&api, None);
    let (place, missed) = api.0.hub.place(last_event_id(&headers));
    let name = if missed { "missed" } else { "hello" };
    let first = Event::default().event(name).data("{}");
    let leaving = api.clone();
    let watching = Watching {
        ready: VecDeque::from([first.id(api.0.hub.id(place.0))]),
        screens: screens(&api, &headers, &query).await?,
        written: query.written_ms.map(Gathered::every),
        own_only: headers.contains_key(LOCAL),
        place,
        api,
        _watched: watched,
        _holding: holding,
    };
    let events = stream::unfold(watching, |mut watching| async move {
        let event = watching.next().await;
        Some((Ok::<_, Infallible>(event), watching))
    });
    let events = leaving.until_leaving(events);
    Ok(respond(Sse::new(events).keep_alive(heartbeat())))
}

/// One reader of everything.
struct Watching {
    api: Api,
    place: ReadPosition,
    screens: SelectAll<BoxStream<'static, Event>>,
    written: Option<Gathered>,
    /// The reader is another runtime, which follows all others itself: two
    /// servers would otherwise forward each other's events for ever.
    own_only: bool,
    ready: VecDeque<Event>,
    _watched: Watched,
    /// Hands back the reader's locks when it has gone.
    _holding: Holding,
}

impl Watching {
    /// The next thing to send.
    async fn next(&mut self) -> Event {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return event;
            }
            tokio::select! {
                item = self.api.0.hub.next(self.place) => self.take(item),
                Some(event) = self.screens.next() => return event,
                event = due(&mut self.written) => return event,
            }
        }
    }

    fn take(&mut self, item: RingItem<HubItem>) {
        let hub = &self.api.0.hub;
        let RingItem {
            missed,
            number,
            value: item,
        } = item;
        self.place = ReadPosition(number);
        if missed > 0 {
            let data = json!({ "count": missed }).to_string();
            let event = Event::default().event("missed").data(data);
            self.ready.push_back(event.id(hub.id(number - 1)));
        }
        if self.own_only && item.relayed {
            return;
        }
        if let (Some(gathered), Some(wrote)) = (&mut self.written, item.wrote) {
            gathered.take(wrote);
            return;
        }
        let event = Event::default().event(item.name).data(&*item.data);
        self.ready.push_back(event.id(hub.id(number)));
    }
}

/// The handles that have written since the last report.
struct Gathered {
    every: Duration,
    last: Option<Instant>,
    handles: IndexSet<(String, HandleId)>,
}

impl Gathered {
    fn every(millis: u64) -> Self {
        Self {
            every: Duration::from_millis(millis.clamp(50, 60_000)),
            last: None,
            handles: IndexSet::new(),
        }
    }

    fn take(&mut self, wrote: Wrote) {
        if let Some(handle) = wrote.handle {
            self.handles.insert((wrote.session.to_string(), handle));
        }
    }

    /// The time of the next report, if there is one.
    fn due(&self) -> Option<Instant> {
        let next = self
            .last
            .map_or_else(Instant::now, |last| last + self.every);
        (!self.handles.is_empty()).then_some(next)
    }

    fn take_event(&mut self) -> Event {
        self.last = Some(Instant::now());
        let handles = self.handles.drain(..);
        let handles: Vec<_> = handles
            .map(|(session, handle)| json!({ "session": session, "handle": handle }))
            .collect();
        let data = json!({ "handles": handles }).to_string();
        Event::default().event("written").data(data)
    }
}

async fn due(written: &mut Option<Gathered>) -> Event {
    if let Some(gathered) = written
        && let Some(at) = gathered.due()
    {
        tokio::time::sleep_until(at).await;
        return gathered.take_event();
    }
    std::future::pending().await
}

/// A stream per session whose screens are wanted. One that is not there is
/// left out: it may just have ended.
async fn screens(
    api: &Api,
    headers: &HeaderMap,
    query: &WatchQuery,
) -> Result<SelectAll<BoxStream<'static, Event>>, ApiError> {
    let mut all = SelectAll::new();
    for (id, handles) in wanted(query.screens.as_deref().unwrap_or_default())? {
        if let Some(session) = api.sessions().get(&id) {
            let tail = session.journal().tail(session.journal().last());
            let screens = Screens::wanted(&handles).every(query.pause_ms);
            let stream = SessionStream::new(api, &session, tail, Some(screens)).only_screens();
            let screens = stream::unfold(stream, |mut stream| async move {
                Some((stream.next().await?, stream))
            });
            all.push(screens.boxed());
        } else if let Some((peer, _)) = proxy::owner(api, headers, &id).await {
            let pause = query.pause_ms.unwrap_or_default();
            let path = format!(
                "/api/v1/sessions/{id}/events?screens={handles}&pause_ms={pause}&updates=false"
            );
            let Ok(events) = peer.events(&path, None).await else {
                continue;
            };
            let screens = stream::unfold(events, |mut events| async move {
                loop {
                    let event = events.next().await.ok()??;
                    if event.name == "screen" {
                        let sent = Event::default().event("screen").data(event.data);
                        return Some((sent, events));
                    }
                }
            });
            all.push(screens.boxed());
        }
    }
    Ok(all)
}

/// The handles that are wanted of each session, by comma.
fn wanted(list: &str) -> Result<IndexMap<String, String>, ApiError> {
    let mut all: IndexMap<String, String> = IndexMap::new();
    for name in list
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        let parts = name.split_once('/');
        let Some((session, handle)) = parts
            .filter(|(session, handle)| is_name(session) && (*handle == "*" || is_name(handle)))
        else {
            return Err(ApiError::bad(
                "`screens` must be a list of SESSION/HANDLE by comma; the handle may be `*`",
            ));
        };
        let handles = all.entry(session.to_owned()).or_default();
        if handle == "*" || handles == "*" {
            "*".clone_into(handles);
        } else {
            if !handles.is_empty() {
                handles.push(',');
            }
            handles.push_str(handle);
        }
    }
    if all.len() > SESSIONS {
        return Err(ApiError::bad(format!(
            "at most the screens of {SESSIONS} sessions are sent at once"
        )));
    }
    Ok(all)
}

#[cfg(test)]
#[path = "watching_tests.rs"]
mod tests;
