//! Reaching the sessions of other runtimes.
//!
//! [`elsewhere`] stands before every handler that is about one session: what is
//! not of this process is passed on to the runtime that has it, byte by byte,
//! event streams included.

use axum::body::Body;
use axum::extract::{RawPathParams, Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::future::join_all;
use serde::Serialize;
use serde::de::DeserializeOwned;
use windlass_protocol::SessionInfo;

use crate::api::Api;
use crate::client::{LOCAL, Peer, PeerError, peers};
use crate::error::ApiError;

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
    if api.sessions().get(id).is_some() {
        return next.run(request).await;
    }
    match owner(&api, request.headers(), id).await {
        None => next.run(request).await,
        Some((peer, _)) => match pass_on(&peer, request).await {
            Ok(response) => response,
            Err(error) => ApiError::new(StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
        },
    }
}

async fn pass_on(peer: &Peer, request: Request) -> Result<Response, PeerError> {
    let (mut parts, body) = request.into_parts();
    let path = parts.extensions.get::<axum::extract::OriginalUri>();
    let uri = path.map_or(&parts.uri, |original| &original.0);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    parts.uri = path.parse().unwrap_or_else(|_| Uri::from_static("/"));
    parts.version = axum::http::Version::HTTP_11;
    // The other runtime knows its user by the socket.
    parts.headers.remove(header::AUTHORIZATION);
    parts.headers.remove(header::ORIGIN);
    parts.headers.remove(header::CONNECTION);
    let response = peer.send(Request::from_parts(parts, body)).await?;
    Ok(response.map(Body::new))
}

/// The runtime that has this session, if it is reached.
pub(crate) async fn owner(api: &Api, headers: &HeaderMap, id: &str) -> Option<(Peer, SessionInfo)> {
    let all = gather::<SessionInfo>(api, headers, "/api/v1/sessions").await;
    all.into_iter().find_map(|(peer, infos)| {
        let info = infos.into_iter().find(|info| info.id.as_str() == id);
        Some((peer, info?))
    })
}

/// What each other runtime answers to a GET, of those that answer. Nothing
/// where only this one is meant.
pub(crate) async fn gather<T: DeserializeOwned>(
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
    join_all(asked).await.into_iter().flatten().collect()
}

/// Posts to the other runtimes until one takes it.
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
    let missing = ApiError::not_found("nobody asks this, or it has been answered elsewhere");
    for peer in others(api, headers).await {
        match peer.post(&path, body).await {
            Ok(_) => return Ok(StatusCode::NO_CONTENT),
            Err(PeerError::Refused { status, message }) if status != StatusCode::NOT_FOUND => {
                return Err(ApiError::new(status, message));
            }
            Err(_) => {}
        }
    }
    Err(missing)
}

async fn others(api: &Api, headers: &HeaderMap) -> Vec<Peer> {
    match &api.0.peers {
        Some(folder) if !headers.contains_key(LOCAL) => {
            let own = std::process::id();
            let all = peers(folder).await.into_iter();
            all.filter(|peer| peer.pid != own).collect()
        }
        _ => Vec::new(),
    }
}
