//! A started program and its descendants.
//!
//! Start at [`Process`], the caller's handle. `driver` is the task that reads
//! it, and `watch` holds the tree. Rules and limits are in `confined.rs`, kept
//! programs in `keeping.rs`.

mod confined;
mod keeping;
mod shared;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::net::unix::pipe;
use tokio::sync::oneshot;
use windlass_output::{Output, Stream};

#[cfg(target_os = "linux")]
pub(crate) use self::shared::KeptOutput;
pub(crate) use self::shared::{Confined, ProcessShared, ProcessState};
use crate::terminal::LocalTerminal;
use crate::{
    Exit, InputReader, ProgramTerminal, Prompt, Receipt, RemoteFuture, RemoteProcess, Signal,
    SignalError, UnreachableHost, WriteError, remote, tree,
};

/// A started program with its tree. Clones share it. Dropping the last one ends
/// the tree, with the grace of its [`Command`](crate::Command).
#[derive(Clone)]
pub struct Process {
    place: ProgramPlace,
}

/// The machine that a program runs on.
#[derive(Clone)]
enum ProgramPlace {
    Here(Arc<TreeGuard>),
    Elsewhere(Arc<dyn RemoteProcess>),
}

/// The machine of a program, for queries.
enum Side<'a> {
    Local(&'a ProcessShared),
    Remote(&'a dyn RemoteProcess),
}

/// Guard: dropping the last clone releases the tree. The driver does not hold
/// it.
struct TreeGuard {
    shared: Arc<ProcessShared>,
}

impl Drop for TreeGuard {
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
    pub(crate) fn new(shared: Arc<ProcessShared>) -> Self {
        Self {
            place: ProgramPlace::Here(Arc::new(TreeGuard { shared })),
        }
    }

    /// A program on another machine.
    pub fn remote(program: Arc<dyn RemoteProcess>) -> Self {
        Self {
            place: ProgramPlace::Elsewhere(program),
        }
    }

    fn side(&self) -> Side<'_> {
        match &self.place {
            ProgramPlace::Here(owner) => Side::Local(&owner.shared),
            ProgramPlace::Elsewhere(program) => Side::Remote(&**program),
        }
    }

    /// The program's host, if it is another machine and does not answer now.
    pub fn unreachable(&self) -> Option<UnreachableHost> {
        match self.side() {
            Side::Local(_) => None,
            Side::Remote(remote) => remote.unreachable(),
        }
    }

    /// Resolves when the program's host has been unreachable for this time from
    /// now on. Never resolves for a program on this machine.
    pub async fn unreachable_for(&self, time: Duration) {
        match self.side() {
            Side::Local(_) => std::future::pending().await,
            Side::Remote(remote) => remote::unreachable_for(remote, time).await,
        }
    }

    /// Resolves when a process listens on a port of the program's machine;
    /// `None` if that is this machine.
    pub fn remote_port_open(&self, port: u16) -> Option<RemoteFuture<'static, ()>> {
        match self.side() {
            Side::Local(_) => None,
            Side::Remote(remote) => Some(remote.port_open(port)),
        }
    }

    /// Whether the program runs on another machine.
    pub fn is_remote(&self) -> bool {
        matches!(self.place, ProgramPlace::Elsewhere(_))
    }

    /// Pauses reading once the output has this many bytes, until the limit is
    /// raised. The program then blocks when its pipe or terminal is full.
    pub fn read_until(&self, offset: u64) {
        if let Side::Local(shared) = self.side() {
            shared.read_limit.store(offset, Ordering::Release);
            // The request only wakes the driver; its reply is not awaited.
            let _ = shared.drains.send(oneshot::channel().0);
        }
    }

    /// The program's process id. It may be reused once the program has exited.
    pub fn pid(&self) -> u32 {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.pid(),
        };
        shared.pid
    }

    pub fn output(&self) -> &Output {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.output(),
        };
        &shared.output
    }

    /// The program's stderr, if it is separate; otherwise [`Process::output`].
    pub fn errors(&self) -> &Output {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.errors(),
        };
        shared.output_of(Stream::Stderr)
    }

    /// The program's exit, if it has exited. Its output is complete then.
    pub fn exit(&self) -> Option<Exit> {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.exit(),
        };
        shared.state.borrow().exit.clone()
    }

    /// Waits until the program has exited and its output has been read.
    /// Processes that it left running do not delay this. Any number of callers
    /// may wait. Cancellation safe.
    pub async fn wait(&self) -> Exit {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote_exit(remote).await,
        };
        let mut state = shared.state.subscribe();
        let state = state.wait_for(|state| state.exit.is_some()).await;
        let exit = state.ok().and_then(|state| state.exit.clone());
        exit.expect("the sender lives as long as this process, and the condition held")
    }

    /// Writes all of `bytes` to the program's input or, with an error, nothing.
    /// Does not block: bytes that the pipe does not take are queued, up to 1
    /// MiB.
    pub fn write(&self, bytes: &[u8]) -> Result<(), WriteError> {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.write(bytes),
        };
        shared.input.write(bytes)
    }

    /// Writes as much of `bytes` as the program's input takes now, and returns the length. Queues nothing, so that the
    /// caller knows what was written. On another machine, all of it is queued.
    pub fn offer(&self, bytes: &[u8]) -> Result<usize, WriteError> {
        match self.side() {
            Side::Local(shared) => shared.input.offer(bytes),
            Side::Remote(remote) => remote.write(bytes).map(|()| bytes.len()),
        }
    }

    /// Whether a program on this machine takes no more input. False for one on another machine.
    pub fn is_input_closed(&self) -> bool {
        match self.side() {
            Side::Local(shared) => shared.input.is_closed(),
            Side::Remote(_) => false,
        }
    }

    /// Waits until the program's input may take more, or was closed. Cancellation safe.
    pub async fn input_room(&self) {
        if let Side::Local(shared) = self.side() {
            shared.input.room().await;
        }
    }

    /// Closes the program's input after the queued bytes. On a terminal this
    /// types the end of input (`^D`; twice if the last write left a line
    /// unfinished) for the current reader. Other programs on the terminal, such
    /// as a parent shell, may still read more.
    pub fn close_stdin(&self) {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.close_stdin(),
        };
        if let Some(terminal) = &shared.terminal {
            shared.input.type_end(&terminal.end_of_input());
        } else {
            shared.input.close();
            shared.pass_on_close();
        }
    }

    /// The program's stdout and stdin, if it was started with
    /// [`Command::hand_over_pipes`](crate::Command::hand_over_pipes) and they
    /// were not taken yet. The caller closes them. The end of stdout may come
    /// long after the exit, since other processes may hold it open.
    pub fn take_pipes(&self) -> Option<(pipe::Receiver, pipe::Sender)> {
        let Side::Local(shared) = self.side() else {
            return None;
        };
        let pipes = shared.handed_over.lock().take()?;
        let stdout = pipe::Receiver::from_owned_fd(pipes.stdout).ok()?;
        let stdin = pipe::Sender::from_owned_fd(pipes.stdin).ok()?;
        Some((stdout, stdin))
    }

    /// The program's terminal, if it was started with one.
    pub fn terminal(&self) -> Option<ProgramTerminal<'_>> {
        match self.side() {
            Side::Local(shared) => {
                let terminal = shared.terminal.as_ref();
                terminal.map(|it| ProgramTerminal::Local(LocalTerminal(it)))
            }
            Side::Remote(remote) => remote
                .has_terminal()
                .then_some(ProgramTerminal::Remote(remote)),
        }
    }

    /// Sends a signal to the program's process group, or to the foreground group of its terminal.
    pub fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.signal(signal),
        };
        if shared.state.borrow().exit.is_some() {
            return Err(SignalError::Exited);
        }
        let sent = shared
            .terminal
            .as_ref()
            .is_some_and(|terminal| crate::prompt::signal(terminal, signal));
        if !sent {
            shared.hold.signal(signal.number());
        }
        shared.input.touch();
        Ok(())
    }

    /// Ends the whole tree: `SIGTERM` to all, `SIGKILL` to the rest after
    /// `grace`. Returns when they are gone. The program's output and exit are
    /// complete then. A second call joins the first and may shorten its grace.
    /// Once polled, the operation continues even if the future is dropped.
    pub async fn end(&self, grace: Duration) -> Receipt {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.end(grace).await,
        };
        let mut state = shared.state.subscribe();
        if !state.borrow().gone {
            shared.hold.end(grace);
        }
        let state =
            state.wait_for(|state| state.receipt.is_some() && (state.gone || has_survivors(state)));
        let receipt = state.await.ok().and_then(|state| state.receipt.clone());
        receipt.expect("the sender lives as long as this process, and the condition held")
    }

    /// Waits until the program has settled: it exited, or its output has been
    /// quiet for 20 ms and all processes of its tree sleep; at most for `max`.
    /// On a terminal: its foreground is blocked reading the terminal, and all
    /// input has been read (see `docs/design/settling.md`).
    pub async fn settle(&self, max: Duration) {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.settle(max).await,
        };
        match &shared.terminal {
            Some(terminal) => crate::prompt::settle(shared, terminal, max).await,
            None => crate::settle::settle(shared, max).await,
        }
    }

    /// Waits until the program is blocked at a matching prompt and returns it;
    /// `None` when the program has exited. Without a terminal, or where prompts
    /// cannot be detected, only the exit ends this. A program with unread input
    /// is not at a prompt, so this can directly follow a write.
    ///
    /// Polls an idle program up to twice a second.
    pub async fn prompted(&self, wanted: impl Fn(Prompt) -> bool) -> Option<Prompt> {
        match self.side() {
            Side::Local(shared) => {
                if let Some(terminal) = &shared.terminal {
                    return crate::prompt::prompted(shared, terminal, wanted).await;
                }
            }
            Side::Remote(remote) if remote.has_terminal() => {
                return remote_prompt(remote, wanted).await;
            }
            Side::Remote(_) => {}
        }
        self.wait().await;
        None
    }

    /// The programs of the tree that may read input now or later; `None` if
    /// that cannot be determined.
    pub fn listeners(&self) -> Option<Vec<InputReader>> {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.listeners(),
        };
        crate::listeners::listeners(shared)
    }

    /// The number of running processes of the tree without the program itself.
    /// Zero after an exceeded limit, which ends all of them, even if some have
    /// not exited yet.
    #[expect(
        clippy::unused_async,
        reason = "a tree that is held elsewhere would have to be asked"
    )]
    pub async fn remaining(&self) -> usize {
        if self.exceeded().is_some() {
            return 0;
        }
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.remaining(),
        };
        tree::remaining(shared)
    }
}

async fn remote_exit(remote: &dyn RemoteProcess) -> Exit {
    let mut changes = remote.changes();
    loop {
        changes.borrow_and_update();
        if let Some(exit) = remote.exit() {
            return exit;
        }
        if changes.changed().await.is_err() {
            return Exit::Lost(String::from("its host is gone"));
        }
    }
}

async fn remote_prompt(
    remote: &dyn RemoteProcess,
    wanted: impl Fn(Prompt) -> bool,
) -> Option<Prompt> {
    let mut changes = remote.changes();
    loop {
        changes.borrow_and_update();
        if remote.exit().is_some() {
            return None;
        }
        if let Some(prompt) = remote.prompt().filter(|&it| wanted(it)) {
            return Some(prompt);
        }
        changes.changed().await.ok()?;
    }
}

fn has_survivors(state: &ProcessState) -> bool {
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
