//! A `tools/call` on its way: a batch of one, and what is asked meanwhile.
//!
//! Start at [`Call::begin`]. [`Call::next`] gives the result, or something to
//! put to the user first; how that is put is the caller's affair: within the
//! request, as another round (`rounds.rs`), or as a task's input (`task.rs`).

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use parking_lot::Mutex;
use rmcp::model::{
    CallToolResult, ClientResult, ElicitRequest, ElicitResult, ElicitationAction, ServerRequest,
};
use rmcp::service::{Peer, RoleServer};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use windlass_protocol::{Arguments, Batch, BatchReply, HandleAction, ToolCall};
use windlass_runtime::{Await, RunOptions, Session, ToolDefinition};

use crate::conversation::Conversation;
use crate::grace;
use crate::progress::Waiting;
use crate::reply::{Structure, Telling, tell};
use crate::seats::{Means, Put, Seat};
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
}

/// What comes of a call next.
pub(crate) enum Step {
    /// It is answered.
    Done(CallToolResult),
    /// Something must be put to the user before it can go on.
    Put(Put),
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
            telling: Telling {
                structure: Structure {
                    results: structured
                        && (definition.name == Await::NAME || !definition.shape.actions.is_empty()),
                    errors: structured,
                },
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
                reply = &mut self.run => return Step::Done(tell(reply, &self.telling)),
                put = self.seat.next(requests) => match put {
                    Some(put) => return Step::Put(put),
                    None => hurry.cancel(),
                },
            }
        }
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

    /// What else there is to put to the user by now.
    pub(crate) fn more(&mut self) -> Option<Put> {
        self.seat.more()
    }

    /// The client no longer wants it: ends what it started.
    pub(crate) async fn cancel(mut self) -> CallToolResult {
        self.options.cancel.cancel();
        let result = loop {
            match self.next().await {
                Step::Done(result) => break result,
                Step::Put(put) => drop(put),
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
                    Step::Done(result) => return result,
                    Step::Put(put) => asking.push(elicit(peer, put)),
                },
                Some(()) = asking.next(), if !asking.is_empty() => {}
                () = gone.cancelled() => return self.cancel().await,
                () = &mut keep => {}
            }
        }
    }
}

/// Asks the client's user, as long as anybody wants to know.
async fn elicit(peer: &Peer<RoleServer>, put: Put) {
    let Put {
        request, mut reply, ..
    } = put;
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(request));
    tokio::select! {
        () = reply.closed() => {}
        result = peer.send_request(request) => {
            let result = match result {
                Ok(ClientResult::ElicitResult(result)) => Some(result),
                _ => None,
            };
            let _ = reply.send(result);
        }
    }
}

/// What a client answered in a later round or to a task.
pub(crate) fn read_answer(value: Value) -> ElicitResult {
    serde_json::from_value(value).unwrap_or_else(|_| ElicitResult::new(ElicitationAction::Cancel))
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
