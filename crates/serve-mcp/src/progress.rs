//! How long a call may block, and signs of life for one that may block longer.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::call::Call;
use crate::server::McpOptions;
use crate::status::Doing;

/// Whoever waits for an answer.
pub(crate) struct Waiting {
    began: Instant,
    options: McpOptions,
    sign: Option<(ProgressToken, Peer<RoleServer>)>,
    /// `None` when the call goes on as a task instead.
    hurry: Option<CancellationToken>,
    doing: Arc<Doing>,
}

impl Waiting {
    /// A caller that asked for progress is kept waiting; any other is answered
    /// when it has blocked for as long as it may, unless its call then becomes
    /// a task.
    pub(crate) fn new(
        options: &McpOptions,
        sign: Option<(ProgressToken, Peer<RoleServer>)>,
        call: &Call,
        becomes_task: bool,
    ) -> Self {
        Self {
            began: Instant::now(),
            options: options.clone(),
            sign,
            hurry: (!becomes_task).then(|| call.hurry()),
            doing: Arc::new(call.doing()),
        }
    }

    /// The moment at which the call has lasted for so long.
    pub(crate) fn after(&self, time: Duration) -> Instant {
        self.began + time
    }

    /// Runs beside the call, and never resolves: sends signs of life, or says
    /// to hurry when the time has come.
    pub(crate) async fn keep(&self) {
        let Some((token, peer)) = &self.sign else {
            if let Some(hurry) = &self.hurry {
                tokio::time::sleep_until(self.began + self.options.max_block).await;
                hurry.cancel();
            }
            return std::future::pending().await;
        };
        loop {
            tokio::time::sleep(self.options.progress_every).await;
            let seconds = self.began.elapsed().as_secs_f64();
            let said = self.doing.said().map(|said| format!(": {said}"));
            let message = format!("running for {seconds:.0} s{}", said.unwrap_or_default());
            let sign = ProgressNotificationParam::new(token.clone(), seconds).with_message(message);
            // A client that is gone cancels its request.
            let _ = peer.notify_progress(sign).await;
        }
    }
}
