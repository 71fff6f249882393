//! Forwards requests to other runtimes.
//!
//! [`elsewhere`] precedes every handler for a single session: a request for
//! another runtime's session is forwarded, and its response is streamed back,
//! including event streams. `routing.rs` knows the runtime; all are asked only
//! if it is unknown or wrong.

use axum::body::Body;
use axum::extract::{FromRequest, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::future::join_all;
use serde::Serialize;
use serde::de::DeserializeOwned;
use windlass_protocol::SessionInfo;

use crate::api::Api;
use crate::client::{LOCAL, Peer, PeerError, peers};
use crate::error::ApiError;
use crate::extract::RawBody;
use crate::routing::Routed;

/// Passes a request on to the runtime whose session it is about.
pub(crate) async fn elsewhere(
    State(api): State<Api>,
    params: RawPathParams,
    request: Request,
    next: Next,
) -> Response {
    let id = params.iter().find(|(name, _)| *name == "id");
    let Some((_, id)) = id else {
        return next.run(request).await;
    };
    if api.sessions().get(id).is_some() || !reaches_others(&api, request.headers()) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    // Read whole, since it may have to be sent to another runtime again.
    let request = Request::from_parts(parts.clone(), body);
    let body = match RawBody::from_request(request, &api).await {
        Ok(RawBody(body)) => body,
        Err(error) => return error.into_response(),
    };
    let mut denied = None;
    if let Some(peer) = api.0.routes.find(id) {
        match pass_on(&api, &peer, &parts, &body).await {
            Ok(response) => {
                if is_from_owner(&peer, id, response.status()).await {
                    return response;
                }
                denied = Some(response);
            }
            // It may have been done before the connection broke.
            Err(error @ PeerError::Broken(_)) if !parts.method.is_safe() => {
                api.0.routes.forget(id, &peer);
                return bad_gateway(&error);
            }
            Err(_) => {}
        }
        api.0.routes.forget(id, &peer);
    }
    match search(&api, &parts.headers, id).await {
        // A runtime that had it knows that it has ended.
        None => match denied {
            Some(response) => response,
            None => next.run(Request::from_parts(parts, body.into())).await,
        },
        Some((peer, _)) => match pass_on(&api, &peer, &parts, &body).await {
            Ok(response) => response,
            Err(error) => bad_gateway(&error),
        },
    }
}

fn bad_gateway(error: &PeerError) -> Response {
    ApiError::new(StatusCode::BAD_GATEWAY, error.to_string()).into_response()
}

async fn pass_on(
    api: &Api,
    peer: &Peer,
    parts: &Parts,
    body: &Bytes,
) -> Result<Response, PeerError> {
    let mut request = Request::new(Body::from(body.clone()));
    let original = parts.extensions.get::<axum::extract::OriginalUri>();
    let uri = original.map_or(&parts.uri, |original| &original.0);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse().unwrap_or_else(|_| Uri::from_static("/"));
    *request.method_mut() = parts.method.clone();
    let mut headers = parts.headers.clone();
    // The other runtime knows its user by the socket.
    headers.remove(header::AUTHORIZATION);
    headers.remove(header::ORIGIN);
    headers.remove(header::CONNECTION);
    // The body is of a known length by now.
    headers.remove(header::TRANSFER_ENCODING);
    *request.headers_mut() = headers;
    let response = peer.send(request).await?.map(Body::new);
    let kind = response.headers().get(header::CONTENT_TYPE);
    if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
        let ending = |body: Body| Body::from_stream(api.until_leaving(body.into_data_stream()));
        return Ok(response.map(ending));
    }
    Ok(response)
}

/// Whether a runtime has the session that it was asked about: it answers that
/// there is none, or no such handle, in the same way.
async fn is_from_owner(peer: &Peer, id: &str, answered: StatusCode) -> bool {
    let denies = matches!(answered, StatusCode::NOT_FOUND | StatusCode::GONE);
    !denies || info(peer, id).await.is_ok()
}

async fn info(peer: &Peer, id: &str) -> Result<SessionInfo, PeerError> {
    peer.get(&format!("/api/v1/sessions/{id}")).await
}

/// The runtime that has this session, if it is reached.
pub(crate) async fn owner(api: &Api, headers: &HeaderMap, id: &str) -> Option<(Peer, SessionInfo)> {
    if let Some(peer) = api
        .0
        .routes
        .find(id)
        .filter(|_| reaches_others(api, headers))
    {
        match info(&peer, id).await {
            Ok(info) => return Some((peer, info)),
            Err(_) => api.0.routes.forget(id, &peer),
        }
    }
    search(api, headers, id).await
}

/// Asks every other runtime for a session.
async fn search(api: &Api, headers: &HeaderMap, id: &str) -> Option<(Peer, SessionInfo)> {
    let all = gather::<SessionInfo>(api, headers, "/api/v1/sessions").await;
    all.into_iter().find_map(|(peer, infos)| {
        let info = infos.into_iter().find(|info| info.id.as_str() == id);
        Some((peer, info?))
    })
}

/// The list that each other runtime answers to a GET, of those that answer;
/// what they have is routed to them from now on. Nothing where only this one is
/// meant.
pub(crate) async fn gather<T: DeserializeOwned + Routed>(
    api: &Api,
    headers: &HeaderMap,
    path: &str,
) -> Vec<(Peer, Vec<T>)> {
    let asked = others(api, headers)
        .await
        .into_iter()
        .map(|peer| async move {
            let answer = peer.get::<Vec<T>>(path).await.ok()?;
            Some((peer, answer))
        });
    let answers: Vec<(Peer, Vec<T>)> = join_all(asked).await.into_iter().flatten().collect();
    for (peer, listed) in &answers {
        for one in listed {
            api.0.routes.learn(one.id(), peer);
        }
    }
    answers
}

/// Posts to the runtime that has the item in the path, or else to the others
/// until one accepts it.
pub(crate) async fn post_to_whoever_takes_it<B: Serialize>(
    api: &Api,
    headers: &HeaderMap,
    uri: &Uri,
    body: &B,
) -> Result<StatusCode, ApiError> {
    let path = uri.path();
    let path = if path.starts_with("/api/v1") {
        path.to_owned()
    } else {
        format!("/api/v1{path}")
    };
    if !reaches_others(api, headers) {
        return Err(missing());
    }
    let mut asked = None;
    let known = |id: &str| Some((id.to_owned(), api.0.routes.find(id)?));
    if let Some((id, peer)) = path.rsplit('/').find_map(known) {
        if let Some(answer) = taken(peer.post(&path, body).await) {
            return answer;
        }
        api.0.routes.forget(&id, &peer);
        asked = Some(peer);
    }
    for peer in others(api, headers).await {
        if asked.as_ref() != Some(&peer)
            && let Some(answer) = taken(peer.post(&path, body).await)
        {
            return answer;
        }
    }
    Err(missing())
}

fn missing() -> ApiError {
    ApiError::not_found("nobody asks this, or it has been answered elsewhere")
}

/// The answer of the runtime that has what was posted about; `None` of one that
/// has not, or is gone.
fn taken(answer: Result<Bytes, PeerError>) -> Option<Result<StatusCode, ApiError>> {
    match answer {
        Ok(_) => Some(Ok(StatusCode::NO_CONTENT)),
        Err(PeerError::Refused { status, message }) if status != StatusCode::NOT_FOUND => {
            Some(Err(ApiError::new(status, message)))
        }
        Err(_) => None,
    }
}

/// Whether more than the sessions of this process are meant.
fn reaches_others(api: &Api, headers: &HeaderMap) -> bool {
    api.0.peers.is_some() && !headers.contains_key(LOCAL)
}

async fn others(api: &Api, headers: &HeaderMap) -> Vec<Peer> {
    match &api.0.peers {
        Some(folder) if reaches_others(api, headers) => {
            let own = std::process::id();
            let all = peers(folder).await.into_iter();
            all.filter(|peer| peer.pid != own).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
#[path = "proxy_tests.rs"]
mod tests;
