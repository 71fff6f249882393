//! A `tools/call` on its way: a batch of one, and what is asked meanwhile.
//!
//! Start at [`Call::begin`]. [`Call::next`] gives the result, or something to
//! put to the user first; how that is put is the caller's affair: within the
//! request, as another round (`rounds.rs`), or as a task's input (`task.rs`).

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
use windlass_runtime::{Await, RunOptions, Session, ToolDefinition};

use crate::conversation::Conversation;
use crate::grace;
use crate::progress::Waiting;
use crate::relay::Asides;
use crate::reply::{Structure, Telling, refusal, tell};
use crate::seats::{Means, Put, Seat, SeatEvent};
use crate::status::Doing;

/// A call that has been begun. Dropping it ends what it runs.
pub(crate) struct Call {
    run: BoxFuture<'static, BatchReply>,
    seat: Seat,
    options: RunOptions,
    session: Session,
    id: String,
    /// The handles that it waits for.
    waits_for: Vec<String>,
    tool: String,
    /// The handle that it starts.
    spawns: Option<String>,
    telling: Telling,
    may_last: bool,
    refusal: Option<ErrorData>,
}

/// What comes of a call next.
pub(crate) enum Step {
    /// It is answered.
    Done(CallToolResult),
    /// Something must be put to the client before it can go on.
    Put(Put),
    /// Its tool needs the client's model, which the client does not lend.
    LacksSampling,
}

/// What is called.
pub(crate) struct Wanted<'a> {
    pub(crate) definition: &'a ToolDefinition,
    pub(crate) arguments: Arguments,
    pub(crate) means: Means,
    /// The client is given structured content.
    pub(crate) structured: bool,
}

impl Call {
    pub(crate) fn begin(conversation: &Conversation, wanted: Wanted<'_>) -> Self {
        let Wanted {
            definition,
            arguments,
            means,
            structured,
        } = wanted;
        let tool = definition.name.clone();
        let call = conversation.next_call();
        let action = handle_action(definition, &arguments);
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
            let batch = batch(&call, &tool, arguments);
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
            session,
            id: call,
            waits_for,
            spawns,
            may_last: one_shot,
            refusal: None,
            telling: Telling {
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

    /// Waits for what comes next. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Step {
        let hurry = &self.options.hurry;
        loop {
            // It is hurried once.
            let requests = self.session.requests();
            let requests = Some(requests).filter(|_| !hurry.is_cancelled());
            tokio::select! {
                biased;
                reply = &mut self.run => {
                    self.refusal = refusal(&reply);
                    return Step::Done(tell(reply, &self.telling));
                }
                event = self.seat.next(requests) => match event {
                    SeatEvent::Put(put) => return Step::Put(put),
                    SeatEvent::LacksSampling => return Step::LacksSampling,
                    SeatEvent::Unseen => hurry.cancel(),
                },
            }
        }
    }

    /// The error with which the tool's server refused it, once it is done.
    pub(crate) fn refusal(&mut self) -> Option<ErrorData> {
        self.refusal.take()
    }

    /// Cancelling this has it answered at once.
    pub(crate) fn hurry(&self) -> CancellationToken {
        self.options.hurry.clone()
    }

    /// It may take its time: it waits for handles, or runs to its end.
    pub(crate) fn may_last(&self) -> bool {
        self.may_last
    }

    /// Where what it does can be seen.
    pub(crate) fn doing(&self) -> Doing {
        Doing {
            session: self.session.clone(),
            call: self.id.clone(),
            handles: self.waits_for.clone(),
            asked: Mutex::default(),
        }
    }

    /// The next thing to put to the client, without waiting.
    pub(crate) fn more(&mut self) -> Option<Step> {
        self.seat.more().map(|event| match event {
            SeatEvent::Put(put) => Step::Put(put),
            SeatEvent::LacksSampling => Step::LacksSampling,
            SeatEvent::Unseen => unreachable!("that is waited for"),
        })
    }

    /// Progress and log lines of its tool.
    pub(crate) fn asides(&self) -> Asides {
        self.seat.asides()
    }

    /// The client no longer wants it: ends what it started.
    pub(crate) async fn cancel(mut self) -> CallToolResult {
        self.options.cancel.cancel();
        let result = loop {
            match self.next().await {
                Step::Done(result) => break result,
                Step::Put(put) => drop(put),
                Step::LacksSampling => {}
            }
        };
        if let Some(id) = &self.spawns {
            let arguments = json!({"action": "abort", "id": id});
            let batch = batch("cancel", &self.tool, object(arguments));
            self.session.run(batch, RunOptions::default()).await;
        }
        result
    }

    /// Runs it to its end, and puts what is asked to the user from within the
    /// request.
    pub(crate) async fn answer(
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
                    Step::Done(result) => {
                        // What was said before it is told before it.
                        tokio::select! {
                            () = waiting.flush() => {}
                            () = &mut keep => {}
                        }
                        return result;
                    }
                    Step::Put(put) => asking.push(put_to(peer, put)),
                    // The tool was told, and its client is not.
                    Step::LacksSampling => {}
                },
                Some(()) = asking.next(), if !asking.is_empty() => {}
                () = gone.cancelled() => return self.cancel().await,
                () = &mut keep => {}
            }
        }
    }
}

/// Puts something to the client, as long as anybody wants to know.
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

/// The action that a call names, if its tool has that one; a `null` names none,
/// and a tool without actions may have a parameter of that name.
fn handle_action(definition: &ToolDefinition, arguments: &Arguments) -> Option<HandleAction> {
    let action = HandleAction::from_name(arguments.get("action")?.as_str()?)?;
    let actions = definition.shape.actions;
    actions.contains(action).then_some(action)
}

fn batch(call: &str, tool: &str, arguments: Arguments) -> Batch {
    Batch {
        id: call.to_owned(),
        calls: vec![ToolCall {
            id: call.to_owned(),
            tool: tool.to_owned(),
            arguments,
        }],
    }
}

fn object(value: Value) -> Arguments {
    match value {
        Value::Object(object) => object,
        other => unreachable!("arguments are an object, not {other}"),
    }
}
