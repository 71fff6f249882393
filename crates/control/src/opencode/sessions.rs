//! Sessions, open and recorded.

use std::path::Path;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use indexmap::IndexMap;
use serde::Deserialize;
use windlass_protocol::{NewSession, SessionId, SessionInfo};
use windlass_runtime::{ArchiveError, Page};

use super::translate;
use super::wire::{OpencodeNewSession, OpencodeSession};
use crate::api::Api;
use crate::error::ApiError;
use crate::extract::{JsonBody, param};
use crate::{proxy, sessions};

/// How far back into the record a list goes.
const RECALLED: usize = 1000;
/// The longest title.
const TITLE: usize = 200;

#[derive(Deserialize)]
pub(super) struct SessionsQuery {
    /// Only sessions of this folder.
    directory: Option<String>,
    /// Only those whose title holds this.
    search: Option<String>,
    /// Only those that something has happened in since, in milliseconds.
    start: Option<f64>,
    /// How many, the newest; a hundred unless said.
    limit: Option<usize>,
}

/// Sessions, those that something last happened in first.
pub(super) async fn list(
    State(api): State<Api>,
    headers: HeaderMap,
    query: Result<Query<SessionsQuery>, QueryRejection>,
) -> Result<Json<Vec<OpencodeSession>>, ApiError> {
    let Query(wanted) = query.map_err(|_| ApiError::bad("`start` and `limit` must be numbers"))?;
    let mut found = IndexMap::new();
    if let Some(archive) = &api.0.archive {
        let page = Page {
            before: None,
            limit: RECALLED,
        };
        for record in archive
            .sessions(page)
            .await
            .map_err(|error| unread(&error))?
        {
            found.insert(record.id.clone(), translate::recorded(&record));
        }
    }
    let mut live = sessions::local(&api);
    for (_, infos) in proxy::gather::<SessionInfo>(&api, &headers, "/api/v1/sessions").await {
        live.extend(infos);
    }
    for info in live {
        found
            .entry(info.id.clone())
            .or_insert_with(|| translate::live(&info));
    }
    let mut found: Vec<_> = found
        .into_values()
        .map(|session| titled(&api, session))
        .filter(|session| wanted.takes(session))
        .collect();
    found.sort_by_key(|session| std::cmp::Reverse(session.time.updated));
    found.truncate(wanted.limit.unwrap_or(100));
    Ok(Json(found))
}

impl SessionsQuery {
    fn takes(&self, session: &OpencodeSession) -> bool {
        let search = self.search.as_ref().map(|text| text.to_lowercase());
        let directory = self.directory.as_deref();
        #[expect(
            clippy::cast_precision_loss,
            reason = "a double names every millisecond for the next 285,000 years"
        )]
        let updated = session.time.updated.0 as f64;
        directory.is_none_or(|directory| is_same(directory, &session.directory))
            && search.is_none_or(|text| session.title.to_lowercase().contains(&text))
            && self.start.is_none_or(|start| updated >= start)
    }
}

/// Begins a session, as `POST /api/v1/sessions` does.
pub(super) async fn create(
    State(api): State<Api>,
    query: Result<Query<SessionsQuery>, QueryRejection>,
    JsonBody(new): JsonBody<OpencodeNewSession>,
) -> Result<Json<OpencodeSession>, ApiError> {
    let directory = query.ok().and_then(|Query(wanted)| wanted.directory);
    let session = sessions::begin(&api, &NewSession::default())?;
    let id = session.id().to_string();
    if let Some(directory) = directory
        && !is_same(&directory, &session.root().to_string_lossy())
    {
        let root = session.root().display().to_string();
        sessions::end(&api, &id).await;
        let message = format!("sessions of this server work in `{root}`; leave `directory` out");
        return Err(ApiError::new(StatusCode::BAD_REQUEST, message));
    }
    if let Some(title) = new.title {
        let title = title.chars().take(TITLE).collect();
        let mut titles = api.0.opencode.titles.lock();
        let under_way = api.0.owned.lock();
        titles.retain(|id, _| under_way.contains_key(id));
        titles.insert(id.clone(), title);
    }
    Ok(Json(recall(&api, &id).await?))
}

/// One session.
pub(super) async fn show(
    State(api): State<Api>,
    mut parts: Parts,
) -> Result<Json<OpencodeSession>, ApiError> {
    let id = param(&mut parts, &api, "id").await?;
    Ok(Json(recall(&api, &id).await?))
}

/// A session of this process or of the record.
pub(super) async fn recall(api: &Api, id: &str) -> Result<OpencodeSession, ApiError> {
    let missing = || ApiError::no_session(api.sessions(), id);
    let known = SessionId::new(id).map_err(|_| missing())?;
    if let Some(archive) = &api.0.archive
        && let Some(record) = archive
            .session(&known)
            .await
            .map_err(|error| unread(&error))?
    {
        return Ok(titled(api, translate::recorded(&record)));
    }
    let live = sessions::local(api).into_iter();
    let info = live.filter(|info| info.id == known).last();
    info.map(|info| titled(api, translate::live(&info)))
        .ok_or_else(missing)
}

/// Applies the title that a client gave the session.
pub(super) fn titled(api: &Api, mut session: OpencodeSession) -> OpencodeSession {
    if let Some(title) = api.0.opencode.titles.lock().get(session.id.as_str()) {
        session.title.clone_from(title);
    }
    session
}

/// The record is there and cannot be read: not the client's doing.
pub(super) fn unread(error: &ArchiveError) -> ApiError {
    tracing::warn!(error = error as &dyn std::error::Error, "the record");
    ApiError::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "the record cannot be read just now; try again",
    )
}

/// Whether both paths lead to the same folder.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let real = |path: &str| Path::new(path).canonicalize().ok();
    one == other || real(one).is_some_and(|one| Some(one) == real(other))
}
