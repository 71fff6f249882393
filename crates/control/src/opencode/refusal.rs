//! Refusals in the shape that opencode's clients read.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::wire::{OpencodeError, OpencodeErrorData};
use crate::error::ApiError;

/// Says a refusal again so that opencode's clients find its words.
pub(super) async fn in_their_words(mut response: Response) -> Response {
    match response.extensions_mut().remove::<ApiError>() {
        Some(error) => said(error, None),
        None => response,
    }
}

/// Nobody asks for this permission.
pub(super) fn no_permission(error: ApiError, request: &str) -> Response {
    let request = request.chars().take(64).collect();
    said(error, Some(request))
}

fn said(error: ApiError, request: Option<String>) -> Response {
    // These clients know only one status for each of the two. To them a request
    // that is no longer open is one that there is not.
    let (status, name) = match error.status {
        StatusCode::NOT_FOUND | StatusCode::CONFLICT | StatusCode::GONE => {
            (StatusCode::NOT_FOUND, "NotFoundError")
        }
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => {
            (StatusCode::BAD_REQUEST, "BadRequest")
        }
        other => (other, "UnknownError"),
    };
    let body = OpencodeError {
        name: name.to_owned(),
        data: OpencodeErrorData {
            message: error.message.clone(),
        },
        tag: request
            .as_ref()
            .map(|_| "PermissionNotFoundError".to_owned()),
        request_id: request,
        message: error.message,
    };
    (status, Json(body)).into_response()
}
