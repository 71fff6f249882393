//! Starts tools in the background, after a person's permission.
//!
//! If the caller is answered before the person has replied, [`begin_one_shot`]
//! and [`begin_spawn`] continue the call. Its request stays open under its id,
//! and its handle is pending until the reply; aborting the handle withdraws the
//! request.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use windlass_protocol::{Arguments, Ending, HandleId};

use crate::dispatch::{ABORTED, start};
use crate::handle::Handle;
use crate::one_shot::{free_id, to_its_end};
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
    let handle = &reserved.0;
    if let Some(id) = handle.id() {
        session.requests.hand_over(&handle.call, id);
    }
    go_on(session, reserved, permit, Limited::No);
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

async fn start_when_permitted(
    session: Arc<SessionInner>,
    reserved: Reservation,
    permit: DeferredPermit,
    limited: Limited,
) {
    let handle = Arc::clone(&reserved.0);
    let starting = async {
        let args = match permit.await {
            Ok(args) => args,
            Err(refusal) => {
                handle.never_started(Ending::failed(refusal.to_string()));
                return None;
            }
        };
        let _turn = handle.gate.lock().await;
        let limit = handle.tool.time_limit(&args);
        start(&session, &handle, args, false).await;
        Some(limit)
    };
    let started = handle.withdrawn.run_until_cancelled(starting).await;
    if handle.withdrawn.is_cancelled() && handle.job().is_some() {
        // It came to run in the very moment in which it was aborted.
        handle.end(ABORTED).await;
    }
    if let (Some(Some(limit)), Limited::Yes) = (started, limited) {
        to_its_end(session, handle, limit).await;
    }
}
