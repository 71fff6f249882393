//! Starts tools, at once or after a person's permission.
//!
//! Start at [`start`]. If the caller is answered before the person has replied,
//! [`begin_one_shot`] and [`begin_spawn`] continue the call in the background.
//! Its request stays open under its id, and its handle is pending until the
//! reply; aborting the handle withdraws the request.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use windlass_protocol::{Arguments, Ending, HandleId, Start};

use crate::catalogue::{RegisteredTool, Runs};
use crate::dispatch::ABORTED;
use crate::executor::{Executor, Reporter};
use crate::handle::Handle;
use crate::keeping::KeptPlace;
use crate::one_shot::{TimeLimit, free_id, to_its_end};
use crate::plan::Reservation;
use crate::refusal::Refusal;
use crate::session::SessionInner;
use crate::session_limits;

/// Starts a handle's tool. A failure ends the handle.
pub(crate) async fn start(
    session: &Arc<SessionInner>,
    handle: &Arc<Handle>,
    executor: &dyn Executor,
    args: Arguments,
) {
    start_where(session, handle, executor, args, false).await;
}

/// [`start`], with `outside` if a person has allowed it to run outside of its
/// sandbox.
pub(crate) async fn start_where(
    session: &Arc<SessionInner>,
    handle: &Arc<Handle>,
    executor: &dyn Executor,
    args: Arguments,
    outside: bool,
) {
    let number = handle.number;
    let place = KeptPlace::reserve(session, handle).await;
    let start = Start {
        session: session.id.clone(),
        root: session.options.root.clone().into(),
        log: session
            .options
            .log_dir
            .as_ref()
            .map(|folder| folder.join(format!("{number}.log")).into()),
        handle: handle.id().cloned(),
        keep: place.as_ref().map(KeptPlace::request),
        outside,
        widenings: session.widenings(&handle.tool).await,
        tool: Arc::clone(&handle.tool.definition),
        args,
    };
    let reporter = Reporter::to(handle);
    let place = place.map(|place| (place, start.clone()));
    match executor.start(start, reporter).await {
        Ok(job) => {
            if let Some((place, start)) = place {
                place.register(session, handle, start, &*job);
            }
            handle.install(job);
            session_limits::look_after(session);
        }
        Err(error) => handle.never_started(Ending::with(Err(error))),
    }
}

pub(crate) fn executor(tool: &RegisteredTool) -> &dyn Executor {
    match &tool.runs {
        Runs::Executor(executor) => &**executor,
        Runs::Builtin(_) => unreachable!("builtins are read as such"),
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
    tasks.spawn(async move {
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
        let executor = executor(&handle.tool);
        let limit = TimeLimit::of(&handle.tool, executor, &args);
        start(&session, &handle, executor, args).await;
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
