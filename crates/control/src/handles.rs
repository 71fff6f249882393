//! Handles: their views, and a person's operations on them.

use std::time::Duration;

use axum::Json;
use axum::extract::{Query, rejection::QueryRejection};
use axum::http::StatusCode;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use windlass_protocol::{
    HandleInfo, LockBody, LockInfo, PersonInput, Resize, ScreenUpdate, StopReceipt,
};
use windlass_runtime::Keyboard;

use crate::api::Api;
use crate::error::ApiError;
use crate::extract::{HandleHere, Here, JsonBody, param};

/// The lease of a person's lock without input.
const LEASE: Duration = Duration::from_mins(5);

pub(crate) async fn list(Here(session): Here) -> Json<Vec<HandleInfo>> {
    Json(session.handle_infos())
}

pub(crate) async fn show(HandleHere(handle): HandleHere) -> Json<HandleInfo> {
    Json(handle.info())
}

#[derive(Deserialize)]
pub(crate) struct SinceQuery {
    since: Option<u64>,
}

/// The rows that changed since a generation, or all of them.
pub(crate) async fn screen(
    HandleHere(handle): HandleHere,
    query: Result<Query<SinceQuery>, QueryRejection>,
) -> Result<Json<ScreenUpdate>, ApiError> {
    let Query(query) = query.map_err(|_| ApiError::bad("`since` must be a number"))?;
    let screen = handle.screen(query.since);
    screen
        .map(Json)
        .ok_or_else(|| ApiError::no_terminal(handle.id()))
}

/// Types into a handle, or answers its question. What is typed is kept
/// nowhere.
pub(crate) async fn input(
    HandleHere(handle): HandleHere,
    JsonBody(input): JsonBody<PersonInput>,
) -> Result<StatusCode, ApiError> {
    let lock = input.lock.as_deref();
    match (input.typing, input.bytes, input.answer) {
        (Some(typing), None, None) => handle.type_in(Keyboard::Typing(typing), lock).await?,
        (None, Some(bytes), None) => {
            let bytes = STANDARD.decode(bytes);
            let bytes = bytes.map_err(|_| ApiError::unfit("`bytes` must be base64"))?;
            handle.type_in(Keyboard::Bytes(bytes), lock).await?;
        }
        (None, None, Some(answer)) => handle.answer(answer).await?,
        _ => {
            return Err(ApiError::unfit(
                "give one of `typing`, `bytes` and `answer`, and `lock` where the handle is locked",
            ));
        }
    }
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn resize(
    HandleHere(handle): HandleHere,
    JsonBody(size): JsonBody<Resize>,
) -> Result<StatusCode, ApiError> {
    if !(1..=512).contains(&size.rows) || !(2..=1024).contains(&size.cols) {
        return Err(ApiError::unfit(
            "a terminal has 1 to 512 rows and 2 to 1024 columns",
        ));
    }
    handle.resize(size.rows, size.cols)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Takes a handle over.
pub(crate) async fn lock(
    HandleHere(handle): HandleHere,
    JsonBody(body): JsonBody<Option<LockBody>>,
) -> Result<Json<LockInfo>, ApiError> {
    let lock = if body.is_some_and(|body| body.anyway) {
        handle.lock_anyway(LEASE)?
    } else {
        handle.lock(LEASE)?
    };
    Ok(Json(LockInfo {
        lock,
        expires_in_secs: LEASE.as_secs(),
    }))
}

/// Hands it back.
pub(crate) async fn unlock(
    HandleHere(handle): HandleHere,
    axum::extract::State(api): axum::extract::State<Api>,
    mut parts: Parts,
) -> Result<StatusCode, ApiError> {
    let lock = param(&mut parts, &api, "lock").await?;
    handle.unlock(&lock)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends it, tree and all, and answers when that is verified.
pub(crate) async fn abort(HandleHere(handle): HandleHere) -> Result<Json<StopReceipt>, ApiError> {
    let receipt = handle.abort().await?;
    Ok(Json(StopReceipt {
        ended: receipt.ended,
        survivors: receipt.survivors,
    }))
}
