//! Sessions: listing, beginning, running calls, ending.

use std::time::{Duration, SystemTime};

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::time::Instant;
use windlass_protocol::{
    Batch, BatchReply, HandleAction, HandleState, Millis, NewSession, SessionBegun, SessionInfo,
    StartableTool, TurnEndReport,
};
use windlass_runtime::{Attendance, Refusal, RunOptions, Session, SessionOptions};

use crate::api::{Api, Owned};
use crate::error::ApiError;
use crate::extract::{Here, JsonBody, RawBody};
use crate::proxy;

/// A session ends when nothing was asked of it for this long.
const IDLE: Duration = Duration::from_hours(1);

/// Every session, those of other runtimes included where they are reached.
pub(crate) async fn list(State(api): State<Api>, headers: HeaderMap) -> Json<Vec<SessionInfo>> {
    let mut all = local(&api);
    for (peer, infos) in proxy::gather::<SessionInfo>(&api, &headers, "/api/v1/sessions").await {
        all.extend(infos.into_iter().filter(|info| info.pid == peer.pid));
    }
    Json(all)
}

pub(crate) fn local(api: &Api) -> Vec<SessionInfo> {
    let sessions = api.sessions().list();
    let infos = sessions.iter();
    infos
        .map(|(session, began)| info(api, session, *began))
        .collect()
}

pub(crate) fn info(api: &Api, session: &Session, began: SystemTime) -> SessionInfo {
    let handles = session.handles();
    let active = handles
        .iter()
        .filter(|handle| handle.state != HandleState::Stopped);
    SessionInfo {
        id: session.id().clone(),
        front_end: session.front_end().unwrap_or(&api.0.front_end).to_owned(),
        name: session.name().map(str::to_owned),
        client: session.client_name().map(str::to_owned),
        pid: std::process::id(),
        root: session.root().to_owned(),
        created: Millis::at(began),
        active: active.count(),
        pending: session.requests().len(),
        last_event: session.journal().last(),
        record: session.record_trouble(),
    }
}

/// Begins a session.
pub(crate) async fn open(
    State(api): State<Api>,
    JsonBody(new): JsonBody<NewSession>,
) -> Result<Response, ApiError> {
    let id = begin(&api, &new)?.id().clone();
    Ok((StatusCode::CREATED, Json(SessionBegun { id })).into_response())
}

/// Begins a session that this interface keeps alive.
pub(crate) fn begin(api: &Api, new: &NewSession) -> Result<Session, ApiError> {
    let Some(open) = &api.0.open else {
        return Err(ApiError::new(
            StatusCode::FORBIDDEN,
            format!(
                "sessions of `windlass {}` are begun by it alone; `windlass serve` takes new ones",
                api.0.front_end
            ),
        ));
    };
    let idle = new.idle_secs.map(Duration::from_secs);
    let mut options = SessionOptions {
        front_end: Some(api.0.front_end.clone()),
        trusted: new.trusted,
        attendance: Attendance::Attended,
        ..SessionOptions::default()
    };
    if let Some(logs) = &api.0.logs {
        logs.keep(&mut options, idle);
    }
    let session = open(options);
    own(api, &session, idle);
    Ok(session)
}

/// Keeps a session alive until it ends over HTTP, or nothing was asked of it
/// for too long.
pub(crate) fn own(api: &Api, session: &Session, idle: Option<Duration>) {
    let id = session.id().to_string();
    let owned = Owned {
        session: session.clone(),
        idle: idle.unwrap_or(IDLE),
        last: Instant::now(),
        streams: 0,
    };
    api.0.owned.lock().insert(id.clone(), owned);
    windlass_task::spawn(expire(api.clone(), id));
}

/// Keeps a session alive that was begun elsewhere in this process.
pub(crate) fn keep(api: &Api, session: &Session) {
    if !api.0.owned.lock().contains_key(session.id().as_str()) {
        own(api, session, None);
    }
}

/// The tools that a person can start in a session.
pub(crate) async fn tools(Here(session): Here) -> Json<Vec<StartableTool>> {
    let tools = session.tools().offered().map(|tool| {
        let tool = tool.definition();
        let parameters = &tool.shape.parameters;
        StartableTool {
            name: tool.name.clone(),
            summary: tool.summary.clone().or_else(|| tool.description.clone()),
            schema: json!({
                "type": "object",
                "properties": parameters.properties,
                "required": parameters.required,
                "additionalProperties": parameters.additional,
            }),
            spawns: tool.shape.actions.contains(HandleAction::Spawn),
        }
    });
    Json(tools.collect())
}

/// Ends a session that has been idle for too long.
pub(crate) async fn expire(api: Api, id: String) {
    loop {
        let until = match api.0.owned.lock().get(&id) {
            None => return,
            Some(owned) if owned.streams > 0 => Instant::now().checked_add(owned.idle),
            Some(owned) => owned.last.checked_add(owned.idle),
        };
        // So long that no clock reaches it is never.
        let Some(until) = until else { return };
        if until <= Instant::now() {
            break;
        }
        tokio::time::sleep_until(until).await;
    }
    end(&api, &id).await;
}

/// Ends an unused session that was begun over HTTP. Its kept handles are left.
pub(crate) async fn end(api: &Api, id: &str) {
    let owned = api.0.owned.lock().remove(id);
    if let Some(owned) = owned {
        owned.session.close().await;
    }
}

/// One session.
pub(crate) async fn show(
    State(api): State<Api>,
    Here(session): Here,
) -> Result<Json<SessionInfo>, ApiError> {
    let mut all = local(&api).into_iter();
    let info = all.find(|info| info.id == *session.id());
    info.map(Json)
        .ok_or_else(|| ApiError::no_session(api.sessions(), session.id().as_str()))
}

/// Ends a session that was begun over HTTP, with its kept handles. Answers when
/// all of it is gone.
pub(crate) async fn close(
    State(api): State<Api>,
    Here(session): Here,
) -> Result<StatusCode, ApiError> {
    end_whole(&api, session.id().as_str()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends a session that was begun over HTTP, with its kept handles.
pub(crate) async fn end_whole(api: &Api, id: &str) -> Result<(), ApiError> {
    let owned = api.0.owned.lock().remove(id);
    let owned = owned.ok_or_else(|| not_begun_here(api))?;
    owned.session.end(Duration::MAX).await;
    Ok(())
}

/// A session that was not begun over HTTP does not end over it.
fn not_begun_here(api: &Api) -> ApiError {
    ApiError::new(
        StatusCode::FORBIDDEN,
        format!(
            "this session belongs to `windlass {}` and ends with it; abort its handles instead",
            api.0.front_end
        ),
    )
}

/// Runs a batch, as a line of `windlass drive` does. A client that goes away
/// has given up its unanswered calls.
pub(crate) async fn calls(
    State(api): State<Api>,
    Here(session): Here,
    RawBody(body): RawBody,
) -> Result<Json<BatchReply>, ApiError> {
    let text = std::str::from_utf8(&body).map_err(|_| ApiError::bad("the body is not UTF-8"))?;
    let number = session.journal().last() + 1;
    let batch = Batch::read(text, number)?;
    if session.is_closing() {
        return Err(Refusal::Closed.into());
    }
    let reply = session.run(batch, RunOptions::default()).await;
    api.touch(session.id().as_str());
    Ok(Json(reply))
}

/// Ends the turn and reports the treatment of its handles.
pub(crate) async fn end_turn(Here(session): Here) -> Json<TurnEndReport> {
    Json(session.end_turn().await)
}
