//! Sessions and calls over gRPC.

use futures_util::stream::BoxStream;
use tonic::{Request, Response, Status};
use windlass_protocol::{NewSession, ToolCall};
use windlass_runtime::Session;

use super::proto::tool_service_server::ToolService;
use super::running::RunningBatch;
use super::{proto, watching, words};
use crate::api::Api;
use crate::error::ApiError;
use crate::{proxy, sessions};

/// The stream of a handler.
pub(super) type Streamed<T> = BoxStream<'static, Result<T, Status>>;

#[derive(Clone)]
pub(super) struct ToolsService(pub(super) Api);

#[tonic::async_trait]
impl ToolService for ToolsService {
    type RunCallsStream = Streamed<proto::RunCallsResponse>;
    type WatchSessionStream = Streamed<proto::WatchSessionResponse>;

    async fn open_session(
        &self,
        request: Request<proto::OpenSessionRequest>,
    ) -> Result<Response<proto::OpenSessionResponse>, Status> {
        let wanted = request.into_inner();
        let new = NewSession {
            trusted: wanted.trusted,
            idle_secs: wanted.idle_secs,
        };
        let session_id = sessions::begin(&self.0, &new)?.id().to_string();
        Ok(Response::new(proto::OpenSessionResponse { session_id }))
    }

    async fn close_session(
        &self,
        request: Request<proto::CloseSessionRequest>,
    ) -> Result<Response<proto::Empty>, Status> {
        let id = &request.get_ref().session_id;
        self.here(id)?;
        sessions::end_whole(&self.0, id).await?;
        Ok(Response::new(proto::Empty {}))
    }

    async fn run_calls(
        &self,
        request: Request<proto::RunCallsRequest>,
    ) -> Result<Response<Self::RunCallsStream>, Status> {
        let request = request.into_inner();
        let session = self.here(&request.session_id)?;
        let calls = read_calls(request.calls)?;
        let running = RunningBatch::begin(&self.0, &session, calls);
        Ok(Response::new(running.stream()))
    }

    async fn watch_session(
        &self,
        request: Request<proto::WatchSessionRequest>,
    ) -> Result<Response<Self::WatchSessionStream>, Status> {
        let (metadata, _, wanted) = request.into_parts();
        let id = &wanted.session_id;
        self.0.touch(id);
        let stream = if let Some(session) = self.0.sessions().get(id) {
            watching::here(&self.0, &session, wanted.after)
        } else {
            let headers = metadata.into_headers();
            let owner = proxy::owner(&self.0, &headers, id).await;
            let (peer, info) = owner.ok_or_else(|| ApiError::no_session(self.0.sessions(), id))?;
            watching::elsewhere(&self.0, &peer, &info, wanted.after).await?
        };
        Ok(Response::new(stream))
    }
}

impl ToolsService {
    /// The session, which must be one of this process.
    fn here(&self, id: &str) -> Result<Session, ApiError> {
        let session = self.0.sessions().get(id);
        self.0.touch(id);
        session.ok_or_else(|| ApiError::no_session(self.0.sessions(), id))
    }
}

fn read_calls(calls: Vec<proto::ToolCall>) -> Result<Vec<ToolCall>, ApiError> {
    if calls.is_empty() {
        return Err(ApiError::bad("`calls` is empty; give at least one"));
    }
    let read = |(place, call): (usize, proto::ToolCall)| {
        let arguments = words::read_object(call.arguments.unwrap_or_default())
            .map_err(|error| ApiError::bad(error.to_string()))?;
        Ok(ToolCall {
            id: match call.call_id {
                id if id.is_empty() => (place + 1).to_string(),
                id => id,
            },
            tool: call.tool,
            arguments,
        })
    };
    calls.into_iter().enumerate().map(read).collect()
}
