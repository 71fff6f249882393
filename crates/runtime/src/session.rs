//! A session: one conversation with its handles, journal and notices.
//!
//! [`Session::run`] is in `dispatch.rs`, [`Session::end_turn`] in `turn.rs`, and
//! the queue of notices in `notice.rs`.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::join_all;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use ulid::Ulid;
use windlass_protocol::{HandleId, Limits, Notice, PermissionRule, RecordTrouble, SessionId};

use crate::catalogue::{Catalogue, RegisteredTool};
use crate::denied::{OutsideOnce, RecentRules};
use crate::event::Status;
use crate::handle::Handle;
use crate::job::Job;
use crate::job_output::JobOutput;
use crate::journal::{Journal, SessionEvent};
use crate::late_permit::LatePermits;
use crate::left_out::LeftOutLines;
use crate::notice::{self, Notices};
use crate::part::Discretion;
use crate::past::LooseEnds;
use crate::pending::PendingRequests;
use crate::recorder::RecordFailure;
use crate::refusal::{HandleSummary, Refusal};
use crate::registry::Registry;
use crate::session_options::SessionOptions;
use crate::sessions::{SessionGuard, Sessions};
use crate::show;
use crate::stored::StoredResult;

/// The longest name of a client that is kept, in characters.
const CLIENT_NAME: usize = 64;

/// A session. Clones share it; dropping the last one ends everything that still
/// runs.
#[derive(Clone)]
pub struct Session {
    pub(crate) inner: Arc<SessionInner>,
    /// Stops the background tasks, which hold `inner` too, when it is dropped.
    pub(crate) session_guard: Arc<SessionGuard>,
}

pub(crate) struct SessionInner {
    pub(crate) id: SessionId,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) options: SessionOptions,
    pub(crate) registry: Mutex<Registry>,
    pub(crate) notices: Mutex<Notices>,
    pub(crate) requests: PendingRequests,
    /// The rules that "always" has created in this session, if there is no rule
    /// book.
    pub(crate) remembered: Mutex<Vec<PermissionRule>>,
    pub(crate) outside_once: Mutex<OutsideOnce>,
    pub(crate) recent_rules: Mutex<RecentRules>,
    /// The state of the record as last reported to the assistant.
    record_told: Mutex<Option<RecordTrouble>>,
    pub(crate) late_permits: LatePermits,
    pub(crate) tasks: TaskTracker,
    /// Cancelled when the session ends.
    pub(crate) closing: CancellationToken,
    /// Notified of every start, once limits are supervised.
    pub(crate) limit_watch: OnceLock<Arc<Notify>>,
    /// One-shots that run, by number.
    pub(crate) one_shots: Mutex<HashMap<u64, Arc<Handle>>>,
    /// Ended one-shots that a person has looked at, oldest first: the person
    /// may not have seen the end yet.
    ended_one_shots: Mutex<VecDeque<Arc<Handle>>>,
    pub(crate) left_out: LeftOutLines,
    /// The name of the client, once known.
    pub(crate) client_name: OnceLock<String>,
    sessions: Arc<Sessions>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) numbers: AtomicU64,
    /// Items that were open when this runtime took the session over.
    pub(crate) loose_ends: Mutex<LooseEnds>,
    /// Jobs whose tool has ended and left processes running.
    pub(crate) left: Mutex<Vec<Arc<dyn Job>>>,
}

impl Session {
    pub(crate) fn new(
        catalogue: Arc<Catalogue>,
        sessions: &Arc<Sessions>,
        mut options: SessionOptions,
    ) -> Self {
        let past = std::mem::take(&mut options.past);
        let id = options.id.clone();
        let id = id.unwrap_or_else(Self::new_id);
        let closing = CancellationToken::new();
        let capacity = options.journal_capacity.unwrap_or(4096);
        let (last, tools) = (past.last(), past.tools());
        let recorders = [options.event_log.clone(), options.recorder.clone()];
        let recorders = recorders.into_iter().flatten().collect();
        let (newest, loose_ends) = past.into_parts();
        let journal = Journal::resume(capacity, recorders, last, newest);
        let requests = PendingRequests::new(
            id.clone(),
            options.on_behalf.as_ref(),
            options.attendance,
            Arc::clone(&journal),
            closing.clone(),
        );
        let session_guard = Arc::new(SessionGuard::new(&closing, sessions, &id));
        let inner = Arc::new(SessionInner {
            id,
            catalogue,
            journal,
            registry: Mutex::new(Registry::new(options.stored_bytes.unwrap_or(STORED_BYTES))),
            options,
            notices: Mutex::default(),
            requests,
            remembered: Mutex::default(),
            outside_once: Mutex::default(),
            recent_rules: Mutex::default(),
            record_told: Mutex::default(),
            tasks: TaskTracker::new(),
            closing,
            limit_watch: OnceLock::new(),
            late_permits: LatePermits::default(),
            one_shots: Mutex::default(),
            ended_one_shots: Mutex::default(),
            left_out: LeftOutLines::default(),
            client_name: OnceLock::new(),
            sessions: Arc::clone(sessions),
            numbers: AtomicU64::new(tools),
            loose_ends: Mutex::new(loose_ends),
            left: Mutex::default(),
        });
        inner.catalogue.announcer().join(&inner);
        let session = Self {
            inner,
            session_guard,
        };
        sessions.add(&session);
        session
    }

    /// An id that no session has.
    pub fn new_id() -> SessionId {
        SessionId::from_suffix(&new_ulid())
    }

    /// The session works for another one, as an agent's does.
    pub fn works_for_another(&self) -> bool {
        self.inner.options.on_behalf.is_some()
    }

    /// The session's id.
    pub fn id(&self) -> &SessionId {
        &self.inner.id
    }

    /// Everything that happens in the session, in order.
    pub fn journal(&self) -> &Arc<Journal> {
        &self.inner.journal
    }

    /// Everything that a person is asked by this session.
    pub fn requests(&self) -> &PendingRequests {
        &self.inner.requests
    }

    /// The tools that its calls may use.
    pub fn tools(&self) -> &Catalogue {
        &self.inner.catalogue
    }

    /// Whether its driver needs no permissions.
    pub fn is_trusted(&self) -> bool {
        self.inner.options.trusted
    }

    /// The project's root folder.
    pub fn root(&self) -> &std::path::Path {
        &self.inner.options.root
    }

    /// The front end, if known.
    pub fn front_end(&self) -> Option<&str> {
        self.inner.options.front_end.as_deref()
    }

    /// The name that it was given.
    pub fn name(&self) -> Option<&str> {
        self.inner.options.name.as_deref()
    }

    /// Sets the name of the client that drives the session; its successor keeps
    /// it. Only the first call counts.
    pub fn set_client_name(&self, name: &str) {
        let _ = (self.inner.client_name).set(name.chars().take(CLIENT_NAME).collect());
    }

    /// The name of the client, if known.
    pub fn client_name(&self) -> Option<&str> {
        self.inner.client_name.get().map(String::as_str)
    }

    /// The handles that can be read, a line each, in the order in which they
    /// were spawned.
    pub fn handles(&self) -> Vec<HandleSummary> {
        self.inner.registry.lock().summaries()
    }

    /// The reason why the record is incomplete, if it is.
    pub fn record_trouble(&self) -> Option<RecordTrouble> {
        self.inner.record_trouble()
    }

    /// Takes the undelivered notices. Replies to batches already carry them;
    /// this is for other points of delivery.
    pub fn take_notices(&self) -> Vec<Notice> {
        let taken = self.inner.notices.lock().take();
        self.inner.tell_delivered(taken.numbers);
        for delivered in taken.delivered {
            delivered();
        }
        taken.notices
    }

    /// Queues a notice that does not concern a handle of this session, such as
    /// the loss of a server. Returns its number, for [`Session::withdraw`].
    pub fn notify(&self, notice: Notice) -> u64 {
        self.inner.add_notice(0, notice, None)
    }

    /// [`Session::notify`] with a callback for delivery. It is dropped if the
    /// notice is never delivered.
    pub fn notify_then(&self, notice: Notice, delivered: impl FnOnce() + Send + 'static) -> u64 {
        self.inner.add_notice(0, notice, Some(Box::new(delivered)))
    }

    /// Withdraws a notice of this number unless it was delivered.
    pub fn withdraw(&self, notice: u64) {
        let withdrawn = self.inner.notices.lock().withdraw_one(notice);
        self.inner.tell_delivered(withdrawn);
    }

    /// Ends the session: every handle that is not kept, every one-shot, and
    /// their leftover processes. Resolves when all of them are gone; a host that
    /// is unreachable ends its own after its lease. Kept handles are left for the session's successor, and their leases begin.
    /// Calls are refused from now on.
    pub async fn close(&self) {
        self.close_within(Duration::MAX).await;
    }

    /// [`Session::close`] with at most `grace` for each tool between TERM and KILL.
    pub async fn close_within(&self, grace: Duration) {
        let kept = {
            let mut kept = self.inner.registry.lock().all();
            kept.retain(|handle| handle.may_be_left());
            kept
        };
        self.inner.closing.cancel();
        join_all(kept.iter().map(|handle| self.inner.leave(handle))).await;
        self.end_others(&kept, grace).await;
    }

    /// [`Session::close`] that ends kept handles too.
    pub async fn end(&self, grace: Duration) {
        self.inner.closing.cancel();
        self.end_others(&[], grace).await;
    }

    /// Ends everything but these handles, which have been left.
    async fn end_others(&self, left_handles: &[Arc<Handle>], grace: Duration) {
        let inner = &self.inner;
        let mut active = inner.registry.lock().active();
        active.retain(|handle| !left_handles.iter().any(|left| left.number == handle.number));
        active.extend(inner.one_shots.lock().values().cloned());
        let endings = active
            .iter()
            .map(|handle| handle.end_within("the session ended", grace));
        for (handle, receipt) in active.iter().zip(join_all(endings).await) {
            match receipt {
                Some(_) => inner.forget_kept(handle),
                None => handle.give_up_host(),
            }
        }
        let mut left = std::mem::take(&mut *inner.left.lock());
        let is_left = |job: &Arc<dyn Job>| {
            let jobs = left_handles.iter().filter_map(|handle| handle.job());
            jobs.into_iter().any(|left| Arc::ptr_eq(left, job))
        };
        left.retain(|job| !is_left(job));
        let grace = grace.min(Limits::default().grace);
        join_all(left.iter().map(|job| inner.abort_job(job, grace))).await;
        inner.tasks.close();
        inner.tasks.wait().await;
        let gone = inner.registry.lock().forget_stopped(|_| true);
        drop(gone);
        inner.ended_one_shots.lock().clear();
        inner.left_out.clear();
        inner.journal.append(SessionEvent::Closed);
        inner.durable().await;
        inner.sessions.remove(&inner.id);
        let logs = inner.options.log_dir.as_ref();
        let keeps_logs = inner.options.keep_logs || !left_handles.is_empty();
        if let Some(log_dir) = logs.filter(|_| !keeps_logs) {
            // Nothing was logged when it is not there, and there is nobody
            // left to tell when it cannot be removed.
            let _ = std::fs::remove_dir_all(log_dir);
        }
    }
}

impl SessionInner {
    /// Jobs whose tool has ended and left processes running.
    pub(crate) fn left_jobs(&self) -> Vec<Arc<dyn Job>> {
        self.left.lock().clone()
    }

    pub(crate) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Resolves when all events so far would survive a crash.
    pub(crate) async fn durable(&self) {
        if let Some(recorder) = &self.options.recorder {
            recorder.durable().await;
        }
    }

    /// The reason why the record is incomplete, if it is.
    pub(crate) fn record_trouble(&self) -> Option<RecordTrouble> {
        self.options.recorder.as_ref()?.trouble()
    }

    /// Waits until all events so far would survive a crash. Returns the notice
    /// for a change of the record's state since the last call.
    pub(crate) async fn recorded(&self) -> Option<Notice> {
        let recorder = self.options.recorder.as_ref()?;
        recorder.durable().await;
        let now = recorder.trouble();
        let notice = {
            let mut told = self.record_told.lock();
            let notice = notice::of_record(told.as_ref(), now.as_ref())?;
            // Losses are counted from the last time that all was well.
            let lost = told.as_ref().map_or(0, |told| told.lost);
            let is_told_at_end = now.as_ref().is_none_or(|now| now.error.is_none());
            *told = now.map(|now| RecordTrouble {
                lost: if is_told_at_end || lost == 0 {
                    now.lost
                } else {
                    lost
                },
                ..now
            });
            notice
        };
        let number = self.journal.append(SessionEvent::Noticed(notice.clone()));
        self.tell_delivered(vec![number]);
        Some(notice)
    }

    /// Refuses a call that cannot be recorded, if so configured.
    pub(crate) async fn check_recorded(&self) -> Result<(), Refusal> {
        if self.options.record_failure == RecordFailure::GoOn {
            return Ok(());
        }
        self.durable().await;
        match self.record_trouble().and_then(|trouble| trouble.error) {
            Some(error) => Err(Refusal::NotRecorded { error }),
            None => Ok(()),
        }
    }

    /// The handle with this id, which must belong to this tool. Looked up
    /// unless it is given.
    pub(crate) fn find(
        &self,
        tool: &RegisteredTool,
        id: &HandleId,
        known: Option<Arc<Handle>>,
    ) -> Result<Arc<Handle>, Refusal> {
        let handle = known.map_or_else(|| self.lookup(id.as_str()), Ok)?;
        if handle.tool.name == tool.name {
            Ok(handle)
        } else {
            Err(Refusal::OtherTool {
                id: id.clone(),
                tool: handle.tool.definition.name.clone(),
            })
        }
    }

    /// The handle with this id, of any tool.
    pub(crate) fn lookup(&self, id: &str) -> Result<Arc<Handle>, Refusal> {
        let registry = self.registry.lock();
        registry.get(id).ok_or_else(|| Refusal::NotFound {
            id: id.chars().take(64).collect(),
            is_new: self.numbers.load(Ordering::Relaxed) == 0,
            handles: registry.summaries(),
        })
    }

    /// Whether text typed into the handle now may be disclosed.
    pub(crate) fn discretion(&self, id: &HandleId) -> Discretion {
        let Some(handle) = self.registry.lock().get(id.as_str()) else {
            return Discretion::Open;
        };
        let waits = matches!(handle.status(), Status::Waiting { question, .. } if question.secret);
        let terminal = handle.job().and_then(|job| job.terminal());
        match terminal {
            _ if waits => Discretion::Secret,
            Some(terminal) if terminal.hides_typing() => Discretion::Secret,
            Some(_) => Discretion::Unknown,
            None => Discretion::Open,
        }
    }

    /// Keeps a handle that has stopped whole, and stores only the results of
    /// the oldest ones.
    pub(crate) fn note_stopped(&self, handle: &Arc<Handle>) {
        let surplus = self.registry.lock().note_stopped(handle);
        for handle in surplus {
            self.put_away(&handle);
        }
    }
}

/// How many bytes of stored results a session keeps.
const STORED_BYTES: u64 = 64 << 20;

/// How many one-shots that have ended a person can still read.
const ENDED_ONE_SHOTS: usize = 4;

impl SessionInner {
    /// The one-shot with this id: a running one, or one that a person looked at
    /// while it ran.
    pub(crate) fn one_shot(&self, id: &str) -> Option<Arc<Handle>> {
        let is_meant = |handle: &&Arc<Handle>| handle.known_as().as_str() == id;
        let running = self.one_shots.lock().values().find(is_meant).cloned();
        let ended = || self.ended_one_shots.lock().iter().find(is_meant).cloned();
        let found = running.or_else(ended)?;
        found.looked_at.store(true, Ordering::Release);
        Some(found)
    }

    /// Keeps an ended one-shot that a person looks at.
    pub(crate) fn remember_one_shot(&self, handle: &Arc<Handle>) {
        let mut ended = self.ended_one_shots.lock();
        ended.push_back(Arc::clone(handle));
        while ended.len() > ENDED_ONE_SHOTS {
            ended.pop_front();
        }
    }

    /// Stores the result of a stopped handle that is no longer kept whole.
    fn put_away(&self, handle: &Arc<Handle>) {
        let Status::Stopped(ending) = handle.status() else {
            unreachable!("only stopped handles are put away");
        };
        if ending.left_running > 0 {
            // Aborting it ends what it left.
            return self.registry.lock().keep_whole(handle);
        }
        let Some(id) = handle.id() else {
            return;
        };
        let file = self.options.log_dir.as_ref();
        let file = file.map(|folder| folder.join(format!("{}.result.json", handle.number)));
        let views = show::views(handle, id, ending);
        let output = handle.output();
        let limit = handle.tool.definition.limits.output_limit as u64;
        let is_cut = |output: &JobOutput| {
            output.written() > limit || handle.left_out.load(Ordering::Acquire)
        };
        let logged = output.filter(is_cut).and_then(|output| output.logged());
        let stored = handle.with_stored(StoredResult::new(&views, file, logged));
        let gone = self.registry.lock().store(handle, stored);
        for handle in &gone {
            self.keep_left_out(handle);
        }
        for handle in gone.iter().filter(|handle| !handle.is_told()) {
            if let Some(notice) = notice::of_lost_result(handle) {
                self.push_notice(handle.number, notice);
            }
        }
    }
}

/// A new identifier's unique part.
pub(crate) fn new_ulid() -> String {
    Ulid::generate().to_string()
}
