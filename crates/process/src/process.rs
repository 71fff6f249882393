//! A started program and everything that descends from it.
//!
//! Start at [`Process`]. It is a handle for callers; the task that reads is `driver`, and how the tree is held together
//! is behind `watch`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot, watch};

use crate::input::Input;
use crate::pipes::HandedOver;
use crate::tree;
use crate::watch::Hold;
use crate::{
    Exit, HeldKey, InputReader, Prompt, Receipt, ResourceUse, Signal, SignalError, Terminal,
    WriteError,
};
use windlass_output::{Output, Stream};
use windlass_sandbox::{Confinement, LimitKind, ResourceLimits};

/// A program that was started, with its tree. Clones are the same process; dropping the last one ends the tree, with
/// the grace of its [`Command`](crate::Command).
#[derive(Clone)]
pub struct Process {
    owner: Arc<Owner>,
}

/// What callers and the driver share.
pub(crate) struct Shared {
    pub(crate) pid: u32,
    pub(crate) started: Instant,
    pub(crate) output: Output,
    /// The output outlives the process: others may write to it later.
    pub(crate) lasting_output: bool,
    /// What it wrote to stderr, where that is kept apart.
    pub(crate) errors: Option<Output>,
    pub(crate) input: Arc<Input>,
    /// What the caller has not taken yet.
    pub(crate) handed_over: Mutex<Option<HandedOver>>,
    /// What its streams are, if they are not pipes.
    pub(crate) terminal: Option<Terminal>,
    pub(crate) hold: Hold,
    pub(crate) state: watch::Sender<State>,
    /// Where its output is shared with its holder, and the way to it, if it is kept.
    #[cfg(target_os = "linux")]
    pub(crate) kept: Option<KeptOutput>,
    /// The sandbox that it runs in stays as long as it may run.
    #[cfg(target_os = "linux")]
    pub(crate) sandbox: Option<Arc<crate::linux::Prepared>>,
    /// The rules and limits that it was started with.
    pub(crate) confined: Confined,
    /// The driver must not read any more: another process will.
    pub(crate) left: AtomicBool,
    /// Asks the driver to read what is there.
    pub(crate) drains: mpsc::UnboundedSender<oneshot::Sender<()>>,
}

/// The rules and limits of a program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Confined {
    pub(crate) confinement: Option<Arc<Confinement>>,
    pub(crate) limits: ResourceLimits,
    pub(crate) cwd: Option<PathBuf>,
}

/// A program that is kept beyond this process.
#[cfg(target_os = "linux")]
pub(crate) struct KeptOutput {
    pub(crate) retained: Arc<crate::linux::Retained>,
    pub(crate) key: HeldKey,
}

impl Shared {
    /// Where what a stream carries is kept.
    pub(crate) fn output_of(&self, stream: Stream) -> &Output {
        match (stream, &self.errors) {
            (Stream::Stderr, Some(errors)) => errors,
            _ => &self.output,
        }
    }

    /// Waits until everything that was written up to now can be read in the output.
    pub(crate) async fn drained(&self) {
        let (reply, drained) = oneshot::channel();
        // There is nothing to read if there is no driver any more.
        if self.drains.send(reply).is_ok() {
            let _ = drained.await;
        }
    }

    /// Nothing more will be written.
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

/// How far a process has come. Nothing here is ever taken back.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) exit: Option<Exit>,
    pub(crate) receipt: Option<Receipt>,
    /// The limit that the tree has exceeded.
    pub(crate) exceeded: Option<LimitKind>,
    /// Nothing of the tree is left.
    pub(crate) gone: bool,
}

/// Lets go of the tree when the last clone is dropped. The driver has the rest, but not this.
struct Owner {
    shared: Arc<Shared>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        if !self.shared.left.load(Ordering::Acquire) {
            self.shared.hold.release();
        }
        if let Some(terminal) = &self.shared.terminal {
            terminal.hang_up();
        }
    }
}

impl Process {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            owner: Arc::new(Owner { shared }),
        }
    }

    fn shared(&self) -> &Shared {
        &self.owner.shared
    }

    /// The program's process id. It may belong to another process once the program has exited.
    pub fn pid(&self) -> u32 {
        self.shared().pid
    }

    /// What the program has written.
    pub fn output(&self) -> &Output {
        &self.shared().output
    }

    /// What the program has written to stderr, where that is kept apart; else the same as [`Process::output`].
    pub fn errors(&self) -> &Output {
        self.shared().output_of(Stream::Stderr)
    }

    /// How the program exited, if it has. From then on its output is complete.
    pub fn exit(&self) -> Option<Exit> {
        self.shared().state.borrow().exit.clone()
    }

    /// Waits until the program's own process has exited and what it wrote has been read. What it left running does not
    /// delay this, whatever pipes it holds. Any number of callers may wait, and stop waiting at any time.
    pub async fn wait(&self) -> Exit {
        let mut state = self.shared().state.subscribe();
        let state = state.wait_for(|state| state.exit.is_some()).await;
        let exit = state.ok().and_then(|state| state.exit.clone());
        exit.expect("the sender lives as long as this process, and the condition held")
    }

    /// Writes to the program's input: all of `bytes` or, with an error, nothing. Does not wait: what the pipe does not
    /// take at once is queued, up to 1 MiB.
    pub fn write(&self, bytes: &[u8]) -> Result<(), WriteError> {
        self.shared().input.write(bytes)
    }

    /// Closes the program's input, after what is queued for it. On a terminal this types the end of input (`^D`; twice
    /// where the last write left a line unfinished), which ends the input of whatever reads then: a shell may have been
    /// left by the program that it ran, and more can be written.
    pub fn close_stdin(&self) {
        match self.terminal() {
            Some(terminal) => self.shared().input.type_end(&terminal.end_of_input()),
            None => self.shared().input.close(),
        }
    }

    /// What the program writes to stdout and reads from stdin, if it was started with
    /// [`Command::hand_over_pipes`](crate::Command::hand_over_pipes) and nobody has taken them yet. Closing them is the
    /// caller's; the end of stdout may come long after the exit, since others may hold it open.
    pub fn take_pipes(&self) -> Option<(pipe::Receiver, pipe::Sender)> {
        let pipes = self.shared().handed_over.lock().take()?;
        let stdout = pipe::Receiver::from_owned_fd(pipes.stdout).ok()?;
        let stdin = pipe::Sender::from_owned_fd(pipes.stdin).ok()?;
        Some((stdout, stdin))
    }

    /// The program's terminal, if it was started with one.
    pub fn terminal(&self) -> Option<&Terminal> {
        self.shared().terminal.as_ref()
    }

    /// The limit that the program and its tree have exceeded, if they were ended for that.
    pub fn exceeded(&self) -> Option<LimitKind> {
        self.shared().state.borrow().exceeded
    }

    /// The limits that it was started with.
    pub fn limits(&self) -> ResourceLimits {
        self.shared().confined.limits
    }

    /// The sandbox that it was started in.
    pub fn confinement(&self) -> Option<&Arc<Confinement>> {
        self.shared().confined.confinement.as_ref()
    }

    /// The working directory that it was started in, if its command said one.
    pub fn cwd(&self) -> Option<&Path> {
        self.shared().confined.cwd.as_deref()
    }

    /// The parts of its confinement that this system does not enforce, a phrase each.
    pub fn unprotected(&self) -> &[String] {
        #[cfg(target_os = "linux")]
        if let Some(sandbox) = &self.shared().sandbox {
            return sandbox.missing();
        }
        &[]
    }

    /// The hosts that programs of its sandbox were refused since it was started, the newest last.
    pub fn refused_hosts(&self) -> Vec<String> {
        #[cfg(target_os = "linux")]
        if let Some(proxy) = self.shared().sandbox.as_ref().and_then(|it| it.proxy()) {
            return proxy.refused_since(self.shared().started);
        }
        Vec::new()
    }

    /// The use of the machine by the program and everything that it has started, now.
    pub fn usage(&self) -> ResourceUse {
        tree::usage(self.shared())
    }

    /// Sends a signal to the program's process group; on a terminal to the group in its foreground.
    pub fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        if self.shared().state.borrow().exit.is_some() {
            return Err(SignalError::Exited);
        }
        let sent = self
            .terminal()
            .is_some_and(|terminal| crate::prompt::signal(terminal, signal));
        if !sent {
            self.shared().hold.signal(signal.number());
        }
        self.shared().input.touch();
        Ok(())
    }

    /// Ends the whole tree: `SIGTERM` to all, `SIGKILL` after `grace` to those that are left. Returns when they are gone,
    /// which may be at once. The program's output and exit are complete then. A second call joins the first, and may
    /// shorten its grace; once this future was polled, the end goes on even if it is dropped.
    pub async fn end(&self, grace: Duration) -> Receipt {
        let mut state = self.shared().state.subscribe();
        if !state.borrow().gone {
            self.shared().hold.end(grace);
        }
        let state =
            state.wait_for(|state| state.receipt.is_some() && (state.gone || has_survivors(state)));
        let receipt = state.await.ok().and_then(|state| state.receipt.clone());
        receipt.expect("the sender lives as long as this process, and the condition held")
    }

    /// The way to the program for another process, if it is kept.
    pub fn held_key(&self) -> Option<&HeldKey> {
        #[cfg(target_os = "linux")]
        return self.shared().kept.as_ref().map(|kept| &kept.key);
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// The process that holds the program's tree together, and when it started, in clock ticks since the boot; `None` where
    /// no process does.
    pub fn holder(&self) -> Option<(u32, u64)> {
        #[cfg(target_os = "linux")]
        if let Hold::Shim(hold) = &self.shared().hold {
            let member = crate::linux::Member::read(hold.root())?;
            return Some((member.pid.cast_unsigned(), member.start));
        }
        None
    }

    /// Notes for whoever adopts the program how far its output has been read, if it is kept. Does not hold on to the
    /// program.
    pub fn read_noter(&self) -> Option<impl Fn(u64) + Send + Sync + 'static> {
        #[cfg(target_os = "linux")]
        {
            let kept = self.shared().kept.as_ref()?;
            let retained = Arc::clone(&kept.retained);
            Some(move |offset| retained.set_cursor(offset))
        }
        #[cfg(not(target_os = "linux"))]
        None::<fn(u64)>
    }

    /// How far its output had been read when it was adopted, or has been noted since.
    pub fn noted_read(&self) -> u64 {
        #[cfg(target_os = "linux")]
        return self
            .shared()
            .kept
            .as_ref()
            .map_or(0, |kept| kept.retained.cursor());
        #[cfg(not(target_os = "linux"))]
        0
    }

    /// Lets go of the program. One that is kept goes on, and its lease begins; any other is ended. Nothing is read of it
    /// any more when this returns.
    pub async fn leave(&self) {
        self.shared().left.store(true, Ordering::Release);
        self.shared().drained().await;
        self.shared().hold.leave();
    }

    /// Waits until the program has said what it has to say: it exited, or its output has been quiet for 20 ms and all
    /// processes of its tree sleep; or `max` is over. On a terminal, instead of the quiet: its foreground is blocked
    /// reading the terminal, and everything that was written to it has been read (see `docs/design/settling.md`).
    pub async fn settle(&self, max: Duration) {
        match self.terminal() {
            Some(terminal) => crate::prompt::settle(self.shared(), terminal, max).await,
            None => crate::settle::settle(self.shared(), max).await,
        }
    }

    /// Waits until the program is blocked at a prompt that is wanted, which may be now, and tells it; `None` when the
    /// program has exited. Without a terminal, or where prompts cannot be seen, that is the only end. A program that has
    /// not read what was written to it is not at a prompt, so that this can follow a write at once.
    ///
    /// While nothing happens this looks at the program every now and then, up to twice a second.
    pub async fn prompted(&self, wanted: impl Fn(Prompt) -> bool) -> Option<Prompt> {
        if let Some(terminal) = self.terminal() {
            return crate::prompt::prompted(self.shared(), terminal, wanted).await;
        }
        self.wait().await;
        None
    }

    /// The programs of the tree that may read what is written now or later; `None` where that cannot be seen.
    pub fn listeners(&self) -> Option<Vec<InputReader>> {
        crate::listeners::listeners(self.shared())
    }

    /// How many processes of the tree run, apart from the program itself: what it has left running, once it has exited.
    #[expect(
        clippy::unused_async,
        reason = "a tree that is held elsewhere would have to be asked"
    )]
    pub async fn remaining(&self) -> usize {
        tree::remaining(self.shared())
    }
}

fn has_survivors(state: &State) -> bool {
    state
        .receipt
        .as_ref()
        .is_some_and(|receipt| !receipt.survivors.is_empty())
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Process")
            .field("pid", &self.pid())
            .field("exit", &self.exit())
            .finish()
    }
}
