//! Errors as gRPC statuses.

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use tonic::{Code, Status};

use crate::client::PeerError;
use crate::error::ApiError;

impl From<ApiError> for Status {
    fn from(error: ApiError) -> Self {
        let code = match error.status {
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Code::InvalidArgument,
            StatusCode::UNAUTHORIZED => Code::Unauthenticated,
            StatusCode::FORBIDDEN | StatusCode::MISDIRECTED_REQUEST => Code::PermissionDenied,
            StatusCode::NOT_FOUND | StatusCode::GONE => Code::NotFound,
            StatusCode::CONFLICT => Code::FailedPrecondition,
            StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE
            | StatusCode::TOO_MANY_REQUESTS => Code::ResourceExhausted,
            StatusCode::REQUEST_TIMEOUT => Code::DeadlineExceeded,
            StatusCode::INTERNAL_SERVER_ERROR => Code::Internal,
            StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE => Code::Unavailable,
            _ => Code::Unknown,
        };
        Self::new(code, error.message)
    }
}

impl From<PeerError> for ApiError {
    fn from(error: PeerError) -> Self {
        match error {
            PeerError::Refused { status, message } => Self::new(status, message),
            other => Self::new(StatusCode::BAD_GATEWAY, other.to_string()),
        }
    }
}

/// A refused request as a gRPC response; `None` for clients that do not use
/// gRPC.
pub(crate) fn refused(headers: &HeaderMap, error: &ApiError) -> Option<Response> {
    let kind = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let speaks = kind.starts_with("application/grpc");
    speaks.then(|| Status::from(error.clone()).into_http::<Body>())
}
