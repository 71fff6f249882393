//! One agent at work.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use regex::Regex;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use windlass_protocol::{Question, ToolCall, ToolError, Typing, View};
use windlass_runtime::{Ending, Job, Reading, Receipt, Reporter, Session, Since, ToolEvent};

use super::Place;
use super::log::{self, Log};
use crate::between::{abort_handles, processes_ended};
use crate::turn::{Assistant, Audience, Heard, Interjection, TurnError, TurnOutcome};

/// Messages that an agent has not taken yet.
const WAITING: usize = 16;

/// An agent, as the runtime holds it. Dropped, the agent is ended.
pub(super) struct AgentJob {
    shared: Arc<Shared>,
    say: mpsc::Sender<Interjection>,
    cancel: CancellationToken,
}

/// What the agent and its job share.
pub(super) struct Shared {
    reporter: Reporter,
    log: Mutex<Log>,
    /// The calls that are being run.
    calls: Mutex<Vec<ToolCall>>,
    /// How much was written, and whether it is over.
    progress: watch::Sender<Progress>,
    /// One question at a time.
    asking: tokio::sync::Mutex<()>,
    asked: Mutex<Option<oneshot::Sender<Value>>>,
    /// How many processes of its tools were ended, and how long they had.
    grace: Mutex<Duration>,
    ended: Mutex<usize>,
}

#[derive(Clone, Copy, Default)]
struct Progress {
    written: usize,
    over: bool,
}

impl AgentJob {
    pub(super) fn start(
        assistant: Assistant,
        task: String,
        shared: Arc<Shared>,
        place: Place,
    ) -> Self {
        let (say, interjections) = mpsc::channel(WAITING);
        let cancel = CancellationToken::new();
        tokio::spawn(work(
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
            cancel,
        }
    }
}

impl Drop for AgentJob {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// The agent's turn, and the end of everything that it started.
async fn work(
    assistant: Assistant,
    task: String,
    mut interjections: mpsc::Receiver<Interjection>,
    shared: Arc<Shared>,
    cancel: CancellationToken,
    place: Place,
) {
    let told = EndTold(&shared);
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
    shared.end(ending(outcome));
    drop(told);
}

/// Tells the end also of an agent that panics.
struct EndTold<'a>(&'a Shared);

impl Drop for EndTold<'_> {
    fn drop(&mut self) {
        if !self.0.progress.borrow().over {
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

impl Shared {
    pub(super) fn new(reporter: Reporter) -> Self {
        Self {
            reporter,
            log: Mutex::new(Log::new()),
            calls: Mutex::default(),
            progress: watch::Sender::default(),
            asking: tokio::sync::Mutex::default(),
            asked: Mutex::default(),
            grace: Mutex::new(Duration::MAX),
            ended: Mutex::default(),
        }
    }

    /// Puts a question to whoever started the agent. Dropped, it is withdrawn.
    pub(super) async fn ask(&self, question: Question) -> Value {
        let _one = self.asking.lock().await;
        let (sender, answer) = oneshot::channel();
        *self.asked.lock() = Some(sender);
        let _open = Open(self);
        self.reporter.report(ToolEvent::Asked { question });
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
        let written = {
            let mut log = self.log.lock();
            log.push(text);
            log.end()
        };
        self.progress
            .send_modify(|progress| progress.written = written);
        let bytes = text.len() as u64;
        self.reporter.report(ToolEvent::Wrote { bytes });
    }

    async fn end_tools(&self, session: &Session) {
        let grace = *self.grace.lock();
        let reply = abort_handles(session).await;
        *self.ended.lock() = reply.map_or(0, |reply| processes_ended(&reply));
        session.close_within(grace).await;
    }

    fn end(&self, ending: Ending) {
        self.reporter.report(ToolEvent::Ended(ending));
        self.progress.send_modify(|progress| progress.over = true);
    }
}

/// A question that is open.
struct Open<'a>(&'a Shared);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if self.0.asked.lock().take().is_some() {
            self.0.reporter.report(ToolEvent::Answered);
        }
    }
}

impl Audience for Shared {
    fn hear(&self, heard: Heard<'_>) {
        match heard {
            Heard::Said(reply) => self.write(&reply.text()),
            Heard::Running(batch) => {
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
    fn read(&self, view: View, limit: usize) -> Reading {
        self.shared.log.lock().read(view, limit)
    }

    fn preview(&self, limit: usize) -> String {
        self.shared.log.lock().preview(limit)
    }

    fn last_output(&self) -> Instant {
        self.shared.log.lock().written
    }

    fn find(&self, pattern: Regex, since: Since) -> BoxFuture<'static, Option<String>> {
        let shared = Arc::clone(&self.shared);
        let mut progress = shared.progress.subscribe();
        let mut from = {
            let log = shared.log.lock();
            match since {
                Since::LastInput => log.input,
                Since::Now => log.end(),
            }
        };
        Box::pin(async move {
            loop {
                let over = progress.borrow_and_update().over;
                {
                    let log = shared.log.lock();
                    let mut lines = log.since(from).lines();
                    if let Some(line) = lines.find(|line| pattern.is_match(line)) {
                        return Some(line.to_owned());
                    }
                    from = log.end();
                }
                if over || progress.changed().await.is_err() {
                    return None;
                }
            }
        })
    }

    async fn apply(&self, typing: Typing) -> Result<(), String> {
        let text = match typing.input {
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
            None => return Err("an agent takes a message as `input`".to_owned()),
        };
        {
            let mut log = self.shared.log.lock();
            log.input = log.end();
        }
        let full = |_| "it has not taken your last messages yet; await it first".to_owned();
        self.say.try_send(Interjection::Say(text)).map_err(full)
    }

    async fn answer(&self, _: &Question, answer: Value) -> Result<(), String> {
        let asked = self.shared.asked.lock().take();
        let told = asked.and_then(|asked| asked.send(answer).ok());
        told.ok_or_else(|| "the agent no longer asks this".to_owned())
    }

    /// What it has to say takes its time; whoever wants it awaits it.
    async fn settle(&self, _: Duration) {}

    async fn abort(&self, grace: Duration) -> Receipt {
        *self.shared.grace.lock() = grace;
        self.cancel.cancel();
        let mut progress = self.shared.progress.subscribe();
        // The agent tells its end whatever happens, and lives as long as this.
        let _ = progress.wait_for(|progress| progress.over).await;
        Receipt {
            ended: *self.shared.ended.lock(),
            survivors: Vec::new(),
        }
    }
}
