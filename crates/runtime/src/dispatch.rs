//! The path of a call, top to bottom. START HERE.
//!
//! ```text
//!  Batch ─parse─▶ Planned ─reserve─▶ Handle ─permit─▶ Start ─▶ Executor ─▶ Job
//!  BatchReply ◀────────────show──── Status ◀──fold── ToolEvent ◀──report───┘
//! ```
//!
//! A batch is read whole (`plan.rs`), the ids of its spawns are taken whole, and then its
//! calls run at once: those on one handle in call order, all others side by
//! side. Whatever goes wrong with one call is its own answer.

mod permitting;

use std::sync::Arc;

use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;
use windlass_protocol::{
    Arguments, Batch, BatchReply, CallReply, Ending, HandleAction, HandleId, Keyboard, LineRange,
    MessageId, Receipt, ToolCommand, Typing, View,
};

use crate::answer::{CallAnswer, reply};
use crate::arguments::{retyped, typed};
use crate::builtin::{BuiltinContext, BuiltinTool};
use crate::catalogue::RegisteredTool;
use crate::denied::RunsAgain;
use crate::event::Status;
use crate::handle::Handle;
use crate::inquiry;
use crate::job::Job;
use crate::one_shot::{OneShotGuard, TimeLimit, tell_previews, to_its_end};
use crate::orders::new_order;
use crate::part::CallPart;
use crate::permission::{GrantedBy, Permit};
use crate::plan::{Planned, PlannedWork, Reservation, in_lanes, plan};
use crate::refusal::Refusal;
use crate::run_options::RunOptions;
use crate::session::{Session, SessionInner, new_ulid};
use crate::show;
use crate::starting::{self, DeferredPermit, executor, start_where};
use permitting::Permitted;

impl Session {
    /// Runs the calls of a batch and answers them in call order.
    pub async fn run(&self, batch: Batch, options: RunOptions) -> BatchReply {
        let RunOptions {
            cancel,
            hurry,
            message,
        } = options;
        let run = BatchRun {
            session: self,
            cancel,
            hurry,
            message: message.unwrap_or_else(|| MessageId::from_suffix(&new_ulid())),
        };
        let mut planned: Vec<Planned> = batch
            .calls
            .into_iter()
            .map(|call| plan(self, call))
            .collect();
        let replies = match run.reserve(&mut planned) {
            Ok(()) => run.all(planned).await,
            Err(refusal) => run.refuse_all(planned, &refusal),
        };
        let mut notices = self.take_notices();
        self.inner.durable().await;
        notices.extend(self.inner.notice_record());
        BatchReply {
            batch: batch.id,
            replies,
            notices,
        }
    }
}

/// One batch in progress.
struct BatchRun<'a> {
    session: &'a Session,
    cancel: CancellationToken,
    hurry: CancellationToken,
    /// The id of the batch in the record and in permission requests.
    message: MessageId,
}

// ── Reserving ──────────────────────────────────────────────────────────────

impl BatchRun<'_> {
    /// Reserves the ids of all spawns, or of none.
    fn reserve(&self, planned: &mut [Planned]) -> Result<(), Refusal> {
        let inner = &self.session.inner;
        if inner.closing.is_cancelled() {
            return Err(Refusal::Closed);
        }
        let mut registry = inner.registry.lock();
        registry.check_free(planned.iter().filter_map(|call| match &call.work {
            Ok(PlannedWork::Handle {
                command: ToolCommand::Spawn { id, .. },
                ..
            }) => Some(id),
            _ => None,
        }))?;
        for call in planned {
            let Ok(PlannedWork::Handle {
                tool,
                command,
                reserved,
                before,
            }) = &mut call.work
            else {
                continue;
            };
            if let ToolCommand::Spawn { id, keep, .. } = command {
                let handle = Handle::new(inner, Arc::clone(tool), Some(id.clone()), &call.id);
                handle.wish_keeping(*keep);
                *before = registry.insert(&handle);
                *reserved = Some(Reservation(handle));
            } else {
                *before = registry.get(command.id().as_str());
            }
        }
        Ok(())
    }

    fn refuse_all(&self, planned: Vec<Planned>, refusal: &Refusal) -> Vec<CallReply> {
        let refusal = match refusal {
            Refusal::Taken(_) | Refusal::Twice(_) if planned.len() > 1 => {
                Refusal::WithBatch(Box::new(refusal.clone()))
            }
            other => other.clone(),
        };
        planned
            .into_iter()
            .map(|mut call| {
                let part = CallPart::created(&self.session.inner, &self.message, &mut call);
                reply(&part, Err(refusal.clone()))
            })
            .collect()
    }
}

// ── Running ────────────────────────────────────────────────────────────────

impl BatchRun<'_> {
    async fn all(&self, mut planned: Vec<Planned>) -> Vec<CallReply> {
        if planned.len() == 1
            && let Some(call) = planned.pop()
        {
            return vec![self.one(call).await];
        }
        let lanes = in_lanes(planned).into_iter().map(|lane| async move {
            let mut replies = Vec::with_capacity(lane.len());
            for (place, call) in lane {
                replies.push((place, self.one(call).await));
            }
            replies
        });
        let mut replies: Vec<_> = join_all(lanes).await.into_iter().flatten().collect();
        replies.sort_by_key(|(place, _)| *place);
        replies.into_iter().map(|(_, reply)| reply).collect()
    }

    async fn one(&self, mut call: Planned) -> CallReply {
        let part = CallPart::created(&self.session.inner, &self.message, &mut call);
        let answer = match call.work {
            Err(refusal) => Err(refusal),
            Ok(work) => {
                let answer = self.answer(&part, work);
                let answer = self.cancel.run_until_cancelled(answer);
                match self.session.inner.closing.run_until_cancelled(answer).await {
                    Some(Some(answer)) => answer,
                    Some(None) => Err(Refusal::Cancelled),
                    None => Err(Refusal::Closed),
                }
            }
        };
        reply(&part, answer)
    }

    /// Carries out a call. Slow paths are boxed, so that the future stays
    /// small.
    async fn answer(&self, call: &CallPart<'_>, work: PlannedWork) -> Result<CallAnswer, Refusal> {
        if work.starts_or_types() {
            self.session.inner.check_recorded().await?;
        }
        match work {
            PlannedWork::Builtin {
                tool,
                builtin,
                args,
            } => {
                call.running(&tool, &args);
                Box::pin(self.builtin(&*builtin, &args)).await
            }
            PlannedWork::OneShot { tool, args } => Box::pin(self.one_shot(call, &tool, args)).await,
            PlannedWork::Handle {
                tool,
                command,
                reserved,
                before,
            } => {
                if let ToolCommand::Spawn { id, args, .. } = command {
                    let reserved = reserved.expect("a batch runs only when its ids are taken");
                    self.tell_displaced(before.as_ref(), &id);
                    return Box::pin(self.spawn(call, &tool, &id, args, reserved)).await;
                }
                let session = &self.session.inner;
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
                    ToolCommand::Abort { id } => {
                        Box::pin(self.abort(call, &tool, &id, &handle)).await
                    }
                }
            }
        }
    }

    async fn builtin(
        &self,
        builtin: &dyn BuiltinTool,
        args: &Arguments,
    ) -> Result<CallAnswer, Refusal> {
        let context = BuiltinContext {
            cancellation: self.cancel.clone(),
            hurry: self.hurry.clone(),
            session: self.session.clone(),
        };
        let reply = builtin.execute(args, &context).await?;
        Ok(CallAnswer::builtin(&self.session.inner, reply))
    }

    /// Runs a tool to its end, and answers its questions.
    async fn one_shot(
        &self,
        call: &CallPart<'_>,
        tool: &Arc<RegisteredTool>,
        args: Arguments,
    ) -> Result<CallAnswer, Refusal> {
        let inner = &self.session.inner;
        let (args, by) = match self.permit(call, tool, None, args).await? {
            Permitted::Now(Permit::Run(args, by)) => (args, by),
            Permitted::Now(Permit::Skip) => return Ok(CallAnswer::skipped(tool)),
            Permitted::Later(permit) => {
                let handle = Handle::new(inner, Arc::clone(tool), None, &call.id);
                let id = starting::begin_one_shot(inner, &handle, permit);
                return Ok(self.show(&handle, &id, View::New));
            }
        };
        let again = tool.definition.sandbox.is_some().then(|| args.clone());
        let ran = self.run_one_shot(call, tool, args, by, false).await;
        if let (OneShotRun::Ended(_, ending), Some(args)) = (&ran, again)
            && !ending.denied.is_empty()
        {
            let runs_again = self.permit_again(call, tool, &args, ending).await;
            if runs_again != RunsAgain::No {
                let outside = runs_again == RunsAgain::Outside;
                let again = self.run_one_shot(call, tool, args, GrantedBy::Person, outside);
                return Ok(again.await.answer(inner));
            }
        }
        Ok(ran.answer(inner))
    }

    /// Runs a tool to its end, or until its caller is in a hurry.
    async fn run_one_shot(
        &self,
        call: &CallPart<'_>,
        tool: &Arc<RegisteredTool>,
        args: Arguments,
        by: GrantedBy,
        outside: bool,
    ) -> OneShotRun {
        let inner = &self.session.inner;
        let executor = executor(tool);
        let limit = TimeLimit::of(tool, executor, &args);
        let handle = Handle::new(inner, Arc::clone(tool), None, &call.id);
        handle.entitle(call.title());
        handle.granted(by);
        let one_shot_guard = OneShotGuard::new(inner, &handle);
        start_where(inner, &handle, executor, args, outside).await;
        let mut ended = Box::pin(to_its_end(Arc::clone(inner), Arc::clone(&handle), limit));
        let in_time = async {
            tokio::select! {
                biased;
                ending = &mut ended => ending,
                () = tell_previews(call, &handle) => unreachable!("previews are told for ever"),
            }
        };
        let in_time = self.hurry.run_until_cancelled(in_time).await;
        let ending = match in_time {
            Some(ending) => ending,
            None => match one_shot_guard.hand_over(ended) {
                Ok(id) => return OneShotRun::HandedOver(self.show(&handle, &id, View::New)),
                Err((_guard, ended)) => ended.await,
            },
        };
        OneShotRun::Ended(Arc::clone(&handle), ending)
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
                    self.start_spawned(call, tool, (id, handle), args).await;
                    SpawnProgress::Started
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
        let Receipt { ended, survivors } = handle.end(ABORTED).await;
        let mut view = show::show(&self.session.inner, handle, id, View::New);
        view.ended = Some(ended);
        if !survivors.is_empty() {
            let result = view.result.get_or_insert_default();
            result.push_str("; could not end ");
            result.push_str(&survivors.join(", "));
        }
        Ok(CallAnswer::view(&self.session.inner, view))
    }
}

pub(crate) const ABORTED: &str = "aborted by the assistant";

// ── The steps that calls share ─────────────────────────────────────────────

impl BatchRun<'_> {
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

    fn show(&self, handle: &Arc<Handle>, id: &HandleId, view: View) -> CallAnswer {
        let session = &self.session.inner;
        CallAnswer::view(session, show::show(session, handle, id, view))
    }
}

/// The outcome of a one-shot so far.
enum OneShotRun {
    Ended(Arc<Handle>, Ending),
    /// It continues as a handle.
    HandedOver(CallAnswer),
}

impl OneShotRun {
    fn answer(self, session: &SessionInner) -> CallAnswer {
        match self {
            Self::Ended(handle, ending) => CallAnswer::one_shot(session, &handle, ending),
            Self::HandedOver(answer) => answer,
        }
    }
}

/// The outcome of a spawn so far.
enum SpawnProgress {
    Started,
    Skipped,
    Asked(DeferredPermit),
}
