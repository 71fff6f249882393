//! How long a call may block, and signs of life for one that may block longer.

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::server::McpOptions;

/// Whoever waits for an answer.
pub(crate) struct Waiting {
    began: Instant,
    options: McpOptions,
    sign: Option<(ProgressToken, Peer<RoleServer>)>,
    hurry: CancellationToken,
}

impl Waiting {
    /// A caller that asked for progress is kept waiting; any other is answered
    /// when it has blocked for as long as it may.
    pub(crate) fn new(
        options: &McpOptions,
        sign: Option<(ProgressToken, Peer<RoleServer>)>,
        hurry: CancellationToken,
    ) -> Self {
        Self {
            began: Instant::now(),
            options: options.clone(),
            sign,
            hurry,
        }
    }

    /// Runs beside the call, and never resolves: sends signs of life, or says
    /// to hurry when the time has come.
    pub(crate) async fn keep(&self) {
        let Some((token, peer)) = &self.sign else {
            tokio::time::sleep_until(self.began + self.options.max_block).await;
            self.hurry.cancel();
            return std::future::pending().await;
        };
        loop {
            tokio::time::sleep(self.options.progress_every).await;
            let seconds = self.began.elapsed().as_secs_f64();
            let sign = ProgressNotificationParam::new(token.clone(), seconds)
                .with_message(format!("running for {seconds:.0} s"));
            // A client that is gone cancels its request.
            let _ = peer.notify_progress(sign).await;
        }
    }
}
