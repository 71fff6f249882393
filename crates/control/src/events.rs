//! The event stream of one session; `watching.rs` has that of all sessions.
//!
//! A stream is resumed with `Last-Event-ID`; a reader that was away for too
//! long is told that it missed events. Nothing is queued for a reader: it gets
//! the current events when it has room for more.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Query, State, rejection::QueryRejection};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;

use crate::api::Api;
use crate::error::ApiError;
use crate::extract::Here;
use crate::stream::{Screens, SessionStream};

/// A word every so often, so that both sides know that the other is there.
const HEARTBEAT: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
pub(crate) struct EventsQuery {
    /// After which event to begin, where there is no `Last-Event-ID`.
    after: Option<u64>,
    /// The handles whose screens are wanted, by comma; `*` for all.
    screens: Option<String>,
    /// How soon a screen that keeps changing is told again, in milliseconds.
    pause_ms: Option<u64>,
    /// `false` leaves out everything but screens.
    updates: Option<bool>,
}

/// The events of one session, and the screens of its handles.
pub(crate) async fn of_session(
    State(api): State<Api>,
    Here(session): Here,
    headers: HeaderMap,
    query: Result<Query<EventsQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(query) = query.map_err(|_| {
        ApiError::bad("`after` and `pause_ms` must be numbers, `updates` true or false")
    })?;
    let last = session.journal().last();
    let after: u64 = match last_event_id(&headers) {
        Some(id) => id
            .parse()
            .map_err(|_| ApiError::bad("`Last-Event-ID` must be the number of an event"))?,
        None => query.after.unwrap_or(last),
    };
    // A number from the future would wait for it.
    let tail = session.journal().tail(after.min(last));
    let screens = query.screens.as_deref().map(Screens::wanted);
    let screens = screens.map(|screens| screens.every(query.pause_ms));
    let mut stream = SessionStream::new(&api, &session, tail, screens);
    if query.updates == Some(false) {
        stream = stream.only_screens();
    }
    if after > last {
        // Its event is not known here: others may have that number.
        stream.begins_with_a_gap(last);
    }
    drop(session);
    let events = stream::unfold(stream, |mut stream| async move {
        let event = stream.next().await?;
        Some((Ok::<_, Infallible>(event), stream))
    });
    let events = api.until_leaving(events);
    Ok(respond(Sse::new(events).keep_alive(heartbeat())))
}

pub(crate) fn heartbeat() -> KeepAlive {
    KeepAlive::new().interval(HEARTBEAT)
}

pub(crate) fn respond(sse: impl IntoResponse) -> Response {
    let mut response = sse.into_response();
    let headers = response.headers_mut();
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

pub(crate) fn last_event_id(headers: &HeaderMap) -> Option<&str> {
    headers.get("last-event-id")?.to_str().ok()
}
