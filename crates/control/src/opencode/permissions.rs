//! Permissions: open requests, and the replies of both SDK generations.

use axum::Json;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use windlass_protocol::{PermissionAnswer, PermissionId, PermissionRequest};

use super::refusal::no_permission;
use super::wire::{OpencodeReplyBody, OpencodeResponseBody};
use crate::api::Api;
use crate::asks;
use crate::error::ApiError;
use crate::extract::{Here, JsonBody, PermissionHere, param};

/// The open requests of every session.
pub(super) async fn list(api: State<Api>, headers: HeaderMap) -> Json<Vec<PermissionRequest>> {
    asks::all_permissions(api, headers).await
}

/// The first generation's reply, by the session.
pub(super) async fn respond(
    State(api): State<Api>,
    Here(session): Here,
    mut parts: Parts,
    JsonBody(body): JsonBody<OpencodeResponseBody>,
) -> Result<Json<bool>, ApiError> {
    let id = param(&mut parts, &api, "permission").await?;
    asks::reply_at(&session, &request_id(&id)?, body.response.into())?;
    Ok(Json(true))
}

/// The second generation's reply, wherever the request is.
pub(super) async fn reply(
    api: State<Api>,
    headers: HeaderMap,
    mut parts: Parts,
    JsonBody(body): JsonBody<OpencodeReplyBody>,
) -> Result<Response, ApiError> {
    let id = param(&mut parts, &api, "request").await?;
    let reply = PermissionAnswer {
        reply: body.reply,
        message: body.message,
        arguments: None,
    };
    let replied = match request_id(&id) {
        Ok(known) => {
            let path = Uri::try_from(format!("/permissions/{id}"));
            let path = path.map_err(|_| ApiError::bad("the path is too long"))?;
            let known = PermissionHere(known);
            asks::reply_anywhere(api, headers, path, known, JsonBody(reply)).await
        }
        Err(error) => Err(error),
    };
    match replied {
        Ok(_) => Ok(Json(true).into_response()),
        Err(error) if matches!(error.status, StatusCode::NOT_FOUND | StatusCode::CONFLICT) => {
            Ok(no_permission(error, &id))
        }
        Err(error) => Err(error),
    }
}

/// Parses a request id. An invalid id is reported as unknown.
fn request_id(id: &str) -> Result<PermissionId, ApiError> {
    let missing = || ApiError::not_found("no such permission is being asked for");
    let plain = id
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    PermissionId::new(id)
        .ok()
        .filter(|_| plain)
        .ok_or_else(missing)
}
