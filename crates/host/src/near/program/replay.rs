//! Replays the output of a program that an earlier runtime kept; then this runtime owns it.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use windlass_hold_wire::{LinkSandbox, ProgramOrigin};
use windlass_process::{RemoteAdoption, RemoteCapture, TerminalSize};

use super::state::{ProgramState, ReplayedOutput};
use super::{Link, NearProgram, OwnedKept};

/// The grace period of an adopted program that is dropped.
const ADOPTED_GRACE: Duration = Duration::from_secs(2);
/// An upper bound on the lease of a kept program.
const LONGEST_LEASE: Duration = Duration::from_hours(24);

impl NearProgram {
    /// A program that an earlier runtime kept.
    pub(in crate::near) fn adopted(
        link: &Arc<Link>,
        adoption: RemoteAdoption,
        (kept, origin): (OwnedKept, ProgramOrigin),
        sandbox: Option<LinkSandbox>,
    ) -> Arc<Self> {
        let mut state = ProgramState::new(TerminalSize::default(), adoption.limits);
        if !adoption.wants_output {
            // No output begins there, so none is sent.
            state.received = u64::MAX;
        }
        state.again = Some(ReplayedOutput {
            until: None,
            rebuild: adoption.rebuild,
        });
        Arc::new(Self {
            number: link.next_number(),
            link: Arc::clone(link),
            output: adoption.output,
            lasting_output: true,
            errors: None,
            has_terminal: adoption.tap.is_some(),
            tap: adoption.tap,
            capture: RemoteCapture::Separate,
            has_input: true,
            grace: ADOPTED_GRACE,
            keep_lease: Some(kept.noted_lease().unwrap_or(LONGEST_LEASE)),
            kept: Some(kept),
            origin: Some(origin),
            sandbox,
            state: Mutex::new(state),
            changes: watch::Sender::new(0),
        })
    }

    /// Handles the resumption of an earlier runtime's program. It is adopted once its output has been replayed.
    pub(super) fn take_up(&self, orders: u64, offset: u64, terminal: Option<(u16, u16)>) {
        let mut state = self.state.lock();
        let Some(again) = &mut state.again else {
            return;
        };
        if again.until.is_none() {
            again.until = Some(offset);
            state.last_order = orders;
            if let Some((rows, cols)) = terminal {
                state.size = TerminalSize { rows, cols };
            }
        }
        drop(state);
        self.rebuild_if_complete();
    }

    /// Ends the replay, once it is complete.
    pub(super) fn rebuild_if_complete(&self) {
        let again = {
            let mut state = self.state.lock();
            let received = state.received;
            let is_complete =
                |again: &mut ReplayedOutput| again.until.is_some_and(|until| received >= until);
            state.again.take_if(is_complete)
        };
        let Some(again) = again else {
            return;
        };
        if let Some(rebuild) = again.rebuild {
            let read = self.kept.as_ref().map_or(0, OwnedKept::noted_read);
            rebuild(&self.output, read);
        }
        self.state.lock().started.get_or_insert(Ok(()));
        self.wake();
    }
}
