//! The path of a call, top to bottom. START HERE.
//!
//! ```text
//!  Batch ─plan─▶ PlannedCall ─reserve─▶ Handle ─permit─▶ Start ─▶ Executor ─▶ Job
//!  BatchReply ◀────────────show──── Status ◀──fold── ToolEvent ◀──report───┘
//! ```
//!
//! A batch is read whole, the ids of its spawns are taken whole, and then its
//! calls run at once: those on one handle in call order, all others side by
//! side (`dispatch/lanes.rs`). Whatever goes wrong with one call is its own
//! answer. This file has one-shots from the call to the reply; calls on handles
//! continue in `dispatch/handles.rs`.

mod handles;
mod lanes;
mod permitting;

use std::sync::Arc;

use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;
use windlass_protocol::{
    Arguments, Batch, BatchReply, CallReply, Ending, HandleAction, HandleId, MessageId, ParseError,
    Request, RunMode, Start, ToolCall, ToolCommand, View, parse,
};

use crate::arguments::without_nulls;
use crate::builtin::{BuiltinContext, BuiltinTool};
use crate::catalogue::{RegisteredTool, Runs};
use crate::denied::RunsAgain;
use crate::executor::Reporter;
use crate::handle::Handle;
use crate::keeping::KeptPlace;
use crate::one_shot::{OneShotGuard, run_to_its_end, tell_previews};
use crate::part::CallPart;
use crate::permission::{self, GrantedBy};
use crate::refusal::Refusal;
use crate::rules::speak;
use crate::session::{Session, SessionInner, new_ulid};
use crate::session_limits;
use crate::show::{self, CallAnswer};
use crate::starting::{self, Reservation};
pub(crate) use handles::ABORTED;
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
        let calls = batch.calls.into_iter();
        let mut planned: Vec<PlannedCall> = calls.map(|call| run.plan(call)).collect();
        let replies = match run.reserve(&mut planned) {
            Ok(()) => match planned.pop() {
                Some(call) if planned.is_empty() => vec![run.one(call).await],
                last => run.in_lanes(planned.into_iter().chain(last)).await,
            },
            Err(refusal) => run.refuse_all(planned, &refusal),
        };
        let mut notices = self.take_notices();
        notices.extend(self.inner.recorded().await);
        BatchReply {
            batch: batch.id,
            replies,
            notices,
        }
    }
}

/// Options for [`Session::run`]. The default waits until all calls are done.
///
/// The caller keeps clones of the tokens, and cancels them while the batch
/// runs.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Cancels the batch: unanswered calls are refused as cancelled, their
    /// one-shots are ended, handles continue.
    pub cancel: CancellationToken,
    /// Requests replies at once: an `await` returns as on a timeout, and a
    /// one-shot that still runs, or waits for permission, continues as a handle
    /// named in its reply.
    pub hurry: CancellationToken,
    /// The message of the conversation that holds these calls, in the record
    /// and in requests for permission. Default: a new one.
    pub message: Option<MessageId>,
}

impl RunOptions {
    /// The default, with this token as `cancel`.
    pub fn until(cancel: &CancellationToken) -> Self {
        Self {
            cancel: cancel.clone(),
            ..Self::default()
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

// ── Reading and reserving ──────────────────────────────────────────────────

/// A parsed call.
pub(crate) struct PlannedCall {
    pub(crate) id: Arc<str>,
    pub(crate) tool: Arc<str>,
    pub(crate) work: Result<PlannedWork, Refusal>,
    /// The original arguments, for the record.
    pub(crate) input: Arc<Arguments>,
}

/// The operation of a call.
pub(crate) enum PlannedWork {
    Builtin {
        tool: Arc<RegisteredTool>,
        builtin: Arc<dyn BuiltinTool>,
        args: Arguments,
    },
    OneShot {
        tool: Arc<RegisteredTool>,
        args: Arguments,
    },
    Handle(HandleCall),
}

/// A call on a handle.
pub(crate) struct HandleCall {
    pub(crate) tool: Arc<RegisteredTool>,
    pub(crate) command: ToolCommand,
    /// A spawn's own handle, once its id is reserved.
    reserved: Option<Reservation>,
    /// The handle that had the id when the batch was reserved: the target of
    /// calls before a spawn of the same id, and the one that the spawn
    /// replaces.
    before: Option<Arc<Handle>>,
}

impl BatchRun<'_> {
    /// Parses a call. Raw JSON is not examined after this; a parse error
    /// becomes the call's own refusal.
    fn plan(&self, call: ToolCall) -> PlannedCall {
        let catalogue = &self.session.inner.catalogue;
        let known = catalogue.get(&call.tool);
        let input = Arc::new(call.arguments.clone());
        let read =
            |arguments: Arguments| {
                let tool = known.ok_or_else(|| catalogue.missing(&call.tool))?;
                let arguments = match tool.runs {
                    Runs::Builtin(_) => without_nulls(arguments),
                    Runs::Executor(_) => arguments,
                };
                let mut request = parse(&tool.definition.shape, arguments).map_err(|error| {
                let lost =
                    matches!(error, ParseError::MissingId(action) if action != HandleAction::Spawn);
                Refusal::Unreadable {
                    handles: if lost { self.session.handles() } else { Vec::new() },
                    error,
                }
            })?;
                if let Request::OneShot { args }
                | Request::Handle(ToolCommand::Spawn { args, .. }) = &mut request
                {
                    *args = tool.validate(std::mem::take(args))?;
                }
                let tool = Arc::clone(tool);
                Ok(match (request, &tool.runs) {
                    (Request::OneShot { args }, Runs::Builtin(builtin)) => PlannedWork::Builtin {
                        builtin: Arc::clone(builtin),
                        tool,
                        args,
                    },
                    (Request::OneShot { args }, Runs::Executor(_)) => {
                        PlannedWork::OneShot { tool, args }
                    }
                    (Request::Handle(command), _) => PlannedWork::Handle(HandleCall {
                        tool,
                        command,
                        reserved: None,
                        before: None,
                    }),
                })
            };
        PlannedCall {
            tool: known.map_or_else(|| call.tool.as_str().into(), |tool| Arc::clone(&tool.name)),
            work: read(call.arguments),
            id: call.id.into(),
            input,
        }
    }

    /// Reserves the ids of all spawns, or of none.
    fn reserve(&self, planned: &mut [PlannedCall]) -> Result<(), Refusal> {
        let inner = &self.session.inner;
        if inner.closing.is_cancelled() {
            return Err(Refusal::Closed);
        }
        let mut registry = inner.registry.lock();
        registry.check_free(planned.iter().filter_map(|call| match &call.work {
            Ok(PlannedWork::Handle(HandleCall {
                command: ToolCommand::Spawn { id, .. },
                ..
            })) => Some(id),
            _ => None,
        }))?;
        for call in planned {
            let Ok(PlannedWork::Handle(on)) = &mut call.work else {
                continue;
            };
            if let ToolCommand::Spawn { id, keep, .. } = &on.command {
                let tool = Arc::clone(&on.tool);
                let handle = Handle::new(inner, tool, Some(id.clone()), &call.id);
                handle.wish_keeping(*keep);
                on.before = registry.insert(&handle);
                on.reserved = Some(Reservation(handle));
            } else {
                on.before = registry.get(on.command.id().as_str());
            }
        }
        Ok(())
    }

    fn refuse_all(&self, planned: Vec<PlannedCall>, refusal: &Refusal) -> Vec<CallReply> {
        let refusal = match refusal {
            Refusal::Taken(_) | Refusal::Twice(_) if planned.len() > 1 => {
                Refusal::WithBatch(Box::new(refusal.clone()))
            }
            other => other.clone(),
        };
        let refused = planned.into_iter().map(|mut call| {
            let part = CallPart::created(&self.session.inner, &self.message, &mut call);
            part.ended(Err(refusal.clone()))
        });
        refused.collect()
    }
}

// ── Running ────────────────────────────────────────────────────────────────

impl BatchRun<'_> {
    /// Runs a call, and records it. Slow paths are boxed, so that the future
    /// stays small.
    async fn one(&self, mut call: PlannedCall) -> CallReply {
        let part = CallPart::created(&self.session.inner, &self.message, &mut call);
        let answer = match call.work {
            Err(refusal) => Err(refusal),
            Ok(work) => {
                let answer = async {
                    match work {
                        PlannedWork::Builtin {
                            tool,
                            builtin,
                            args,
                        } => {
                            part.running(&tool, &args);
                            Box::pin(self.builtin(&*builtin, &args)).await
                        }
                        PlannedWork::OneShot { tool, args } => {
                            Box::pin(self.one_shot(&part, &tool, args)).await
                        }
                        PlannedWork::Handle(on) => self.on_handle(&part, on).await,
                    }
                };
                let answer = self.cancel.run_until_cancelled(answer);
                match self.session.inner.closing.run_until_cancelled(answer).await {
                    Some(Some(answer)) => answer,
                    Some(None) => Err(Refusal::Cancelled),
                    None => Err(Refusal::Closed),
                }
            }
        };
        part.ended(answer)
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

    /// Runs a tool to its end, and answers its questions. A caller in a hurry
    /// is answered with a handle instead. If the sandbox denies something, a
    /// person may let the tool run once more.
    async fn one_shot(
        &self,
        call: &CallPart<'_>,
        tool: &Arc<RegisteredTool>,
        args: Arguments,
    ) -> Result<CallAnswer, Refusal> {
        let inner = &self.session.inner;
        inner.check_recorded().await?;
        let (mut args, mut by) = match self.permit(call, tool, None, args).await? {
            Permitted::Now(Permit::Run(args, by)) => (args, by),
            Permitted::Now(Permit::Skip) => return Ok(CallAnswer::skipped(tool)),
            Permitted::Later(permit) => {
                let handle = Handle::new(inner, Arc::clone(tool), None, &call.id);
                let id = starting::begin_one_shot(inner, &handle, permit);
                return Ok(self.show(&handle, &id, View::New));
            }
        };
        let mut outside = false;
        // The arguments of a second run.
        let mut again = tool.definition.sandbox.is_some().then(|| args.clone());
        loop {
            let handle = Handle::new(inner, Arc::clone(tool), None, &call.id);
            handle.entitle(call.title());
            handle.granted(by);
            let ending = {
                let one_shot_guard = OneShotGuard::new(inner, &handle);
                let (session, started) = (Arc::clone(inner), Arc::clone(&handle));
                let mut ended = Box::pin(run_to_its_end(session, started, args, outside));
                let previews = tell_previews(call, &handle);
                let in_time = async {
                    tokio::select! {
                        biased;
                        ending = &mut ended => ending,
                        () = previews => unreachable!("previews are told for ever"),
                    }
                };
                let in_time = self.hurry.run_until_cancelled(in_time).await;
                match in_time {
                    Some(ending) => ending,
                    None => match one_shot_guard.hand_over(ended) {
                        Ok(id) => return Ok(self.show(&handle, &id, View::New)),
                        Err((_guard, ended)) => ended.await,
                    },
                }
            };
            let Some(again) = again.take().filter(|_| !ending.denied.is_empty()) else {
                return Ok(CallAnswer::one_shot(inner, &handle, ending));
            };
            match self.permit_again(call, tool, &again, &ending).await {
                RunsAgain::No => return Ok(CallAnswer::one_shot(inner, &handle, ending)),
                runs_again => outside = runs_again == RunsAgain::Outside,
            }
            (args, by) = (again, GrantedBy::Person);
        }
    }

    /// The permission that needs neither a rule nor a person, if the tool's
    /// policy for the action grants one; otherwise returns the arguments.
    fn permit_by_policy(
        &self,
        tool: &RegisteredTool,
        action: Option<HandleAction>,
        args: Arguments,
    ) -> Result<Permit, Arguments> {
        let session = &self.session.inner;
        let definition = &tool.definition;
        let mode = permission::mode(session, tool, action);
        if mode == RunMode::Skip {
            return Ok(Permit::Skip);
        }
        let ruled = !definition.permissions.is_empty() || !definition.permission_floor.is_empty();
        let unasked = mode == RunMode::Unattended && !ruled;
        if session.options.trusted || unasked || !speak(action, mode) {
            return Ok(Permit::Run(args, GrantedBy::Policy));
        }
        Err(args)
    }

    /// Asks whether the call may run. Returns early for a caller in a hurry.
    async fn permit(
        &self,
        call: &CallPart<'_>,
        tool: &Arc<RegisteredTool>,
        action: Option<HandleAction>,
        args: Arguments,
    ) -> Result<Permitted, Refusal> {
        let permit = match self.permit_by_policy(tool, action, args) {
            Ok(permit) => permit,
            Err(args) => {
                let asking = self.asking(call, tool, action);
                let mut permitted = asking.permit(args).boxed();
                let Some(granted) = self.hurry.run_until_cancelled(&mut permitted).await else {
                    let permitted = permitted.map(|granted| granted.map(|(args, _)| args));
                    return Ok(Permitted::Later(permitted.boxed()));
                };
                let (args, by) = granted?;
                Permit::Run(args, by)
            }
        };
        if let Permit::Run(args, _) = &permit {
            call.running(tool, args);
        }
        Ok(Permitted::Now(permit))
    }

    fn show(&self, handle: &Arc<Handle>, id: &HandleId, view: View) -> CallAnswer {
        let session = &self.session.inner;
        CallAnswer::view(session, show::show(session, handle, id, view))
    }
}

/// A granted permission.
pub(crate) enum Permit {
    /// It runs, with these arguments.
    Run(Arguments, GrantedBy),
    /// It does not run, and that is no error.
    Skip,
}

/// Starts a handle's tool; `outside` if a person has allowed it to run outside
/// of its sandbox. A failure ends the handle.
pub(crate) async fn start(
    session: &Arc<SessionInner>,
    handle: &Arc<Handle>,
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
    let place = place.map(|place| (place, start.clone()));
    let started = handle.tool.executor().start(start, Reporter::to(handle));
    match started.await {
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
