//! A `tools/call` in progress: a batch of one, with the questions of its tool.
//!
//! Start at [`ActiveCall::begin`]. [`ActiveCall::next`] returns the result, or
//! a request to the user. The caller decides how to send the request: within
//! the call, as another round (`rounds.rs`), or as a task's input (`task.rs`).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::CallToolResult;
use rmcp::service::{Peer, RoleServer, ServiceError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use windlass_protocol::{Arguments, Batch, BatchReply, HandleAction, ToolCall};
use windlass_runtime::{Await, RunOptions, ToolDefinition};

use crate::conversation::ClientSession;
use crate::grace;
use crate::progress::Waiting;
use crate::relay::Asides;
use crate::reply::{ReplyFormat, Structure, format_reply};
use crate::seats::{Means, Put, Seat, SeatEvent};
use crate::status::Doing;

/// A call that has started. Dropping it ends its tool.
pub(crate) struct ActiveCall {
    run: BoxFuture<'static, BatchReply>,
    seat: Seat,
    options: RunOptions,
    /// A view of its activity.
    doing: Arc<Doing>,
    tool: String,
    /// The handle that it starts.
    spawns: Option<String>,
    format: ReplyFormat,
    may_last: bool,
    refusal: Option<ErrorData>,
}

/// The next step of a call.
pub(crate) enum CallStep {
    /// It is answered.
    Done(CallToolResult),
    /// A request to the client comes first.
    Put(Put),
    /// Its tool needs the client's model, which the client does not lend.
    LacksSampling,
}

/// The requested call.
pub(crate) struct RequestedCall<'a> {
    pub(crate) definition: &'a ToolDefinition,
    pub(crate) arguments: Arguments,
    pub(crate) means: Means,
    /// The client is given structured content.
    pub(crate) structured: bool,
}

impl ActiveCall {
    pub(crate) fn begin(conversation: &ClientSession, wanted: RequestedCall<'_>) -> Self {
        let RequestedCall {
            definition,
            arguments,
            means,
            structured,
        } = wanted;
        let tool = definition.name.clone();
        let number = conversation.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let call = format!("m{number}");
        // `null` is no action, and a tool without actions may have a parameter
        // of that name.
        let action = arguments.get("action").and_then(Value::as_str);
        let action = action.and_then(HandleAction::from_name);
        let action = action.filter(|action| definition.shape.actions.contains(*action));
        let id = arguments.get("id").and_then(Value::as_str);
        let expected = grace::expected(&tool, action, &arguments);
        let spawns = id.filter(|_| action == Some(HandleAction::Spawn));
        let spawns = spawns.map(str::to_owned);
        let one_shot = action.is_none();
        let waits_for = if tool == Await::NAME {
            expected.clone()
        } else {
            Vec::new()
        };
        let seat = conversation.seats.sit(&call, waits_for.clone(), means);
        let session = conversation.session.clone();
        let options = RunOptions::default();
        let run = {
            let (session, options) = (session.clone(), options.clone());
            let batch = Batch {
                id: call.clone(),
                calls: vec![ToolCall {
                    id: call.clone(),
                    tool: tool.clone(),
                    arguments,
                }],
            };
            async move {
                grace::appear(&session, &expected).await;
                session.run(batch, options).await
            }
            .boxed()
        };
        Self {
            run,
            seat,
            options,
            doing: Arc::new(Doing {
                session,
                call,
                handles: waits_for,
                asked: Mutex::default(),
            }),
            spawns,
            may_last: one_shot,
            refusal: None,
            format: ReplyFormat {
                structure: Structure {
                    results: structured
                        && (definition.name == Await::NAME || !definition.shape.actions.is_empty()),
                    errors: structured,
                    upstream: structured,
                },
                declares: structured
                    && definition.shape.actions.is_empty()
                    && definition
                        .listed
                        .as_ref()
                        .is_some_and(|listed| listed.output_schema.is_some()),
                one_shot: one_shot.then(|| tool.clone()),
            },
            tool,
        }
    }

    /// Waits for the next step. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> CallStep {
        let hurry = &self.options.hurry;
        loop {
            // It is hurried once.
            let requests = self.doing.session.requests();
            let requests = Some(requests).filter(|_| !hurry.is_cancelled());
            tokio::select! {
                biased;
                reply = &mut self.run => {
                    let (result, refusal) = format_reply(reply, &self.format);
                    self.refusal = refusal;
                    return CallStep::Done(result);
                }
                event = self.seat.next(requests) => match event {
                    SeatEvent::Put(put) => return CallStep::Put(put),
                    SeatEvent::LacksSampling => return CallStep::LacksSampling,
                    SeatEvent::Unseen => hurry.cancel(),
                },
            }
        }
    }

    /// The error with which the tool's server refused the finished call.
    pub(crate) fn refusal(&mut self) -> Option<ErrorData> {
        self.refusal.take()
    }

    /// Cancelling this has it answered at once.
    pub(crate) fn hurry(&self) -> CancellationToken {
        self.options.hurry.clone()
    }

    /// Whether it may take long: it waits for handles, or is a one-shot.
    pub(crate) fn may_last(&self) -> bool {
        self.may_last
    }

    /// A view of its activity.
    pub(crate) fn doing(&self) -> &Arc<Doing> {
        &self.doing
    }

    /// The next request to the client, without waiting.
    pub(crate) fn more(&mut self) -> Option<CallStep> {
        self.seat.more().map(|event| match event {
            SeatEvent::Put(put) => CallStep::Put(put),
            SeatEvent::LacksSampling => CallStep::LacksSampling,
            SeatEvent::Unseen => unreachable!("that is waited for"),
        })
    }

    /// Progress and log lines of its tool.
    pub(crate) fn asides(&self) -> Asides {
        self.seat.asides()
    }

    /// Cancels the call and ends everything that it started.
    pub(crate) async fn cancel(mut self) -> CallToolResult {
        self.options.cancel.cancel();
        let result = loop {
            match self.next().await {
                CallStep::Done(result) => break result,
                CallStep::Put(put) => drop(put),
                CallStep::LacksSampling => {}
            }
        };
        if let Some(id) = &self.spawns {
            let call = ToolCall {
                id: "cancel".to_owned(),
                tool: self.tool.clone(),
                arguments: Arguments::from_iter([
                    ("action".to_owned(), json!(HandleAction::Abort)),
                    ("id".to_owned(), json!(id)),
                ]),
            };
            let batch = Batch {
                id: call.id.clone(),
                calls: vec![call],
            };
            let session = &self.doing.session;
            session.run(batch, RunOptions::default()).await;
        }
        result
    }

    /// Runs the call to its end, and sends requests to the user from within it.
    pub(crate) async fn run_to_end(
        mut self,
        peer: &Peer<RoleServer>,
        waiting: &Waiting,
        gone: &CancellationToken,
    ) -> CallToolResult {
        let mut asking = FuturesUnordered::new();
        let keep = waiting.keep();
        tokio::pin!(keep);
        loop {
            tokio::select! {
                biased;
                step = self.next() => match step {
                    CallStep::Done(result) => {
                        // Earlier progress is sent before the request.
                        tokio::select! {
                            () = waiting.flush() => {}
                            () = &mut keep => {}
                        }
                        return result;
                    }
                    CallStep::Put(put) => asking.push(put_to(peer, put)),
                    // The tool was told, and its client is not.
                    CallStep::LacksSampling => {}
                },
                Some(()) = asking.next(), if !asking.is_empty() => {}
                () = gone.cancelled() => return self.cancel().await,
                () = &mut keep => {}
            }
        }
    }
}

/// Sends a request to the client, until its requester no longer waits.
async fn put_to(peer: &Peer<RoleServer>, put: Put) {
    let Put {
        request, mut reply, ..
    } = put;
    tokio::select! {
        () = reply.closed() => {}
        result = peer.send_request(request.into_server_request()) => {
            let answer = match result {
                Ok(result) => serde_json::to_value(result)
                    .map_err(|error| ErrorData::internal_error(error.to_string(), None)),
                Err(ServiceError::McpError(error)) => Err(error),
                Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
            };
            let _ = reply.send(answer);
        }
    }
}
