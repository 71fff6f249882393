//! Replying to requests for permission over gRPC.

use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use tonic::{Request, Response, Status};
use windlass_protocol::{PermissionAnswer, PermissionId};

use super::proto::permission_service_server::PermissionService;
use super::{proto, words};
use crate::api::Api;
use crate::error::ApiError;
use crate::extract::{JsonBody, PermissionHere};
use crate::{asks, proxy};

#[derive(Clone)]
pub(super) struct Permissions(pub(super) Api);

#[tonic::async_trait]
impl PermissionService for Permissions {
    async fn respond_to_permission(
        &self,
        request: Request<proto::PermissionResponse>,
    ) -> Result<Response<proto::Empty>, Status> {
        let (metadata, _, response) = request.into_parts();
        let (id, session, body) = read(response)?;
        let headers = metadata.into_headers();
        self.respond(headers, session.as_deref(), id, body).await?;
        Ok(Response::new(proto::Empty {}))
    }
}

impl Permissions {
    async fn respond(
        &self,
        headers: HeaderMap,
        session: Option<&str>,
        id: PermissionId,
        body: PermissionAnswer,
    ) -> Result<(), ApiError> {
        let api = &self.0;
        let local = session.and_then(|session| api.sessions().get(session));
        if let Some(session) = local {
            return asks::reply_at(&session, &id, body);
        }
        let path = match session {
            Some(session) => path(&["sessions", session, "permissions", id.as_str()])?,
            None => path(&["permissions", id.as_str()])?,
        };
        if session.is_some() {
            proxy::post_to_whoever_takes_it(api, &headers, &path, &body).await?;
        } else {
            let (api, id, body) = (State(api.clone()), PermissionHere(id), JsonBody(body));
            asks::reply_anywhere(api, headers, path, id, body).await?;
        }
        Ok(())
    }
}

/// A path of these, each of which must mean itself in it.
pub(super) fn path(parts: &[&str]) -> Result<Uri, ApiError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let are_plain = parts.iter().all(|part| part.bytes().all(is_plain));
    let path = format!("/{}", parts.join("/")).parse().ok();
    path.filter(|_| are_plain)
        .ok_or_else(|| ApiError::not_found("nobody asks this, or it has been answered elsewhere"))
}

type Read = (PermissionId, Option<String>, PermissionAnswer);

fn read(response: proto::PermissionResponse) -> Result<Read, ApiError> {
    let reply = words::read_reply(response.reply()).ok_or_else(|| {
        ApiError::bad(
            "`reply` must be PERMISSION_REPLY_ONCE, PERMISSION_REPLY_ALWAYS or PERMISSION_REPLY_REJECT",
        )
    })?;
    let arguments = response.arguments.map(words::read_object).transpose();
    let body = PermissionAnswer {
        reply,
        message: response.message,
        arguments: arguments.map_err(|error| ApiError::bad(error.to_string()))?,
    };
    let id = PermissionId::new(response.permission_id)
        .map_err(|error| ApiError::bad(error.to_string()))?;
    let session = Some(response.session_id).filter(|session| !session.is_empty());
    Ok((id, session, body))
}
