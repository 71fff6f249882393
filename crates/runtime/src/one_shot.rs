//! The execution of a one-shot: to its end, or to a handover.
//!
//! A call waits for [`run_to_its_end`]. If its caller does not wait any longer,
//! [`OneShotGuard::hand_over`] turns the one-shot into a handle. The tool does
//! not notice this: it keeps its time limit, and its output is read like any
//! handle's.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;
use windlass_protocol::{Arguments, Ending, HandleId, Question};

use crate::dispatch::start;
use crate::event::Status;
use crate::handle::Handle;
use crate::inquiry;
use crate::part::CallPart;
use crate::refusal::Refusal;
use crate::registry::Registry;
use crate::session::SessionInner;
use crate::starting::unless_withdrawn;

/// Starts a one-shot, waits for its end, answers its questions and enforces its
/// time limit, which begins after the start and does not run while a question
/// is open. After a handover, new questions are routed as the handle's; one
/// that was already open is still answered here.
pub(crate) async fn run_to_its_end(
    session: Arc<SessionInner>,
    handle: Arc<Handle>,
    args: Arguments,
    outside: bool,
) -> Ending {
    let limit = handle.tool.executor().timeout(&args);
    let limit = limit.unwrap_or(handle.tool.definition.limits.timeout);
    unless_withdrawn(&handle, start(&session, &handle, args, outside)).await;
    let mut left = limit;
    loop {
        let since = Instant::now();
        let changed = handle.wait_until(|status| !status.is_running());
        let changed = tokio::time::timeout(left, changed).await;
        left = left.saturating_sub(since.elapsed());
        match changed {
            Ok(Status::Stopped(ending)) => return ending,
            Ok(Status::Waiting {
                aborting: Some(_), ..
            }) => {
                handle.wait_until(Status::is_stopped).await;
            }
            Ok(Status::Waiting { question, .. }) if handle.is_routed() => {
                handle.wait_until(|status| !status.asks(&question)).await;
            }
            Ok(Status::Waiting { question, .. }) => {
                answer_question(&session, &handle, &question).await;
            }
            Ok(Status::Pending | Status::Running { .. }) => {
                unreachable!("a started tool runs, waits or has stopped")
            }
            Err(_) => {
                let seconds = limit.as_secs_f64();
                end(&handle, &format!("timed out after {seconds} s")).await;
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
    end(handle, &why).await;
}

/// Ends the one-shot. The call does not wait for a host that is unreachable.
async fn end(handle: &Arc<Handle>, why: &str) {
    if handle.end(why).await.is_none() {
        handle.give_up_host();
    }
}

/// The interval at which the record of a running one-shot is updated with its
/// output.
const PREVIEW_INTERVAL: Duration = Duration::from_millis(500);
/// The amount of output in an update.
const PREVIEW: usize = 4096;

/// Updates the record of a running one-shot with the end of its output while
/// that grows. Never resolves.
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

/// Guard: registers a one-shot in the session, and ends it when its call is
/// dropped.
pub(crate) struct OneShotGuard<'a> {
    session: &'a Arc<SessionInner>,
    handle: &'a Arc<Handle>,
}

impl<'a> OneShotGuard<'a> {
    pub(crate) fn new(session: &'a Arc<SessionInner>, handle: &'a Arc<Handle>) -> Self {
        let mut one_shots = session.one_shots.lock();
        one_shots.insert(handle.number, Arc::clone(handle));
        Self { session, handle }
    }

    /// Turns a running one-shot into a handle with a generated id, and
    /// continues `rest` in the background. Returns `rest` if it has already
    /// stopped or the session ends.
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
        windlass_task::spawn_tracked(&session.tasks, async move {
            closing.run_until_cancelled(rest).await;
        });
        Ok(id)
    }
}

impl Drop for OneShotGuard<'_> {
    fn drop(&mut self) {
        self.session.one_shots.lock().remove(&self.handle.number);
        if self.handle.looked_at.load(Ordering::Acquire) {
            self.session.remember_one_shot(self.handle);
        }
        if self.handle.id().is_none() && !self.handle.is_stopped() {
            let handle = Arc::clone(self.handle);
            let ending = async move { handle.end("cancelled").await };
            windlass_task::spawn_tracked(&self.session.tasks, ending);
        }
    }
}

/// An id from the tool's name and the handle's number.
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
