//! One agent at work.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use windlass_protocol::{
    HandleUse, InputError, Keyboard, OrderId, Question, Receipt, ToolCall, ToolError,
};
use windlass_runtime::output::OutputOptions;
use windlass_runtime::{
    Ending, Job, JobHost, JobOutput, JobTerminal, LocalHost, OrderLedger, Reporter, Session,
    ToolEvent, TypedCommands,
};

use super::AgentSlot;
use super::log;
use crate::stopping::{abort_handles, processes_ended};
use crate::turn::{Assistant, Audience, Heard, Interjection, TurnError, TurnOutcome};

/// Maximum number of messages that an agent has not read yet.
const WAITING: usize = 16;

/// An agent as the runtime holds it. Dropping it ends the agent.
pub(super) struct AgentJob {
    shared: Arc<AgentState>,
    say: mpsc::Sender<Interjection>,
    orders: OrderLedger,
    cancel: CancellationToken,
}

/// State that the agent and its job share.
pub(super) struct AgentState {
    reporter: Reporter,
    output: JobOutput,
    /// The calls that are being run.
    calls: Mutex<Vec<ToolCall>>,
    /// The agent's newest text. It is written to the output once something
    /// follows it; the last text is the result.
    said: Mutex<Option<String>>,
    /// Its end has been reported.
    over: watch::Sender<bool>,
    /// One question at a time.
    asking: tokio::sync::Mutex<()>,
    asked: Mutex<Option<oneshot::Sender<Value>>>,
    /// The time limit for ending its tools' processes.
    grace: Mutex<Duration>,
    ended: Mutex<usize>,
}

impl AgentJob {
    pub(super) fn start(
        assistant: Assistant,
        task: String,
        shared: Arc<AgentState>,
        place: AgentSlot,
    ) -> Self {
        let (say, interjections) = mpsc::channel(WAITING);
        let cancel = CancellationToken::new();
        windlass_task::spawn(work(
            assistant,
            task,
            interjections,
            Arc::clone(&shared),
            cancel.clone(),
            place,
        ));
        Self {
            shared,
            say,
            orders: OrderLedger::default(),
            cancel,
        }
    }
}

impl Drop for AgentJob {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// Runs the agent's turn, then ends everything that it started.
async fn work(
    assistant: Assistant,
    task: String,
    mut interjections: mpsc::Receiver<Interjection>,
    shared: Arc<AgentState>,
    cancel: CancellationToken,
    place: AgentSlot,
) {
    let told = AgentEndGuard(&shared);
    let outcome = tokio::select! {
        biased;
        () = cancel.cancelled() => None,
        outcome = assistant.turn(&task, &*shared, &mut interjections) => Some(outcome),
    };
    let session = &assistant.session;
    if outcome.is_none() {
        shared.end_tools(session).await;
    } else {
        session.close().await;
    }
    drop(place);
    let ending = ending(outcome);
    // The last word comes once: as the result.
    let is_result = |said: &String| matches!(&ending.result, Ok(Some(text)) if text == said);
    let said = shared.said.lock().take();
    if let Some(said) = said.filter(|said| !is_result(said)) {
        shared.write(&said);
    }
    shared.end(ending);
    drop(told);
}

/// Tells the end also of an agent that panics.
struct AgentEndGuard<'a>(&'a AgentState);

impl Drop for AgentEndGuard<'_> {
    fn drop(&mut self) {
        if !*self.0.over.borrow() {
            self.0
                .end(Ending::failed("the agent ended without a result"));
        }
    }
}

fn ending(outcome: Option<Result<TurnOutcome, TurnError>>) -> Ending {
    match outcome {
        None => Ending::failed("the agent was ended"),
        Some(Ok(outcome)) => Ending::with(Ok(Some(outcome.text))),
        Some(Err(error)) => {
            let causes =
                std::iter::successors(std::error::Error::source(&error), |error| error.source());
            Ending::with(Err(ToolError {
                trace: causes.map(ToString::to_string).collect(),
                ..ToolError::new(error.to_string())
            }))
        }
    }
}

impl AgentState {
    pub(super) fn new(reporter: Reporter, output: OutputOptions) -> Self {
        Self {
            reporter,
            output: JobOutput::of_messages(output),
            calls: Mutex::default(),
            said: Mutex::default(),
            over: watch::Sender::default(),
            asking: tokio::sync::Mutex::default(),
            asked: Mutex::default(),
            grace: Mutex::new(Duration::MAX),
            ended: Mutex::default(),
        }
    }

    /// Asks the agent's parent. Dropping the future withdraws the question.
    pub(super) async fn ask(&self, question: Question) -> Value {
        let _one = self.asking.lock().await;
        let (sender, answer) = oneshot::channel();
        *self.asked.lock() = Some(sender);
        let _open = OpenQuestionGuard(self);
        self.write_said();
        self.report(ToolEvent::asked(question));
        match answer.await {
            Ok(answer) => answer,
            // It is being ended.
            Err(_) => std::future::pending().await,
        }
    }

    fn write(&self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let bytes = self.output.say(text.trim_end_matches('\n'));
        self.report(ToolEvent::Wrote { bytes });
    }

    /// Writes the agent's last text to the output, unless already written.
    fn write_said(&self) {
        let said = self.said.lock().take();
        if let Some(said) = said {
            self.write(&said);
        }
    }

    fn report(&self, event: ToolEvent) {
        self.reporter.report(self.output.written(), event);
    }

    async fn end_tools(&self, session: &Session) {
        let grace = *self.grace.lock();
        let reply = abort_handles(session, |_| true).await;
        *self.ended.lock() = reply.map_or(0, |reply| processes_ended(&reply));
        session.close_within(grace).await;
    }

    fn end(&self, ending: Ending) {
        self.output.finish();
        self.report(ToolEvent::Ended(ending));
        self.over.send_replace(true);
    }
}

/// A question that is open.
struct OpenQuestionGuard<'a>(&'a AgentState);

impl Drop for OpenQuestionGuard<'_> {
    fn drop(&mut self) {
        if self.0.asked.lock().take().is_some() {
            self.0.report(ToolEvent::Answered);
        }
    }
}

impl Audience for AgentState {
    fn hear(&self, heard: Heard<'_>) {
        match heard {
            Heard::Said(reply) => {
                self.write_said();
                let text = reply.text();
                if !text.trim().is_empty() {
                    *self.said.lock() = Some(text);
                }
            }
            Heard::Running(batch) => {
                self.write_said();
                let lines: Vec<String> = batch.calls.iter().map(log::call_line).collect();
                self.write(&lines.join("\n"));
                self.calls.lock().clone_from(&batch.calls);
            }
            Heard::Answered(reply) => {
                let failures = log::failures(&self.calls.lock(), reply);
                self.write(&failures.join("\n"));
            }
            Heard::Model(_) | Heard::Told(_) | Heard::Ending | Heard::Ended(_) => {}
        }
    }
}

#[async_trait]
impl Job for AgentJob {
    fn output(&self) -> &JobOutput {
        &self.shared.output
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

    async fn apply(&self, order: &OrderId, input: Keyboard) -> Result<(), InputError> {
        let text = match input {
            Keyboard::Typing(typing) => match typing.input {
                Some(Value::String(text)) => text,
                Some(other) => other.to_string(),
                None => return Err(InputError::AgentWantsMessage),
            },
            Keyboard::Bytes(_) => return Err(InputError::NoKeyboard),
        };
        self.orders.once_now(order, || {
            let output = &self.shared.output;
            output.note_input(output.written());
            let said = self.say.try_send(Interjection::Say(text));
            said.map_err(|_| InputError::QueueFull)
        })
    }

    async fn answer(&self, order: &OrderId, _: &Question, answer: Value) -> Result<(), InputError> {
        self.orders.once_now(order, || {
            let asked = self.shared.asked.lock().take();
            let told = asked.and_then(|asked| asked.send(answer).ok());
            told.ok_or(InputError::NotOpen)
        })
    }

    /// Returns at once: an agent's work takes long, and callers use `await`.
    async fn settle(&self, _: Duration) {}

    async fn leave(&self) {
        // Its tool ends when the job is dropped.
    }

    async fn abort(&self, _order: &OrderId, grace: Duration) -> Receipt {
        *self.shared.grace.lock() = grace;
        self.cancel.cancel();
        let mut over = self.shared.over.subscribe();
        // The agent always reports its end, and lives as long as this job.
        let _ = over.wait_for(|over| *over).await;
        Receipt {
            ended: *self.shared.ended.lock(),
            survivors: Vec::new(),
        }
    }
}
