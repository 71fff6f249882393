//! `await`: waits for handles to stop, or for conditions on them.
//!
//! Start at [`Await::execute`]. Everything that may end the wait is a future in
//! one set; after each of them, [`Wait::is_over`] evaluates the whole.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use regex::Regex;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use windlass_protocol::{
    Arguments, AwaitReply, AwaitRequest, Condition, HandleId, HandleState, Matched, Parameters,
    ReplyContent, RunMode, RunPolicy, ToolDefinition, ToolShape, View, WaitFor,
};

use crate::builtin::{BuiltinContext, BuiltinTool};
use crate::catalogue::Catalogue;
use crate::event::Status;
use crate::handle::Handle;
use crate::inquiry;
use crate::job::Job;
use crate::job_output::Since;
use crate::refusal::Refusal;
use crate::session::{Session, SessionInner};
use crate::share;
use crate::show;

/// Waits for handles.
#[derive(Debug, Clone, Copy, Default)]
pub struct Await;

impl Await {
    /// The name it is called by.
    pub const NAME: &str = "await";

    /// How it is registered.
    pub fn definition() -> ToolDefinition {
        let ids =
            |text: &str| json!({"type": "array", "items": {"type": "string"}, "description": text});
        let condition = json!({
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "pattern": {"type": "string", "description": "Regex on a line of output since spawn or last apply"},
                "new": {"type": "boolean", "description": "Later output only"},
                "idle_secs": {"type": "number"},
                "port": {"type": "integer", "minimum": 0, "maximum": 65535},
                "waiting": {"type": "boolean"}
            },
            "required": ["id"]
        });
        let properties = [
            ("any", ids("Handle IDs: until one has stopped")),
            ("all", ids("Handle IDs: until every one has stopped")),
            (
                "until",
                json!({
                    "type": "array",
                    "items": condition,
                    "description": "Conditions that must all hold: id and one of pattern, idle_secs, port, waiting"
                }),
            ),
            (
                "timeout_secs",
                json!({"type": "number", "description": "Most seconds to wait; default: no limit"}),
            ),
        ];
        let parameters = Parameters::exactly(properties, &[]);
        ToolDefinition {
            summary: Some(
                "Block until handles of any tools have stopped or conditions hold. \
                 Needs any, all or until. Works in the same batch as their spawn."
                    .to_owned(),
            ),
            shape: ToolShape {
                parameters,
                ..ToolShape::default()
            },
            run: RunPolicy::starting(RunMode::Unattended),
            only_reads: true,
            ..ToolDefinition::new(Self::NAME)
        }
    }
}

#[async_trait]
impl BuiltinTool for Await {
    async fn execute(
        &self,
        arguments: &Arguments,
        context: &BuiltinContext,
    ) -> Result<ReplyContent, Refusal> {
        let session = &context.session;
        let request = read(arguments)?;
        if request.ids().is_empty() {
            return Err(Refusal::NothingToAwait(session.handles()));
        }
        let deadline = read_deadline(&request)?;
        let mut wait = Wait::new(session, &request)?;
        let timed_out = wait.run(deadline, &context.hurry).await;
        Ok(ReplyContent::Await(wait.reply(timed_out)))
    }

    fn is_offered(&self, catalogue: &Catalogue) -> bool {
        catalogue
            .all()
            .any(|tool| !tool.definition.shape.actions.is_empty())
    }
}

fn read(arguments: &Arguments) -> Result<AwaitRequest, Refusal> {
    serde_json::from_value(Value::Object(arguments.clone()))
        .map_err(|error| Refusal::Await(Arc::new(error)))
}

fn read_deadline(request: &AwaitRequest) -> Result<Option<Duration>, Refusal> {
    let Some(seconds) = request.timeout_secs else {
        return Ok(None);
    };
    Duration::try_from_secs_f64(seconds)
        .map(Some)
        .map_err(|_| Refusal::Timeout(seconds))
}

/// An event that may end the wait.
enum WaitEvent {
    /// The handle at this index stopped, or waits for input that only the
    /// caller can give.
    Changed(usize),
    /// A condition was decided: it is met, or its handle stopped first.
    Decided(usize, Decision),
}

/// The state of a condition.
#[derive(Clone, PartialEq)]
enum Decision {
    /// Undecided.
    Open,
    /// Met.
    Met(Matched),
    /// Its handle stopped first.
    Unmet,
}

struct Wait {
    session: Arc<SessionInner>,
    handles: Vec<(HandleId, Arc<Handle>)>,
    any: Vec<Arc<Handle>>,
    all: Vec<Arc<Handle>>,
    conditions: Vec<Condition>,
    decided: Vec<Decision>,
    progress: FuturesUnordered<BoxFuture<'static, WaitEvent>>,
}

impl Wait {
    fn new(session: &Session, request: &AwaitRequest) -> Result<Self, Refusal> {
        let inner = Arc::clone(&session.inner);
        let mut handles = Vec::new();
        for id in request.ids() {
            let handle = inner.lookup(id)?;
            let id = handle.id().cloned().expect("what is found by id has one");
            handles.push((id, handle));
        }
        let find = |ids: &[String]| -> Result<Vec<Arc<Handle>>, Refusal> {
            ids.iter().map(|id| inner.lookup(id)).collect()
        };
        let wait = Self {
            any: find(&request.any)?,
            all: find(&request.all)?,
            conditions: request.until.clone(),
            decided: vec![Decision::Open; request.until.len()],
            progress: FuturesUnordered::new(),
            session: inner,
            handles,
        };
        for place in 0..wait.handles.len() {
            wait.watch(place);
        }
        for (index, condition) in wait.conditions.iter().enumerate() {
            let future = wait.decide(condition)?;
            let decided = async move { WaitEvent::Decided(index, future.await) };
            wait.progress.push(decided.boxed());
        }
        Ok(wait)
    }

    /// Waits until it is over; returns whether the time was up first.
    async fn run(&mut self, limit: Option<Duration>, hurry: &CancellationToken) -> bool {
        let expired = async {
            match limit {
                Some(limit) => {
                    let _ = tokio::time::timeout(limit, hurry.cancelled()).await;
                }
                None => hurry.cancelled().await,
            }
        };
        tokio::pin!(expired);
        let mut changed = Vec::new();
        loop {
            // Everything that is known already counts at once.
            while let Some(Some(progress)) = self.progress.next().now_or_never() {
                changed.extend(self.note(progress));
            }
            if self.is_over(&changed) {
                return false;
            }
            // What was stuck may have been answered in between.
            for place in changed.drain(..) {
                if !self.handles[place].1.is_stopped() {
                    self.watch(place);
                }
            }
            tokio::select! {
                biased;
                progress = self.progress.next() => match progress {
                    Some(progress) => changed.extend(self.note(progress)),
                    None => return false,
                },
                () = &mut expired => return true,
            }
        }
    }

    /// Processes an event; returns the index of a handle that changed.
    fn note(&mut self, progress: WaitEvent) -> Option<usize> {
        match progress {
            WaitEvent::Changed(place) => return Some(place),
            WaitEvent::Decided(index, decision) => self.decided[index] = decision,
        }
        None
    }

    fn watch(&self, place: usize) {
        let session = Arc::clone(&self.session);
        let handle = Arc::clone(&self.handles[place].1);
        let changed = async move {
            changed(session, handle).await;
            WaitEvent::Changed(place)
        };
        self.progress.push(changed.boxed());
    }

    /// Whether the wait is met or can no longer be met; `changed` are the
    /// indices of handles that may need attention first.
    fn is_over(&self, changed: &[usize]) -> bool {
        let unmet = self.decided.contains(&Decision::Unmet);
        let stuck = changed.iter().any(|place| {
            let handle = &self.handles[*place].1;
            inquiry::is_stuck(&self.session, handle, &handle.status())
        });
        self.is_met() || unmet || stuck
    }

    /// Whether all conditions are met.
    fn is_met(&self) -> bool {
        let stopped = |handle: &Arc<Handle>| handle.is_stopped();
        self.all.iter().all(stopped)
            && (self.any.is_empty() || self.any.iter().any(stopped))
            && self
                .decided
                .iter()
                .all(|decided| matches!(decided, Decision::Met(_)))
    }

    /// The maximum amount of output in the reply: that of one handle.
    fn limit(&self) -> usize {
        let handles = self.handles.iter();
        let limits = handles.map(|(_, handle)| handle.tool.definition.limits.output_limit);
        limits.max().unwrap_or_default()
    }

    fn reply(&self, timed_out: bool) -> AwaitReply {
        let mut reply = AwaitReply {
            timed_out,
            ..AwaitReply::default()
        };
        let met = self.is_met();
        for (id, handle) in &self.handles {
            let shown = show::outline(&self.session, handle, id);
            if shown.state == HandleState::Stopped {
                let shown = show::show(&self.session, handle, id, View::New);
                reply.completed.push(shown);
            } else {
                if !met && inquiry::is_stuck(&self.session, handle, &handle.status()) {
                    reply.needs_answer.push(id.clone());
                }
                reply.pending.push(shown);
            }
        }
        share::within_limit(&mut reply.completed, self.limit());
        for (condition, decided) in self.conditions.iter().zip(&self.decided) {
            match decided {
                Decision::Met(matched) => reply.matched.push(matched.clone()),
                Decision::Unmet => reply.unmet.push(condition.clone()),
                Decision::Open => {}
            }
        }
        reply
    }

    /// Resolves when the condition is met, or to `None` when its handle stops
    /// first.
    fn decide(&self, condition: &Condition) -> Result<BoxFuture<'static, Decision>, Refusal> {
        let until = condition.read()?;
        let handle = self.session.lookup(&until.id)?;
        let condition = condition.clone();
        let met = match until.wait_for {
            WaitFor::Pattern { pattern, new } => {
                let regex =
                    Regex::new(&pattern).map_err(|error| Refusal::Pattern { pattern, error })?;
                let since = if new { Since::Now } else { Since::LastInput };
                find_line(handle, regex, since).boxed()
            }
            WaitFor::Idle(seconds) => {
                let idle = idle(Arc::clone(&handle), Duration::from_secs_f64(seconds));
                unless_stopped(handle, idle).boxed()
            }
            WaitFor::Port(port) => {
                let listening = listening(Arc::clone(&handle), port);
                unless_stopped(handle, listening).boxed()
            }
            WaitFor::Waiting => {
                let waiting = waiting(Arc::clone(&handle));
                unless_stopped(handle, waiting).boxed()
            }
        };
        Ok(met
            .map(|met| match met {
                Met::Yes(line) => Decision::Met(Matched { condition, line }),
                Met::No => Decision::Unmet,
            })
            .boxed())
    }
}

/// Resolves when the handle stops, or waits for an answer of its caller that is
/// not already on its way: earlier calls of the batch have precedence.
async fn changed(session: Arc<SessionInner>, handle: Arc<Handle>) {
    loop {
        let status = handle
            .wait_until(|status| {
                status.is_stopped() || inquiry::is_stuck(&session, &handle, status)
            })
            .await;
        if status.is_stopped() {
            return;
        }
        let _turn = handle.gate.lock().await;
        let status = handle.status();
        if status.is_stopped() || inquiry::is_stuck(&session, &handle, &status) {
            return;
        }
    }
}

/// A met condition, with a line if there is one.
enum Met {
    Yes(Option<String>),
    No,
}

async fn unless_stopped(handle: Arc<Handle>, condition: impl Future<Output = ()>) -> Met {
    tokio::select! {
        biased;
        () = condition => Met::Yes(None),
        _ = handle.wait_until(Status::is_stopped) => Met::No,
    }
}

async fn find_line(handle: Arc<Handle>, regex: Regex, since: Since) -> Met {
    let Some(job) = started(&handle).await else {
        return Met::No;
    };
    match job.output().find(regex, since).await {
        Some(line) => Met::Yes(Some(line)),
        None => Met::No,
    }
}

async fn idle(handle: Arc<Handle>, quiet: Duration) {
    let Some(job) = started(&handle).await else {
        return std::future::pending().await;
    };
    loop {
        let due = job.output().last_write() + quiet;
        tokio::time::sleep_until(due.into()).await;
        if job.output().last_write() + quiet <= due {
            return;
        }
    }
}

/// Resolves when a process on the tool's machine accepts connections on the
/// port.
async fn listening(handle: Arc<Handle>, port: u16) {
    match started(&handle).await {
        Some(job) => job.host().port_open(port).await,
        None => std::future::pending().await,
    }
}

/// Resolves when the handle has an open question, or its tool is blocked at a
/// prompt.
async fn waiting(handle: Arc<Handle>) {
    let asked = handle.wait_until(|status| matches!(status, Status::Waiting { .. }));
    tokio::select! {
        _ = asked => {}
        () = prompted(&handle) => {}
    }
}

/// Resolves when the tool is blocked at a prompt of its terminal. The terminal
/// may be attached later.
async fn prompted(handle: &Handle) {
    let Some(job) = started(handle).await else {
        return std::future::pending().await;
    };
    let mut written = job.output().bytes().changes();
    loop {
        if let Some(terminal) = job.terminal() {
            return terminal.at_prompt().await;
        }
        if written.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
}

/// The job, once it exists; `None` if the tool never started.
async fn started(handle: &Handle) -> Option<Arc<dyn Job>> {
    handle
        .wait_until(|status| !matches!(status, Status::Pending))
        .await;
    handle.job().cloned()
}
