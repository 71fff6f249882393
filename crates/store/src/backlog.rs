//! Changes that could not be written yet, and the state of the record.
//!
//! The backlog is bounded. Changes beyond that are lost and counted. A later
//! change of a waiting part replaces the earlier one.

use parking_lot::Mutex;
use windlass_protocol::{PartState, RecordTrouble};

use crate::write::Write;

/// About how many bytes may wait.
const MOST_BYTES: usize = 32 << 20;
/// The approximate size of a change without its texts.
const OVERHEAD: usize = 512;

/// The state of the record, for queries.
#[derive(Default)]
pub(crate) struct Standing(Mutex<StandingNow>);

#[derive(Default)]
struct StandingNow {
    error: Option<String>,
    waiting: u64,
    lost: u64,
}

impl Standing {
    /// Why not everything is recorded, if it is not.
    pub(crate) fn trouble(&self) -> Option<RecordTrouble> {
        let now = self.0.lock();
        (now.error.is_some() || now.lost > 0).then(|| RecordTrouble {
            error: now.error.clone(),
            waiting: now.waiting,
            lost: now.lost,
        })
    }

    /// Everything is written.
    pub(crate) fn is_well(&self) {
        let mut now = self.0.lock();
        now.error = None;
        now.waiting = 0;
    }

    /// It cannot be written, and so much waits.
    pub(crate) fn fails(&self, error: String, waiting: usize) {
        let mut now = self.0.lock();
        now.error = Some(error);
        now.waiting = waiting as u64;
    }

    /// So many changes are lost.
    pub(crate) fn lose(&self, count: usize) {
        self.0.lock().lost += count as u64;
    }
}

/// Changes that wait, oldest first.
#[derive(Default)]
pub(crate) struct Backlog {
    pub(crate) writes: Vec<Write>,
}

impl Backlog {
    /// Drops the newest changes until the rest is within bounds, and returns
    /// their number. The start of a session is kept, because later changes
    /// refer to it.
    pub(crate) fn bound(&mut self) -> usize {
        self.bound_to(MOST_BYTES)
    }

    fn bound_to(&mut self, most: usize) -> usize {
        let mut left = most;
        let before = self.writes.len();
        self.writes.retain(|write| {
            let size = size(write);
            let fits = size <= left || matches!(write, Write::Begun(_));
            if fits {
                left = left.saturating_sub(size);
            }
            fits
        });
        before - self.writes.len()
    }
}

/// The approximate memory size of a change.
fn size(write: &Write) -> usize {
    let texts = match write {
        Write::Part { part, .. } => match &part.state {
            PartState::Completed(state) => state.output.len(),
            PartState::Error(state) => state.error.len(),
            PartState::Pending(_) | PartState::Running(_) => 0,
        },
        Write::Noticed { notice, .. } => notice.text.len(),
        // Of these the length of the text is near enough.
        Write::Said { event, .. } => format!("{event:?}").len(),
        Write::Asked { request, .. } => format!("{request:?}").len(),
        Write::Begun(_)
        | Write::Decided { .. }
        | Write::Delivered { .. }
        | Write::Touched { .. }
        | Write::Ended { .. } => 0,
    };
    texts + OVERHEAD
}

#[cfg(test)]
#[path = "backlog_tests.rs"]
mod tests;
