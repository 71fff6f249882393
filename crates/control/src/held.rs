//! Kept handles without a runtime: lists, reads and ends them.
//!
//! They belong to no open session, so they have their own paths. Their holders
//! are asked at each request; nothing is cached.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use windlass_kept::{EndHeldError, KeptStore};
use windlass_protocol::{HeldHandleInfo, HeldStanding, KeptHandle, KeptReceipt};

use crate::api::Api;
use crate::error::ApiError;

/// How long a program has between TERM and KILL.
const GRACE: Duration = Duration::from_secs(2);
/// How much is read of a held handle's output.
const OUTPUT: u32 = 64 << 10;

/// Every kept handle without a live runtime, and ended ones whose end was not
/// reported yet.
pub(crate) async fn list(State(api): State<Api>) -> Json<Vec<HeldHandleInfo>> {
    let Some(store) = &api.0.kept else {
        return Json(Vec::new());
    };
    let survey = store.survey().await;
    let infos = survey
        .handles
        .iter()
        .map(windlass_kept::SurveyedHandle::info);
    let is_owned = |info: &HeldHandleInfo| matches!(info.standing, HeldStanding::Owned { .. });
    Json(infos.filter(|info| !is_owned(info)).collect())
}

/// The newest output of a held handle.
pub(crate) async fn output(
    State(api): State<Api>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let (store, kept) = find(&api, &name)?;
    let bytes = store.last_output(&kept, OUTPUT).await.ok_or_else(|| {
        ApiError::new(
            StatusCode::CONFLICT,
            format!("the output of `{name}` cannot be read: a runtime has it, or it has ended"),
        )
    })?;
    let kind = [(header::CONTENT_TYPE, "application/octet-stream")];
    Ok((kind, bytes).into_response())
}

/// Ends a held handle, tree and all. Answers when that is verified.
pub(crate) async fn end(
    State(api): State<Api>,
    Path(name): Path<String>,
) -> Result<Json<KeptReceipt>, ApiError> {
    let (store, kept) = find(&api, &name)?;
    let ended = match (store.end(&kept, GRACE).await, &api.0.hosts) {
        (Err(EndHeldError::Elsewhere { .. }), Some(hosts)) => hosts.end_held(kept, GRACE).await,
        (ended, _) => ended,
    };
    ended.map(Json).map_err(|error| {
        let status = match error {
            EndHeldError::Owned { .. }
            | EndHeldError::Elsewhere { .. }
            | EndHeldError::UnknownHost { .. } => StatusCode::CONFLICT,
            EndHeldError::Gone => StatusCode::GONE,
            EndHeldError::Holder(_) | EndHeldError::Unreachable { .. } => StatusCode::BAD_GATEWAY,
        };
        ApiError::new(status, format!("`{name}` is not ended: {error}"))
    })
}

fn find<'a>(api: &'a Api, name: &str) -> Result<(&'a KeptStore, KeptHandle), ApiError> {
    let kept = api.0.kept.as_ref();
    let found = kept.and_then(|store| Some((store, store.handle(name)?)));
    found.ok_or_else(|| {
        let name: String = name.chars().take(64).collect();
        ApiError::not_found(format!(
            "nothing is held by the name `{name}`; GET /api/v1/held lists what is"
        ))
    })
}

#[cfg(test)]
#[path = "held_tests.rs"]
mod tests;
