//! A started program and everything that descends from it.
//!
//! Start at [`Process`]. It is a handle for callers; the task that reads is `driver`, and how the tree is held together
//! is behind `watch`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot, watch};

use crate::input::Input;
use crate::pipes::HandedOver;
use crate::terminal::LocalTerminal;
use crate::tree;
use crate::watch::Hold;
use crate::{
    Exit, HeldKey, InputReader, ProgramTerminal, Prompt, ReadNoter, Receipt, RemoteFuture,
    RemoteProcess, ResourceUse, Signal, SignalError, Terminal, ThisUser, UnreachableHost,
    WriteError,
};
use windlass_output::{Output, Stream};
use windlass_sandbox::{Confinement, Denial, LimitKind, ResourceLimits, denials};

/// So much of the output is looked at for denials.
const LOOKED_AT: usize = 16 << 10;

/// A program that was started, with its tree. Clones are the same process; dropping the last one ends the tree, with
/// the grace of its [`Command`](crate::Command).
#[derive(Clone)]
pub struct Process {
    place: ProgramPlace,
}

/// The machine that a program runs on.
#[derive(Clone)]
enum ProgramPlace {
    Here(Arc<Owner>),
    Elsewhere(Arc<dyn RemoteProcess>),
}

/// The machine that a program runs on, to ask it.
enum Side<'a> {
    Local(&'a Shared),
    Remote(&'a dyn RemoteProcess),
}

/// What callers and the driver share.
pub(crate) struct Shared {
    pub(crate) pid: u32,
    /// Before it was started or adopted. It may have done something by the time that we hear of its start.
    pub(crate) launched: Instant,
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
    /// Nothing is read once the output has so many bytes.
    pub(crate) read_limit: AtomicU64,
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

    /// Whether its streams are left alone for now.
    pub(crate) fn is_paused(&self) -> bool {
        let limit = self.read_limit.load(Ordering::Acquire);
        limit != u64::MAX && self.output.position() >= limit
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
            place: ProgramPlace::Here(Arc::new(Owner { shared })),
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

    /// The host that the program runs on, if that is another machine and does not answer now.
    pub fn unreachable(&self) -> Option<UnreachableHost> {
        match self.side() {
            Side::Local(_) => None,
            Side::Remote(remote) => remote.unreachable(),
        }
    }

    /// Resolves when somebody listens on a port of the program's machine; `None` if that is this one.
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

    /// Stops reading its streams once so many bytes can be read of its output, until more is allowed. The program then
    /// waits when its pipe or terminal is full.
    pub fn read_until(&self, offset: u64) {
        if let Side::Local(shared) = self.side() {
            shared.read_limit.store(offset, Ordering::Release);
            // Whoever waits for a drain wakes the driver; nobody waits for this one.
            let _ = shared.drains.send(oneshot::channel().0);
        }
    }

    /// The program's process id. It may belong to another process once the program has exited.
    pub fn pid(&self) -> u32 {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.pid(),
        };
        shared.pid
    }

    /// What the program has written.
    pub fn output(&self) -> &Output {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.output(),
        };
        &shared.output
    }

    /// What the program has written to stderr, where that is kept apart; else the same as [`Process::output`].
    pub fn errors(&self) -> &Output {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.errors(),
        };
        shared.output_of(Stream::Stderr)
    }

    /// How the program exited, if it has. From then on its output is complete.
    pub fn exit(&self) -> Option<Exit> {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.exit(),
        };
        shared.state.borrow().exit.clone()
    }

    /// Waits until the program's own process has exited and what it wrote has been read. What it left running does not
    /// delay this, whatever pipes it holds. Any number of callers may wait, and stop waiting at any time.
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

    /// Writes to the program's input: all of `bytes` or, with an error, nothing. Does not wait: what the pipe does not
    /// take at once is queued, up to 1 MiB.
    pub fn write(&self, bytes: &[u8]) -> Result<(), WriteError> {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.write(bytes),
        };
        shared.input.write(bytes)
    }

    /// Closes the program's input, after what is queued for it. On a terminal this types the end of input (`^D`; twice
    /// where the last write left a line unfinished), which ends the input of whatever reads then: a shell may have been
    /// left by the program that it ran, and more can be written.
    pub fn close_stdin(&self) {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.close_stdin(),
        };
        match &shared.terminal {
            Some(terminal) => shared.input.type_end(&terminal.end_of_input()),
            None => shared.input.close(),
        }
    }

    /// What the program writes to stdout and reads from stdin, if it was started with
    /// [`Command::hand_over_pipes`](crate::Command::hand_over_pipes) and nobody has taken them yet. Closing them is the
    /// caller's; the end of stdout may come long after the exit, since others may hold it open.
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

    /// The limit that the program and its tree have exceeded, if they were ended for that.
    pub fn exceeded(&self) -> Option<LimitKind> {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.exceeded(),
        };
        shared.state.borrow().exceeded
    }

    /// The limits that it was started with.
    pub fn limits(&self) -> ResourceLimits {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.limits(),
        };
        shared.confined.limits
    }

    /// The sandbox that it was started in, on this machine.
    pub fn confinement(&self) -> Option<&Arc<Confinement>> {
        match self.side() {
            Side::Local(shared) => shared.confined.confinement.as_ref(),
            Side::Remote(_) => None,
        }
    }

    /// The rules of its sandbox in a line, if it runs in one.
    pub fn allowed(&self) -> Option<String> {
        match self.side() {
            Side::Local(shared) => {
                let confinement = shared.confined.confinement.as_ref();
                confinement.map(|confinement| confinement.summary())
            }
            Side::Remote(remote) => remote.allowed(),
        }
    }

    /// The denials of its sandbox, a phrase each, as far as its output tells. For a program that failed: text that a
    /// successful one shows may be about anything.
    pub fn denied(&self) -> Vec<String> {
        match self.side() {
            Side::Local(_) => self.denials().iter().map(ToString::to_string).collect(),
            Side::Remote(remote) => remote.denied(),
        }
    }

    /// Its denials as rules speak of them. None of a program that runs on a host.
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

    /// The working directory that it was started in, if its command said one.
    pub fn cwd(&self) -> Option<&Path> {
        let Side::Local(shared) = self.side() else {
            return None;
        };
        shared.confined.cwd.as_deref()
    }

    /// The parts of its confinement that this system does not enforce, a phrase each.
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

    /// The hosts that programs of its sandbox were refused since it was started, the newest last.
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

    /// The use of the machine by the program and everything that it has started, now.
    pub fn usage(&self) -> ResourceUse {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.usage(),
        };
        tree::usage(shared)
    }

    /// Sends a signal to the program's process group; on a terminal to the group in its foreground.
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

    /// Ends the whole tree: `SIGTERM` to all, `SIGKILL` after `grace` to those that are left. Returns when they are gone,
    /// which may be at once. The program's output and exit are complete then. A second call joins the first, and may
    /// shorten its grace; once this future was polled, the end goes on even if it is dropped.
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

    /// The way to the program for another process, if it is kept.
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

    /// The process that holds the program's tree together, and when it started, in clock ticks since the boot; `None` where
    /// no process does.
    pub fn holder(&self) -> Option<(u32, u64)> {
        let Side::Local(shared) = self.side() else {
            return None;
        };
        #[cfg(target_os = "linux")]
        if let Hold::Shim(hold) = &shared.hold {
            let member = crate::linux::Member::read(hold.root())?;
            return Some((member.pid.cast_unsigned(), member.start));
        }
        None
    }

    /// Notes for whoever adopts the program how far its output has been read, if it is kept. Does not hold on to the
    /// program.
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

    /// How far its output had been read when it was adopted, or has been noted since.
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

    /// Lets go of the program. One that is kept goes on, and its lease begins; any other is ended. Nothing is read of it
    /// any more when this returns.
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

    /// Waits until the program has said what it has to say: it exited, or its output has been quiet for 20 ms and all
    /// processes of its tree sleep; or `max` is over. On a terminal, instead of the quiet: its foreground is blocked
    /// reading the terminal, and everything that was written to it has been read (see `docs/design/settling.md`).
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

    /// Waits until the program is blocked at a prompt that is wanted, which may be now, and tells it; `None` when the
    /// program has exited. Without a terminal, or where prompts cannot be seen, that is the only end. A program that has
    /// not read what was written to it is not at a prompt, so that this can follow a write at once.
    ///
    /// While nothing happens this looks at the program every now and then, up to twice a second.
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

    /// The programs of the tree that may read what is written now or later; `None` where that cannot be seen.
    pub fn listeners(&self) -> Option<Vec<InputReader>> {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.listeners(),
        };
        crate::listeners::listeners(shared)
    }

    /// How many processes of the tree run, apart from the program itself: what it has left running, once it has exited.
    #[expect(
        clippy::unused_async,
        reason = "a tree that is held elsewhere would have to be asked"
    )]
    pub async fn remaining(&self) -> usize {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.remaining(),
        };
        tree::remaining(shared)
    }
}

/// The time that a remote program has to end when it is left.
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
