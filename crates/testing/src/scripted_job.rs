//! One tool whose life the test directs, and the job that the runtime sees
//! of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use regex::Regex;
use serde_json::Value;
use tokio::sync::watch;
use windlass_protocol::{Arguments, HandleId, Question, Typing, View};
use windlass_runtime::{
    Ending, Job, Keyboard, Reading, Receipt, Reporter, Since, Start, ToolEvent,
};

type OnInput = Arc<dyn Fn(&ScriptedJob, &Typing) + Send + Sync>;
type OnAnswer = Arc<dyn Fn(&ScriptedJob, &Value) + Send + Sync>;

/// A tool that was started and does what the test says. Cloning is cheap and
/// gives the same tool.
///
/// Unless told otherwise it settles at once, takes any input, and ends as
/// soon as it is aborted.
#[derive(Clone)]
pub struct ScriptedJob(Arc<Shared>);

struct Shared {
    start: Start,
    reporter: Reporter,
    life: watch::Sender<Life>,
    script: Mutex<Script>,
}

/// What others wait for.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and any mix of them can be true"
)]
struct Life {
    output: String,
    /// How far the assistant has read.
    cursor: usize,
    /// Where the output stood at the last input.
    last_input: usize,
    last_output: Instant,
    ended: bool,
    held: bool,
    abort_held: bool,
    inputs: Vec<Typing>,
    answers: Vec<(String, Value)>,
    aborts: Vec<Duration>,
    dropped: bool,
}

/// How it behaves.
struct Script {
    processes: usize,
    left_running: usize,
    survivors: Vec<String>,
    refusal: Option<String>,
    at_prompt: bool,
    terminal: Option<Typed>,
    on_input: Option<OnInput>,
    on_answer: Option<OnAnswer>,
}

/// What becomes of typing on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typed {
    /// It is shown.
    Shown,
    /// It is not, as for a secret.
    Hidden,
}

impl ScriptedJob {
    pub(crate) fn new(start: Start, reporter: Reporter) -> Self {
        Self(Arc::new(Shared {
            start,
            reporter,
            life: watch::Sender::new(Life {
                output: String::new(),
                cursor: 0,
                last_input: 0,
                last_output: now(),
                ended: false,
                held: false,
                abort_held: false,
                inputs: Vec::new(),
                answers: Vec::new(),
                aborts: Vec::new(),
                dropped: false,
            }),
            script: Mutex::new(Script {
                processes: 1,
                left_running: 0,
                survivors: Vec::new(),
                refusal: None,
                at_prompt: false,
                terminal: None,
                on_input: None,
                on_answer: None,
            }),
        }))
    }
}

/// What it was given.
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

    /// The inputs it has taken.
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

    /// It has ended, by itself, by an abort or because it was dropped.
    pub fn has_ended(&self) -> bool {
        let life = self.0.life.borrow();
        life.ended || life.dropped
    }

    /// The runtime has let go of it, which ends it.
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

    /// Resolves when it has taken this many inputs.
    pub async fn typed(&self, count: usize) {
        self.until(|life| life.inputs.len() >= count).await;
    }

    async fn until(&self, mut wanted: impl FnMut(&Life) -> bool) {
        let mut life = self.0.life.subscribe();
        let reached = life.wait_for(|life| wanted(life)).await;
        reached.expect("`self` holds the sender");
    }
}

/// What it does.
impl ScriptedJob {
    /// Writes.
    pub fn write(&self, text: &str) {
        self.0.life.send_modify(|life| {
            life.output.push_str(text);
            life.last_output = now();
        });
        self.report(ToolEvent::Wrote {
            bytes: text.len() as u64,
        });
    }

    /// Asks and waits.
    pub fn ask(&self, question: Question) {
        self.report(ToolEvent::Asked { question });
    }

    /// Ends well; what it wrote is its result.
    pub fn end(&self) {
        self.end_with(Ending::output());
    }

    /// Ends well with a result of its own.
    pub fn end_saying(&self, result: &str) {
        self.end_with(Ending::with(Ok(Some(result.to_owned()))));
    }

    /// Ends badly.
    pub fn fail(&self, message: &str) {
        self.end_with(Ending::failed(message));
    }

    /// Ends in any way. It leaves running what [`ScriptedJob::leave_running`]
    /// said, and ends only once.
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
            self.report(ToolEvent::Ended(ending));
        }
    }

    /// Reports any event, also one that makes no sense.
    pub fn report(&self, event: ToolEvent) {
        self.0.reporter.report(event);
    }
}

/// How it behaves.
impl ScriptedJob {
    /// It consists of this many processes, which an abort ends and counts.
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

    /// It takes no input, for this reason.
    pub fn refuse_input(&self, why: &str) {
        self.0.script.lock().refusal = Some(why.to_owned());
    }

    /// Whether it is blocked at a prompt.
    pub fn at_prompt(&self, at_prompt: bool) {
        self.0.script.lock().at_prompt = at_prompt;
    }

    /// It is on a terminal, which does this with typing.
    pub fn on_terminal(&self, typed: Typed) {
        self.0.script.lock().terminal = Some(typed);
    }

    /// What it does with each input.
    pub fn on_input(&self, act: impl Fn(&Self, &Typing) + Send + Sync + 'static) {
        self.0.script.lock().on_input = Some(Arc::new(act));
    }

    /// What it does with each answer.
    pub fn on_answer(&self, act: impl Fn(&Self, &Value) + Send + Sync + 'static) {
        self.0.script.lock().on_answer = Some(Arc::new(act));
    }

    /// From now on it has not had its say until [`ScriptedJob::settle`].
    pub fn hold(&self) {
        self.0.life.send_modify(|life| life.held = true);
    }

    /// It has had its say.
    pub fn settle(&self) {
        self.0.life.send_modify(|life| life.held = false);
    }

    /// From now on an abort takes until [`ScriptedJob::let_go`].
    pub fn hold_on(&self) {
        self.0.life.send_modify(|life| life.abort_held = true);
    }

    /// A held abort goes on.
    pub fn let_go(&self) {
        self.0.life.send_modify(|life| life.abort_held = false);
    }
}

/// The runtime's side. Dropping it ends the tool.
pub(crate) struct Running(pub(crate) ScriptedJob);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.0.life.send_modify(|life| life.dropped = true);
    }
}

#[async_trait]
impl Job for Running {
    fn read(&self, view: View, limit: usize) -> Reading {
        let mut text = String::new();
        self.0.0.life.send_if_modified(|life| {
            let from = match view {
                View::New => life.cursor,
                View::Screen | View::All => 0,
            };
            life.output[from..].clone_into(&mut text);
            life.cursor = life.output.len();
            false
        });
        let whole = text.len();
        let text = tail(&text, limit).to_owned();
        Reading {
            omitted_bytes: (whole - text.len()) as u64,
            text,
            log: self.0.0.start.log.clone(),
            awaiting_input: self.0.0.script.lock().at_prompt,
            cursor: None,
        }
    }

    fn preview(&self, limit: usize) -> String {
        tail(&self.0.0.life.borrow().output, limit).to_owned()
    }

    fn has_screen(&self) -> bool {
        self.0.0.script.lock().terminal.is_some()
    }

    fn hides_typing(&self) -> bool {
        self.0.0.script.lock().terminal == Some(Typed::Hidden)
    }

    fn last_output(&self) -> Instant {
        self.0.0.life.borrow().last_output
    }

    fn find(&self, pattern: Regex, since: Since) -> BoxFuture<'static, Option<String>> {
        let job = self.0.clone();
        let from = {
            let life = job.0.life.borrow();
            match since {
                Since::LastInput => life.last_input,
                Since::Now => life.output.len(),
            }
        };
        async move {
            let mut line = None;
            job.until(|life| {
                let mut lines = life.output[from..].lines();
                line = lines.find(|line| pattern.is_match(line)).map(str::to_owned);
                line.is_some() || life.ended || life.dropped
            })
            .await;
            line
        }
        .boxed()
    }

    fn type_in(&self, keyboard: Keyboard) -> Result<(), String> {
        let typing = match keyboard {
            Keyboard::Typing(typing) => typing,
            Keyboard::Bytes(bytes) => Typing {
                input: Some(String::from_utf8_lossy(&bytes).into()),
                enter: false,
                keys: Vec::new(),
            },
        };
        self.0.0.life.send_modify(|life| life.inputs.push(typing));
        Ok(())
    }

    async fn apply(&self, typing: Typing) -> Result<(), String> {
        let on_input = {
            let script = self.0.0.script.lock();
            if let Some(why) = &script.refusal {
                return Err(why.clone());
            }
            script.on_input.clone()
        };
        self.0.0.life.send_modify(|life| {
            life.last_input = life.output.len();
            life.inputs.push(typing.clone());
        });
        if let Some(act) = on_input {
            act(&self.0, &typing);
        }
        Ok(())
    }

    async fn answer(&self, question: &Question, answer: Value) -> Result<(), String> {
        self.0.0.life.send_modify(|life| {
            life.last_input = life.output.len();
            life.answers.push((question.id.clone(), answer.clone()));
        });
        let on_answer = self.0.0.script.lock().on_answer.clone();
        if let Some(act) = on_answer {
            act(&self.0, &answer);
        }
        Ok(())
    }

    async fn settle(&self, limit: Duration) {
        let settled = self.0.until(|life| !life.held);
        let _ = tokio::time::timeout(limit, settled).await;
    }

    async fn abort(&self, grace: Duration) -> Receipt {
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

/// The end of a text, at most `limit` bytes of it.
fn tail(text: &str, limit: usize) -> &str {
    let mut from = text.len().saturating_sub(limit);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

/// The time by tokio's clock, so that a test may pause it.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
