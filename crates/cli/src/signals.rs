//! Termination signals: the first ends cleanly, the second at once.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit;

/// The signals that ask us to end.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    /// Ctrl-C is for somebody else.
    ignores_interrupts: bool,
}

impl Signals {
    /// Takes them over; from here on they do not end the process by themselves.
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            ignores_interrupts: false,
        })
    }

    /// Leaves Ctrl-C to somebody else, if so told.
    pub(crate) fn ignoring_interrupts(mut self, ignores: bool) -> Self {
        self.ignores_interrupts = ignores;
        self
    }

    /// Waits for the next one; gives the exit code that goes with it.
    pub(crate) async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv(), if !self.ignores_interrupts => exit::INTERRUPTED,
            _ = self.terminate.recv() => exit::TERMINATED,
            _ = self.hangup.recv() => exit::HUNG_UP,
        }
    }

    /// Finishes `ending`, unless a second signal says to leave at once. What
    /// still runs then is ended by its lifeline.
    pub(crate) async fn finish(mut self, ending: impl Future<Output = ()>) {
        tokio::select! {
            () = ending => {}
            code = self.next() => std::process::exit(code.into()),
        }
    }
}
