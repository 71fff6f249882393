//! What went wrong with a request, as JSON that says what would work.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use windlass_protocol::ErrorBody;
use windlass_runtime::{DeskError, Refusal};

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, message }
    }

    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    pub(crate) fn no_session(id: &str) -> Self {
        let id: String = id.chars().take(64).collect();
        Self::not_found(format!(
            "there is no session `{id}`; GET /api/v1/sessions lists those that are under way"
        ))
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let status = match refusal {
            Refusal::NotFound { .. } => StatusCode::NOT_FOUND,
            _ => StatusCode::CONFLICT,
        };
        Self::new(status, refusal.to_string())
    }
}

impl From<DeskError> for ApiError {
    fn from(error: DeskError) -> Self {
        let status = match error {
            DeskError::NoPermission(_) | DeskError::NoQuestion(_) => StatusCode::NOT_FOUND,
            DeskError::Unfit(_) | DeskError::UnfitSecret(_) => StatusCode::BAD_REQUEST,
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
