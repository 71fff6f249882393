//! A one-shot on its way: to its end, or to being handed over.
//!
//! [`to_its_end`] is what a call waits for. A one-shot that outlasts its
//! caller's patience is not lost: [`EndedWithUs::hand_over`] makes a handle of
//! it. The tool notices nothing of that; it keeps its time limit, and what it
//! has said is read like any handle's.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;
use windlass_protocol::{Arguments, Ending, HandleId, Question};

use crate::catalogue::RegisteredTool;
use crate::event::Status;
use crate::executor::Executor;
use crate::handle::Handle;
use crate::inquiry;
use crate::part::CallPart;
use crate::refusal::Refusal;
use crate::registry::Registry;
use crate::session::SessionInner;

/// Waits for the end of a one-shot, and sees to its questions and its time.
/// After it was handed over, new questions are the handle's and are routed as
/// such; one that was open then is still answered from here.
pub(crate) async fn to_its_end(
    session: Arc<SessionInner>,
    handle: Arc<Handle>,
    mut limit: TimeLimit,
) -> Ending {
    loop {
        match limit.over_or_changed(&handle).await {
            Some(Status::Stopped(ending)) => return ending,
            Some(Status::Waiting {
                aborting: Some(_), ..
            }) => {
                handle.wait_until(Status::is_stopped).await;
            }
            Some(Status::Waiting { question, .. }) if handle.is_routed() => {
                handle.wait_until(|status| !status.asks(&question)).await;
            }
            Some(Status::Waiting { question, .. }) => {
                answer_question(&session, &handle, &question).await;
            }
            Some(Status::Pending | Status::Running { .. }) => {
                unreachable!("a started tool runs, waits or has stopped")
            }
            None => {
                handle.end(&limit.message()).await;
            }
        }
    }
}

async fn answer_question(session: &SessionInner, handle: &Arc<Handle>, question: &Question) {
    let answered = tokio::select! {
        answered = inquiry::answer(session, handle, question) => answered,
        // The assistant may be first with one that was handed over.
        _ = handle.wait_until(|status| !status.asks(question)) => return,
    };
    let why = match answered {
        Ok(answer) => match handle.answer(question, answer).await {
            Ok(()) | Err(Refusal::AlreadyAnswered { .. }) => return,
            Err(refusal) => refusal.to_string(),
        },
        Err(why) => why.to_string(),
    };
    handle.end(&why).await;
}

/// How often the part of a one-shot that runs is told what it says.
const PREVIEW_INTERVAL: Duration = Duration::from_millis(500);
/// How much of its output that is.
const PREVIEW: usize = 4096;

/// Tells the end of the output to the part of a one-shot that runs, as long as
/// the output grows. Never resolves.
pub(crate) async fn tell_previews(call: &CallPart<'_>, handle: &Handle) {
    let mut told = 0;
    loop {
        tokio::time::sleep(PREVIEW_INTERVAL).await;
        let Some(job) = handle.job() else {
            continue;
        };
        let written = job.output().written();
        if written != told {
            told = written;
            call.preview(job.output().preview(PREVIEW));
        }
    }
}

/// How long a one-shot may take. Nobody's clock runs while a question is open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeLimit {
    whole: Duration,
    left: Duration,
    /// Since when time is being taken off.
    since: Option<Instant>,
}

impl TimeLimit {
    fn new(whole: Duration) -> Self {
        Self {
            whole,
            left: whole,
            since: None,
        }
    }

    /// As the executor says for these arguments, or else the tool.
    pub(crate) fn of(tool: &RegisteredTool, executor: &dyn Executor, args: &Arguments) -> Self {
        let whole = executor.timeout(args);
        Self::new(whole.unwrap_or(tool.definition.limits.timeout))
    }

    /// Waits until the tool waits or has stopped; `None` when the time is up
    /// first. Dropping the future loses no time.
    async fn over_or_changed(&mut self, handle: &Handle) -> Option<Status> {
        self.spend();
        self.since = Some(Instant::now());
        let changed = handle.wait_until(|status| !status.is_running());
        let changed = tokio::time::timeout(self.left, changed).await;
        self.spend();
        changed.ok()
    }

    fn spend(&mut self) {
        if let Some(since) = self.since.take() {
            self.left = self.left.saturating_sub(since.elapsed());
        }
    }

    fn message(&self) -> String {
        format!("timed out after {} s", self.whole.as_secs_f64())
    }
}

/// Known to the session while its call runs, and ended when that is dropped.
pub(crate) struct EndedWithUs<'a> {
    session: &'a Arc<SessionInner>,
    handle: &'a Arc<Handle>,
}

impl<'a> EndedWithUs<'a> {
    pub(crate) fn new(session: &'a Arc<SessionInner>, handle: &'a Arc<Handle>) -> Self {
        let mut one_shots = session.one_shots.lock();
        one_shots.insert(handle.number, Arc::clone(handle));
        Self { session, handle }
    }

    /// Makes a handle of a one-shot that runs, under an id of our making, and
    /// lets `rest` of it go on by itself. `rest` is given back when it has
    /// stopped already, or when the session ends.
    pub(crate) fn hand_over<R>(self, rest: R) -> Result<HandleId, (Self, R)>
    where
        R: Future<Output = Ending> + Send + 'static,
    {
        let Self { session, handle } = self;
        // No event comes in between: what is asked before is the call's, and
        // what is asked after is the handle's.
        let id = handle.between_events(|| {
            // This lock decides. Whoever closes the session has either said so
            // before, or finds the handle; and what stops later finds its id.
            let mut registry = session.registry.lock();
            if handle.is_stopped() || session.closing.is_cancelled() {
                return None;
            }
            let id = free_id(&registry, handle);
            handle.name(id.clone());
            registry.insert(handle);
            Some(id)
        });
        let Some(id) = id else {
            return Err((self, rest));
        };
        session.requests.hand_over(&handle.call, &id);
        let closing = session.closing.clone();
        session.tasks.spawn(async move {
            closing.run_until_cancelled(rest).await;
        });
        Ok(id)
    }
}

impl Drop for EndedWithUs<'_> {
    fn drop(&mut self) {
        self.session.one_shots.lock().remove(&self.handle.number);
        if self.handle.looked_at.load(Ordering::Acquire) {
            self.session.remember_one_shot(self.handle);
        }
        if self.handle.id().is_none() && !self.handle.is_stopped() {
            let handle = Arc::clone(self.handle);
            let ending = async move { handle.end("cancelled").await };
            self.session.tasks.spawn(ending);
        }
    }
}

/// The tool's name and the handle's number, which no other handle has, unless
/// the assistant has thought of the very same.
pub(crate) fn free_id(registry: &Registry, handle: &Handle) -> HandleId {
    let mut id = handle.known_as().to_string();
    while registry.get(&id).is_some() {
        id.push('_');
    }
    // A name has at most 48 characters; the number alone is free whatever else
    // is taken.
    HandleId::new(&id).unwrap_or_else(|_| {
        HandleId::new(&format!("handle-{}", handle.number)).expect("these are an id's characters")
    })
}
