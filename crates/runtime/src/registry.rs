//! The handles of a session by id: active ones, and stopped ones that can still
//! be read.
//!
//! The newest stopped handles are kept whole; of older ones only the results
//! are stored (`stored.rs`). The stored bytes are bounded: results that were
//! read are dropped first.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use windlass_protocol::HandleId;

use crate::handle::Handle;
use crate::refusal::{HandleSummary, Refusal};

/// The number of stopped handles that are kept whole.
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
    /// A registry with at most this many bytes of stored results.
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

    /// Checks that all of these ids are free and distinct.
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

    /// Registers a handle. Returns the stopped handle that had its id.
    pub(crate) fn insert(&mut self, handle: &Arc<Handle>) -> Option<Arc<Handle>> {
        let id = handle.id()?.clone();
        let displaced = self.handles.insert(id, Arc::clone(handle))?;
        self.forget_place(&displaced);
        Some(displaced)
    }

    /// Records that a handle has stopped. Returns the handles that are no
    /// longer kept whole: their results must be stored.
    pub(crate) fn note_stopped(&mut self, handle: &Arc<Handle>) -> Vec<Arc<Handle>> {
        if self.holds(handle) {
            self.whole.push_back(Arc::clone(handle));
        }
        let surplus = self.whole.len().saturating_sub(WHOLE);
        self.whole.drain(..surplus).collect()
    }

    /// Keeps a stopped handle whole, as if it had just stopped.
    pub(crate) fn keep_whole(&mut self, handle: &Arc<Handle>) {
        if self.holds(handle) {
            self.whole.push_back(Arc::clone(handle));
        }
    }

    /// Removes a handle that has stopped or never started, if it still has its
    /// id.
    pub(crate) fn remove(&mut self, handle: &Arc<Handle>) {
        if self.holds(handle)
            && let Some(id) = handle.id()
        {
            self.handles.remove(id);
            self.forget_place(handle);
        }
    }

    /// Replaces a whole handle by one with a stored result. Returns the handles
    /// that are dropped for it, those that were read first.
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

    /// Removes and returns the stopped handles that match.
    pub(crate) fn forget_stopped(&mut self, gone: impl Fn(&Handle) -> bool) -> Vec<Arc<Handle>> {
        let mut forgotten = self.all();
        forgotten.retain(|handle| handle.is_stopped() && gone(handle));
        for handle in &forgotten {
            self.remove(handle);
        }
        forgotten
    }

    /// Whether the id still belongs to this handle.
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
