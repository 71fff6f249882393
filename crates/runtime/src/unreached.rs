//! Ending tools whose host is unreachable.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use windlass_protocol::Receipt;

use crate::job::Job;
use crate::orders::new_order;
use crate::session::SessionInner;

/// How long an end waits for a host that is unreachable.
const PATIENCE: Duration = Duration::from_secs(10);
/// The interval between checks of the host.
const LOOK: Duration = Duration::from_millis(250);

impl SessionInner {
    /// Ends a job, or what it has left running. Resolves when its processes are
    /// gone. Returns `None` if its host is unreachable and does not come back
    /// soon: the job is then ended in the background when the host is reachable
    /// again, unless the session closes before.
    pub(crate) async fn abort_job(&self, job: &Arc<dyn Job>, grace: Duration) -> Option<Receipt> {
        let aborted = Arc::clone(job);
        let mut ending = Box::pin(async move { aborted.abort(&new_order(), grace).await });
        tokio::select! {
            biased;
            receipt = &mut ending => return Some(receipt),
            () = unreached(job) => {}
        }
        let closing = self.closing.clone();
        windlass_task::spawn_tracked(&self.tasks, async move {
            closing.run_until_cancelled(ending).await;
        });
        None
    }
}

/// Resolves when the job's host has been unreachable for [`PATIENCE`] from now
/// on.
async fn unreached(job: &Arc<dyn Job>) {
    let mut since = None;
    loop {
        tokio::time::sleep(LOOK).await;
        if job.host().unreachable().is_none() {
            since = None;
            continue;
        }
        let since = *since.get_or_insert_with(Instant::now);
        if since.elapsed() >= PATIENCE {
            return;
        }
    }
}
