//! The history of a session, as far as its journal still has it.
//!
//! For a client that joins late; later events are on the event stream. Write
//! events are left out: the log has the output.

use axum::Json;
use axum::extract::{Query, rejection::QueryRejection};
use futures_util::FutureExt;
use serde::Deserialize;
use windlass_protocol::SessionHistory;
use windlass_runtime::{SessionEvent, ToolEvent};

use crate::error::ApiError;
use crate::extract::Here;
use crate::update;

#[derive(Deserialize)]
pub(crate) struct HistoryQuery {
    /// After which event to begin.
    after: Option<u64>,
}

/// The events so far, how many before them are gone, and the newest number.
pub(crate) async fn of_session(
    Here(session): Here,
    query: Result<Query<HistoryQuery>, QueryRejection>,
) -> Result<Json<SessionHistory>, ApiError> {
    let Query(query) = query.map_err(|_| ApiError::bad("`after` must be a number"))?;
    let last = session.journal().last();
    let mut tail = session.journal().tail(query.after.unwrap_or(0));
    let mut events = Vec::new();
    let mut missed = 0;
    while let Some(Some((gone, entry))) = tail.next().now_or_never() {
        let number = entry.number;
        missed += gone;
        if !is_output(&entry.event) {
            events.push(update::streamed(session.id(), entry));
        }
        if number >= last {
            break;
        }
    }
    Ok(Json(SessionHistory {
        missed,
        last,
        events,
    }))
}

fn is_output(event: &SessionEvent) -> bool {
    matches!(
        event,
        SessionEvent::Tool {
            event: ToolEvent::Wrote { .. },
            ..
        }
    )
}
