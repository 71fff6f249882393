//! Telling how much a program writes, without a word for every piece of it.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use windlass_runtime::{JobOutput, Reporter, ToolEvent};

/// The least time between two reports. Whoever listens to a program that writes all the time would otherwise be woken
/// for every few kilobytes, at the cost of the program.
const INTERVAL: Duration = Duration::from_millis(10);

/// Reports what is written to an output: the first of it at once, what follows a little later and together.
pub(crate) struct Writing {
    output: JobOutput,
    changes: watch::Receiver<u64>,
    reporter: Reporter,
    reported: u64,
    next: Option<Instant>,
}

impl Writing {
    /// Reports what is written from this offset on.
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

    /// Waits for more and reports it. Nothing is lost if it is given up.
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

    /// Reports what was written and not reported yet.
    pub(crate) fn report(&mut self) {
        let at = self.output.written();
        let bytes = at.saturating_sub(self.reported);
        if bytes > 0 {
            self.reporter.report(at, ToolEvent::Wrote { bytes });
            self.reported = at;
        }
    }
}
