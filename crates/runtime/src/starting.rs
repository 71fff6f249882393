//! Starts tools in the background, for callers that are answered before a
//! person has replied.
//!
//! The reply may be a permission ([`begin_one_shot`], [`begin_spawn`]) or an
//! answer that the start needs ([`run_to_its_end`], [`continue_spawn`]). The
//! request stays open under its id, and its handle is pending until the reply;
//! aborting the handle withdraws the request.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use windlass_protocol::{Arguments, Ending, HandleId};

use crate::dispatch::{ABORTED, start};
use crate::handle::Handle;
use crate::one_shot::{free_id, run_to_its_end};
use crate::refusal::Refusal;
use crate::session::SessionInner;

/// Guard: a reserved id. Dropping it before the tool runs stops the handle.
pub(crate) struct Reservation(pub(crate) Arc<Handle>);

impl Drop for Reservation {
    fn drop(&mut self) {
        self.0
            .never_started(Ending::failed("cancelled before it started"));
    }
}

/// Resolves to the arguments to run with, when a person has replied.
pub(crate) type DeferredPermit = BoxFuture<'static, Result<Arguments, Refusal>>;

/// Turns a one-shot that waits for permission into a handle with a generated
/// id. It keeps its time limit, which begins at its start.
pub(crate) fn begin_one_shot(
    session: &Arc<SessionInner>,
    handle: &Arc<Handle>,
    permit: DeferredPermit,
) -> HandleId {
    let id = {
        let mut registry = session.registry.lock();
        let id = free_id(&registry, handle);
        handle.name(id.clone());
        registry.insert(handle);
        id
    };
    session.requests.hand_over(&handle.call, &id);
    let reserved = Reservation(Arc::clone(handle));
    go_on(session, reserved, permit, Limited::Yes);
    id
}

/// Lets a spawn wait for its permission in the background.
pub(crate) fn begin_spawn(
    session: &Arc<SessionInner>,
    reserved: Reservation,
    permit: DeferredPermit,
) {
    hand_over_requests(session, &reserved.0);
    go_on(session, reserved, permit, Limited::No);
}

/// Lets a spawn that is being started, which may need an answer of a person,
/// continue in the background.
pub(crate) fn continue_spawn(
    session: &Arc<SessionInner>,
    reserved: Reservation,
    starting: BoxFuture<'static, ()>,
) {
    hand_over_requests(session, &reserved.0);
    let closing = session.closing.clone();
    windlass_task::spawn_tracked(&session.tasks, async move {
        let going_on = unless_withdrawn(&reserved.0, starting);
        closing.run_until_cancelled(going_on).await;
    });
}

fn hand_over_requests(session: &SessionInner, handle: &Handle) {
    if let Some(id) = handle.id() {
        session.requests.hand_over(&handle.call, id);
    }
}

/// Whether the tool has a one-shot's time limit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Limited {
    Yes,
    No,
}

fn go_on(
    session: &Arc<SessionInner>,
    reserved: Reservation,
    permit: DeferredPermit,
    limited: Limited,
) {
    let session = Arc::clone(session);
    let (tasks, closing) = (session.tasks.clone(), session.closing.clone());
    windlass_task::spawn_tracked(&tasks, async move {
        let going_on = start_when_permitted(session, reserved, permit, limited);
        closing.run_until_cancelled(going_on).await;
    });
}

/// Does not hold the handle's gate: the start may wait for a person, and calls
/// on the handle are answered meanwhile.
async fn start_when_permitted(
    session: Arc<SessionInner>,
    reserved: Reservation,
    permit: DeferredPermit,
    limited: Limited,
) {
    let handle = Arc::clone(&reserved.0);
    let args = match unless_withdrawn(&handle, permit).await {
        Some(Ok(args)) => args,
        Some(Err(refusal)) => return handle.never_started(Ending::failed(refusal.to_string())),
        None => return,
    };
    match limited {
        Limited::Yes => drop(run_to_its_end(session, handle, args, false).await),
        Limited::No => {
            unless_withdrawn(&handle, start(&session, &handle, args, false)).await;
        }
    }
}

/// Continues towards the start of a handle, unless it is aborted before it runs.
pub(crate) async fn unless_withdrawn<T>(
    handle: &Arc<Handle>,
    starting: impl Future<Output = T>,
) -> Option<T> {
    let started = handle.withdrawn.run_until_cancelled(starting).await;
    if handle.withdrawn.is_cancelled() && handle.job().is_some() {
        // It came to run in the very moment in which it was aborted.
        handle.end(ABORTED).await;
    }
    started
}
