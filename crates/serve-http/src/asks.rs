//! Permissions and questions, and a person's answers to them.

use axum::Json;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri};
use windlass_protocol::{AnswerBody, OpenQuestion, PermissionId, PermissionRequest, ReplyBody};
use windlass_runtime::{Desk, PermissionDecision, Session};

use crate::api::Api;
use crate::error::ApiError;
use crate::extract::{Here, JsonBody, param};
use crate::proxy;

pub(crate) async fn permissions(Here(session): Here) -> Json<Vec<PermissionRequest>> {
    Json(permissions_of(&session))
}

fn permissions_of(session: &Session) -> Vec<PermissionRequest> {
    session
        .desk()
        .map_or_else(Vec::new, |desk| desk.permissions())
}

pub(crate) async fn questions(Here(session): Here) -> Json<Vec<OpenQuestion>> {
    Json(questions_of(&session))
}

fn questions_of(session: &Session) -> Vec<OpenQuestion> {
    let asks = session
        .desk()
        .map_or_else(Vec::new, |desk| desk.questions());
    let open = |ask| OpenQuestion {
        session: session.id().clone(),
        ask,
    };
    asks.into_iter().map(open).collect()
}

/// Of every session, those of other runtimes included where they are reached.
pub(crate) async fn all_permissions(
    State(api): State<Api>,
    headers: HeaderMap,
) -> Json<Vec<PermissionRequest>> {
    let sessions = api.sessions().list();
    let local = sessions
        .iter()
        .flat_map(|(session, _)| permissions_of(session));
    let mut all: Vec<_> = local.collect();
    for (_, more) in proxy::gather(&api, &headers, "/api/v1/permissions").await {
        all.extend(more);
    }
    Json(all)
}

/// The same of questions.
pub(crate) async fn all_questions(
    State(api): State<Api>,
    headers: HeaderMap,
) -> Json<Vec<OpenQuestion>> {
    let sessions = api.sessions().list();
    let local = sessions
        .iter()
        .flat_map(|(session, _)| questions_of(session));
    let mut all: Vec<_> = local.collect();
    for (_, more) in proxy::gather(&api, &headers, "/api/v1/questions").await {
        all.extend(more);
    }
    Json(all)
}

pub(crate) async fn reply(
    State(api): State<Api>,
    Here(session): Here,
    mut parts: Parts,
    JsonBody(body): JsonBody<ReplyBody>,
) -> Result<StatusCode, ApiError> {
    let id = permission_id(&mut parts, &api).await?;
    reply_at(&session, &id, body)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Replies to a request of this session.
pub(crate) fn reply_at(
    session: &Session,
    id: &PermissionId,
    body: ReplyBody,
) -> Result<(), ApiError> {
    Ok(desk(session)?.reply(id, decision(body))?)
}

/// Replies to a request of whichever session.
pub(crate) async fn reply_anywhere(
    State(api): State<Api>,
    headers: HeaderMap,
    mut parts: Parts,
    JsonBody(body): JsonBody<ReplyBody>,
) -> Result<StatusCode, ApiError> {
    let id = permission_id(&mut parts, &api).await?;
    reply_wherever(&api, &headers, &parts.uri, &id, body).await
}

/// Replies to a request, wherever it is; other runtimes take it at this path.
pub(crate) async fn reply_wherever(
    api: &Api,
    headers: &HeaderMap,
    path: &Uri,
    id: &PermissionId,
    body: ReplyBody,
) -> Result<StatusCode, ApiError> {
    let desks = desks(api);
    let holds =
        |desk: &&std::sync::Arc<Desk>| desk.permissions().iter().any(|request| request.id == *id);
    if let Some(desk) = desks.iter().find(holds) {
        desk.reply(id, decision(body))?;
        return Ok(StatusCode::NO_CONTENT);
    }
    proxy::post_to_whoever_takes_it(api, headers, path, &body).await
}

pub(crate) async fn answer(
    State(api): State<Api>,
    Here(session): Here,
    mut parts: Parts,
    JsonBody(body): JsonBody<AnswerBody>,
) -> Result<StatusCode, ApiError> {
    let ask = param(&mut parts, &api, "ask").await?;
    desk(&session)?.answer(&ask, body.value)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Answers a question of whichever session.
pub(crate) async fn answer_anywhere(
    State(api): State<Api>,
    headers: HeaderMap,
    mut parts: Parts,
    JsonBody(body): JsonBody<AnswerBody>,
) -> Result<StatusCode, ApiError> {
    let ask = param(&mut parts, &api, "ask").await?;
    let desks = desks(&api);
    let holds = |desk: &&std::sync::Arc<Desk>| desk.questions().iter().any(|open| open.ask == ask);
    if let Some(desk) = desks.iter().find(holds) {
        desk.answer(&ask, body.value)?;
        return Ok(StatusCode::NO_CONTENT);
    }
    proxy::post_to_whoever_takes_it(&api, &headers, &parts.uri, &body).await
}

fn desk(session: &Session) -> Result<&Desk, ApiError> {
    let desk = session.desk().map(|desk| &**desk);
    desk.ok_or_else(|| {
        ApiError::new(
            StatusCode::CONFLICT,
            "nobody is asked in this session; whoever drives it answers",
        )
    })
}

fn desks(api: &Api) -> Vec<std::sync::Arc<Desk>> {
    let sessions = api.sessions().list();
    let desks = sessions.iter().filter_map(|(session, _)| session.desk());
    desks.cloned().collect()
}

async fn permission_id(parts: &mut Parts, api: &Api) -> Result<PermissionId, ApiError> {
    let id = param(parts, api, "permission").await?;
    PermissionId::new(id).map_err(|error| ApiError::bad(error.to_string()))
}

fn decision(body: ReplyBody) -> PermissionDecision {
    PermissionDecision {
        reply: body.reply,
        message: body.message,
        arguments: body.arguments,
    }
}
