//! Waits for the result of a call, over several rounds if the server asks for
//! them.
//!
//! Start at [`CallRun::run`]. A server answers a call with its result, with a
//! request for input (the call is then repeated with the answers), or with a
//! task that is polled until it is done.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceError;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelTaskParams, ClientRequest,
    CreateTaskResult, ErrorData, GetTaskParams, InputRequiredResult, RequestMetaObject,
    ServerResult, TaskPayload, UpdateTaskParams,
};
use rmcp::service::PeerRequestOptions;
use serde_json::Value;
use windlass_protocol::{Arguments, ServerRefusal, ToolError};

use crate::call::ServerCall;
use crate::connection::ServerConnection;
use crate::error::{ServerError, chain};
use crate::routes::OfCall;
use crate::server::UpstreamServer;

/// The maximum number of rounds.
const ROUNDS: u32 = 32;
/// The default polling interval of a task.
const LOOK: Duration = Duration::from_millis(500);
/// The range of polling intervals that a server may set.
const LOOK_RANGE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(30));
/// The time limit for telling a server that a task is cancelled.
const CANCEL_LIMIT: Duration = Duration::from_secs(1);

/// A call in progress.
pub(crate) struct CallRun {
    pub(crate) server: UpstreamServer,
    pub(crate) call: Arc<ServerCall>,
    /// The server's name for the tool.
    pub(crate) tool: String,
}

impl CallRun {
    /// Makes the call and returns its result. Cancelling the call ends it at
    /// once and notifies the server.
    pub(crate) async fn run(&self, arguments: Arguments) -> Result<CallToolResult, ToolError> {
        let connection = tokio::select! {
            biased;
            connection = self.server.connection() => connection.map_err(|error| again(&error))?,
            () = self.call.cancelled.cancelled() => return Err(cancelled()),
        };
        let result = tokio::select! {
            biased;
            result = self.rounds(&connection, arguments) => result,
            why = connection.gone() => Err(again(&self.server.gone(&why))),
        };
        if result.is_ok() {
            self.server.worked();
        }
        result
    }

    async fn rounds(
        &self,
        connection: &ServerConnection,
        arguments: Arguments,
    ) -> Result<CallToolResult, ToolError> {
        let mut params = CallToolRequestParams::new(self.tool.clone()).with_arguments(arguments);
        for round in 0..ROUNDS {
            let needed = match self.request(connection, params.clone()).await? {
                ServerResult::CallToolResult(result) => return Ok(result),
                ServerResult::CreateTaskResult(task) => return self.task(connection, task).await,
                ServerResult::InputRequiredResult(needed) => needed,
                _ => return Err(self.unexpected()),
            };
            let InputRequiredResult {
                input_requests,
                request_state,
                ..
            } = needed;
            params.request_state = request_state;
            params.input_responses = if let Some(requests) = input_requests {
                Some(self.call.fulfil(requests, &BTreeMap::new()).await?)
            } else {
                // It is busy and wants to be asked again.
                tokio::time::sleep(LOOK_RANGE.0 * (round + 1)).await;
                None
            };
            if self.call.cancelled.is_cancelled() {
                return Err(cancelled());
            }
        }
        Err(ToolError::new(format!(
            "MCP server `{}` asked for input {ROUNDS} times and returned no result",
            self.server.name()
        )))
    }

    /// One request, which is cancelled if the call is.
    async fn request(
        &self,
        connection: &ServerConnection,
        params: CallToolRequestParams,
    ) -> Result<ServerResult, ToolError> {
        let mut request = CallToolRequest::new(params);
        request.extensions.insert(OfCall(Arc::clone(&self.call)));
        let request = ClientRequest::CallToolRequest(request);
        let mut options = PeerRequestOptions::no_options();
        if let Some(level) = self.server.standing().level() {
            // Servers of the years before were told, and do not look at it.
            let mut meta = RequestMetaObject::default();
            meta.set_log_level(level);
            options = options.with_meta(meta);
        }
        let sent = connection.peer().send_request_with_option(request, options);
        let mut sent = match sent.await {
            Ok(sent) => sent,
            Err(error) => return Err(self.failed(connection, error).await),
        };
        let answer = tokio::select! {
            biased;
            answer = &mut sent.rx => answer.unwrap_or(Err(ServiceError::TransportClosed)),
            () = self.call.cancelled.cancelled() => {
                let reason = Some("the call was cancelled".to_owned());
                let _ = tokio::time::timeout(CANCEL_LIMIT, sent.cancel(reason)).await;
                return Err(cancelled());
            }
        };
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.failed(connection, error).await),
        }
    }

    /// Looks at a task until it is done.
    async fn task(
        &self,
        connection: &ServerConnection,
        created: CreateTaskResult,
    ) -> Result<CallToolResult, ToolError> {
        let id = created.task.task_id;
        let mut look = created.task.poll_interval_ms;
        let mut answered: BTreeMap<String, Value> = BTreeMap::new();
        if let Some(message) = created.task.status_message {
            self.call.report_progress(message);
        }
        loop {
            let pause = look.map_or(LOOK, Duration::from_millis);
            tokio::select! {
                () = self.call.cancelled.cancelled() => {
                    let cancelling = connection.peer().cancel_task(CancelTaskParams::new(&*id));
                    let _ = tokio::time::timeout(CANCEL_LIMIT, cancelling).await;
                    return Err(cancelled());
                }
                () = self.call.task_changed() => {}
                () = tokio::time::sleep(pause.clamp(LOOK_RANGE.0, LOOK_RANGE.1)) => {}
            }
            let looked = connection.peer().get_task(GetTaskParams::new(&*id)).await;
            let task = match looked {
                Ok(looked) => looked.task,
                Err(error) => return Err(self.failed(connection, error).await),
            };
            look = task.task.poll_interval_ms;
            if let Some(message) = task.task.status_message {
                self.call.report_progress(message);
            }
            match task.payload {
                TaskPayload::InputRequired { input_requests } => {
                    let responses = self.call.fulfil(input_requests, &answered).await?;
                    if responses.is_empty() || self.call.cancelled.is_cancelled() {
                        continue;
                    }
                    answered.extend(responses.clone());
                    let update = UpdateTaskParams::new(&*id, responses);
                    if let Err(error) = connection.peer().update_task(update).await {
                        return Err(self.failed(connection, error).await);
                    }
                }
                TaskPayload::Completed { result } => {
                    return serde_json::from_value(Value::Object(result))
                        .map_err(|_| self.unexpected());
                }
                TaskPayload::Failed { error } => {
                    let error = serde_json::from_value(Value::Object(error));
                    return Err(error.map_or_else(|_| self.unexpected(), |error| self.said(&error)));
                }
                TaskPayload::Cancelled => {
                    let server = self.server.name();
                    let message = format!("MCP server `{server}` cancelled the task");
                    return Err(ToolError::new(message));
                }
                _ => {}
            }
        }
    }

    /// Why a request came to nothing.
    async fn failed(&self, connection: &ServerConnection, error: ServiceError) -> ToolError {
        match error {
            ServiceError::McpError(error) => self.said(&error),
            ServiceError::TransportClosed => again(&self.server.gone(&connection.closed().await)),
            ServiceError::UnexpectedResponse => self.unexpected(),
            other => {
                // It may be back at the next call, on a connection of its own.
                connection.retire();
                again(&self.server.gone(&chain(&other)))
            }
        }
    }

    fn said(&self, error: &ErrorData) -> ToolError {
        let server = self.server.name();
        let code = error.code.0;
        let message = format!(
            "MCP server `{server}` refused the call: {} ({code})",
            error.message
        );
        self.call.refused(ServerRefusal {
            code,
            message: message.clone(),
        });
        ToolError::new(message)
    }

    fn unexpected(&self) -> ToolError {
        let server = self.server.name();
        ToolError::new(format!(
            "MCP server `{server}` sent an unexpected reply to the call"
        ))
    }
}

/// An error that a later call may not meet.
fn again(error: &ServerError) -> ToolError {
    ToolError {
        transient: true,
        ..ToolError::new(error.to_string())
    }
}

fn cancelled() -> ToolError {
    ToolError::new("cancelled")
}
