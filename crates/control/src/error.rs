//! Errors of requests, as JSON with a remedy.

use axum::Json;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use windlass_protocol::{ErrorBody, HandleId, LineError};
use windlass_runtime::{Refusal, RefusalKind, ReplyError, Sessions};

#[cfg(feature = "grpc")]
use crate::grpc::refused as refused_over_grpc;

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// The status of the response.
    pub status: StatusCode,
    /// The reason and the remedy.
    pub message: String,
}

impl ApiError {
    /// Refuses with a status and a reason.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, message }
    }

    /// The request cannot be read.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// The request can be read, and a value in it does not fit.
    pub(crate) fn unfit(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// Nothing is at the path.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// The response in the protocol of the client: as a gRPC status if the request
    /// is one of gRPC, otherwise as JSON.
    pub fn respond_to(self, headers: &HeaderMap) -> Response {
        refused_over_grpc(headers, &self).unwrap_or_else(|| self.into_response())
    }

    /// The handle has neither a screen nor rows that have left it.
    pub(crate) fn no_terminal(handle: &HandleId) -> Self {
        Self::new(
            StatusCode::CONFLICT,
            format!("handle `{handle}` has no terminal; read its log instead"),
        )
    }

    /// No session of that id is under way: it has ended, or there was none.
    pub(crate) fn no_session(sessions: &Sessions, id: &str) -> Self {
        if sessions.has_ended(id) {
            let message = format!(
                "session `{id}` has ended; GET /api/v1/sessions lists those that are under way"
            );
            return Self::new(StatusCode::GONE, message);
        }
        let id: String = id.chars().take(64).collect();
        Self::not_found(format!(
            "there is no session `{id}`; GET /api/v1/sessions lists those that are under way"
        ))
    }
}

#[cfg(not(feature = "grpc"))]
fn refused_over_grpc(_headers: &HeaderMap, _error: &ApiError) -> Option<Response> {
    None
}

/// The status that a kind of refusal is answered with.
fn status(kind: RefusalKind) -> StatusCode {
    match kind {
        RefusalKind::Unreadable => StatusCode::BAD_REQUEST,
        RefusalKind::Unfit => StatusCode::UNPROCESSABLE_ENTITY,
        RefusalKind::Missing => StatusCode::NOT_FOUND,
        RefusalKind::Exists | RefusalKind::Conflict | RefusalKind::Cancelled => {
            StatusCode::CONFLICT
        }
        RefusalKind::Busy => StatusCode::TOO_MANY_REQUESTS,
        RefusalKind::Gone => StatusCode::GONE,
        RefusalKind::Forbidden => StatusCode::FORBIDDEN,
        RefusalKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::new(status(refusal.kind()), refusal.to_string())
    }
}

impl From<LineError> for ApiError {
    fn from(error: LineError) -> Self {
        let message = error.to_string();
        if error.is_syntax() {
            Self::bad(message)
        } else {
            Self::unfit(message)
        }
    }
}

impl From<ReplyError> for ApiError {
    fn from(error: ReplyError) -> Self {
        let status = match error {
            ReplyError::NoPermission(_) | ReplyError::NoQuestion(_) => StatusCode::NOT_FOUND,
            ReplyError::Closed(_) => StatusCode::CONFLICT,
            ReplyError::Unfit(_) | ReplyError::UnfitSecret(_) | ReplyError::UnfitArguments(_) => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
        };
        Self::new(status, error.to_string())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let said = Json(ErrorBody {
            error: self.message.clone(),
        });
        let mut response = (self.status, said).into_response();
        // An interface with a shape of its own says it again.
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
