//! A running instance of a tool, from the reservation of its id.
//!
//! [`Handle::take_in`] folds events into the status. The journal and the
//! notices are updated before the new status becomes visible. Its open question
//! is in `handle/questions.rs`.

mod questions;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use windlass_protocol::{
    Ending, HandleId, KeptHandle, Question, QuestionForm, Receipt, ToolEvent, ToolReport,
};

use crate::catalogue::RegisteredTool;
use crate::client::{CallOrigin, ToolClient};
use crate::cut::{shorter_ending, shorter_question};
use crate::event::{Status, fold};
use crate::executor::ReportSink;
use crate::inquirer::Answered;
use crate::inquiry;
use crate::job::Job;
use crate::job_output::JobOutput;
use crate::journal::SessionEvent;
use crate::keeping::KeepingState;
use crate::orders::new_order;
use crate::permission::GrantedBy;
use crate::refusal::HandleSummary;
use crate::repetition::Repetition;
use crate::session::SessionInner;
use crate::stored::{self, StoredResult};
use crate::takeover::Lock;

/// The interval at which continuous output is journalled.
const WROTE_INTERVAL: Duration = Duration::from_millis(100);

/// One running instance of a tool; a one-shot has no id.
pub(crate) struct Handle {
    /// Its number within the session.
    pub(crate) number: u64,
    /// It began as a one-shot, even if it has an id now.
    is_one_shot: bool,
    /// Set from the start, or when a one-shot is handed over.
    id: OnceLock<HandleId>,
    /// The id by which a person finds a one-shot.
    alias: OnceLock<HandleId>,
    /// The command that it runs, or its arguments.
    title: OnceLock<String>,
    /// Who has permitted its start.
    granted_by: OnceLock<GrantedBy>,
    /// A person has looked at it while it was a one-shot.
    pub(crate) looked_at: AtomicBool,
    pub(crate) call: Arc<str>,
    pub(crate) tool: Arc<RegisteredTool>,
    pub(crate) began: Instant,
    /// Serialises calls on the handle.
    pub(crate) gate: tokio::sync::Mutex<()>,
    /// Cancelled when the handle is aborted before it started.
    pub(crate) withdrawn: CancellationToken,
    /// Whether its end was reported to the assistant.
    pub(crate) told: Mutex<bool>,
    /// A person has taken the handle over.
    pub(crate) lock: Mutex<Option<Lock>>,
    /// Whether its spawn asked for it to be kept.
    wants_keeping: OnceLock<bool>,
    /// Whether it is kept beyond the runtime.
    pub(crate) keeping: KeepingState,
    ended: OnceLock<Instant>,
    /// A reply has left out lines of its output.
    pub(crate) left_out: AtomicBool,
    /// Its result, if only that is stored.
    stored: Option<StoredResult>,
    status: watch::Sender<Status>,
    /// Those who could have answered the open question have not. Read while the
    /// status is examined, so it is not guarded by the intake's lock.
    given_up: AtomicBool,
    /// The open question was routed when it was asked. The question of a
    /// one-shot is answered by its call, even after a handover.
    routed: AtomicBool,
    /// The tool's words beside its open question.
    context: Mutex<Option<String>>,
    /// The answers to its questions that were not given by a person, and the
    /// size of its output at the last of them.
    repetition: Mutex<(Repetition, u64)>,
    /// The form that contains its open question.
    form: Mutex<Option<Box<QuestionForm>>>,
    job: OnceLock<Arc<dyn Job>>,
    intake: Mutex<Intake>,
    session: Weak<SessionInner>,
}

#[derive(Default)]
struct Intake {
    /// Events that arrived before the job.
    early: Option<Vec<ToolReport>>,
    /// The number of bytes that are not journalled yet.
    unjournalled: u64,
    /// The offset of the last report.
    at: u64,
    last_wrote: Option<Instant>,
    /// A journal entry is already scheduled.
    due: bool,
}

impl Handle {
    pub(crate) fn new(
        session: &Arc<SessionInner>,
        tool: Arc<RegisteredTool>,
        id: Option<HandleId>,
        call: &str,
    ) -> Arc<Self> {
        Self::numbered(session, session.next_number(), tool, id, call)
    }

    /// A handle that another runtime has left. In the same session it keeps its
    /// number.
    pub(crate) fn adopted(
        session: &Arc<SessionInner>,
        tool: Arc<RegisteredTool>,
        kept: &KeptHandle,
    ) -> Arc<Self> {
        let number = if kept.session == session.id {
            session.numbers.fetch_max(kept.number, Ordering::Relaxed);
            kept.number
        } else {
            session.next_number()
        };
        let id = Some(kept.handle.clone());
        Self::numbered(session, number, tool, id, &kept.call)
    }

    fn numbered(
        session: &Arc<SessionInner>,
        number: u64,
        tool: Arc<RegisteredTool>,
        id: Option<HandleId>,
        call: &str,
    ) -> Arc<Self> {
        Arc::new(Self {
            number,
            is_one_shot: id.is_none(),
            id: id.map_or_else(OnceLock::new, OnceLock::from),
            alias: OnceLock::new(),
            title: OnceLock::new(),
            granted_by: OnceLock::new(),
            looked_at: AtomicBool::new(false),
            call: call.into(),
            tool,
            began: Instant::now(),
            gate: tokio::sync::Mutex::new(()),
            withdrawn: CancellationToken::new(),
            told: Mutex::new(false),
            lock: Mutex::new(None),
            wants_keeping: OnceLock::new(),
            keeping: KeepingState::default(),
            ended: OnceLock::new(),
            left_out: AtomicBool::new(false),
            stored: None,
            status: watch::Sender::new(Status::Pending),
            given_up: AtomicBool::new(false),
            routed: AtomicBool::new(false),
            context: Mutex::new(None),
            repetition: Mutex::default(),
            form: Mutex::new(None),
            job: OnceLock::new(),
            intake: Mutex::new(Intake {
                early: Some(Vec::new()),
                ..Intake::default()
            }),
            session: Arc::downgrade(session),
        })
    }

    /// The handle with a stored result and without its job.
    pub(crate) fn with_stored(&self, result: StoredResult) -> Arc<Self> {
        let status = match &*self.status.borrow() {
            Status::Stopped(ending) => Status::Stopped(stored::outline(ending)),
            _ => unreachable!("only what a stopped handle came to is stored"),
        };
        Arc::new(Self {
            number: self.number,
            is_one_shot: self.is_one_shot,
            id: self.id.clone(),
            alias: OnceLock::new(),
            title: self.title.clone(),
            granted_by: self.granted_by.clone(),
            looked_at: AtomicBool::new(false),
            call: Arc::clone(&self.call),
            tool: Arc::clone(&self.tool),
            began: self.began,
            gate: tokio::sync::Mutex::new(()),
            withdrawn: self.withdrawn.clone(),
            told: Mutex::new(*self.told.lock()),
            lock: Mutex::new(None),
            wants_keeping: OnceLock::new(),
            keeping: Mutex::new(std::mem::take(&mut *self.keeping.lock())),
            ended: self.ended.clone(),
            left_out: AtomicBool::new(self.left_out.load(Ordering::Acquire)),
            stored: Some(result),
            status: watch::Sender::new(status),
            given_up: AtomicBool::new(false),
            routed: AtomicBool::new(false),
            context: Mutex::new(None),
            repetition: Mutex::default(),
            form: Mutex::new(None),
            job: OnceLock::new(),
            intake: Mutex::new(Intake::default()),
            session: self.session.clone(),
        })
    }

    /// Its stored output.
    pub(crate) fn output(&self) -> Option<JobOutput> {
        let logged = || self.stored.as_ref()?.logged().map(JobOutput::of_log);
        let job = self.job().map(|job| job.output().clone());
        job.or_else(logged)
    }

    /// Its result, where that is stored.
    pub(crate) fn stored(&self) -> Option<&StoredResult> {
        self.stored.as_ref()
    }

    /// The size of its stored result.
    pub(crate) fn stored_bytes(&self) -> u64 {
        self.stored.as_ref().map_or(0, StoredResult::bytes)
    }

    /// Its end has been told to the assistant.
    pub(crate) fn is_told(&self) -> bool {
        *self.told.lock()
    }

    /// Its id; a one-shot has none.
    pub(crate) fn id(&self) -> Option<&HandleId> {
        self.id.get()
    }

    /// Runs `decide` while no event is processed, so that its effect is ordered
    /// before or after each event.
    pub(crate) fn between_events<T>(&self, decide: impl FnOnce() -> T) -> T {
        let _intake = self.intake.lock();
        decide()
    }

    /// The id for people: its own, or for a one-shot one derived from its tool.
    pub(crate) fn known_as(&self) -> &HandleId {
        let alias = || {
            let id = format!("{}-{}", self.tool.name, self.number);
            HandleId::new(&id).unwrap_or_else(|_| {
                let id = format!("handle-{}", self.number);
                HandleId::new(&id).expect("these are an id's characters")
            })
        };
        self.id().unwrap_or_else(|| self.alias.get_or_init(alias))
    }

    /// Sets the id by which people find a one-shot.
    pub(crate) fn find_by(&self, id: HandleId) {
        // Only the first one counts: a client may use it already.
        let _ = self.alias.set(id);
    }

    /// It began as a call that runs to its end.
    pub(crate) fn is_one_shot(&self) -> bool {
        self.is_one_shot
    }

    /// Records whether its spawn asked for it to be kept.
    pub(crate) fn wish_keeping(&self, keep: Option<bool>) {
        if let Some(keep) = keep {
            let _ = self.wants_keeping.set(keep);
        }
    }

    /// Whether its spawn asked for it to be kept; `None` if it did not specify
    /// that.
    pub(crate) fn wants_keeping(&self) -> Option<bool> {
        self.wants_keeping.get().copied()
    }

    /// Sets its title.
    pub(crate) fn entitle(&self, title: String) {
        // It is run once, and so said once.
        let _ = self.title.set(title);
    }

    /// Records who has permitted its start.
    pub(crate) fn granted(&self, by: GrantedBy) {
        // It is started once, and so permitted once.
        let _ = self.granted_by.set(by);
    }

    /// Who has permitted its start. Default: a person.
    pub(crate) fn granted_by(&self) -> GrantedBy {
        let granted_by = self.granted_by.get();
        granted_by.copied().unwrap_or(GrantedBy::Person)
    }

    /// The command that it runs, or its arguments, once it may run.
    pub(crate) fn title(&self) -> Option<&str> {
        self.title.get().map(String::as_str)
    }

    /// Gives a one-shot an id, which makes it a handle.
    pub(crate) fn name(&self, id: HandleId) {
        if self.id.set(id).is_err() {
            unreachable!("only a one-shot is named, and once");
        }
    }

    pub(crate) fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// Runs `telling` with the status and returns the status. It cannot change
    /// meanwhile, so that exactly the notices of earlier changes are withdrawn.
    pub(crate) fn report_status(&self, telling: impl FnOnce(&Status)) -> Status {
        let status = self.status.borrow();
        telling(&status);
        status.clone()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.status.borrow().is_stopped()
    }

    /// The job, once the tool runs.
    pub(crate) fn job(&self) -> Option<&Arc<dyn Job>> {
        self.job.get()
    }

    /// Its run time.
    pub(crate) fn elapsed(&self) -> Duration {
        let until = self.ended.get().copied().unwrap_or_else(Instant::now);
        until.duration_since(self.began)
    }

    pub(crate) fn summary(&self) -> Option<HandleSummary> {
        Some(HandleSummary {
            id: self.id().cloned()?,
            tool: self.tool.definition.name.clone(),
            state: self.status.borrow().state(),
        })
    }

    /// Resolves to the first status that matches, including the current one.
    pub(crate) async fn wait_until(&self, mut wanted: impl FnMut(&Status) -> bool) -> Status {
        let mut receiver = self.status.subscribe();
        match receiver.wait_for(|status| wanted(status)).await {
            Ok(status) => status.clone(),
            Err(_) => unreachable!("`self` holds the sender"),
        }
    }

    /// Installs the job. Queued events are processed first.
    pub(crate) fn install(self: &Arc<Self>, job: Arc<dyn Job>) {
        let mut intake = self.intake.lock();
        if self.job.set(job).is_err() {
            unreachable!("a handle is started once");
        }
        self.apply(&mut intake, 0, &ToolEvent::Started);
        for ToolReport { at, event } in intake.early.take().unwrap_or_default() {
            self.apply(&mut intake, at, &event);
        }
    }

    /// Stops a handle whose tool never ran, with this error. Ignored if it did
    /// start.
    pub(crate) fn never_started(self: &Arc<Self>, ending: Ending) {
        let mut intake = self.intake.lock();
        if self.job.get().is_none() {
            intake.early = None;
            self.apply(&mut intake, 0, &ToolEvent::Ended(ending));
        }
    }

    /// Aborts a handle that has not started, which withdraws its permission
    /// request. Returns false if it has started.
    pub(crate) fn withdraw(self: &Arc<Self>, reason: &str) -> bool {
        let mut intake = self.intake.lock();
        if self.job.get().is_some() || self.is_stopped() {
            return false;
        }
        let reason = reason.to_owned();
        self.apply(&mut intake, 0, &ToolEvent::Aborting { reason });
        self.withdrawn.cancel();
        true
    }

    /// Stops the handle here because another runtime has its tool. Waiters are
    /// woken; nothing is reported, since the tool continues.
    pub(crate) fn retire(&self) {
        let message = "the handle is being moved to another runtime; make the call again";
        let ending = Ending::failed(message);
        self.status.send_replace(Status::Stopped(ending));
    }

    /// Processes an event of the runtime itself, at the current offset.
    fn take_in_own(self: &Arc<Self>, event: ToolEvent) {
        let at = self.job().map_or(0, |job| job.output().written());
        Arc::clone(self).take_in(ToolReport { at, event });
    }

    /// Ends the tool with `reason`. Resolves when all its processes are gone.
    /// Returns `None` if its host is unreachable: the tool is then ended when
    /// the host is reachable again, unless the session closes before.
    pub(crate) async fn end(self: &Arc<Self>, reason: &str) -> Option<Receipt> {
        self.end_within(reason, Duration::MAX).await
    }

    /// [`Handle::end`] with a shorter grace than the tool's own.
    pub(crate) async fn end_within(
        self: &Arc<Self>,
        reason: &str,
        grace: Duration,
    ) -> Option<Receipt> {
        if self.withdraw(reason) {
            return Some(Receipt::default());
        }
        let Some(job) = self.job() else {
            return Some(Receipt::default());
        };
        self.take_in_own(ToolEvent::Aborting {
            reason: reason.to_owned(),
        });
        let grace = grace.min(self.tool.definition.limits.grace);
        let receipt = match self.session.upgrade() {
            Some(session) => session.abort_job(job, grace).await?,
            None => job.abort(&new_order(), grace).await,
        };
        // Executors report the end before they answer; should one not, the
        // handle must stop all the same.
        self.take_in_own(ToolEvent::Ended(Ending::failed(reason)));
        Some(receipt)
    }

    /// Stops the handle after [`Handle::end`] has not reached its host.
    pub(crate) fn give_up_host(self: &Arc<Self>) {
        self.take_in_own(ToolEvent::Ended(Ending {
            reported: true,
            ..Ending::failed("its host is unreachable, and ends the tool by itself")
        }));
    }

    fn apply(self: &Arc<Self>, intake: &mut Intake, at: u64, event: &ToolEvent) {
        let Some(session) = self.session.upgrade() else {
            return;
        };
        intake.at = intake.at.max(at);
        let at = intake.at;
        if let ToolEvent::Wrote { bytes } = *event {
            intake.unjournalled += bytes;
            session.notice_content(self);
            match intake.last_wrote.map(|last| last + WROTE_INTERVAL) {
                Some(next) if next > Instant::now() => {
                    self.journal_output_at(&session, intake, next);
                }
                _ => self.journal_output(&session, intake),
            }
            return;
        }
        if let ToolEvent::Asked { content, form, .. } = event {
            self.given_up.store(false, Ordering::Release);
            self.routed.store(self.id().is_some(), Ordering::Release);
            *self.context.lock() = content.as_deref().map(inquiry::shortened);
            self.form.lock().clone_from(form);
        }
        let event = &*self.within_limit(&session, event);
        self.journal_output(&session, intake);
        let changed = self.status.send_if_modified(|status| {
            let Some(next) = fold(status, event) else {
                return false;
            };
            session.journal.append(self.event(at, event.clone()));
            // A client that sees the handle waiting finds the request open.
            if let (ToolEvent::Asked { question, .. }, true) = (event, self.is_routed()) {
                inquiry::route(&session, self, question.clone());
            }
            session.notice_change(self, &next);
            if next.is_stopped() {
                let _ = self.ended.set(Instant::now());
            }
            *status = next;
            true
        });
        if changed && self.is_stopped() {
            session.note_stopped(self);
        }
    }

    /// The event with no more text than a reply may hold.
    fn within_limit<'a>(&self, session: &SessionInner, event: &'a ToolEvent) -> Cow<'a, ToolEvent> {
        let limit = self.tool.definition.limits.output_limit;
        let shorter = match event {
            ToolEvent::Ended(ending) if !self.is_stopped() => {
                let log = || {
                    let folder = session.options.log_dir.as_ref()?;
                    Some(folder.join(format!("{}.result.log", self.number)))
                };
                shorter_ending(ending, limit, log).map(ToolEvent::Ended)
            }
            ToolEvent::Asked {
                question,
                content,
                form,
            } => shorter_question(question, limit).map(|question| ToolEvent::Asked {
                question,
                content: content.clone(),
                form: form.clone(),
            }),
            _ => None,
        };
        shorter.map_or(Cow::Borrowed(event), Cow::Owned)
    }

    fn journal_output(&self, session: &SessionInner, intake: &mut Intake) {
        let bytes = std::mem::take(&mut intake.unjournalled);
        if bytes > 0 {
            intake.last_wrote = Some(Instant::now());
            session
                .journal
                .append(self.event(intake.at, ToolEvent::Wrote { bytes }));
        }
    }

    fn event(&self, at: u64, event: ToolEvent) -> SessionEvent {
        let handle = self.id().cloned();
        SessionEvent::Tool {
            number: self.number,
            one_shot: handle.is_none().then(|| self.known_as().clone()),
            handle,
            at,
            event,
        }
    }

    /// Journals output at a limited rate. The last bytes before a silence
    /// follow a little later.
    fn journal_output_at(
        self: &Arc<Self>,
        session: &SessionInner,
        intake: &mut Intake,
        at: Instant,
    ) {
        if std::mem::replace(&mut intake.due, true) {
            return;
        }
        let handle = Arc::downgrade(self);
        let closing = session.closing.clone();
        windlass_task::spawn_tracked(&session.tasks, async move {
            closing
                .run_until_cancelled(tokio::time::sleep_until(at))
                .await;
            let Some(handle) = handle.upgrade() else {
                return;
            };
            let Some(session) = handle.session.upgrade() else {
                return;
            };
            let mut intake = handle.intake.lock();
            intake.due = false;
            handle.journal_output(&session, &mut intake);
        });
    }
}

impl ReportSink for Handle {
    /// Takes in what an executor reports.
    fn take_in(self: Arc<Self>, report: ToolReport) {
        let mut intake = self.intake.lock();
        if let Some(early) = &mut intake.early {
            early.push(report);
            return;
        }
        self.apply(&mut intake, report.at, &report.event);
    }

    fn client(&self) -> Option<ToolClient> {
        let session = self.session.upgrade()?;
        Some(ToolClient {
            client: session.options.client.clone()?,
            origin: CallOrigin {
                call: Arc::clone(&self.call),
                handle: self.id().cloned(),
            },
        })
    }

    fn ask_person(self: Arc<Self>, question: Question) -> BoxFuture<'static, Answered> {
        Box::pin(async move {
            let Some(session) = self.session.upgrade() else {
                return Answered::Nobody;
            };
            inquiry::ask_person(&session, &self, &question).await
        })
    }
}
