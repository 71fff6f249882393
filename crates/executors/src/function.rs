//! A function of this program as a tool.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use windlass_output::OutputOptions;
use windlass_protocol::{
    Arguments, HandleUse, InputError, Keyboard, OrderId, Question, Receipt, ToolError,
};
use windlass_runtime::{
    AdoptError, Ending, Executor, Job, JobDescription, JobHost, JobOutput, JobTerminal, LocalHost,
    Reporter, Start, ToolEvent, TypedCommands,
};

/// The arguments of a function call.
pub struct FunctionCall {
    /// The assistant's arguments.
    pub args: Arguments,
    /// Cancelled when the call is aborted; the future is dropped soon after.
    pub cancellation: CancellationToken,
}

type Called = BoxFuture<'static, Result<String, ToolError>>;

/// Runs an async function, as a one-shot or in the background.
pub struct Function {
    function: Arc<dyn Fn(FunctionCall) -> Called + Send + Sync>,
}

impl Function {
    /// Wraps a function.
    pub fn new<F, R>(function: F) -> Self
    where
        F: Fn(FunctionCall) -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, ToolError>> + Send + 'static,
    {
        Self {
            function: Arc::new(move |call| Box::pin(function(call))),
        }
    }
}

#[async_trait]
impl Executor for Function {
    async fn start(&self, start: Start, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError> {
        let cancellation = CancellationToken::new();
        let ended = watch::Sender::new(false);
        let call = (self.function)(FunctionCall {
            args: start.args,
            cancellation: cancellation.clone(),
        });
        let output = JobOutput::of_messages(OutputOptions::default());
        let end = ReportEndOnDrop {
            reporter,
            output: output.clone(),
            ended: ended.clone(),
        };
        let task = windlass_task::spawn(async move {
            let result = call.await;
            end.report_end(Ending::reported(result));
        });
        Ok(Arc::new(FunctionJob {
            cancellation,
            task: task.abort_handle(),
            ended,
            output,
        }))
    }

    async fn adopt(&self, _: JobDescription, _: Reporter) -> Result<Arc<dyn Job>, AdoptError> {
        Err(AdoptError::Unsupported)
    }
}

/// Reports the end even if the function panics or is dropped.
struct ReportEndOnDrop {
    reporter: Reporter,
    output: JobOutput,
    ended: watch::Sender<bool>,
}

impl ReportEndOnDrop {
    fn report_end(&self, ending: Ending) {
        self.output.finish();
        self.reporter
            .report(self.output.written(), ToolEvent::Ended(ending));
        self.ended.send_replace(true);
    }
}

impl Drop for ReportEndOnDrop {
    fn drop(&mut self) {
        if !*self.ended.borrow() {
            self.report_end(Ending::failed("the function ended without a result"));
        }
    }
}

struct FunctionJob {
    cancellation: CancellationToken,
    task: AbortHandle,
    ended: watch::Sender<bool>,
    output: JobOutput,
}

impl Drop for FunctionJob {
    fn drop(&mut self) {
        self.cancellation.cancel();
        self.task.abort();
    }
}

#[async_trait]
impl Job for FunctionJob {
    fn output(&self) -> &JobOutput {
        &self.output
    }

    fn terminal(&self) -> Option<Arc<dyn JobTerminal>> {
        None
    }

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
        Err(InputError::TakesNone)
    }

    async fn answer(
        &self,
        _order: &OrderId,
        _question: &Question,
        _answer: Value,
    ) -> Result<(), InputError> {
        Err(InputError::AsksNothing)
    }

    async fn settle(&self, limit: Duration) {
        let mut ended = self.ended.subscribe();
        let _ = tokio::time::timeout(limit, ended.wait_for(|ended| *ended)).await;
    }

    async fn leave(&self) {
        // Its tool ends when the job is dropped.
    }

    async fn abort(&self, _order: &OrderId, grace: Duration) -> Receipt {
        self.cancellation.cancel();
        let mut ended = self.ended.subscribe();
        let by_itself = ended.wait_for(|ended| *ended);
        if tokio::time::timeout(grace, by_itself).await.is_err() {
            self.task.abort();
            let _ = ended.wait_for(|ended| *ended).await;
        }
        Receipt::default()
    }
}
