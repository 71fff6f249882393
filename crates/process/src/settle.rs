//! Knowing that a program has said what it has to say.
//!
//! Quiet alone does not tell: a compiler may think for a second. Sleep alone does not either: a program that has just
//! printed half of its answer may sleep for a moment. A program that was just started or written to is runnable from
//! that moment on, and so is not taken for asleep before it has run.

use std::time::{Duration, Instant};

use crate::process::Shared;
use crate::tree;
use windlass_output::Output;

/// How long the output must have been quiet.
pub(crate) const QUIET: Duration = Duration::from_millis(20);
/// How soon a program that was quiet and not asleep is looked at again, at first and at most.
const LOOK: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(20));

/// Waits until the process has exited or settled, or `max` is over.
pub(crate) async fn settle(shared: &Shared, max: Duration) {
    let deadline = Instant::now() + max;
    let mut state = shared.state.subscribe();
    let mut look = LOOK.0;
    loop {
        let now = Instant::now();
        let due = quiet_since(shared) + QUIET;
        let until = if now < due {
            look = LOOK.0;
            due
        } else if tree::asleep(shared) && has_said_all(shared, due).await {
            return;
        } else {
            look = (look * 2).min(LOOK.1);
            now + look
        };
        let until = until.min(deadline).into();
        let exited = state.wait_for(|state| state.exit.is_some());
        if tokio::time::timeout_at(until, exited).await.is_ok() || Instant::now() >= deadline {
            return;
        }
    }
}

/// Whether it is still quiet, now that everything is read which was written before it fell asleep. On a busy machine
/// that may have waited in the pipe for longer than the quiet takes.
async fn has_said_all(shared: &Shared, due: Instant) -> bool {
    shared.drained().await;
    quiet_since(shared) + QUIET == due
}

pub(crate) fn quiet_since(shared: &Shared) -> Instant {
    let written = shared.input.written();
    let read = shared.output.last_write();
    let errors = shared.errors.as_ref().and_then(Output::last_write);
    let times = [written, read, errors].into_iter().flatten();
    times.fold(shared.started, Instant::max)
}
