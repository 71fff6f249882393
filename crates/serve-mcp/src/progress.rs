//! Time limits of calls, progress messages for longer ones, and messages of
//! their tools.

#![expect(
    deprecated,
    reason = "the newest version of the protocol has log lines for older servers"
)]

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{Peer, RoleServer};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use windlass_runtime::{ToolLogLine, ToolProgress};

use crate::call::ActiveCall;
use crate::conversation::ClientSession;
use crate::listen::Level;
use crate::options::McpOptions;
use crate::relay::{Aside, Asides};
use crate::status::Doing;

/// The waiting client of a call.
pub(crate) struct Waiting {
    began: Instant,
    options: McpOptions,
    caller: Requester,
    /// `None` if the call continues as a task instead.
    hurry: Option<CancellationToken>,
    doing: Arc<Doing>,
    asides: Asides,
    /// Asides that were received and not sent yet.
    taken: Mutex<VecDeque<Aside>>,
    /// Held while an aside is sent.
    sending: tokio::sync::Mutex<()>,
    reported: Mutex<Reported>,
}

/// The request that a call answers.
pub(crate) struct Requester {
    pub(crate) peer: Peer<RoleServer>,
    /// Set if it asked for progress.
    pub(crate) token: Option<ProgressToken>,
    pub(crate) log: LogWish,
}

/// The log lines that a caller requests.
pub(crate) enum LogWish {
    /// Those that its client has set a level for.
    OfClient(Arc<ClientSession>),
    /// Those from this level, if set.
    OfRequest(Option<Level>),
}

/// The progress already sent to a caller.
#[derive(Default)]
struct Reported {
    /// It must grow.
    progress: f64,
    /// The tool's own, once it reports some.
    total: Option<f64>,
    message: Option<String>,
    by_tool: bool,
}

impl Waiting {
    /// A caller that asked for progress keeps waiting; any other gets its reply
    /// after the time limit, unless its call becomes a task.
    pub(crate) fn new(
        options: &McpOptions,
        caller: Requester,
        call: &ActiveCall,
        becomes_task: bool,
    ) -> Self {
        Self {
            began: Instant::now(),
            options: options.clone(),
            caller,
            hurry: (!becomes_task).then(|| call.hurry()),
            doing: Arc::clone(call.doing()),
            asides: call.asides(),
            taken: Mutex::default(),
            sending: tokio::sync::Mutex::default(),
            reported: Mutex::default(),
        }
    }

    /// The time at which the call will have lasted that long.
    pub(crate) fn after(&self, time: Duration) -> Instant {
        self.began + time
    }

    /// Runs beside the call and never resolves: sends progress, or hurries the
    /// call at the time limit, and passes on the tool's messages.
    pub(crate) async fn keep(&self) {
        let asides = async {
            loop {
                let aside = self.asides.next().await;
                // A later flush includes it.
                self.taken.lock().push_back(aside);
                self.flush().await;
            }
        };
        tokio::join!(self.keep_alive(), asides);
    }

    /// Passes on all messages of the tool so far.
    pub(crate) async fn flush(&self) {
        let _turn = self.sending.lock().await;
        loop {
            let taken = self.taken.lock().pop_front();
            let Some(aside) = taken.or_else(|| self.asides.try_next()) else {
                return;
            };
            self.pass(aside).await;
        }
    }

    async fn keep_alive(&self) {
        let Some(token) = &self.caller.token else {
            if let Some(hurry) = &self.hurry {
                tokio::time::sleep_until(self.began + self.options.max_block).await;
                hurry.cancel();
            }
            return;
        };
        loop {
            tokio::time::sleep(self.options.progress_every).await;
            let _turn = self.sending.lock().await;
            self.report(token, self.sign()).await;
        }
    }

    /// A progress message. Repeats the tool's own progress, if it reports any.
    fn sign(&self) -> ToolProgress {
        let seconds = self.began.elapsed().as_secs_f64();
        let reported = self.reported.lock();
        let of_tool = reported.message.clone().filter(|_| reported.by_tool);
        let said = of_tool.or_else(|| self.doing.said());
        let said = said.map(|said| format!(": {said}")).unwrap_or_default();
        ToolProgress {
            progress: if reported.by_tool { 0.0 } else { seconds },
            total: reported.total,
            message: Some(format!("running for {seconds:.0} s{said}")),
        }
    }

    async fn pass(&self, aside: Aside) {
        match aside {
            Aside::Progress(progress) => {
                {
                    let mut reported = self.reported.lock();
                    reported.by_tool = true;
                    reported.total = progress.total;
                    reported.message.clone_from(&progress.message);
                }
                if let Some(token) = &self.caller.token {
                    self.report(token, progress).await;
                }
            }
            Aside::Log(line) => self.log(line).await,
        }
    }

    async fn report(&self, token: &ProgressToken, progress: ToolProgress) {
        let value = {
            let mut reported = self.reported.lock();
            let is_first = reported.progress == 0.0;
            if !is_first && progress.progress <= reported.progress {
                reported.progress = reported.progress.next_up();
            } else {
                reported.progress = progress.progress;
            }
            reported.progress
        };
        let mut told = ProgressNotificationParam::new(token.clone(), value);
        told.total = progress.total;
        told.message = progress.message;
        // A client that is gone cancels its request.
        let _ = self.caller.peer.notify_progress(told).await;
    }

    async fn log(&self, line: ToolLogLine) {
        let Ok(level) = serde_json::from_value::<LoggingLevel>(json!(line.level)) else {
            return;
        };
        let wanted = match &self.caller.log {
            LogWish::OfClient(conversation) => *conversation.level.lock(),
            LogWish::OfRequest(wanted) => *wanted,
        };
        if wanted.is_none_or(|wanted| Level::from(level) < wanted) {
            return;
        }
        let mut told = LoggingMessageNotificationParam::new(level, line.data);
        told.logger = line.logger;
        // A client that is gone cancels its request.
        let _ = self.caller.peer.notify_logging_message(told).await;
    }
}
