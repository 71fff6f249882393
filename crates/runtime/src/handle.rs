//! A running instance of a tool, from the moment its id is taken.
//!
//! Events come in through [`Handle::take_in`], are folded into the status and
//! told to the journal and the notices before anyone can see the new status,
//! so that whoever learns of a change finds its trace complete.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use windlass_protocol::{
    Ending, HandleId, KeptHandle, Question, QuestionForm, Receipt, ToolEvent, ToolReport,
};

use crate::catalogue::RegisteredTool;
use crate::client::{CallOrigin, ToolClient};
use crate::cut::{question_within_limit, within_limit};
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
use crate::refusal::{HandleSummary, Refusal};
use crate::repetition::Repetition;
use crate::session::SessionInner;
use crate::stored::{self, StoredResult};
use crate::takeover::Lock;

/// Output that keeps coming is told to the journal this often.
const WROTE_INTERVAL: Duration = Duration::from_millis(100);

/// One running instance of a tool; a one-shot has no id.
pub(crate) struct Handle {
    /// Its number within the session.
    pub(crate) number: u64,
    /// It began as a one-shot, whatever it is called by now.
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
    /// Held by whoever acts on the handle, so that calls on it take turns.
    pub(crate) gate: tokio::sync::Mutex<()>,
    /// Cancelled when the handle is aborted before it started.
    pub(crate) withdrawn: CancellationToken,
    /// The end has been told to the assistant.
    pub(crate) told: Mutex<bool>,
    /// A person has taken the handle over.
    pub(crate) lock: Mutex<Option<Lock>>,
    /// Whether its spawn asked for it to be kept.
    wants_keeping: OnceLock<bool>,
    /// How it is kept beyond the runtime.
    pub(crate) keeping: KeepingState,
    ended: OnceLock<Instant>,
    /// A reply has left out lines of its output.
    pub(crate) left_out: AtomicBool,
    /// Its result, once that is not kept whole any longer.
    stored: Option<StoredResult>,
    status: watch::Sender<Status>,
    /// Whoever could have answered the open question has not. Read while the
    /// status is looked at, so it is no part of what the intake guards.
    given_up: AtomicBool,
    /// The open question was routed when it was asked. That of a one-shot is
    /// its call's to answer, also after the one-shot was handed over.
    routed: AtomicBool,
    /// The tool's words beside its open question.
    context: Mutex<Option<String>>,
    /// Answers to its questions that no person gave, and how much it had
    /// written at the last of them.
    repetition: Mutex<(Repetition, u64)>,
    /// The form that its open question is a field of.
    form: Mutex<Option<Box<QuestionForm>>>,
    job: OnceLock<Arc<dyn Job>>,
    intake: Mutex<Intake>,
    session: Weak<SessionInner>,
}

#[derive(Default)]
struct Intake {
    /// Events that came before there was a job to read from.
    early: Option<Vec<ToolReport>>,
    /// Bytes that the journal has not been told of yet.
    unjournalled: u64,
    /// The offset of the last report.
    at: u64,
    last_wrote: Option<Instant>,
    /// Somebody will tell the journal in time.
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

    /// A handle that another runtime has left. In the same session it has the same number.
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

    /// The handle again, with a stored result and without its job.
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

    /// Everything that it has written, as far as that is kept.
    pub(crate) fn output(&self) -> Option<JobOutput> {
        let logged = || self.stored.as_ref()?.logged().map(JobOutput::of_log);
        let job = self.job().map(|job| job.output().clone());
        job.or_else(logged)
    }

    /// Its result, where that is stored.
    pub(crate) fn stored(&self) -> Option<&StoredResult> {
        self.stored.as_ref()
    }

    /// How many bytes its stored result takes.
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

    /// Runs `decide` while no event is taken in, so that what it decides
    /// comes before an event or after it.
    pub(crate) fn between_events<T>(&self, decide: impl FnOnce() -> T) -> T {
        let _intake = self.intake.lock();
        decide()
    }

    /// The id by which a person finds it: its own, or one that says which tool
    /// a one-shot is a run of.
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

    /// Gives a one-shot the id by which it is found.
    pub(crate) fn find_by(&self, id: HandleId) {
        // Only the first one counts: somebody may know it already.
        let _ = self.alias.set(id);
    }

    /// It began as a call that runs to its end.
    pub(crate) fn is_one_shot(&self) -> bool {
        self.is_one_shot
    }

    /// Notes whether its spawn asked for it to be kept, if it said anything.
    pub(crate) fn wish_keeping(&self, keep: Option<bool>) {
        if let Some(keep) = keep {
            let _ = self.wants_keeping.set(keep);
        }
    }

    /// Whether its spawn asked for it to be kept, if it said anything.
    pub(crate) fn wants_keeping(&self) -> Option<bool> {
        self.wants_keeping.get().copied()
    }

    /// Says what it runs.
    pub(crate) fn entitle(&self, title: String) {
        // It is run once, and so said once.
        let _ = self.title.set(title);
    }

    /// Says who has permitted its start.
    pub(crate) fn granted(&self, by: GrantedBy) {
        // It is started once, and so permitted once.
        let _ = self.granted_by.set(by);
    }

    /// Who has permitted its start. One that was started later waited for a
    /// person.
    pub(crate) fn granted_by(&self) -> GrantedBy {
        let granted_by = self.granted_by.get();
        granted_by.copied().unwrap_or(GrantedBy::Person)
    }

    /// The command that it runs, or its arguments, once it may run.
    pub(crate) fn title(&self) -> Option<&str> {
        self.title.get().map(String::as_str)
    }

    /// Gives a one-shot the id that it goes by from now on.
    pub(crate) fn name(&self, id: HandleId) {
        if self.id.set(id).is_err() {
            unreachable!("only a one-shot is named, and once");
        }
    }

    pub(crate) fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// The status, with `telling` done before it can change: a notice of a
    /// later change is not withdrawn by mistake, nor an earlier one kept.
    pub(crate) fn tell(&self, telling: impl FnOnce(&Status)) -> Status {
        let status = self.status.borrow();
        telling(&status);
        status.clone()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.status.borrow().is_stopped()
    }

    /// There from the moment the tool runs.
    pub(crate) fn job(&self) -> Option<&Arc<dyn Job>> {
        self.job.get()
    }

    /// How long it has run, or ran.
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

    /// Resolves to the first status that `wanted` holds for, the present one
    /// included.
    pub(crate) async fn wait_until(&self, mut wanted: impl FnMut(&Status) -> bool) -> Status {
        let mut receiver = self.status.subscribe();
        match receiver.wait_for(|status| wanted(status)).await {
            Ok(status) => status.clone(),
            Err(_) => unreachable!("`self` holds the sender"),
        }
    }

    /// The tool runs: from here on its events count, those that came while it
    /// was being started first.
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

    /// The tool never ran: the handle stops with this error. Nothing happens
    /// to a handle that did start.
    pub(crate) fn never_started(self: &Arc<Self>, ending: Ending) {
        let mut intake = self.intake.lock();
        if self.job.get().is_none() {
            intake.early = None;
            self.apply(&mut intake, 0, &ToolEvent::Ended(ending));
        }
    }

    /// Aborts a handle that has not started, and so withdraws what a person
    /// was asked. Gives false when it has started.
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

    /// Another runtime has the tool from now on. Whoever waits for this handle
    /// is answered; nothing is told of it, since the tool goes on.
    pub(crate) fn retire(&self) {
        let message = "it is being moved to another runtime; make the call again";
        let ending = Ending::failed(message);
        self.status.send_replace(Status::Stopped(ending));
    }

    /// Takes in an event of the runtime's own, which happens now.
    fn take_in_own(self: &Arc<Self>, event: ToolEvent) {
        let at = self.job().map_or(0, |job| job.output().written());
        Arc::clone(self).take_in(ToolReport { at, event });
    }

    /// Answers the open question if it is still this one, so that the first
    /// answer wins.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        question: &Question,
        answer: Value,
    ) -> Result<(), Refusal> {
        let is_form = answer.is_object() && self.form.lock().is_some();
        let checked = if is_form {
            Ok(answer)
        } else {
            question.check(answer)
        };
        let answer = checked.map_err(|error| {
            if question.secret {
                // The error would tell what was given.
                Refusal::SecretNotString {
                    question: question.id.clone(),
                }
            } else {
                error.into()
            }
        })?;
        if !self.is_answered(question) {
            return Err(Refusal::AlreadyAnswered {
                question: question.id.clone(),
            });
        }
        let Some(job) = self.job() else {
            unreachable!("only a job asks");
        };
        let answered = job.answer(&new_order(), question, answer).await;
        answered.map_err(Refusal::from)
    }

    /// Somebody answers this question now. Gives false when it is no longer
    /// open.
    pub(crate) fn is_answered(self: &Arc<Self>, question: &Question) -> bool {
        let mut intake = self.intake.lock();
        let open = self.status.borrow().asks(question);
        if open {
            let at = self.job().map_or(0, |job| job.output().written());
            self.apply(&mut intake, at, &ToolEvent::Answered);
        }
        open
    }

    /// Nobody but the assistant will answer this question, should it still be
    /// open.
    pub(crate) fn give_up(&self, question: &Question) {
        let intake = self.intake.lock();
        let given_up = self.status.borrow().asks(question);
        self.given_up.store(given_up, Ordering::Release);
        drop(intake);
        // Whoever waits for the handle may have to think again.
        self.status.send_modify(|_| {});
    }

    /// Whoever could have answered the open question has not.
    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Acquire)
    }

    /// The open question was put to whoever can answer it when it was asked.
    pub(crate) fn is_routed(&self) -> bool {
        self.routed.load(Ordering::Acquire)
    }

    /// The tool's words beside its open question.
    pub(crate) fn context(&self) -> Option<String> {
        self.context.lock().clone()
    }

    /// Its question may be answered once more without a person. Counts as an
    /// answer.
    pub(crate) fn admits_answer(&self, question: &Question) -> bool {
        let content = self.context();
        let written = self.job().map_or(0, |job| job.output().written());
        // Contents are parted by a line break.
        let beside = content.as_ref().map_or(0, |content| content.len() + 1);
        let (repetition, before) = &mut *self.repetition.lock();
        let silent = written.saturating_sub(*before) <= beside as u64;
        *before = written;
        repetition.admits(question, content, silent)
    }

    /// The form that its open question is a field of.
    pub(crate) fn form(&self) -> Option<Box<QuestionForm>> {
        self.form.lock().clone()
    }

    /// Ends the tool; its end is told as `reason`. Resolves when everything it
    /// started is gone.
    pub(crate) async fn end(self: &Arc<Self>, reason: &str) -> Receipt {
        self.end_within(reason, Duration::MAX).await
    }

    /// The same, with less grace than the tool's own.
    pub(crate) async fn end_within(self: &Arc<Self>, reason: &str, grace: Duration) -> Receipt {
        if self.withdraw(reason) {
            return Receipt::default();
        }
        let Some(job) = self.job() else {
            return Receipt::default();
        };
        self.take_in_own(ToolEvent::Aborting {
            reason: reason.to_owned(),
        });
        let grace = grace.min(self.tool.definition.limits.grace);
        let receipt = job.abort(&new_order(), grace).await;
        // Executors report the end before they answer; should one not, the
        // handle must stop all the same.
        self.take_in_own(ToolEvent::Ended(Ending::failed(reason)));
        receipt
    }

    fn apply(self: &Arc<Self>, intake: &mut Intake, at: u64, event: &ToolEvent) {
        let Some(session) = self.session.upgrade() else {
            return;
        };
        intake.at = intake.at.max(at);
        let at = intake.at;
        if let ToolEvent::Wrote { bytes } = *event {
            self.apply_wrote(&session, intake, bytes);
            return;
        }
        if let ToolEvent::Asked { content, form, .. } = event {
            self.given_up.store(false, Ordering::Release);
            self.routed.store(self.id().is_some(), Ordering::Release);
            *self.context.lock() = content.as_deref().map(inquiry::shortened);
            self.form.lock().clone_from(form);
        }
        let event = match event {
            ToolEvent::Ended(ending) => match self.cut(&session, ending) {
                Cow::Borrowed(_) => Cow::Borrowed(event),
                Cow::Owned(ending) => Cow::Owned(ToolEvent::Ended(ending)),
            },
            ToolEvent::Asked {
                question,
                content,
                form,
            } => {
                let limit = self.tool.definition.limits.output_limit;
                match question_within_limit(question, limit) {
                    Cow::Borrowed(_) => Cow::Borrowed(event),
                    Cow::Owned(question) => Cow::Owned(ToolEvent::Asked {
                        question,
                        content: content.clone(),
                        form: form.clone(),
                    }),
                }
            }
            event => Cow::Borrowed(event),
        };
        let event = &*event;
        self.journal_output(&session, intake);
        let changed = self.status.send_if_modified(|status| {
            let Some(next) = fold(status, event) else {
                return false;
            };
            session.tell(self.event(at, event.clone()));
            // Whoever sees that it waits finds the request open.
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
        if changed {
            session.follow_up(self);
        }
    }

    /// The ending with no more of its result than a reply may hold.
    fn cut<'a>(&self, session: &SessionInner, ending: &'a Ending) -> Cow<'a, Ending> {
        if self.is_stopped() {
            return Cow::Borrowed(ending);
        }
        let limit = self.tool.definition.limits.output_limit;
        within_limit(ending, limit, || {
            let folder = session.options.log_dir.as_ref()?;
            Some(folder.join(format!("{}.result.log", self.number)))
        })
    }

    fn apply_wrote(self: &Arc<Self>, session: &Arc<SessionInner>, intake: &mut Intake, bytes: u64) {
        intake.unjournalled += bytes;
        session.notice_content(self);
        let next = intake.last_wrote.map(|last| last + WROTE_INTERVAL);
        match next {
            Some(next) if next > Instant::now() => self.journal_output_at(session, intake, next),
            _ => self.journal_output(session, intake),
        }
    }

    fn journal_output(&self, session: &SessionInner, intake: &mut Intake) {
        let bytes = std::mem::take(&mut intake.unjournalled);
        if bytes > 0 {
            intake.last_wrote = Some(Instant::now());
            session.tell(self.event(intake.at, ToolEvent::Wrote { bytes }));
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

    /// The last words before a silence are told too, a little later.
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
        session.tasks.spawn(async move {
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
