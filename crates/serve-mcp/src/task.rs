//! Calls as tasks, for clients that declare the extension.
//!
//! A call that is answered within a moment is answered, and one that asks within
//! a moment asks in rounds (`rounds.rs`); one that takes longer goes on as a
//! task. What it asks from then on is the task's input, and cancelling the task
//! ends what it runs.

use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use rmcp::model::{
    CallToolResponse, CallToolResult, CreateTaskResult, ElicitRequest, InputRequest,
};
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};

use crate::call::{Call, Step, read_answer};
use crate::desk::Put;

/// How long a call may take before it becomes a task.
pub(crate) const AT_ONCE: Duration = Duration::from_millis(250);
/// How long a task and its result are kept.
const TTL: Duration = Duration::from_hours(1);
/// How often a client should ask how it goes.
const POLL: Duration = Duration::from_millis(500);

/// Makes a task of a call.
pub(crate) fn make(tasks: &TaskManager, call: Call) -> CallToolResponse {
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let options = TaskOptions::new()
        .with_ttl_ms(milliseconds(TTL))
        .with_poll_interval_ms(milliseconds(POLL));
    let task = tasks.spawn(options, |context| Box::pin(run(call, context)));
    CreateTaskResult::new(task).into()
}

async fn run(mut call: Call, context: TaskContext) -> Result<CallToolResult, TaskExit> {
    let mut asking = FuturesUnordered::new();
    loop {
        tokio::select! {
            biased;
            step = call.next() => match step {
                Step::Done(result) => return Ok(result),
                Step::Put(put) => asking.push(ask(&context, put)),
            },
            Some(()) = asking.next(), if !asking.is_empty() => {}
            () = context.cancelled() => {
                call.cancel().await;
                return Err(TaskExit::Cancelled);
            }
        }
    }
}

async fn ask(context: &TaskContext, put: Put) {
    let request = InputRequest::Elicitation(ElicitRequest::new(put.request));
    // It ends without an answer when the task is cancelled.
    if let Ok(answer) = context.request_input(put.key, request).await {
        let _ = put.reply.send(read_answer(answer));
    }
}
