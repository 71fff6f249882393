//! The session's handles by id: those that are active, and those that
//! stopped and can still be read.
//!
//! The newest stopped handles are kept whole, and of older ones the results
//! (`stored.rs`). What is stored is bounded in bytes: results that have been
//! read go first.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use windlass_protocol::HandleId;

use crate::handle::Handle;
use crate::refusal::{HandleSummary, Refusal};

/// How many stopped handles are kept whole.
const WHOLE: usize = 64;

/// The handles of one session.
pub(crate) struct Registry {
    handles: HashMap<HandleId, Arc<Handle>>,
    /// Stopped handles that are kept whole, oldest first.
    whole: VecDeque<Arc<Handle>>,
    /// Stopped handles whose results are stored, oldest first.
    stored: VecDeque<Arc<Handle>>,
    stored_bytes: u64,
    most_stored_bytes: u64,
}

impl Registry {
    /// Keeps at most this many bytes of stored results.
    pub(crate) fn new(most_stored_bytes: u64) -> Self {
        Self {
            handles: HashMap::new(),
            whole: VecDeque::new(),
            stored: VecDeque::new(),
            stored_bytes: 0,
            most_stored_bytes,
        }
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<Handle>> {
        self.handles.get(id).cloned()
    }

    /// Checks that these ids can all be taken: each once, none active.
    pub(crate) fn check_free<'a>(
        &self,
        ids: impl Iterator<Item = &'a HandleId>,
    ) -> Result<(), Refusal> {
        let mut seen: Vec<&HandleId> = Vec::new();
        for id in ids {
            if seen.contains(&id) {
                return Err(Refusal::Twice(id.clone()));
            }
            seen.push(id);
            if self.handles.get(id).is_some_and(|held| !held.is_stopped()) {
                return Err(Refusal::Taken(id.clone()));
            }
        }
        Ok(())
    }

    /// Takes a handle's id. Gives the stopped handle that had it.
    pub(crate) fn insert(&mut self, handle: &Arc<Handle>) -> Option<Arc<Handle>> {
        let id = handle.id()?.clone();
        let displaced = self.handles.insert(id, Arc::clone(handle))?;
        self.forget_place(&displaced);
        Some(displaced)
    }

    /// A handle has stopped. Gives the handles that are not kept whole any
    /// longer: the result of each is to be stored.
    pub(crate) fn note_stopped(&mut self, handle: &Arc<Handle>) -> Vec<Arc<Handle>> {
        if self.holds(handle) {
            self.whole.push_back(Arc::clone(handle));
        }
        let surplus = self.whole.len().saturating_sub(WHOLE);
        self.whole.drain(..surplus).collect()
    }

    /// Keeps a stopped handle whole after all, as if it had just stopped.
    pub(crate) fn keep_whole(&mut self, handle: &Arc<Handle>) {
        if self.holds(handle) {
            self.whole.push_back(Arc::clone(handle));
        }
    }

    /// Removes a handle that has stopped or never came, if its id is still its own.
    pub(crate) fn remove(&mut self, handle: &Arc<Handle>) {
        if self.holds(handle)
            && let Some(id) = handle.id()
        {
            self.handles.remove(id);
            self.forget_place(handle);
        }
    }

    /// Puts a handle with a stored result in the place of the whole one. Gives
    /// the handles that have to go for it, those that were read first.
    pub(crate) fn store(&mut self, whole: &Arc<Handle>, stored: Arc<Handle>) -> Vec<Arc<Handle>> {
        let Some(id) = whole.id().filter(|_| self.holds(whole)) else {
            return Vec::new();
        };
        self.handles.insert(id.clone(), Arc::clone(&stored));
        self.stored_bytes += stored.stored_bytes();
        self.stored.push_back(stored);
        let mut gone = Vec::new();
        while self.stored_bytes > self.most_stored_bytes {
            let read = self.stored.iter().position(|handle| handle.is_told());
            let Some(oldest) = self.stored.get(read.unwrap_or(0)).cloned() else {
                break;
            };
            self.remove(&oldest);
            gone.push(oldest);
        }
        gone
    }

    /// Handles that have not stopped, in the order they were spawned.
    pub(crate) fn active(&self) -> Vec<Arc<Handle>> {
        let mut active = self.all();
        active.retain(|handle| !handle.is_stopped());
        active
    }

    /// Every handle that can be read, in the order they were spawned.
    pub(crate) fn all(&self) -> Vec<Arc<Handle>> {
        let mut all: Vec<_> = self.handles.values().cloned().collect();
        all.sort_by_key(|handle| handle.number);
        all
    }

    /// A line per handle.
    pub(crate) fn summaries(&self) -> Vec<HandleSummary> {
        self.all()
            .iter()
            .filter_map(|handle| handle.summary())
            .collect()
    }

    /// Drops the stopped handles that `gone` holds for, and gives them.
    pub(crate) fn forget_stopped(&mut self, gone: impl Fn(&Handle) -> bool) -> Vec<Arc<Handle>> {
        let mut forgotten = self.all();
        forgotten.retain(|handle| handle.is_stopped() && gone(handle));
        for handle in &forgotten {
            self.remove(handle);
        }
        forgotten
    }

    /// The id is this very handle's: it may have been spawned again since.
    fn holds(&self, handle: &Handle) -> bool {
        handle
            .id()
            .and_then(|id| self.handles.get(id))
            .is_some_and(|held| held.number == handle.number)
    }

    fn forget_place(&mut self, handle: &Handle) {
        self.whole.retain(|whole| whole.number != handle.number);
        let before = self.stored.len();
        self.stored.retain(|stored| stored.number != handle.number);
        if self.stored.len() < before {
            self.stored_bytes -= handle.stored_bytes();
        }
    }
}
