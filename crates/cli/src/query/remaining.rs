//! The running handles of a session that is about to close, and the treatment
//! of each.

use std::time::Duration;

use windlass_protocol::{HandleId, HandleState};
use windlass_runtime::Session;

use crate::ages;

/// Handles that still run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RemainingHandles {
    /// Handles that end with the session, each with its tool.
    pub(crate) ending: Vec<(HandleId, String)>,
    pub(crate) kept: Vec<LeasedHandle>,
}

/// A handle that outlives its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeasedHandle {
    pub(crate) id: HandleId,
    pub(crate) tool: String,
    /// Its lease.
    pub(crate) lease: Duration,
}

impl RemainingHandles {
    pub(crate) fn of(session: &Session) -> Self {
        let leases = session.leases();
        let mut remaining = Self::default();
        let handles = session.handles().into_iter();
        for handle in handles.filter(|handle| handle.state != HandleState::Stopped) {
            let lease = leases.iter().find(|(id, _)| *id == handle.id);
            match lease {
                Some((_, lease)) => remaining.kept.push(LeasedHandle {
                    id: handle.id,
                    tool: handle.tool,
                    lease: *lease,
                }),
                None => remaining.ending.push((handle.id, handle.tool)),
            }
        }
        remaining
    }

    /// The names of the handles that end with the session.
    pub(crate) fn ending_names(&self) -> String {
        let names = self.ending.iter();
        let names: Vec<String> = names.map(|(id, tool)| format!("{id} ({tool})")).collect();
        names.join(", ")
    }
}

/// The names of kept handles, each with its lease.
pub(crate) fn leased_names(kept: &[LeasedHandle]) -> String {
    let names = kept.iter().map(|LeasedHandle { id, tool, lease }| {
        format!("{id} ({tool}) for {}", ages::length(*lease))
    });
    let names: Vec<String> = names.collect();
    names.join(", ")
}

#[cfg(test)]
#[path = "remaining_tests.rs"]
mod tests;
