//! Event streams: of one session, and of all of them.
//!
//! A stream is resumed with `Last-Event-ID`; a reader that was away for too
//! long is told that it missed something. Nothing is queued for a reader: it
//! is given what is there when it has room for more.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Query, State, rejection::QueryRejection};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use serde_json::json;

use crate::api::Api;
use crate::error::ApiError;
use crate::extract::Here;
use crate::hub::Place;
use crate::metrics::Watched;
use crate::stream::{Screens, SessionStream};

/// A word every so often, so that both sides know that the other is there.
const HEARTBEAT: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
pub(crate) struct Wanted {
    /// After which event to begin, where there is no `Last-Event-ID`.
    after: Option<u64>,
    /// The handles whose screens are wanted, by comma; `*` for all.
    screens: Option<String>,
}

/// The events of one session, and the screens of its handles.
pub(crate) async fn of_session(
    State(api): State<Api>,
    Here(session): Here,
    headers: HeaderMap,
    query: Result<Query<Wanted>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(query) = query.map_err(|_| ApiError::bad("`after` must be a number"))?;
    let last = session.journal().last();
    let after = match last_event_id(&headers) {
        Some(id) => id
            .parse()
            .map_err(|_| ApiError::bad("`Last-Event-ID` must be the number of an event"))?,
        None => query.after.unwrap_or(last),
    };
    // A number from the future would wait for it.
    let tail = session.journal().tail(after.min(last));
    let screens = query.screens.as_deref().map(Screens::wanted);
    let stream = SessionStream::new(&api, &session, tail, screens);
    drop(session);
    let events = stream::unfold(stream, |mut stream| async move {
        let event = stream.next().await?;
        Some((Ok::<_, Infallible>(event), stream))
    });
    Ok(respond(Sse::new(events).keep_alive(heartbeat())))
}

/// The events of every session, those of other runtimes included where they
/// are reached. Its numbers are its own.
pub(crate) async fn of_all(State(api): State<Api>, headers: HeaderMap) -> Response {
    api.wake();
    let watched = Watched::new(&api, None);
    let (place, missed) = api.0.hub.place(last_event_id(&headers));
    let first = if missed {
        Event::default().event("missed").data("{}")
    } else {
        Event::default().event("hello").data("{}")
    };
    let first = first.id(api.0.hub.id(place.0));
    let state = (api, place, Some(first), watched);
    let events = stream::unfold(state, |(api, place, first, watched)| async move {
        if let Some(first) = first {
            return Some((Ok::<_, Infallible>(first), (api, place, None, watched)));
        }
        let (missed, item) = api.0.hub.next(place).await;
        let event = if missed > 0 {
            let data = json!({ "count": missed }).to_string();
            let id = api.0.hub.id(item.number - 1);
            let event = Event::default().event("missed").data(data).id(id);
            return Some((Ok(event), (api, Place(item.number - 1), None, watched)));
        } else {
            Event::default().event(item.name).data(&*item.data)
        };
        let event = event.id(api.0.hub.id(item.number));
        Some((Ok(event), (api, Place(item.number), None, watched)))
    });
    respond(Sse::new(events).keep_alive(heartbeat()))
}

fn heartbeat() -> KeepAlive {
    KeepAlive::new().interval(HEARTBEAT)
}

pub(crate) fn respond(sse: impl IntoResponse) -> Response {
    let mut response = sse.into_response();
    let headers = response.headers_mut();
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn last_event_id(headers: &HeaderMap) -> Option<&str> {
    headers.get("last-event-id")?.to_str().ok()
}
