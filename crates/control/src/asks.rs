//! Permission requests and questions, and a person's replies.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use windlass_protocol::{
    AnswerBody, OpenQuestion, PermissionAnswer, PermissionId, PermissionRequest,
};
use windlass_runtime::{PendingRequests, Session};

use crate::api::Api;
use crate::error::ApiError;
use crate::extract::{Here, JsonBody, PermissionHere, QuestionHere};
use crate::proxy;

pub(crate) async fn permissions(Here(session): Here) -> Json<Vec<PermissionRequest>> {
    Json(session.requests().permissions())
}

pub(crate) async fn questions(Here(session): Here) -> Json<Vec<OpenQuestion>> {
    Json(questions_of(&session))
}

pub(crate) fn questions_of(session: &Session) -> Vec<OpenQuestion> {
    let asks = session.requests().questions();
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
        .flat_map(|(session, _)| session.requests().permissions());
    let mut all: Vec<_> = local.collect();
    for (_, more) in proxy::gather(&api, &headers, "/api/v1/permissions").await {
        all.extend(more);
    }
    Json(all)
}

/// Of every session, those of other runtimes included where they are reached.
pub(crate) async fn all_questions(
    State(api): State<Api>,
    headers: HeaderMap,
) -> Json<Vec<OpenQuestion>> {
    Json(questions_everywhere(&api, &headers).await)
}

/// The open questions of every session that is reached.
pub(crate) async fn questions_everywhere(api: &Api, headers: &HeaderMap) -> Vec<OpenQuestion> {
    let sessions = api.sessions().list();
    let local = sessions
        .iter()
        .flat_map(|(session, _)| questions_of(session));
    let mut all: Vec<_> = local.collect();
    for (_, more) in proxy::gather(api, headers, "/api/v1/questions").await {
        all.extend(more);
    }
    all
}

pub(crate) async fn reply(
    Here(session): Here,
    PermissionHere(id): PermissionHere,
    JsonBody(body): JsonBody<PermissionAnswer>,
) -> Result<StatusCode, ApiError> {
    reply_at(&session, &id, body)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Replies to a request of this session.
pub(crate) fn reply_at(
    session: &Session,
    id: &PermissionId,
    body: PermissionAnswer,
) -> Result<(), ApiError> {
    Ok(attended(session)?.reply(id, body)?)
}

/// Replies to a request of whichever session; other runtimes take it at this
/// path.
pub(crate) async fn reply_anywhere(
    State(api): State<Api>,
    headers: HeaderMap,
    path: Uri,
    PermissionHere(id): PermissionHere,
    JsonBody(body): JsonBody<PermissionAnswer>,
) -> Result<StatusCode, ApiError> {
    if let Some(session) = asked_in(&api, id.as_str()) {
        session.requests().reply(&id, body)?;
        return Ok(StatusCode::NO_CONTENT);
    }
    proxy::post_to_whoever_takes_it(&api, &headers, &path, &body).await
}

pub(crate) async fn answer(
    Here(session): Here,
    QuestionHere(ask): QuestionHere,
    JsonBody(body): JsonBody<AnswerBody>,
) -> Result<StatusCode, ApiError> {
    answer_at(&session, &ask, body)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Answers a question of this session.
pub(crate) fn answer_at(session: &Session, ask: &str, body: AnswerBody) -> Result<(), ApiError> {
    Ok(attended(session)?.answer(ask, body.value)?)
}

/// Answers a question of whichever session; other runtimes take it at this
/// path.
pub(crate) async fn answer_anywhere(
    State(api): State<Api>,
    headers: HeaderMap,
    path: Uri,
    QuestionHere(ask): QuestionHere,
    JsonBody(body): JsonBody<AnswerBody>,
) -> Result<StatusCode, ApiError> {
    if let Some(session) = asked_in(&api, &ask) {
        session.requests().answer(&ask, body.value)?;
        return Ok(StatusCode::NO_CONTENT);
    }
    proxy::post_to_whoever_takes_it(&api, &headers, &path, &body).await
}

/// Has the runtime look whether its project has been trusted. It decides
/// nothing: the decision is where the user's decisions are kept.
pub(crate) async fn look_again(State(api): State<Api>) -> StatusCode {
    if let Some(look) = &api.0.look_again {
        look();
    }
    StatusCode::NO_CONTENT
}

fn attended(session: &Session) -> Result<&PendingRequests, ApiError> {
    let requests = Some(session.requests()).filter(|requests| requests.is_attended());
    requests.ok_or_else(|| {
        ApiError::new(
            StatusCode::CONFLICT,
            "nobody is asked in this session; whoever drives it answers",
        )
    })
}

/// The session of this runtime in which the request is open, or was.
fn asked_in(api: &Api, id: &str) -> Option<Session> {
    let sessions = api.sessions().list().into_iter();
    sessions
        .map(|(session, _)| session)
        .find(|session| session.requests().knows(id))
}
