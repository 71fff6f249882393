//! The event stream of a session, of this runtime or another.

use futures_util::{StreamExt, stream};
use serde::Deserialize;
use windlass_protocol::{SessionInfo, SessionUpdate, StreamedEvent};
use windlass_runtime::Session;

use super::proto::watch_session_response::Event;
use super::proto::{self, WatchSessionResponse};
use super::tools::Streamed;
use super::words;
use crate::api::Api;
use crate::client::{EventReader, Peer, PeerError, ServerSent};
use crate::error::ApiError;
use crate::metrics::Watched;
use crate::update;

/// Follows a session of this process, without keeping it alive.
pub(super) fn here(
    api: &Api,
    session: &Session,
    after: Option<u64>,
) -> Streamed<WatchSessionResponse> {
    let last = session.journal().last();
    // A number from the future would wait for it.
    let after = after.unwrap_or(last).min(last);
    let tail = session.journal().tail(after);
    let id = session.id().clone();
    let watched = Watched::new(api, Some(id.as_str()));
    let events = stream::unfold((tail, watched), move |(mut tail, watched)| {
        let id = id.clone();
        async move {
            let (missed, entry) = tail.next().await?;
            let number = entry.number;
            let before = (missed > 0).then(|| response(number - 1, Event::Missed(missed)));
            let next = watch_response(update::streamed(&id, entry));
            let both = before.into_iter().chain(next).map(Ok);
            Some((stream::iter(both), (tail, watched)))
        }
    });
    let events = greeting(after).chain(events.flatten());
    api.until_leaving(events).boxed()
}

/// Follows a session of another runtime, by its own event stream.
pub(super) async fn elsewhere(
    api: &Api,
    peer: &Peer,
    info: &SessionInfo,
    after: Option<u64>,
) -> Result<Streamed<WatchSessionResponse>, ApiError> {
    let after = after.unwrap_or(info.last_event).min(info.last_event);
    let path = format!("/api/v1/sessions/{}/events?after={after}", info.id);
    let events = peer.events(&path, None).await?;
    let events = stream::unfold(Some(events), |events| async move {
        let mut events = events?;
        match next(&mut events).await {
            Ok(None) => None,
            Ok(Some(told)) => Some((Ok(told), Some(events))),
            Err(error) => Some((Err(ApiError::from(error).into()), None)),
        }
    });
    Ok(api.until_leaving(greeting(after).chain(events)).boxed())
}

fn greeting(after: u64) -> Streamed<WatchSessionResponse> {
    let watching = response(after, Event::Watching(proto::Empty {}));
    stream::iter([Ok(watching)]).boxed()
}

async fn next(events: &mut EventReader) -> Result<Option<WatchSessionResponse>, PeerError> {
    while let Some(event) = events.next().await? {
        if let Some(told) = read(&event).map_err(PeerError::Strange)? {
            return Ok(Some(told));
        }
    }
    Ok(None)
}

fn read(event: &ServerSent) -> serde_json::Result<Option<WatchSessionResponse>> {
    #[derive(Deserialize)]
    struct Missed {
        count: u64,
    }
    match event.name.as_str() {
        "update" => Ok(watch_response(serde_json::from_str::<StreamedEvent>(
            &event.data,
        )?)),
        "missed" => {
            let missed: Missed = serde_json::from_str(&event.data)?;
            let number = event.id.as_deref().and_then(|id| id.parse().ok());
            let event = Event::Missed(missed.count);
            Ok(Some(response(number.unwrap_or(0), event)))
        }
        _ => Ok(None),
    }
}

fn watch_response(streamed: StreamedEvent) -> Option<WatchSessionResponse> {
    let event = match streamed.update {
        SessionUpdate::Part { part } => Event::Part(words::part(*part)),
        SessionUpdate::Permission { request } => Event::PermissionAsked(words::request(request)),
        SessionUpdate::PermissionReplied { permission, reply } => {
            Event::PermissionReplied(proto::PermissionReplied {
                permission_id: permission.into(),
                reply: words::reply(reply).into(),
            })
        }
        SessionUpdate::Question(ask) => {
            Event::QuestionAsked(words::question(&streamed.session, ask))
        }
        SessionUpdate::QuestionClosed { ask } => Event::QuestionClosed(ask),
        _ => return None,
    };
    Some(response(streamed.number, event))
}

fn response(number: u64, event: Event) -> WatchSessionResponse {
    WatchSessionResponse {
        number,
        event: Some(event),
    }
}
