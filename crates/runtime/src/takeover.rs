//! A person takes a handle over, types into it and hands it back.
//!
//! Start at [`HandleRef::lock`]. While a handle is locked, the assistant's
//! `apply` is refused; a notice reports when it is handed back. Text that a
//! person types goes only to the program: it is not in the journal, the record
//! or a log.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use windlass_protocol::{HandleId, KeptLock, Keyboard, NoticeKind, NoticeLevel, advice};

use crate::event::Status;
use crate::handle::Handle;
use crate::job::JobTerminal;
use crate::journal::SessionEvent;
use crate::notice;
use crate::onlooker::HandleRef;
use crate::orders::new_order;
use crate::refusal::Refusal;
use crate::session::{SessionInner, new_ulid};

/// A person's lock on a handle.
#[derive(Debug, Clone)]
pub(crate) struct Lock {
    id: String,
    lease: Duration,
    until: Instant,
    /// The size of the output when it was taken.
    written: u64,
    /// The rows and columns of its terminal when it was taken.
    size: Option<(u16, u16)>,
}

impl HandleRef {
    /// Takes the handle over until it is handed back, or until nothing was
    /// typed for the `lease`. Returns the name of the lock, which is required
    /// for typing. Refused while someone else has it.
    pub fn lock(&self, lease: Duration) -> Result<String, Refusal> {
        let lock = self.new_lock(lease)?;
        let id = lock.id.clone();
        {
            let mut held = self.handle.lock.lock();
            if held.is_some() {
                return Err(self.somebody_else());
            }
            *held = Some(lock);
        }
        self.locked(&id);
        Ok(id)
    }

    /// Takes the handle over even if someone else has it: their lock becomes
    /// invalid. The assistant is not told, since a person still types.
    pub fn lock_anyway(&self, lease: Duration) -> Result<String, Refusal> {
        let mut lock = self.new_lock(lease)?;
        let id = lock.id.clone();
        let was_held = {
            let mut held = self.handle.lock.lock();
            if let Some(before) = held.take() {
                // It is handed back as it was before anybody took it.
                (lock.written, lock.size) = (before.written, before.size);
                *held = Some(lock);
                true
            } else {
                *held = Some(lock);
                false
            }
        };
        if was_held {
            let handle = self.id.clone();
            self.session
                .journal
                .append(SessionEvent::Unlocked { handle });
        }
        self.locked(&id);
        Ok(id)
    }

    fn new_lock(&self, lease: Duration) -> Result<Lock, Refusal> {
        let job = self.job()?;
        Ok(Lock {
            id: format!("lck_{}", new_ulid()),
            lease,
            until: Instant::now() + lease,
            written: job.output().written(),
            size: job.terminal().map(|terminal| size(&*terminal)),
        })
    }

    fn locked(&self, lock: &str) {
        let handle = self.id.clone();
        self.session.journal.append(SessionEvent::Locked { handle });
        note_lock(&self.session, &self.handle);
        hand_back_in_time(&self.session, &self.handle, &self.id, lock);
    }

    /// Hands the handle back, and restores the size of its terminal. The
    /// assistant is told.
    pub fn unlock(&self, lock: &str) -> Result<(), Refusal> {
        if hand_back(&self.session, &self.handle, &self.id, lock) {
            Ok(())
        } else {
            Err(Refusal::NotLocked(self.id.clone()))
        }
    }

    /// Types into the tool for the person. If the handle is locked, `lock` must
    /// be the name of the lock.
    pub async fn type_in(&self, keyboard: Keyboard, lock: Option<&str>) -> Result<(), Refusal> {
        let job = self.job()?;
        self.renew(lock)?;
        if let Status::Waiting { question, .. } = self.handle.status()
            && question.secret
            && keyboard.submits()
        {
            // Before it is typed: the program may ask for another at once.
            self.handle.claim_question(&question);
        }
        let order = new_order();
        match job.terminal() {
            Some(terminal) => terminal.type_in(&order, keyboard)?,
            None => job.apply(&order, keyboard).await?,
        }
        Ok(())
    }

    /// Renews the lease of the lock.
    fn renew(&self, lock: Option<&str>) -> Result<(), Refusal> {
        match &mut *self.handle.lock.lock() {
            Some(held) if lock != Some(&held.id) => Err(self.somebody_else()),
            Some(held) => {
                held.until = Instant::now() + held.lease;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn somebody_else(&self) -> Refusal {
        Refusal::TakenOver(self.id.clone())
    }
}

/// Hands the handle back when the lease is over.
fn hand_back_in_time(session: &Arc<SessionInner>, handle: &Arc<Handle>, id: &HandleId, lock: &str) {
    let (id, lock) = (id.clone(), lock.to_owned());
    let (weak_session, weak_handle) = (Arc::downgrade(session), Arc::downgrade(handle));
    let closing = session.closing.clone();
    windlass_task::spawn_tracked(&session.tasks, async move {
        loop {
            let Some(until) = weak_handle
                .upgrade()
                .and_then(|handle| handle.lock.lock().clone())
                .filter(|held| held.id == lock)
                .map(|held| held.until)
            else {
                return;
            };
            if until <= Instant::now() {
                break;
            }
            let over = closing.run_until_cancelled(tokio::time::sleep_until(until));
            if over.await.is_none() {
                return;
            }
        }
        if let (Some(session), Some(handle)) = (weak_session.upgrade(), weak_handle.upgrade()) {
            hand_back(&session, &handle, &id, &lock);
        }
    });
}

/// Records the lock in the state of a kept handle.
fn note_lock(session: &SessionInner, handle: &Handle) {
    if !handle.is_kept() {
        return;
    }
    let lock = handle.lock.lock().as_ref().map(|lock| KeptLock {
        id: lock.id.clone(),
        lease_ms: lock.lease.as_millis().try_into().unwrap_or(u64::MAX),
        written: lock.written,
        size: lock.size,
    });
    session.update_kept(handle, |kept| kept.lock = lock);
}

impl Handle {
    /// A person has taken the handle over.
    pub(crate) fn is_locked(&self) -> bool {
        self.lock.lock().is_some()
    }

    /// Restores the lock of an adopted handle.
    pub(crate) fn restore_lock(
        self: &Arc<Self>,
        session: &Arc<SessionInner>,
        lock: Option<&KeptLock>,
    ) {
        let (Some(lock), Some(id)) = (lock, self.id()) else {
            return;
        };
        let lease = Duration::from_millis(lock.lease_ms);
        *self.lock.lock() = Some(Lock {
            id: lock.id.clone(),
            lease,
            until: Instant::now() + lease,
            written: lock.written,
            size: lock.size,
        });
        session
            .journal
            .append(SessionEvent::Locked { handle: id.clone() });
        hand_back_in_time(session, self, id, &lock.id);
    }

    /// Refuses the assistant's input while a person has the handle.
    pub(crate) fn check_unlocked(&self, id: &HandleId) -> Result<(), Refusal> {
        if self.is_locked() {
            return Err(Refusal::Locked(id.clone()));
        }
        Ok(())
    }
}

/// Hands the handle back. Returns false if the lock is not the current one.
fn hand_back(session: &SessionInner, handle: &Handle, id: &HandleId, lock: &str) -> bool {
    let held = {
        let mut held = handle.lock.lock();
        match &*held {
            Some(held) if held.id == lock => {}
            _ => return false,
        }
        held.take()
    };
    if let Some(before) = held.as_ref().and_then(|held| held.size) {
        restore_size(handle, before);
    }
    note_lock(session, handle);
    let handle_id = id.clone();
    session
        .journal
        .append(SessionEvent::Unlocked { handle: handle_id });
    let written = handle.job().map_or(0, |job| job.output().written());
    let before = held.map_or(0, |held| held.written);
    let text = match written.saturating_sub(before) {
        _ if handle.is_stopped() => format!("a person had taken over `{id}` until it stopped"),
        0 => format!(
            "a person had taken over `{id}` and has handed it back; it wrote nothing \
                      meanwhile"
        ),
        new => {
            let last = handle.job().and_then(|job| job.output().last_line());
            let last = last.map_or_else(String::new, |line| format!(", the last line `{line}`"));
            format!(
                "a person typed into `{id}` and has handed it back; \
                 it wrote {new} bytes meanwhile{last}{}",
                advice::SEE_CHANGES
            )
        }
    };
    let notice = notice::notice(handle, NoticeLevel::Info, NoticeKind::Content, text);
    session.add_notice(handle.number, notice, None);
    true
}

fn restore_size(handle: &Handle, before: (u16, u16)) {
    let terminal = handle.job().and_then(|job| job.terminal());
    if let Some(terminal) = terminal.filter(|_| !handle.is_stopped())
        && size(&*terminal) != before
    {
        // A program that has just ended has no size any more.
        let _ = terminal.resize(before.0, before.1);
    }
}

fn size(terminal: &dyn JobTerminal) -> (u16, u16) {
    let nothing_new = Some(u64::MAX);
    let screen = terminal.screen(nothing_new);
    (screen.rows, screen.cols)
}
