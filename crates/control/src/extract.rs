//! Extractors for handlers: what the path names, and parsed bodies.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use windlass_protocol::PermissionId;
use windlass_runtime::{HandleRef, Session};

use crate::api::Api;
use crate::error::ApiError;

/// How long a client may take for a body.
const BODY_TIME: Duration = Duration::from_mins(1);

/// The session that the path names, which is one of this process.
pub(crate) struct Here(pub(crate) Session);

impl FromRequestParts<Api> for Here {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let id = param(parts, api, "id").await?;
        let session = api.sessions().get(&id);
        api.touch(&id);
        session
            .map(Self)
            .ok_or_else(|| ApiError::no_session(api.sessions(), &id))
    }
}

/// The handle that the path names.
pub(crate) struct HandleHere(pub(crate) HandleRef);

impl FromRequestParts<Api> for HandleHere {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let Here(session) = Here::from_request_parts(parts, api).await?;
        let id = param(parts, api, "handle").await?;
        Ok(Self(session.handle(&id)?))
    }
}

/// The id of the permission request that the path names.
pub(crate) struct PermissionHere(pub(crate) PermissionId);

impl FromRequestParts<Api> for PermissionHere {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let id = PermissionId::new(param(parts, api, "permission").await?);
        id.map(Self)
            .map_err(|error| ApiError::bad(error.to_string()))
    }
}

/// The id of the question that the path names.
pub(crate) struct QuestionHere(pub(crate) String);

impl FromRequestParts<Api> for QuestionHere {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        param(parts, api, "ask").await.map(Self)
    }
}

/// A part of the path by its name.
pub(crate) async fn param(parts: &mut Parts, api: &Api, name: &str) -> Result<String, ApiError> {
    let params = RawPathParams::from_request_parts(parts, api)
        .await
        .map_err(|_| ApiError::bad("the path is not UTF-8"))?;
    let found = params.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, value)| value.to_owned())
        .ok_or_else(|| ApiError::not_found("there is nothing at this path"))
}

/// A JSON body. An empty one is the default, where there is one.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Api> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, api: &Api) -> Result<Self, ApiError> {
        let RawBody(bytes) = RawBody::from_request(request, api).await?;
        let read = serde_json::from_slice(if bytes.is_empty() { b"{}" } else { &bytes });
        Ok(Self(read.map_err(|error| not_understood(&error))?))
    }
}

/// Text that is not JSON cannot be read; JSON of another shape does not fit.
fn not_understood(error: &serde_json::Error) -> ApiError {
    let message = format!("the body is not understood: {error}");
    if error.is_data() {
        ApiError::unfit(message)
    } else {
        ApiError::bad(message)
    }
}

/// The whole body as it came, within the limit.
pub(crate) struct RawBody(pub(crate) Bytes);

impl FromRequest<Api> for RawBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, api: &Api) -> Result<Self, ApiError> {
        let reading = tokio::time::timeout(BODY_TIME, Bytes::from_request(request, api));
        let Ok(read) = reading.await else {
            return Err(ApiError::new(
                StatusCode::REQUEST_TIMEOUT,
                "the body did not come in time",
            ));
        };
        read.map(Self).map_err(|error| {
            if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
                ApiError::new(
                    error.status(),
                    "the body is too large; at most 8 MiB are taken",
                )
            } else {
                ApiError::bad("the body could not be read")
            }
        })
    }
}
