//! A tool of a server, as an executor and as the job of one call.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use windlass_output::OutputOptions;
use windlass_protocol::{
    Arguments, HandleUse, InputError, Keyboard, OrderId, Question, Receipt, ToolDefinition,
    ToolError,
};
use windlass_runtime::{
    AdoptError, Ending, Executor, Job, JobDescription, JobHost, JobOutput, JobTerminal, LocalHost,
    OrderLedger, Reporter, Start, Subject, TypedCommands,
};

use crate::call::ServerCall;
use crate::follow::CallRun;
use crate::result::{self, ServerReply};
use crate::server::UpstreamServer;

/// The time limit for telling the server of a cancelled call.
const LEAVE_LIMIT: Duration = Duration::from_secs(2);

/// Runs a tool of an MCP server.
pub struct McpTool {
    pub server: UpstreamServer,
    /// The server's name for the tool.
    pub tool: String,
    /// The maximum size of a call's log.
    pub log_limit: u64,
}

#[async_trait]
impl Executor for McpTool {
    /// Returns at once: the server may have to be started first, and a call
    /// that waits for that can be aborted like any other.
    async fn start(&self, start: Start, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError> {
        let options = OutputOptions {
            log: start.log.clone().map(Into::into),
            log_limit: self.log_limit,
            ..OutputOptions::default()
        };
        let call = Arc::new(ServerCall::new(reporter, options, start.handle.is_some()));
        let follow = CallRun {
            server: self.server.clone(),
            call: Arc::clone(&call),
            tool: self.tool.clone(),
        };
        windlass_task::spawn(run(follow, start));
        Ok(Arc::new(McpJob {
            call,
            orders: OrderLedger::default(),
        }))
    }

    async fn adopt(&self, _: JobDescription, _: Reporter) -> Result<Arc<dyn Job>, AdoptError> {
        Err(AdoptError::Unsupported)
    }

    fn subject(&self, tool: &ToolDefinition, args: &Arguments, _: &Path) -> Subject {
        let pattern = serde_json::to_string(args).unwrap_or_default();
        Subject::new(&tool.name, [pattern]).remembering(["*"])
    }
}

/// Makes the call and reports its end in every case.
async fn run(follow: CallRun, start: Start) {
    let _ended = CallEndGuard(Arc::clone(&follow.call));
    let call = Arc::clone(&follow.call);
    let overdue = async {
        call.cancelled.cancelled().await;
        tokio::time::sleep(LEAVE_LIMIT).await;
    };
    let result = tokio::select! {
        biased;
        result = follow.run(start.args) => result,
        () = overdue => Err(ToolError::new("cancelled")),
    };
    let answer = match result {
        Ok(result) => result::read(result, start.log.as_deref()),
        Err(error) => error.into(),
    };
    call.end(ending(&call, answer, start.tool.limits.output_limit));
}

/// Passes on a result that fits into a reply unchanged. A larger one is cut
/// like any output.
fn ending(call: &ServerCall, answer: ServerReply, limit: usize) -> Ending {
    let ending = match answer.result {
        Ok(text) if text.len() > limit => {
            call.say(&text);
            Ending::output()
        }
        Err(error) if error.message.len() > limit => {
            call.say(&error.message);
            Ending::failed("the tool failed; its message is in its output")
        }
        result => Ending::with(result.map(Some)),
    };
    Ending {
        attachments: answer.attachments,
        structured: answer.structured.map(Box::new),
        ..ending
    }
}

/// Guard: reports the end of a call whose task was dropped.
struct CallEndGuard(Arc<ServerCall>);

impl Drop for CallEndGuard {
    fn drop(&mut self) {
        self.0
            .end(Ending::failed("the call ended without a result"));
    }
}

/// One call.
struct McpJob {
    call: Arc<ServerCall>,
    orders: OrderLedger,
}

impl Drop for McpJob {
    fn drop(&mut self) {
        self.call.cancelled.cancel();
    }
}

#[async_trait]
impl Job for McpJob {
    fn output(&self) -> &JobOutput {
        &self.call.output
    }

    fn terminal(&self) -> Option<Arc<dyn JobTerminal>> {
        None
    }

    /// This machine: a server behind a URL may run anywhere, so ports are
    /// looked up where its client runs.
    fn host(&self) -> Arc<dyn JobHost> {
        Arc::new(LocalHost)
    }

    fn usage(&self) -> Option<HandleUse> {
        None
    }

    fn key(&self) -> Option<Value> {
        None
    }

    fn typed_commands(&self, _: &Keyboard) -> Option<TypedCommands> {
        None
    }

    async fn apply(&self, _order: &OrderId, _input: Keyboard) -> Result<(), InputError> {
        Err(InputError::McpCall)
    }

    async fn answer(
        &self,
        order: &OrderId,
        _question: &Question,
        answer: Value,
    ) -> Result<(), InputError> {
        self.orders.once_now(order, || self.call.answer(answer))
    }

    async fn settle(&self, limit: Duration) {
        let _ = tokio::time::timeout(limit, self.call.wait()).await;
    }

    async fn leave(&self) {
        // Its tool ends when the job is dropped.
    }

    async fn abort(&self, _order: &OrderId, _grace: Duration) -> Receipt {
        self.call.cancelled.cancel();
        self.call.wait().await;
        Receipt::default()
    }
}
