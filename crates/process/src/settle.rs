//! Detects that a program has printed its output and gone quiet.
//!
//! Silence alone is not enough: a compiler may compute for a second. Sleep
//! alone is not either: a program that has printed half of its answer may sleep
//! for a moment. A program that was just started or written to is runnable from
//! that moment on, so it does not count as asleep before it has run.

use std::time::{Duration, Instant};

use crate::process::ProcessShared;
use crate::tree;
use windlass_output::Output;

/// The required duration of silence.
pub(crate) const QUIET: Duration = Duration::from_millis(20);
/// The delay before a program that was quiet but not asleep is examined again:
/// initial and maximum.
const LOOK: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(20));

/// Waits until the process has exited or settled, at most for `max`.
pub(crate) async fn settle(shared: &ProcessShared, max: Duration) {
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

/// Whether it is still quiet after reading everything written before it fell
/// asleep. On a busy machine that output may have been in the pipe for longer
/// than the required silence.
async fn has_said_all(shared: &ProcessShared, due: Instant) -> bool {
    shared.drained().await;
    quiet_since(shared) + QUIET == due
}

pub(crate) fn quiet_since(shared: &ProcessShared) -> Instant {
    let written = shared.input.written();
    let read = shared.output.last_write();
    let errors = shared.errors.as_ref().and_then(Output::last_write);
    let times = [written, read, errors].into_iter().flatten();
    times.fold(shared.started, Instant::max)
}
