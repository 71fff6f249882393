//! The session's handles by id: those that are active, and those that
//! stopped and can still be read.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use windlass_protocol::HandleId;

use crate::handle::Handle;
use crate::refusal::{HandleSummary, Refusal};

/// The handles of one session.
pub(crate) struct Registry {
    handles: HashMap<HandleId, Arc<Handle>>,
    /// Stopped handles, oldest first, as id and number: an id may have been
    /// spawned again since.
    stopped: VecDeque<(HandleId, u64)>,
    keep: usize,
}

impl Registry {
    /// Keeps at most `keep` stopped handles.
    pub(crate) fn new(keep: usize) -> Self {
        Self {
            handles: HashMap::new(),
            stopped: VecDeque::new(),
            keep,
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

    /// Takes a handle's id; a stopped handle of that id gives way.
    pub(crate) fn insert(&mut self, handle: &Arc<Handle>) {
        if let Some(id) = handle.id() {
            self.handles.insert(id.clone(), Arc::clone(handle));
        }
    }

    /// A handle has stopped: it stays readable until enough others have.
    /// Gives the handles that gave way.
    pub(crate) fn note_stopped(&mut self, handle: &Handle) -> Vec<Arc<Handle>> {
        if let Some(id) = handle.id() {
            self.stopped.push_back((id.clone(), handle.number));
        }
        let mut gone = Vec::new();
        while self.stopped.len() > self.keep {
            let Some((id, number)) = self.stopped.pop_front() else {
                break;
            };
            if self
                .handles
                .get(&id)
                .is_some_and(|held| held.number == number)
            {
                gone.extend(self.handles.remove(&id));
            }
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

    /// Drops the handles that have stopped and gives them.
    pub(crate) fn forget_stopped(&mut self) -> Vec<Arc<Handle>> {
        self.stopped.clear();
        let (gone, kept) = std::mem::take(&mut self.handles)
            .into_iter()
            .partition(|(_, handle)| handle.is_stopped());
        self.handles = kept;
        let gone: HashMap<HandleId, Arc<Handle>> = gone;
        gone.into_values().collect()
    }

    /// Keeps at most this many stopped handles from now on.
    pub(crate) fn set_keep(&mut self, keep: usize) {
        self.keep = keep;
    }
}
