//! Recorded sessions, open or not, of any runtime.
//!
//! Start at [`router`]. The record is read through the runtime's `Archive`.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, Query, State, rejection::QueryRejection};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::Value;
use windlass_protocol::{
    MessagePart, MessageRecord, NoticeRecord, PartId, PartState, PermissionRecord, SessionId,
    SessionRecord,
};
use windlass_runtime::{Archive, ArchiveError, Page};

use crate::api::Api;
use crate::error::ApiError;
use crate::extract::param;
use crate::log::blocking;

/// The most that is given of a list at once.
const MOST: usize = 1000;
/// How much of a text is given where only its beginning is wanted.
const BRIEF: usize = 200;
/// How much of an output is given at once.
const OUTPUT: u64 = 1 << 20;

/// Under `/record`.
pub(crate) fn router() -> Router<Api> {
    Router::new()
        .route("/sessions", get(sessions))
        .route("/sessions/{name}", get(session))
        .route("/sessions/{name}/messages", get(messages))
        .route("/sessions/{name}/permissions", get(permissions))
        .route("/sessions/{name}/notices", get(notices))
        .route("/parts/{name}/output", get(output))
}

/// The session or part in the path.
struct Named(String);

impl FromRequestParts<Api> for Named {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        param(parts, api, "name").await.map(Self)
    }
}

/// Which stretch of a list.
#[derive(Deserialize)]
struct Stretch {
    /// Only what is older than this one.
    before: Option<String>,
    limit: Option<usize>,
    /// Only the beginnings of arguments and outputs.
    #[serde(default)]
    brief: bool,
}

impl Stretch {
    fn page(&self) -> Page {
        Page {
            before: self.before.clone(),
            limit: self.limit.unwrap_or(100).min(MOST),
        }
    }
}

type StretchQuery = Result<Query<Stretch>, QueryRejection>;

fn stretch(query: StretchQuery) -> Result<Stretch, ApiError> {
    let read = query.map(|Query(stretch)| stretch);
    read.map_err(|_| ApiError::bad("`limit` must be a number, `brief` true or false"))
}

/// Sessions, the newest first.
async fn sessions(
    State(api): State<Api>,
    query: StretchQuery,
) -> Result<Json<Vec<SessionRecord>>, ApiError> {
    let page = stretch(query)?.page();
    let found = archive(&api)?.sessions(page).await;
    Ok(Json(found.map_err(unreadable)?))
}

async fn session(
    State(api): State<Api>,
    Named(id): Named,
) -> Result<Json<SessionRecord>, ApiError> {
    let found = archive(&api)?.session(&session_id(&id)?).await;
    let found = found.map_err(unreadable)?;
    found.map(Json).ok_or_else(|| not_recorded(&id))
}

/// The newest messages before one, the oldest of them first.
async fn messages(
    State(api): State<Api>,
    Named(id): Named,
    query: StretchQuery,
) -> Result<Json<Vec<MessageRecord>>, ApiError> {
    let stretch = stretch(query)?;
    let id = session_id(&id)?;
    let found = archive(&api)?.messages(&id, stretch.page()).await;
    let mut found = found.map_err(unreadable)?;
    if stretch.brief {
        found.iter_mut().for_each(shorten);
    }
    Ok(Json(found))
}

async fn permissions(
    State(api): State<Api>,
    Named(id): Named,
) -> Result<Json<Vec<PermissionRecord>>, ApiError> {
    let found = archive(&api)?.permissions(&session_id(&id)?).await;
    Ok(Json(found.map_err(unreadable)?))
}

async fn notices(
    State(api): State<Api>,
    Named(id): Named,
) -> Result<Json<Vec<NoticeRecord>>, ApiError> {
    let found = archive(&api)?.notices(&session_id(&id)?).await;
    Ok(Json(found.map_err(unreadable)?))
}

#[derive(Deserialize)]
struct From {
    from: Option<u64>,
}

/// The whole output of a call whose part holds only some of it: 1 MiB from a
/// byte on. A header says how much there is.
async fn output(
    State(api): State<Api>,
    Named(id): Named,
    query: Result<Query<From>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(query) = query.map_err(|_| ApiError::bad("`from` must be a number"))?;
    let part = PartId::new(id.as_str()).map_err(|error| ApiError::bad(error.to_string()))?;
    let found = archive(&api)?.output(&part).await.map_err(unreadable)?;
    let gone = || ApiError::not_found("there is no more of this output than its part holds");
    let file = found.ok_or_else(gone)?;
    let from = query.from.unwrap_or(0).min(file.bytes);
    let path = file.path;
    let bytes = blocking(move || stretch_of(&path, from)).await?;
    let bytes = bytes.map_err(|_| gone())?;
    let headers = [
        (CONTENT_TYPE, "application/octet-stream".to_owned()),
        (
            HeaderName::from_static("windlass-log-size"),
            file.bytes.to_string(),
        ),
    ];
    Ok((headers, Body::from(bytes)).into_response())
}

fn stretch_of(path: &std::path::Path, from: u64) -> std::io::Result<Vec<u8>> {
    let mut file = std::fs::File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(OUTPUT).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn archive(api: &Api) -> Result<&Arc<dyn Archive>, ApiError> {
    api.0.archive.as_ref().ok_or_else(|| {
        ApiError::not_found("this runtime does not show the record; ask `windlass serve`")
    })
}

fn session_id(id: &str) -> Result<SessionId, ApiError> {
    SessionId::new(id).map_err(|error| ApiError::bad(error.to_string()))
}

fn not_recorded(id: &str) -> ApiError {
    let id: String = id.chars().take(64).collect();
    ApiError::not_found(format!(
        "session `{id}` is not in the record; GET /api/v1/record/sessions lists what is"
    ))
}

#[expect(clippy::needless_pass_by_value, reason = "it is the end of the error")]
fn unreadable(error: ArchiveError) -> ApiError {
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

/// Leaves the beginnings of arguments and outputs.
fn shorten(message: &mut MessageRecord) {
    for part in &mut message.parts {
        let MessagePart::Tool(part) = part else {
            continue;
        };
        let input = match &mut part.state {
            PartState::Pending(state) => {
                let mut raw = state.raw.to_string();
                cut(&mut raw);
                state.raw = raw.into();
                &mut state.input
            }
            PartState::Running(state) => &mut state.input,
            PartState::Completed(state) => {
                cut(&mut state.output);
                &mut state.input
            }
            PartState::Error(state) => {
                cut(&mut state.error);
                &mut state.input
            }
        };
        Arc::make_mut(input).values_mut().for_each(cut_value);
    }
}

fn cut_value(value: &mut Value) {
    match value {
        Value::String(text) => cut(text),
        Value::Array(_) | Value::Object(_) => {
            let mut text = value.to_string();
            if text.len() > BRIEF {
                cut(&mut text);
                *value = Value::String(text);
            }
        }
        _ => {}
    }
}

fn cut(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(BRIEF) {
        text.truncate(end);
        text.push('…');
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
