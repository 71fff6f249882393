//! The state of a local program that its callers and the driver share.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};
use windlass_output::{Output, Stream};
use windlass_sandbox::{Confinement, LimitKind, ResourceLimits};

use crate::input::Input;
use crate::pipes::HandedOver;
use crate::watch::TreeControl;
use crate::{Exit, HeldKey, Receipt, Terminal};

/// State shared by callers and the driver.
pub(crate) struct ProcessShared {
    pub(crate) pid: u32,
    /// Taken before the start or adoption: the program may act before its start
    /// is reported.
    pub(crate) launched: Instant,
    pub(crate) started: Instant,
    pub(crate) output: Output,
    /// Whether the output outlives the process: others may write to it later.
    pub(crate) lasting_output: bool,
    /// Its stderr, if separate.
    pub(crate) errors: Option<Output>,
    pub(crate) input: Arc<Input>,
    /// Pipes that the caller has not taken yet.
    pub(crate) handed_over: Mutex<Option<HandedOver>>,
    /// Its terminal, if it has one.
    pub(crate) terminal: Option<Terminal>,
    pub(crate) hold: TreeControl,
    pub(crate) state: watch::Sender<ProcessState>,
    /// The output shared with its holder, if it is kept.
    #[cfg(target_os = "linux")]
    pub(crate) kept: Option<KeptOutput>,
    /// Keeps the sandbox alive while the program may run.
    #[cfg(target_os = "linux")]
    pub(crate) sandbox: Option<Arc<crate::linux::Prepared>>,
    /// Its rules and limits.
    pub(crate) confined: Confined,
    /// Whether the driver must stop reading because another process continues.
    pub(crate) left: AtomicBool,
    /// Reading pauses when the output has this many bytes.
    pub(crate) read_limit: AtomicU64,
    /// Requests to the driver to read all available output.
    pub(crate) drains: mpsc::UnboundedSender<oneshot::Sender<()>>,
}

impl ProcessShared {
    /// The output that stores a stream.
    pub(crate) fn output_of(&self, stream: Stream) -> &Output {
        match (stream, &self.errors) {
            (Stream::Stderr, Some(errors)) => errors,
            _ => &self.output,
        }
    }

    /// Waits until everything written so far is in the output.
    pub(crate) async fn drained(&self) {
        let (reply, drained) = oneshot::channel();
        // Without a driver there is nothing to read.
        if self.drains.send(reply).is_ok() {
            let _ = drained.await;
        }
    }

    /// Passes on the end of the input to the program's holder, whose copy of the pipe would keep it open.
    pub(crate) fn pass_on_close(&self) {
        if self.input.take_close() {
            self.hold.close_input();
        }
    }

    /// Whether reading is paused.
    pub(crate) fn is_paused(&self) -> bool {
        let limit = self.read_limit.load(Ordering::Acquire);
        limit != u64::MAX && self.output.position() >= limit
    }

    /// Marks the output as complete.
    pub(crate) fn finish_output(&self) {
        if self.lasting_output {
            self.output.end_run();
        } else {
            self.output.finish();
        }
        if let Some(errors) = &self.errors {
            errors.finish();
        }
    }
}

/// The progress of a process. Nothing here is ever reset.
#[derive(Debug, Default)]
pub(crate) struct ProcessState {
    pub(crate) exit: Option<Exit>,
    pub(crate) receipt: Option<Receipt>,
    /// The limit that the tree has exceeded.
    pub(crate) exceeded: Option<LimitKind>,
    /// Whether the tree is empty.
    pub(crate) gone: bool,
}

/// The rules and limits of a program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Confined {
    pub(crate) confinement: Option<Arc<Confinement>>,
    pub(crate) limits: ResourceLimits,
    pub(crate) cwd: Option<PathBuf>,
}

/// The output of a kept program.
#[cfg(target_os = "linux")]
pub(crate) struct KeptOutput {
    pub(crate) retained: Arc<crate::linux::Retained>,
    pub(crate) key: HeldKey,
}
