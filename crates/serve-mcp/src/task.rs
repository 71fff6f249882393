//! Calls as tasks, for clients that declare the extension.
//!
//! A call stays a call for as long as its client waits for it (`clients.rs`),
//! and asks in rounds meanwhile (`rounds.rs`). A call that takes longer becomes
//! a task. Its later questions are the task's input, and cancelling the task
//! ends its tool. Clients may run every task in the background, so a task's
//! result may reach the model later than a call's.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::poll;
use futures_util::stream::{FuturesUnordered, StreamExt};
use rmcp::model::{CallToolResponse, CallToolResult, CreateTaskResult};
use rmcp::service::{Peer, RoleServer};
use rmcp::task_manager::{TaskContext, TaskExit, TaskOptions};
use tokio::sync::watch;

use crate::call::{ActiveCall, CallStep};
use crate::conversation::ClientSession;
use crate::seats::Put;
use crate::status::Doing;

/// The time for which a task and its result are kept.
const TTL: Duration = Duration::from_hours(1);
/// The suggested polling interval.
const POLL: Duration = Duration::from_millis(500);

/// A client that supports tasks.
pub(crate) struct Taker<'a> {
    pub(crate) conversation: &'a Arc<ClientSession>,
    /// The time after which a call becomes a task.
    pub(crate) after: Duration,
    /// The receiver of task notifications if no stream listens.
    pub(crate) peer: Option<Peer<RoleServer>>,
}

/// Makes a task of a call.
pub(crate) fn make(taker: &Taker<'_>, call: ActiveCall) -> CallToolResponse {
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let doing = Arc::clone(call.doing());
    let options = TaskOptions::new()
        .with_ttl_ms(milliseconds(TTL))
        .with_poll_interval_ms(milliseconds(POLL))
        .with_status_message(doing.text());
    let (changed, news) = watch::channel(());
    let conversation = taker.conversation;
    let task = conversation.tasks.spawn(options, |context| {
        let peer = taker.peer.clone();
        conversation.follow_task(context.clone(), Arc::clone(&doing), news, peer);
        let asking = TaskElicitor {
            context,
            doing,
            changed,
        };
        Box::pin(run(call, asking))
    });
    CreateTaskResult::new(task).into()
}

/// Sends a task's questions to its client. Dropped when the task is over.
struct TaskElicitor {
    context: TaskContext,
    doing: Arc<Doing>,
    changed: watch::Sender<()>,
}

async fn run(mut call: ActiveCall, task: TaskElicitor) -> Result<CallToolResult, TaskExit> {
    let mut asking = FuturesUnordered::new();
    loop {
        tokio::select! {
            biased;
            step = call.next() => match step {
                // A tool that fails is a completed task; a server that fails is not.
                CallStep::Done(result) => {
                    return call.refusal().map_or(Ok(result), |error| Err(error.into()));
                }
                CallStep::Put(put) => asking.push(task.ask(put)),
                // The tool was notified, and fails on its own.
                CallStep::LacksSampling => {}
            },
            Some(()) = asking.next(), if !asking.is_empty() => {}
            () = task.context.cancelled() => {
                call.cancel().await;
                return Err(TaskExit::Cancelled);
            }
        }
    }
}

impl TaskElicitor {
    async fn ask(&self, put: Put) {
        let Put {
            key,
            request,
            reply,
            ..
        } = put;
        let open = &self.doing.asked;
        open.lock().insert(key.clone(), request.text());
        let request = request.into_input_request();
        let answer = self.context.request_input(key.clone(), request);
        tokio::pin!(answer);
        // The first look at the task sends the request.
        let at_once = poll!(&mut answer);
        self.changed.send_replace(());
        let answer = match at_once {
            Poll::Ready(answer) => answer,
            Poll::Pending => answer.await,
        };
        open.lock().remove(&key);
        // It ends without an answer when the task is cancelled.
        if let Ok(answer) = answer {
            let _ = reply.send(Ok(answer));
            self.changed.send_replace(());
        }
    }
}
