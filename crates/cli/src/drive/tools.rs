//! Tools that the driver runs in its own program.
//!
//! [`DriverTools::add`] offers one in the session. A call of it is sent to the driver, which reports on the run by its
//! name ([`DriverTools::take`]); a [`DriverRun`] is the job of the runtime.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch;
use windlass::Windlass;
use windlass_output::OutputOptions;
use windlass_protocol::{
    ActionSet, DriveEvent, DriveOutput, DriverCall, DriverReport, DriverTool, HandleAction,
    HandleUse, InputError, Keyboard, OrderId, Parameters, Question, Receipt, ToolError, ToolShape,
};
use windlass_runtime::{
    AdoptError, Ending, Executor, Job, JobDescription, JobHost, JobOutput, JobTerminal, LocalHost,
    OrderLedger, Reporter, RunMode, RunPolicy, Session, Start, ToolDefinition, ToolEvent,
    TypedCommands,
};

use super::fault::DriveFault;
use super::lines::LineOutput;

/// The driver's tools, and those of their calls that run. Clones share them.
#[derive(Clone)]
pub(crate) struct DriverTools(Arc<DriverToolTable>);

struct DriverToolTable {
    output: LineOutput,
    runs: Mutex<HashMap<String, Arc<RunState>>>,
    /// Runs that nobody waits for any more and that have not reported their end.
    given_up: Mutex<HashSet<String>>,
    started: AtomicU64,
}

impl DriverToolTable {
    fn send(&self, event: DriveEvent) {
        self.output.write(&DriveOutput::Event(Box::new(event)));
    }
}

impl DriverTools {
    pub(crate) fn new(output: LineOutput) -> Self {
        Self(Arc::new(DriverToolTable {
            output,
            runs: Mutex::default(),
            given_up: Mutex::default(),
            started: AtomicU64::new(0),
        }))
    }

    /// Offers a tool of the driver's in its session.
    pub(crate) fn add(
        &self,
        windlass: &Windlass,
        session: &Session,
        tool: DriverTool,
    ) -> Result<(), DriveFault> {
        let executor = Arc::new(DriverExecutor(Arc::clone(&self.0)));
        let added = windlass.add_tool(session, definition(tool)?, executor);
        added.map_err(|error| DriveFault::Tool(Box::new(error)))
    }

    /// Takes a report on a run. One on a run that was given up changes nothing: the driver learns of that only later.
    pub(crate) fn take(&self, run: &str, report: DriverReport) -> Result<(), DriveFault> {
        let mut runs = self.0.runs.lock();
        let Some(state) = runs.get(run).map(Arc::clone) else {
            return self.take_late(run, &report);
        };
        let ending = match report {
            DriverReport::Running {} => {
                state.progress.send_replace(RunProgress::Goes);
                return Ok(());
            }
            DriverReport::Output { text } => {
                let bytes = state.output.say(&text);
                state.report(ToolEvent::Wrote { bytes });
                return Ok(());
            }
            DriverReport::Question { question, content } => {
                state.report(ToolEvent::Asked {
                    question,
                    content,
                    form: None,
                });
                state.progress.send_replace(RunProgress::Asks);
                return Ok(());
            }
            DriverReport::Result { text } => Ending::reported(Ok(text)),
            DriverReport::Error { error } => Ending::reported(Err(error)),
        };
        runs.remove(run);
        drop(runs);
        state.end(ending);
        Ok(())
    }

    fn take_late(&self, run: &str, report: &DriverReport) -> Result<(), DriveFault> {
        let mut given_up = self.0.given_up.lock();
        let is_known = match report {
            DriverReport::Result { .. } | DriverReport::Error { .. } => given_up.remove(run),
            _ => given_up.contains(run),
        };
        let no_run = || DriveFault::NoRun(run.to_owned());
        is_known.then_some(()).ok_or_else(no_run)
    }
}

fn definition(tool: DriverTool) -> Result<ToolDefinition, DriveFault> {
    let schema = tool.parameters.unwrap_or_else(
        || json!({"type": "object", "properties": {}, "additionalProperties": false}),
    );
    if schema["type"] != "object" {
        return Err(DriveFault::NotObject(tool.name));
    }
    let mut actions = ActionSet::default();
    if tool.background {
        actions = [
            HandleAction::Spawn,
            HandleAction::Fetch,
            HandleAction::Apply,
            HandleAction::Abort,
        ]
        .into_iter()
        .collect();
    }
    let mut definition = ToolDefinition {
        summary: tool.summary,
        description: tool.description,
        shape: ToolShape {
            parameters: Parameters::from_object_schema(&schema),
            one_shot: true,
            actions,
            ..ToolShape::default()
        },
        origin: "driver".to_owned(),
        ..ToolDefinition::new(tool.name)
    };
    if tool.unattended {
        definition.run = RunPolicy::starting(RunMode::Unattended);
    }
    if let Some(seconds) = tool.timeout_secs {
        definition.limits.timeout = Duration::from_secs(seconds);
    }
    if let Some(policy) = tool.on_turn_end {
        definition.lifecycle.on_turn_end = policy;
    }
    Ok(definition)
}

/// Starts a tool by notifying the driver.
struct DriverExecutor(Arc<DriverToolTable>);

#[async_trait]
impl Executor for DriverExecutor {
    async fn start(&self, start: Start, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError> {
        let number = self.0.started.fetch_add(1, Ordering::Relaxed) + 1;
        let name = format!("run_{number}");
        let state = Arc::new(RunState {
            reporter,
            output: JobOutput::of_messages(OutputOptions {
                log: start.log.map(Into::into),
                ..OutputOptions::default()
            }),
            progress: watch::Sender::new(RunProgress::Works),
        });
        self.0.runs.lock().insert(name.clone(), Arc::clone(&state));
        self.0.send(DriveEvent::ToolCall(DriverCall {
            run: name.clone(),
            tool: start.tool.name.clone(),
            handle: start.handle,
            arguments: start.args,
        }));
        Ok(Arc::new(DriverRun {
            shared: Arc::clone(&self.0),
            name,
            state,
            orders: OrderLedger::default(),
        }))
    }

    async fn adopt(&self, _: JobDescription, _: Reporter) -> Result<Arc<dyn Job>, AdoptError> {
        Err(AdoptError::Unsupported)
    }
}

/// The progress of a run, as reported by the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunProgress {
    /// It was called or answered, and has not reported since.
    Works,
    /// It continues on its own.
    Goes,
    /// It waits for an answer.
    Asks,
    Ended,
}

struct RunState {
    reporter: Reporter,
    output: JobOutput,
    progress: watch::Sender<RunProgress>,
}

impl RunState {
    fn report(&self, event: ToolEvent) {
        self.reporter.report(self.output.written(), event);
    }

    fn end(&self, ending: Ending) {
        self.output.finish();
        self.report(ToolEvent::Ended(ending));
        self.progress.send_replace(RunProgress::Ended);
    }

    async fn reaches(&self, wanted: impl FnMut(&RunProgress) -> bool) {
        // The sender lives as long as `self`.
        let _ = self.progress.subscribe().wait_for(wanted).await;
    }
}

/// A call that the driver runs.
struct DriverRun {
    shared: Arc<DriverToolTable>,
    name: String,
    state: Arc<RunState>,
    orders: OrderLedger,
}

impl DriverRun {
    fn tell_abort(&self) {
        let run = self.name.clone();
        self.shared.send(DriveEvent::ToolAbort { run });
    }

    /// Accepts no more reports. Returns whether some were still expected.
    fn give_up(&self) -> bool {
        let mut runs = self.shared.runs.lock();
        let is_open = runs.remove(&self.name).is_some();
        if is_open {
            // Under the lock of the runs, so that a report finds it in one of the two.
            self.shared.given_up.lock().insert(self.name.clone());
        }
        is_open
    }
}

impl Drop for DriverRun {
    fn drop(&mut self) {
        if self.give_up() {
            self.tell_abort();
        }
    }
}

#[async_trait]
impl Job for DriverRun {
    fn output(&self) -> &JobOutput {
        &self.state.output
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

    async fn apply(&self, _: &OrderId, _: Keyboard) -> Result<(), InputError> {
        Err(InputError::TakesNone)
    }

    async fn answer(
        &self,
        order: &OrderId,
        question: &Question,
        answer: Value,
    ) -> Result<(), InputError> {
        self.orders.once_now(order, || {
            self.state.progress.send_replace(RunProgress::Works);
            self.shared.send(DriveEvent::ToolAnswer {
                run: self.name.clone(),
                question: question.id.clone(),
                value: answer,
            });
            Ok(())
        })
    }

    async fn settle(&self, limit: Duration) {
        let settled = self
            .state
            .reaches(|progress| *progress != RunProgress::Works);
        let _ = tokio::time::timeout(limit, settled).await;
    }

    async fn leave(&self) {
        // Its run ends when the job is dropped.
    }

    async fn abort(&self, _: &OrderId, grace: Duration) -> Receipt {
        let ended = |progress: &RunProgress| *progress == RunProgress::Ended;
        if !ended(&self.state.progress.borrow()) {
            self.tell_abort();
            let by_itself = self.state.reaches(ended);
            if tokio::time::timeout(grace, by_itself).await.is_err() && self.give_up() {
                let late = "the driver did not end its run in time";
                self.state.end(Ending::failed(late));
            }
            self.state.reaches(ended).await;
        }
        Receipt::default()
    }
}
