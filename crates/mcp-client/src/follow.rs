//! Waiting for the result of a call, over as many rounds as the server wants.
//!
//! Start at [`Follow::run`]. A server answers a call with its result, with what
//! it needs to know first (the call is then made again with the answers), or
//! with a task that is looked at until it is done.

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

use crate::call::Call;
use crate::connection::Connection;
use crate::error::{ServerError, chain};
use crate::routes::OfCall;
use crate::server::Server;

/// How often a server may ask for more before the call is given up.
const ROUNDS: u32 = 32;
/// How often a task is looked at, unless its server says.
const LOOK: Duration = Duration::from_millis(500);
/// What a server may say about that.
const LOOK_RANGE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(30));
/// How long a server has to take note that a task is cancelled.
const CANCEL_LIMIT: Duration = Duration::from_secs(1);

/// One call on its way.
pub(crate) struct Follow {
    pub(crate) server: Server,
    pub(crate) call: Arc<Call>,
    /// What the server calls the tool.
    pub(crate) tool: String,
}

impl Follow {
    /// Makes the call and gives its result. The call's being cancelled ends it
    /// at once; the server is told.
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
        connection: &Connection,
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
            "MCP server `{}` asked for more {ROUNDS} times and gave no result",
            self.server.name()
        )))
    }

    /// One request, which is cancelled if the call is.
    async fn request(
        &self,
        connection: &Connection,
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
        connection: &Connection,
        created: CreateTaskResult,
    ) -> Result<CallToolResult, ToolError> {
        let id = created.task.task_id;
        let mut look = created.task.poll_interval_ms;
        let mut answered: BTreeMap<String, Value> = BTreeMap::new();
        if let Some(message) = created.task.status_message {
            self.call.told(message);
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
                self.call.told(message);
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
    async fn failed(&self, connection: &Connection, error: ServiceError) -> ToolError {
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
            "MCP server `{server}` answered the call with something else"
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
