//! Ending tools whose host is unreachable.

use std::sync::Arc;
use std::time::Duration;

use windlass_protocol::Receipt;

use crate::job::Job;
use crate::orders::new_order;
use crate::session::SessionInner;

/// How long an end waits for a host that is unreachable.
const PATIENCE: Duration = Duration::from_secs(10);

impl SessionInner {
    /// Ends a job, or what it has left running. Resolves when its processes are
    /// gone. Returns `None` if its host is unreachable and does not come back
    /// soon: the job is then ended in the background when the host is reachable
    /// again, unless the session closes before.
    pub(crate) async fn abort_job(&self, job: &Arc<dyn Job>, grace: Duration) -> Option<Receipt> {
        let unreached = job.host().unreachable_for(PATIENCE);
        let aborted = Arc::clone(job);
        let mut ending = Box::pin(async move { aborted.abort(&new_order(), grace).await });
        tokio::select! {
            biased;
            receipt = &mut ending => return Some(receipt),
            () = unreached => {}
        }
        let closing = self.closing.clone();
        windlass_task::spawn_tracked(&self.tasks, async move {
            closing.run_until_cancelled(ending).await;
        });
        None
    }
}
