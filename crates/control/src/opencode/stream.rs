//! `GET /event`: a stream for one opencode client.
//!
//! Each event is a line of `data`. A reader that falls too far behind is
//! disconnected: its client reconnects, gets `server.connected`, and reloads.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::response::sse::{Event, Sse};
use futures_util::stream;
use serde::Deserialize;
use tokio::time::{Interval, MissedTickBehavior, interval_at};

use super::sessions::is_same;
use super::wire::{OpencodeEvent, OpencodeUpdate};
use super::{OpencodeItem, follow};
use crate::api::Api;
use crate::error::ApiError;
use crate::events::respond;
use crate::metrics::Watched;
use crate::numbered::ReadPosition;

/// A word every so often, so that both sides know that the other is there.
const HEARTBEAT: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
pub(super) struct StreamQuery {
    /// Only what happens in sessions of this folder.
    directory: Option<String>,
}

/// Future events of every session, or of the sessions of a folder.
pub(super) async fn events(
    State(api): State<Api>,
    query: Result<Query<StreamQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(wanted) = query.map_err(|_| ApiError::bad("`directory` must be a folder"))?;
    follow::begin(&api);
    let mut heartbeat = interval_at(tokio::time::Instant::now() + HEARTBEAT, HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (place, _) = api.0.opencode.events.place(None);
    let leaving = api.clone();
    let reader = OpencodeReader {
        _watched: Watched::new(&api, None),
        api,
        place,
        heartbeat,
        told: 0,
        directory: wanted.directory,
        folders: HashMap::new(),
    };
    let events = stream::unfold(reader, |mut reader| async move {
        let data = reader.next().await?;
        Some((Ok::<_, Infallible>(Event::default().data(data)), reader))
    });
    Ok(respond(Sse::new(leaving.until_leaving(events))))
}

struct OpencodeReader {
    api: Api,
    place: ReadPosition,
    heartbeat: Interval,
    /// The number of its own events: the greeting and the heartbeats.
    told: u64,
    directory: Option<String>,
    /// Which folders are that one.
    folders: HashMap<Arc<str>, bool>,
    _watched: Watched,
}

impl OpencodeReader {
    /// The next event; `None` when something was missed.
    async fn next(&mut self) -> Option<String> {
        if self.told == 0 {
            return self.own(OpencodeUpdate::Connected {});
        }
        loop {
            tokio::select! {
                item = self.api.0.opencode.events.next(self.place) => {
                    if item.missed > 0 {
                        return None;
                    }
                    self.place = ReadPosition(item.number);
                    if self.wants(&item.value) {
                        return Some(item.value.data.to_string());
                    }
                }
                _ = self.heartbeat.tick() => return self.own(OpencodeUpdate::Heartbeat {}),
            }
        }
    }

    /// It is about the folder that was asked for, if one was.
    fn wants(&mut self, item: &OpencodeItem) -> bool {
        let Some(wanted) = &self.directory else {
            return true;
        };
        let known = self.folders.entry(Arc::clone(&item.directory));
        *known.or_insert_with(|| is_same(wanted, &item.directory))
    }

    /// An event for this reader only.
    fn own(&mut self, update: OpencodeUpdate) -> Option<String> {
        self.told += 1;
        let place = self.api.0.opencode.events.id(self.place.0);
        let event = OpencodeEvent {
            id: format!("evt_{place}_{}", self.told),
            update,
        };
        serde_json::to_string(&event).ok()
    }
}
