//! Termination signals: the first ends cleanly, the second at once.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit;

/// The termination signals.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    /// Whether Ctrl-C is ignored.
    ignores_interrupts: bool,
}

impl Signals {
    /// Installs the handlers. From then on these signals do not end the
    /// process.
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            ignores_interrupts: false,
        })
    }

    /// Ignores Ctrl-C if `ignores` is set.
    pub(crate) fn ignoring_interrupts(mut self, ignores: bool) -> Self {
        self.ignores_interrupts = ignores;
        self
    }

    /// Waits for the next signal; returns its exit code.
    pub(crate) async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv(), if !self.ignores_interrupts => exit::INTERRUPTED,
            _ = self.terminate.recv() => exit::TERMINATED,
            _ = self.hangup.recv() => exit::HUNG_UP,
        }
    }

    /// Completes `ending`, unless a second signal arrives. Tools that still run
    /// are then ended by their lifeline.
    pub(crate) async fn finish(mut self, ending: impl Future<Output = ()>) {
        tokio::select! {
            () = ending => {}
            code = self.next() => std::process::exit(code.into()),
        }
    }
}
