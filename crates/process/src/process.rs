//! A started program and its descendants.
//!
//! Start at [`Process`], the caller's handle. `driver` is the task that reads
//! it, and `watch` holds the tree.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot, watch};

use crate::input::Input;
use crate::pipes::HandedOver;
use crate::remote;
use crate::terminal::LocalTerminal;
use crate::tree;
use crate::watch::TreeControl;
use crate::{
    Exit, HeldKey, InputReader, OwnerNotes, ProgramTerminal, Prompt, ReadNoter, Receipt,
    RemoteFuture, RemoteProcess, ResourceUse, Signal, SignalError, Terminal, ThisUser,
    UnreachableHost, WriteError,
};
use windlass_output::{Output, Stream};
use windlass_sandbox::{Confinement, Denial, LimitKind, ResourceLimits, denials};

/// The number of bytes of output that are searched for denials.
const LOOKED_AT: usize = 16 << 10;

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

    /// The limit for which the tree was ended, if any.
    pub fn exceeded(&self) -> Option<LimitKind> {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.exceeded(),
        };
        shared.state.borrow().exceeded
    }

    /// Its limits.
    pub fn limits(&self) -> ResourceLimits {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.limits(),
        };
        shared.confined.limits
    }

    /// Its sandbox on this machine.
    pub fn confinement(&self) -> Option<&Arc<Confinement>> {
        match self.side() {
            Side::Local(shared) => shared.confined.confinement.as_ref(),
            Side::Remote(_) => None,
        }
    }

    /// A one-line summary of its sandbox, if it has one.
    pub fn allowed(&self) -> Option<String> {
        match self.side() {
            Side::Local(shared) => {
                let confinement = shared.confined.confinement.as_ref();
                confinement.map(|confinement| confinement.summary())
            }
            Side::Remote(remote) => remote.allowed(),
        }
    }

    /// The denials of its sandbox, one phrase each, inferred from its output. Only for a failed program: the output of
    /// a successful one may quote anything.
    pub fn denied(&self) -> Vec<String> {
        match self.side() {
            Side::Local(_) => self.denials().iter().map(ToString::to_string).collect(),
            Side::Remote(remote) => remote.denied(),
        }
    }

    /// Its denials as typed values. Empty for a program on a host.
    pub fn denials(&self) -> Vec<Denial> {
        let Some(confinement) = self.confinement() else {
            return Vec::new();
        };
        let mut text = self.output().read_all(LOOKED_AT).text;
        text.push_str(&self.errors().read_all(LOOKED_AT).text);
        let cwd = self.cwd().unwrap_or(&confinement.root);
        let mut found = denials(&text, cwd, confinement, &ThisUser);
        let hosts = self.refused_hosts();
        if !hosts.is_empty() {
            found.retain(|denial| *denial != Denial::Network);
            found.extend(hosts.into_iter().map(Denial::Host));
        }
        found
    }

    /// The working directory of its command, if set.
    pub fn cwd(&self) -> Option<&Path> {
        let Side::Local(shared) = self.side() else {
            return None;
        };
        shared.confined.cwd.as_deref()
    }

    /// The parts of its confinement that this system does not enforce, one phrase each.
    pub fn unprotected(&self) -> Vec<String> {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.unprotected(),
        };
        #[cfg(target_os = "linux")]
        if let Some(sandbox) = &shared.sandbox {
            return sandbox.missing().to_vec();
        }
        Vec::new()
    }

    /// The hosts that its sandbox has refused since it was started, newest
    /// last.
    pub fn refused_hosts(&self) -> Vec<String> {
        let Side::Local(shared) = self.side() else {
            return Vec::new();
        };
        #[cfg(target_os = "linux")]
        if let Some(proxy) = shared.sandbox.as_ref().and_then(|it| it.proxy()) {
            return proxy.refused_since(shared.launched);
        }
        Vec::new()
    }

    /// The current resource usage of the program and its descendants.
    pub fn usage(&self) -> ResourceUse {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.usage(),
        };
        tree::usage(shared)
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

    /// The address of the program for another process, if it is kept.
    pub fn held_key(&self) -> Option<&HeldKey> {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.held_key(),
        };
        #[cfg(target_os = "linux")]
        return shared.kept.as_ref().map(|kept| &kept.key);
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// The process that holds the tree, and its start time in clock ticks since
    /// boot; `None` if there is none.
    pub fn holder(&self) -> Option<(u32, u64)> {
        let Side::Local(shared) = self.side() else {
            return None;
        };
        #[cfg(target_os = "linux")]
        if let TreeControl::Shim(hold) = &shared.hold {
            let member = crate::linux::Member::read(hold.root())?;
            return Some((member.pid.cast_unsigned(), member.start));
        }
        None
    }

    /// Records the read position for the next owner of the program, if it is
    /// kept. Does not keep the program alive.
    pub fn read_noter(&self) -> Option<ReadNoter> {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.read_noter(),
        };
        #[cfg(target_os = "linux")]
        {
            let kept = shared.kept.as_ref()?;
            let retained = Arc::clone(&kept.retained);
            Some(Box::new(move |offset| retained.set_cursor(offset)))
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = shared;
            None
        }
    }

    /// The recorded read position, also from before an adoption.
    pub fn noted_read(&self) -> u64 {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.noted_read(),
        };
        #[cfg(target_os = "linux")]
        return shared
            .kept
            .as_ref()
            .map_or(0, |kept| kept.retained.cursor());
        #[cfg(not(target_os = "linux"))]
        0
    }

    /// The notes for the next owner of the program, if it is kept on this machine.
    pub fn owner_notes(&self) -> Option<OwnerNotes> {
        let Side::Local(shared) = self.side() else {
            return None;
        };
        #[cfg(target_os = "linux")]
        return shared.kept.as_ref().map(|kept| OwnerNotes {
            retained: Arc::clone(&kept.retained),
        });
        #[cfg(not(target_os = "linux"))]
        {
            let _ = shared;
            None
        }
    }

    /// Releases the program. A kept one continues and its lease begins; any
    /// other is ended. Reading has stopped when this returns.
    pub async fn leave(&self) {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => {
                if remote.held_key().is_some() {
                    remote.leave().await;
                } else {
                    remote.end(LEFT_GRACE).await;
                }
                return;
            }
        };
        shared.left.store(true, Ordering::Release);
        shared.drained().await;
        shared.hold.leave();
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

/// The grace period of a remote program that is released.
const LEFT_GRACE: Duration = Duration::from_secs(2);

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
