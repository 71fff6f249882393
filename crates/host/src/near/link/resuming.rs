//! Programs that the far side cannot resume for now: their holder, or an earlier far end, does not reply in time. They are
//! resumed again over the same link, until their lease is over.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::{DroppedEnd, Link, end_of, resume_of};

/// The delay before a program is resumed again.
const AGAIN: Duration = Duration::from_secs(1);

impl Link {
    /// Handles a program that could not be started or resumed. Returns false if it will not be resumed again.
    pub(super) fn resume_later(self: &Arc<Self>, number: u64) -> bool {
        let is_wanted = if let Some(program) = self.program(number) {
            program.is_resumed_later()
        } else {
            let mut state = self.state.lock();
            let dropped = state.dropped.get_mut(&number);
            dropped.is_some_and(DroppedEnd::is_resumed_later)
        };
        if is_wanted {
            let (link, links) = (Arc::downgrade(self), self.state.lock().links);
            windlass_task::spawn(async move {
                tokio::time::sleep(AGAIN).await;
                if let Some(link) = link.upgrade() {
                    link.resume_again(number, links);
                }
            });
        }
        is_wanted
    }

    /// Resumes a program again, if the link is still the one with this number: a later one resumes all programs.
    fn resume_again(&self, number: u64, links: u64) {
        // Lock order: a program before the link.
        let resume = self.program(number).and_then(|it| it.repeated_resume());
        let state = self.state.lock();
        let Some(sender) = state.sender.as_ref().filter(|_| state.links == links) else {
            return;
        };
        if let Some(end) = state.dropped.get(&number) {
            sender.send(&resume_of(number, end.origin).write());
            sender.send(&end_of(number, end.grace).write());
        } else if let Some(resume) = resume {
            sender.send(&resume.write());
            // The far side has dropped them with the failed attempt.
            for port in state.port_frames(Some(number)) {
                sender.send(&port.write());
            }
        }
    }
}

impl DroppedEnd {
    /// Whether it is to be resumed again after a failed attempt.
    fn is_resumed_later(&mut self) -> bool {
        let lease = self.lease;
        self.is_resuming && is_within(&mut self.retried_until, lease)
    }
}

/// Whether a time is not over that began with the first call.
pub(in crate::near) fn is_within(until: &mut Option<Instant>, time: Duration) -> bool {
    let now = Instant::now();
    now < *until.get_or_insert_with(|| now + time)
}
