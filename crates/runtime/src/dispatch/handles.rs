//! Calls on handles: spawn, fetch, apply and abort.
//!
//! Start at [`BatchRun::on_handle`].

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use windlass_protocol::{
    Arguments, Ending, HandleAction, HandleId, Keyboard, LineRange, Receipt, ToolCommand, Typing,
    View,
};

use super::permitting::Permitted;
use super::{BatchRun, HandleCall, Permit, start};
use crate::arguments::{retyped, typed};
use crate::catalogue::RegisteredTool;
use crate::denied;
use crate::event::Status;
use crate::handle::Handle;
use crate::inquiry;
use crate::job::Job;
use crate::orders::new_order;
use crate::part::CallPart;
use crate::permission::GrantedBy;
use crate::refusal::Refusal;
use crate::show::{self, CallAnswer};
use crate::starting::{self, DeferredPermit, Reservation};

impl BatchRun<'_> {
    /// Carries out a call on a handle. Slow paths are boxed, so that the future
    /// of a `fetch` stays small.
    pub(super) async fn on_handle(
        &self,
        call: &CallPart<'_>,
        on: HandleCall,
    ) -> Result<CallAnswer, Refusal> {
        let HandleCall {
            tool,
            command,
            reserved,
            before,
        } = on;
        let session = &self.session.inner;
        if matches!(
            command,
            ToolCommand::Spawn { .. } | ToolCommand::Apply { .. }
        ) {
            session.check_recorded().await?;
        }
        if let ToolCommand::Spawn { id, args, .. } = command {
            let reserved = reserved.expect("a batch runs only when its ids are taken");
            self.tell_displaced(before.as_ref(), &id);
            return Box::pin(self.spawn(call, &tool, &id, args, reserved)).await;
        }
        let handle = session.find(&tool, command.id(), before);
        let handle = match (&command, handle) {
            (ToolCommand::Fetch { id, .. }, Err(refusal)) => {
                session.find_left_out(&tool, id, refusal)
            }
            (_, handle) => handle,
        }?;
        match command {
            ToolCommand::Spawn { .. } => unreachable!("it has been answered"),
            ToolCommand::Fetch { id, view, lines } => {
                self.fetch(call, &tool, &id, (view, lines), &handle).await
            }
            ToolCommand::Apply { id, typing } => {
                Box::pin(self.apply(call, &tool, &id, typing, &handle)).await
            }
            ToolCommand::Abort { id } => Box::pin(self.abort(call, &tool, &id, &handle)).await,
        }
    }

    /// Starts a tool under its id, and shows it once it has settled.
    async fn spawn(
        &self,
        call: &CallPart<'_>,
        tool: &Arc<RegisteredTool>,
        id: &HandleId,
        args: Arguments,
        reserved: Reservation,
    ) -> Result<CallAnswer, Refusal> {
        let inner = &self.session.inner;
        let handle = &Arc::clone(&reserved.0);
        let turn = handle.gate.lock().await;
        let starting = async {
            let permit = self.permit(call, tool, Some(HandleAction::Spawn), args);
            Ok::<_, Refusal>(match permit.await? {
                Permitted::Now(Permit::Run(args, by)) => {
                    handle.entitle(call.title());
                    handle.granted(by);
                    let mut started = self.start_spawned(call, tool, (id, handle), args);
                    match self.hurry.run_until_cancelled(&mut started).await {
                        Some(()) => SpawnProgress::Started,
                        None => SpawnProgress::Starting(started),
                    }
                }
                Permitted::Now(Permit::Skip) => SpawnProgress::Skipped,
                Permitted::Later(permit) => SpawnProgress::Asked(permit),
            })
        };
        match handle.withdrawn.run_until_cancelled(starting).await {
            // Aborted while a person was asked, or while it was started.
            None => {}
            Some(Ok(SpawnProgress::Started)) => self.settle(handle).await,
            Some(Ok(SpawnProgress::Skipped)) => {
                self.not_run(handle, "skipped; it has not run");
                return Ok(CallAnswer::skipped(tool));
            }
            Some(Ok(SpawnProgress::Asked(permit))) => {
                drop(turn);
                starting::begin_spawn(inner, reserved, permit);
                return Ok(self.show(handle, id, View::New));
            }
            Some(Ok(SpawnProgress::Starting(started))) => {
                drop(turn);
                starting::continue_spawn(inner, reserved, started);
                return Ok(self.show(handle, id, View::New));
            }
            Some(Err(refusal)) => {
                self.not_run(handle, &refusal.to_string());
                return Err(refusal);
            }
        }
        if handle.withdrawn.is_cancelled() && handle.job().is_some() {
            // It came to run in the very moment in which it was aborted.
            handle.end(ABORTED).await;
        }
        Ok(self.show(handle, id, View::New))
    }

    /// Starts the tool of a permitted handle. If its sandbox denies something,
    /// a person is asked after it has stopped.
    fn start_spawned(
        &self,
        call: &CallPart<'_>,
        tool: &Arc<RegisteredTool>,
        (id, handle): (&HandleId, &Arc<Handle>),
        args: Arguments,
    ) -> BoxFuture<'static, ()> {
        let session = Arc::clone(&self.session.inner);
        let name = &tool.definition.name;
        let outside = session.outside_once.lock().take(name, &args);
        let is_asked_about =
            tool.definition.sandbox.is_some() && !session.options.trusted && !outside;
        let again = is_asked_about.then(|| {
            let asking = self.asking(call, tool, Some(HandleAction::Spawn));
            (asking, args.clone())
        });
        let (id, handle) = (id.clone(), Arc::clone(handle));
        async move {
            start(&session, &handle, args, outside).await;
            if let Some((asking, args)) = again {
                denied::offer_again(&handle, &id, asking, args);
            }
        }
        .boxed()
    }

    /// Reports the unread result of a stopped handle whose id a spawn takes.
    fn tell_displaced(&self, displaced: Option<&Arc<Handle>>, id: &HandleId) {
        let has_run = |handle: &&Arc<Handle>| handle.job().is_some() || handle.stored().is_some();
        if let Some(displaced) = displaced.filter(has_run).filter(|handle| !handle.is_told()) {
            self.session.notice_result(displaced, id);
        }
    }

    async fn fetch(
        &self,
        call: &CallPart<'_>,
        tool: &Arc<RegisteredTool>,
        id: &HandleId,
        (view, lines): (View, Option<LineRange>),
        handle: &Arc<Handle>,
    ) -> Result<CallAnswer, Refusal> {
        let _turn = handle.gate.lock().await;
        let action = HandleAction::Fetch;
        let permit = self.permit_now(call, handle, action, Arguments::new());
        if let Permit::Skip = permit.await? {
            return Ok(CallAnswer::skipped(tool));
        }
        if let Some(lines) = lines {
            let view = show::lines(handle, id, lines);
            return Ok(CallAnswer::view(&self.session.inner, view));
        }
        Ok(self.show(handle, id, view))
    }

    /// Sends input to a running tool, or answers a waiting one.
    async fn apply(
        &self,
        call: &CallPart<'_>,
        tool: &Arc<RegisteredTool>,
        id: &HandleId,
        typing: Typing,
        handle: &Arc<Handle>,
    ) -> Result<CallAnswer, Refusal> {
        let _turn = handle.gate.lock().await;
        let action = HandleAction::Apply;
        let enter = typing.enter;
        let typing = if self.permit_typed(call, tool, handle, &typing).await? {
            typing
        } else {
            match self
                .permit_now(call, handle, action, typed(&typing))
                .await?
            {
                Permit::Run(args, GrantedBy::Person) => {
                    let retyped = retyped(enter, args);
                    // A person may have written something else.
                    if retyped != typing {
                        self.permit_typed(call, tool, handle, &retyped).await?;
                    }
                    retyped
                }
                Permit::Run(args, _) => retyped(enter, args),
                Permit::Skip => return Ok(CallAnswer::skipped(tool)),
            }
        };
        handle.check_unlocked(id)?;
        match handle.status() {
            Status::Stopped(_) => return Err(Refusal::Ended(id.clone())),
            Status::Waiting { question, .. } => {
                if question.secret {
                    call.conceal();
                }
                let Some(answer) = typing.input else {
                    return Err(Refusal::WantsAnswer(id.clone()));
                };
                inquiry::may_answer(&self.session.inner, tool, id, &question)?;
                handle.answer(&question, answer).await?;
                self.settle(handle).await;
            }
            Status::Pending | Status::Running { .. } => {
                let Some(job) = handle.job() else {
                    return Err(Refusal::NotStarted(id.clone()));
                };
                let hides = |job: &Arc<dyn Job>| {
                    let terminal = job.terminal();
                    terminal.is_some_and(|terminal| terminal.hides_typing())
                };
                let hidden = hides(job);
                let applied = job.apply(&new_order(), Keyboard::Typing(typing)).await;
                let hidden = hidden || hides(job);
                if applied.is_ok() {
                    self.settle(handle).await;
                }
                let terminal = job.terminal();
                if hidden || terminal.is_some_and(|terminal| terminal.has_masked_typing()) {
                    call.conceal();
                } else {
                    call.reveal();
                }
                applied?;
            }
        }
        Ok(self.show(handle, id, View::New))
    }

    /// Ends a tool and everything it started.
    async fn abort(
        &self,
        call: &CallPart<'_>,
        tool: &Arc<RegisteredTool>,
        id: &HandleId,
        handle: &Arc<Handle>,
    ) -> Result<CallAnswer, Refusal> {
        let action = HandleAction::Abort;
        let permit = self.permit_now(call, handle, action, Arguments::new());
        if let Permit::Skip = permit.await? {
            return Ok(CallAnswer::skipped(tool));
        }
        // What has not started holds its turn until a person has answered, so
        // it is withdrawn first.
        handle.withdraw(ABORTED);
        let _turn = handle.gate.lock().await;
        let receipt = handle.end(ABORTED).await;
        let mut view = show::show(&self.session.inner, handle, id, View::New);
        let Some(Receipt { ended, survivors }) = receipt else {
            // The view says that its host is unreachable.
            return Ok(CallAnswer::view(&self.session.inner, view));
        };
        view.ended = Some(ended);
        if !survivors.is_empty() {
            let result = view.result.get_or_insert_default();
            result.push_str("; could not end ");
            result.push_str(&survivors.join(", "));
        }
        Ok(CallAnswer::view(&self.session.inner, view))
    }

    /// Withdraws notices of a handle that never ran: the reply reports it.
    fn not_run(&self, handle: &Arc<Handle>, why: &str) {
        handle.never_started(Ending::failed(why));
        self.session.inner.withdraw_notices(handle);
    }

    /// Waits until the tool has settled, or has something else to report.
    async fn settle(&self, handle: &Handle) {
        let Some(job) = handle.job() else {
            return;
        };
        tokio::select! {
            biased;
            _ = handle.wait_until(|status| !status.is_running()) => {}
            () = job.settle(handle.tool.definition.limits.settle_max) => {}
        }
    }
}

pub(crate) const ABORTED: &str = "aborted by the assistant";

/// The outcome of a spawn so far.
enum SpawnProgress {
    Started,
    Skipped,
    /// A person has not replied yet.
    Asked(DeferredPermit),
    /// It is still being started, and the caller is in a hurry.
    Starting(BoxFuture<'static, ()>),
}
