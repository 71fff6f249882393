//! Handles that outlive their runtime.
//!
//! Start at [`HandleKeeper`], which a front end supplies. A spawn that is to be
//! kept reserves a place before the tool is started ([`KeptPlace::reserve`])
//! and is registered before it is answered ([`register`]). Closing a session
//! leaves its kept handles, dropping it ends them. [`Session::adopt`] takes
//! over the handles of an earlier runtime.

mod adopting;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use futures_util::future::join_all;
use parking_lot::Mutex;
use windlass_protocol::{
    HandleId, JobDescription, KeepRequest, KeptHandle, KeptProgramKey, KeptStamp, Limits, Millis,
    Start,
};

use crate::catalogue::RegisteredTool;
use crate::event::Status;
use crate::handle::Handle;
use crate::job::Job;
use crate::orders::new_order;
use crate::permission::GrantedBy;
use crate::session::{Session, SessionInner};

pub use adopting::{AdoptOutcome, AdoptedHandle};

/// Stores the files by which handles that outlive their runtime are found.
#[async_trait]
pub trait HandleKeeper: Send + Sync + 'static {
    /// Reserves a place for one more handle; the error explains why it is not
    /// kept. The place is released by [`HandleKeeper::forget`], or used by
    /// [`HandleKeeper::register`].
    async fn reserve(
        &self,
        handle: &HandleId,
        lease: Duration,
    ) -> Result<KeepRequest, NotKeptReason>;

    /// Identifies the machine and the version of holders.
    fn stamp(&self) -> KeptStamp;

    /// Writes the state of a running handle. From then on it outlives the
    /// runtime.
    fn register(&self, kept: &KeptHandle) -> Result<(), NotKeptReason>;

    /// Removes all files of a handle. A held program ends.
    fn forget(&self, name: &str);
}

/// The reason why a handle is not kept, for the assistant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotKeptReason(pub String);

/// Whether a handle is kept.
#[derive(Debug, Default)]
pub(crate) enum HandleKeeping {
    /// Not requested.
    #[default]
    Unasked,
    /// Kept.
    Kept(Box<KeptHandle>),
    /// Requested but refused, as the next reply reports.
    Refused(NotKeptReason),
    /// Left for the next runtime.
    Left,
    /// No longer kept, because its end was reported.
    Over,
}

/// A reserved place for a kept handle.
pub(crate) struct KeptPlace<'a> {
    keeper: &'a Arc<dyn HandleKeeper>,
    request: KeepRequest,
    used: bool,
}

impl<'a> KeptPlace<'a> {
    /// Reserves a place for a handle that is about to start, if it is to be
    /// kept. If that fails, its replies say so.
    pub(crate) async fn reserve(session: &'a SessionInner, handle: &Handle) -> Option<Self> {
        let id = handle.id()?;
        if handle.is_one_shot() {
            return None;
        }
        let tool = &handle.tool;
        let lease = tool.definition.lifecycle.lease(handle.wants_keeping())?;
        match Self::take(session, tool, id, lease).await {
            Ok(place) => Some(place),
            Err(reason) => {
                *handle.keeping.lock() = HandleKeeping::Refused(reason);
                None
            }
        }
    }

    async fn take(
        session: &'a SessionInner,
        tool: &RegisteredTool,
        id: &HandleId,
        lease: Duration,
    ) -> Result<Self, NotKeptReason> {
        let refused = |why: &str| NotKeptReason(why.to_owned());
        if !tool.executor().keeps() {
            return Err(refused("tools of this kind end with their runtime"));
        }
        let keeper = session.options.keeper.as_ref();
        let keeper = keeper.ok_or_else(|| refused("this session cannot keep handles"))?;
        let request = keeper.reserve(id, lease).await?;
        Ok(Self {
            keeper,
            request,
            used: false,
        })
    }

    pub(crate) fn request(&self) -> KeepRequest {
        self.request.clone()
    }

    /// Writes the state of the running tool, so that the next runtime finds it.
    pub(crate) fn register(
        mut self,
        session: &SessionInner,
        handle: &Handle,
        start: Start,
        job: &dyn Job,
    ) {
        let described = describe(session, handle, start, job, self.keeper.stamp());
        let registered = described.and_then(|kept| {
            self.keeper.register(&kept)?;
            Ok(kept)
        });
        *handle.keeping.lock() = match registered {
            Ok(kept) => {
                self.used = true;
                HandleKeeping::Kept(Box::new(kept))
            }
            // Its holder finds no file when this runtime dies, and ends it.
            Err(reason) => HandleKeeping::Refused(reason),
        };
    }
}

impl Drop for KeptPlace<'_> {
    fn drop(&mut self) {
        if !self.used {
            self.keeper.forget(&self.request.name);
        }
    }
}

fn describe(
    session: &SessionInner,
    handle: &Handle,
    start: Start,
    job: &dyn Job,
    stamp: KeptStamp,
) -> Result<KeptHandle, NotKeptReason> {
    let missing = || NotKeptReason("it cannot be kept on this system".to_owned());
    let key = job.key().ok_or_else(missing)?;
    let program: KeptProgramKey = serde_json::from_value(key.clone()).map_err(|_| missing())?;
    let lease_secs = start.keep.as_ref().map_or(0, |keep| keep.lease_secs);
    Ok(KeptHandle {
        stamp,
        key: program,
        session: session.id.clone(),
        session_name: session.options.name.clone(),
        project: session.options.root.clone(),
        front_end: session.options.front_end.clone(),
        client: session.client_name.get().cloned(),
        handle: handle.id().cloned().ok_or_else(missing)?,
        number: handle.number,
        call: handle.call.to_string(),
        tool: handle.tool.definition.name.clone(),
        title: handle.title().map(str::to_owned),
        by_rule: handle.granted_by() == GrantedBy::Rule,
        lease_secs,
        spawned: Millis::at(SystemTime::now()),
        lock: None,
        job: JobDescription { start, key, at: 0 },
    })
}

impl Handle {
    /// Whether it is kept and its end was not reported yet.
    pub(crate) fn is_kept(&self) -> bool {
        matches!(
            *self.keeping.lock(),
            HandleKeeping::Kept(_) | HandleKeeping::Left
        )
    }

    /// Whether it may be left for another session. One that is being ended is not, although its end may wait for its host.
    pub(crate) fn may_be_left(&self) -> bool {
        self.is_kept() && !self.status().is_being_ended()
    }

    /// Takes the note that it is not kept although this was requested.
    pub(crate) fn take_keeping_note(&self) -> Option<String> {
        let mut keeping = self.keeping.lock();
        let HandleKeeping::Refused(reason) = &*keeping else {
            return None;
        };
        let note = format!("not kept: {reason}; it ends when this session does");
        *keeping = HandleKeeping::Over;
        Some(note)
    }
}

impl SessionInner {
    /// Rewrites the state of a kept handle after `change`.
    pub(crate) fn update_kept(&self, handle: &Handle, change: impl FnOnce(&mut KeptHandle)) {
        let Some(keeper) = &self.options.keeper else {
            return;
        };
        if let HandleKeeping::Kept(kept) = &mut *handle.keeping.lock() {
            change(kept);
            if let Err(error) = keeper.register(kept) {
                tracing::warn!(%error, handle = %kept.handle, "its state cannot be updated");
            }
        }
    }

    /// Releases the handle if its kept program was replaced by one that is not
    /// kept.
    pub(crate) fn recheck_kept(&self, handle: &Handle) {
        let (Some(keeper), Some(job)) = (&self.options.keeper, handle.job()) else {
            return;
        };
        let mut keeping = handle.keeping.lock();
        if let HandleKeeping::Kept(kept) = &*keeping
            && job.key().is_none()
        {
            keeper.forget(kept.name());
            let reason = "the kept program was replaced by another program";
            *keeping = HandleKeeping::Refused(NotKeptReason(reason.to_owned()));
        }
    }

    /// Removes a handle whose end was reported. Processes that it left running
    /// can still be found.
    pub(crate) fn forget_kept(&self, handle: &Arc<Handle>) {
        let (Status::Stopped(ending), Some(keeper)) = (handle.status(), &self.options.keeper)
        else {
            return;
        };
        if ending.left_running > 0 {
            return;
        }
        let mut keeping = handle.keeping.lock();
        let HandleKeeping::Kept(kept) = &*keeping else {
            return;
        };
        // Without its file the holder ends should this process die now, and leaves no receipt.
        keeper.forget(kept.name());
        *keeping = HandleKeeping::Over;
        drop(keeping);
        let handle = Arc::clone(handle);
        windlass_task::spawn_tracked(&self.tasks, async move {
            if let Some(job) = handle.job() {
                job.abort(&new_order(), Limits::default().grace).await;
            }
        });
    }

    /// Releases a kept handle for the next runtime.
    pub(crate) async fn leave(&self, handle: &Handle) {
        let at = handle.job().map_or(0, |job| job.output().written());
        self.update_kept(handle, |kept| kept.job.at = at);
        // From here on its files may be another runtime's.
        *handle.keeping.lock() = HandleKeeping::Left;
        if let Some(job) = handle.job() {
            job.leave().await;
        }
    }
}

impl Session {
    /// The running kept handles, each with the time for which it is held after
    /// the session is closed.
    pub fn leases(&self) -> Vec<(HandleId, Duration)> {
        let handles = self.inner.registry.lock().all().into_iter();
        let running = handles.filter(|handle| !matches!(handle.status(), Status::Stopped(_)));
        running
            .filter_map(|handle| match &*handle.keeping.lock() {
                HandleKeeping::Kept(kept) => {
                    Some((kept.handle.clone(), Duration::from_secs(kept.lease_secs)))
                }
                _ => None,
            })
            .collect()
    }

    /// Releases the session's kept handles for another runtime. The session
    /// continues without them, and waiting calls are answered.
    /// [`Session::adopt`] takes them back.
    pub async fn leave_kept(&self) {
        let inner = &self.inner;
        let mut kept = inner.registry.lock().all();
        kept.retain(|handle| handle.may_be_left());
        join_all(kept.iter().map(|handle| inner.leave(handle))).await;
        for handle in kept {
            // From now on its files are the adopter's.
            *handle.keeping.lock() = HandleKeeping::Over;
            inner.registry.lock().remove(&handle);
            handle.retire();
        }
    }
}

/// A spawn's request to be kept, and its outcome.
pub(crate) type KeepingState = Mutex<HandleKeeping>;
