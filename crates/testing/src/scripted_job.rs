//! A tool that the test controls, and its job for the runtime.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch;
use windlass_protocol::{
    Arguments, HandleId, HandleUse, InputError, Keyboard, OrderId, Question, Receipt, ScreenPast,
    ScreenUpdate, Typing,
};
use windlass_runtime::output::{OutputOptions, Screen, Stream};
use windlass_runtime::{
    Ending, Job, JobHost, JobOutput, JobTerminal, LocalHost, OrderLedger, Reporter, Start,
    ToolEvent, TypedCommands, screen_past, screen_update,
};

type OnInput = Arc<dyn Fn(&ScriptedJob, &Typing) + Send + Sync>;
type OnAnswer = Arc<dyn Fn(&ScriptedJob, &Value) + Send + Sync>;

/// A started tool that the test controls. Cloning is cheap and gives the same
/// tool.
///
/// By default it settles at once, accepts any input, and ends as soon as it is
/// aborted.
#[derive(Clone)]
pub struct ScriptedJob(Arc<ScriptedJobInner>);

struct ScriptedJobInner {
    start: Start,
    reporter: Mutex<Reporter>,
    output: JobOutput,
    orders: OrderLedger,
    host: Mutex<Arc<dyn JobHost>>,
    life: watch::Sender<ScriptedState>,
    script: Mutex<JobScript>,
}

/// State that others wait for.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and any mix of them can be true"
)]
struct ScriptedState {
    ended: bool,
    at_prompt: bool,
    open: Option<Question>,
    /// Another runtime will adopt it, so that dropping this job does not end
    /// it.
    detached: bool,
    held: bool,
    abort_held: bool,
    inputs: Vec<Typing>,
    answers: Vec<(String, Value)>,
    aborts: Vec<Duration>,
    dropped: bool,
}

/// Its configured behaviour.
struct JobScript {
    processes: usize,
    left_running: usize,
    survivors: Vec<String>,
    refusal: Option<String>,
    terminal: Option<TerminalEcho>,
    screen: Arc<Mutex<Screen>>,
    on_input: Option<OnInput>,
    on_answer: Option<OnAnswer>,
    /// The program to imitate, if it runs typed commands.
    runs_typed: Option<String>,
}

/// The echo of typed input on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalEcho {
    /// It is shown.
    Shown,
    /// It is not, as for a secret.
    Hidden,
    /// It is shown as a row of masks.
    Masked,
}

impl ScriptedJob {
    pub(crate) fn new(start: Start, reporter: Reporter) -> Self {
        let output = JobOutput::new(OutputOptions {
            log: start.log.clone().map(Into::into),
            ..OutputOptions::default()
        });
        Self(Arc::new(ScriptedJobInner {
            start,
            reporter: Mutex::new(reporter),
            output,
            orders: OrderLedger::default(),
            host: Mutex::new(Arc::new(LocalHost)),
            life: watch::Sender::new(ScriptedState {
                ended: false,
                at_prompt: false,
                open: None,
                detached: false,
                held: false,
                abort_held: false,
                inputs: Vec::new(),
                answers: Vec::new(),
                aborts: Vec::new(),
                dropped: false,
            }),
            script: Mutex::new(JobScript {
                processes: 1,
                left_running: 0,
                survivors: Vec::new(),
                refusal: None,
                terminal: None,
                screen: Arc::new(Mutex::new(Screen::new(24, 80))),
                on_input: None,
                on_answer: None,
                runs_typed: None,
            }),
        }))
    }
}

/// Inspection of the job and its input.
impl ScriptedJob {
    /// All that the runtime started it with.
    pub fn start(&self) -> &Start {
        &self.0.start
    }

    /// Its handle's id; a one-shot has none.
    pub fn id(&self) -> Option<&str> {
        self.0.start.handle.as_ref().map(HandleId::as_str)
    }

    /// The arguments it was started with.
    pub fn args(&self) -> &Arguments {
        &self.0.start.args
    }

    /// The inputs received.
    pub fn inputs(&self) -> Vec<Typing> {
        self.0.life.borrow().inputs.clone()
    }

    /// The answers it has been given, by question id.
    pub fn answers(&self) -> Vec<(String, Value)> {
        self.0.life.borrow().answers.clone()
    }

    /// The grace of each abort.
    pub fn aborts(&self) -> Vec<Duration> {
        self.0.life.borrow().aborts.clone()
    }

    /// Whether it has ended: by itself, by an abort or because it was dropped.
    pub fn has_ended(&self) -> bool {
        let life = self.0.life.borrow();
        life.ended || life.dropped
    }

    /// Whether the runtime has dropped it, which ends it.
    pub fn is_dropped(&self) -> bool {
        self.0.life.borrow().dropped
    }

    /// Resolves when it has ended, however that came.
    pub async fn ended(&self) {
        self.until(|life| life.ended || life.dropped).await;
    }

    /// Resolves when it has been given this many answers.
    pub async fn answered(&self, count: usize) {
        self.until(|life| life.answers.len() >= count).await;
    }

    /// Resolves when it has been aborted this many times.
    pub async fn aborted(&self, count: usize) {
        self.until(|life| life.aborts.len() >= count).await;
    }

    /// Resolves after this many inputs.
    pub async fn typed(&self, count: usize) {
        self.until(|life| life.inputs.len() >= count).await;
    }

    async fn until(&self, mut wanted: impl FnMut(&ScriptedState) -> bool) {
        let mut life = self.0.life.subscribe();
        let reached = life.wait_for(|life| wanted(life)).await;
        reached.expect("`self` holds the sender");
    }
}

/// Actions of the tool.
impl ScriptedJob {
    /// Writes.
    pub fn write(&self, text: &str) {
        self.0.output.bytes().push(Stream::Stdout, text.as_bytes());
        let screen = Arc::clone(&self.0.script.lock().screen);
        screen.lock().feed(text.replace('\n', "\r\n").as_bytes());
        // Waiters for the screen must check again.
        self.0.life.send_modify(|_| {});
        self.report(ToolEvent::Wrote {
            bytes: text.len() as u64,
        });
    }

    /// Asks and waits.
    pub fn ask(&self, question: Question) {
        self.asks(ToolEvent::asked(question.clone()), question);
    }

    /// Asks a question with accompanying text, and waits.
    pub fn ask_beside(&self, question: Question, content: &str) {
        let event = ToolEvent::Asked {
            question: question.clone(),
            content: Some(content.to_owned()),
            form: None,
        };
        self.asks(event, question);
    }

    fn asks(&self, event: ToolEvent, question: Question) {
        let life = &self.0.life;
        life.send_modify(|life| life.open = Some(question));
        self.report(event);
    }

    /// Finishes successfully; its output is its result.
    pub fn end(&self) {
        self.end_with(Ending::output());
    }

    /// Finishes successfully with a reported result.
    pub fn end_saying(&self, result: &str) {
        self.end_with(Ending::with(Ok(Some(result.to_owned()))));
    }

    /// Ends badly.
    pub fn fail(&self, message: &str) {
        self.end_with(Ending::failed(message));
    }

    /// Ends with any ending. Leaves as many processes running as set by
    /// [`ScriptedJob::leave_running`], and ends only once.
    pub fn end_with(&self, mut ending: Ending) {
        let first = self
            .0
            .life
            .send_if_modified(|life| !std::mem::replace(&mut life.ended, true));
        if first {
            let mut script = self.0.script.lock();
            script.processes = script.left_running;
            ending.left_running = script.left_running;
            drop(script);
            self.0.output.finish();
            self.report(ToolEvent::Ended(ending));
        }
    }

    /// Reports any event, also one that makes no sense.
    pub fn report(&self, event: ToolEvent) {
        let reporter = self.0.reporter.lock().clone();
        reporter.report(self.0.output.written(), event);
    }
}

/// Configuration of its behaviour.
impl ScriptedJob {
    /// Sets the number of its processes, which an abort ends and counts.
    pub fn processes(&self, count: usize) {
        self.0.script.lock().processes = count;
    }

    /// It leaves this many processes running when it ends.
    pub fn leave_running(&self, count: usize) {
        self.0.script.lock().left_running = count;
    }

    /// These survive an abort.
    pub fn survive(&self, survivors: &[&str]) {
        let survivors = survivors.iter().map(|&name| name.to_owned());
        self.0.script.lock().survivors = survivors.collect();
    }

    /// Rejects input, for this reason.
    pub fn refuse_input(&self, why: &str) {
        self.0.script.lock().refusal = Some(why.to_owned());
    }

    /// Sets whether it is blocked at a prompt, which requires a terminal.
    pub fn at_prompt(&self, at_prompt: bool) {
        self.0.life.send_modify(|life| life.at_prompt = at_prompt);
    }

    /// It runs on this machine.
    pub fn on_host(&self, host: Arc<dyn JobHost>) {
        *self.0.host.lock() = host;
    }

    /// Makes it outlive the runtime that started it, so that it can be adopted.
    pub fn detach(&self) {
        self.0.life.send_modify(|life| life.detached = true);
    }

    /// Attaches it to the adopting runtime, which knows the events up to this
    /// offset.
    pub(crate) fn adopted(&self, at: u64, reporter: Reporter) {
        *self.0.reporter.lock() = reporter;
        self.0.life.send_modify(|life| life.detached = false);
        let bytes = self.0.output.written().saturating_sub(at);
        if bytes > 0 {
            self.report(ToolEvent::Wrote { bytes });
        }
        let open = self.0.life.borrow().open.clone();
        if let Some(question) = open {
            self.report(ToolEvent::asked(question));
        }
    }

    /// The key that it is adopted by.
    pub(crate) fn key(&self) -> Value {
        let address = Arc::as_ptr(&self.0).addr();
        json!({ "scripted": address })
    }

    /// Puts it on a terminal with this echo.
    pub fn on_terminal(&self, typed: TerminalEcho) {
        self.0.script.lock().terminal = Some(typed);
    }

    /// Sets the reaction to each input.
    pub fn on_input(&self, act: impl Fn(&Self, &Typing) + Send + Sync + 'static) {
        self.0.script.lock().on_input = Some(Arc::new(act));
    }

    /// Sets the reaction to each answer.
    pub fn on_answer(&self, act: impl Fn(&Self, &Value) + Send + Sync + 'static) {
        self.0.script.lock().on_answer = Some(Arc::new(act));
    }

    /// Makes it run typed commands, as this program does.
    pub fn run_typed(&self, reader: &str) {
        self.0.script.lock().runs_typed = Some(reader.to_owned());
    }

    /// Makes it unsettled until [`ScriptedJob::settle`].
    pub fn hold(&self) {
        self.0.life.send_modify(|life| life.held = true);
    }

    /// Settles it.
    pub fn settle(&self) {
        self.0.life.send_modify(|life| life.held = false);
    }

    /// Makes an abort take until [`ScriptedJob::let_go`].
    pub fn hold_on(&self) {
        self.0.life.send_modify(|life| life.abort_held = true);
    }

    /// Lets a held abort continue.
    pub fn let_go(&self) {
        self.0.life.send_modify(|life| life.abort_held = false);
    }
}

/// The runtime's side. Dropping it ends the tool, unless it is detached.
pub(crate) struct ScriptedRun(pub(crate) ScriptedJob);

impl Drop for ScriptedRun {
    fn drop(&mut self) {
        self.0.0.life.send_if_modified(|life| {
            life.dropped |= !life.detached;
            life.dropped
        });
    }
}

#[async_trait]
impl Job for ScriptedRun {
    fn output(&self) -> &JobOutput {
        &self.0.0.output
    }

    fn terminal(&self) -> Option<Arc<dyn JobTerminal>> {
        let shared = &self.0.0;
        let is_there = shared.script.lock().terminal.is_some() || shared.life.borrow().at_prompt;
        is_there.then(|| Arc::new(ScriptedTerminal(self.0.clone())) as _)
    }

    fn host(&self) -> Arc<dyn JobHost> {
        Arc::clone(&self.0.0.host.lock())
    }

    fn usage(&self) -> Option<HandleUse> {
        None
    }

    fn key(&self) -> Option<Value> {
        Some(self.0.key())
    }

    fn typed_commands(&self, input: &Keyboard) -> Option<TypedCommands> {
        let reader = self.0.0.script.lock().runs_typed.clone()?;
        let Keyboard::Typing(typing) = input else {
            return None;
        };
        let text = typing.input.as_ref()?.as_str()?.to_owned();
        Some(TypedCommands {
            patterns: vec![text.clone().into()],
            always: vec![text],
            reader,
        })
    }

    async fn apply(&self, order: &OrderId, input: Keyboard) -> Result<(), InputError> {
        let shared = &self.0.0;
        shared.orders.once_now(order, || {
            if self.0.has_ended() {
                return Err(InputError::Exited);
            }
            let on_input = {
                let script = shared.script.lock();
                if let Some(reason) = script.refusal.clone() {
                    return Err(InputError::Refused { reason });
                }
                script.on_input.clone()
            };
            let typing = typing_of(input);
            shared.output.note_input(shared.output.written());
            shared
                .life
                .send_modify(|life| life.inputs.push(typing.clone()));
            if let Some(act) = on_input {
                act(&self.0, &typing);
            }
            Ok(())
        })
    }

    async fn answer(
        &self,
        order: &OrderId,
        question: &Question,
        answer: Value,
    ) -> Result<(), InputError> {
        let shared = &self.0.0;
        shared.orders.once_now(order, || {
            shared.output.note_input(shared.output.written());
            shared.life.send_modify(|life| {
                life.open = None;
                life.answers.push((question.id.clone(), answer.clone()));
            });
            let on_answer = shared.script.lock().on_answer.clone();
            if let Some(act) = on_answer {
                act(&self.0, &answer);
            }
            Ok(())
        })
    }

    async fn settle(&self, limit: Duration) {
        let settled = self.0.until(|life| !life.held);
        let _ = tokio::time::timeout(limit, settled).await;
    }

    async fn leave(&self) {
        self.0.detach();
    }

    async fn abort(&self, _order: &OrderId, grace: Duration) -> Receipt {
        self.0.0.life.send_modify(|life| life.aborts.push(grace));
        self.0.until(|life| !life.abort_held).await;
        let receipt = {
            let mut script = self.0.0.script.lock();
            script.left_running = 0;
            Receipt {
                ended: std::mem::take(&mut script.processes),
                survivors: script.survivors.clone(),
            }
        };
        self.0.end_with(Ending::failed("ended by a signal"));
        receipt
    }
}

struct ScriptedTerminal(ScriptedJob);

impl ScriptedTerminal {
    fn screen(&self) -> Arc<Mutex<Screen>> {
        Arc::clone(&self.0.0.script.lock().screen)
    }
}

impl JobTerminal for ScriptedTerminal {
    fn screen(&self, since: Option<u64>) -> ScreenUpdate {
        screen_update(&mut self.screen().lock(), since)
    }

    fn screen_changed(&self, generation: u64) -> BoxFuture<'static, ()> {
        let job = self.0.clone();
        let screen = self.screen();
        let changed = move |_: &ScriptedState| screen.lock().generation() != generation;
        async move { job.until(changed).await }.boxed()
    }

    fn scrollback(&self) -> String {
        self.screen().lock().scrollback()
    }

    fn past(&self) -> ScreenPast {
        screen_past(&mut self.screen().lock())
    }

    fn resize(&self, rows: u16, cols: u16) -> Result<(), InputError> {
        self.screen().lock().resize(rows, cols);
        self.0.0.life.send_modify(|_| {});
        Ok(())
    }

    fn type_in(&self, order: &OrderId, input: Keyboard) -> Result<(), InputError> {
        let shared = &self.0.0;
        shared.orders.once_now(order, || {
            let typing = typing_of(input);
            shared
                .life
                .send_modify(|life| life.inputs.push(typing.clone()));
            let on_input = shared.script.lock().on_input.clone();
            if let Some(act) = on_input {
                act(&self.0, &typing);
            }
            Ok(())
        })
    }

    fn is_at_prompt(&self) -> bool {
        self.0.0.life.borrow().at_prompt
    }

    fn at_prompt(&self) -> BoxFuture<'static, ()> {
        let job = self.0.clone();
        async move { job.until(|life| life.at_prompt).await }.boxed()
    }

    fn has_masked_typing(&self) -> bool {
        self.0.0.script.lock().terminal == Some(TerminalEcho::Masked)
    }

    fn hides_typing(&self) -> bool {
        self.0.0.script.lock().terminal == Some(TerminalEcho::Hidden)
    }
}

fn typing_of(input: Keyboard) -> Typing {
    match input {
        Keyboard::Typing(typing) => typing,
        Keyboard::Bytes(bytes) => Typing {
            input: Some(String::from_utf8_lossy(&bytes).into()),
            enter: false,
            keys: Vec::new(),
        },
    }
}
