//! Reports how much a program has written, at a limited rate.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use windlass_runtime::{JobOutput, Reporter, ToolEvent};

/// The minimum time between two reports. Without it, listeners would be woken
/// for every few kilobytes, which slows the program down.
const INTERVAL: Duration = Duration::from_millis(10);

/// Reports writes to an output: the first at once, later ones batched.
pub(crate) struct Writing {
    output: JobOutput,
    changes: watch::Receiver<u64>,
    reporter: Reporter,
    reported: u64,
    next: Option<Instant>,
}

impl Writing {
    /// Reports writes from this offset on.
    pub(crate) fn from(output: &JobOutput, at: u64, reporter: Reporter) -> Self {
        let mut changes = output.bytes().changes();
        changes.mark_changed();
        Self {
            output: output.clone(),
            changes,
            reporter,
            reported: at,
            next: None,
        }
    }

    /// Waits for more output and reports it. Cancellation safe.
    pub(crate) async fn more(&mut self) {
        if let Some(next) = self.next {
            tokio::time::sleep_until(next).await;
        }
        if self.changes.changed().await.is_err() {
            // Nothing more will come.
            return std::future::pending().await;
        }
        self.next = Some(Instant::now() + INTERVAL);
        self.changes.borrow_and_update();
        self.report();
    }

    /// Reports the bytes that were not reported yet.
    pub(crate) fn report(&mut self) {
        let at = self.output.written();
        let bytes = at.saturating_sub(self.reported);
        if bytes > 0 {
            self.reporter.report(at, ToolEvent::Wrote { bytes });
            self.reported = at;
        }
    }
}
