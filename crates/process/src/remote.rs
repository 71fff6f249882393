//! Programs on another machine, behind the same [`Process`](crate::Process).
//!
//! A [`RemoteHost`] starts them and returns a [`RemoteProcess`] for each.
//! [`Launcher::on_host`](crate::Launcher::on_host) makes a launcher for them.
//! The connection is not part of this crate.

use std::ffi::OsString;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tokio::time::Instant;
use windlass_output::{Output, OutputOptions};
use windlass_sandbox::{LimitKind, ResourceLimits, UnresolvedSandbox};

use crate::command::{Capture, OutputTarget, Stdin};
use crate::lease::{lease_left, lease_wait};
use crate::terminal::Tap;
use crate::{
    Command, Exit, HeldKey, InputReader, KeepOptions, Modes, Process, Prompt, Rebuild, Receipt,
    RemotePlace, ResourceUse, Signal, SignalError, StartError, TakeOverError, TerminalSize,
    WriteError,
};

/// A future of a remote program.
pub type RemoteFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A machine that starts programs.
pub trait RemoteHost: Send + Sync {
    /// The host's name, for messages.
    fn name(&self) -> &str;

    /// The path there of a path here. Paths of the project are mapped, others
    /// are the same. No disk is read.
    fn path_there(&self, path: &Path) -> PathBuf;

    /// Starts a program there. It runs when this returns.
    fn start(&self, start: RemoteStart) -> RemoteFuture<'_, Result<Process, StartError>>;

    /// Whether a kept program runs on this host, or on one of its machines.
    fn has_place(&self, place: &RemotePlace) -> bool;

    /// Adopts a program that an earlier process kept there.
    fn adopt(&self, adoption: RemoteAdoption) -> RemoteFuture<'_, Result<Process, TakeOverError>>;
}

/// A kept program on a [`RemoteHost`] to adopt.
pub struct RemoteAdoption {
    /// Its address.
    pub key: HeldKey,
    /// Receives all its output, past and future, unless it is not wanted.
    pub output: Output,
    /// Whether output is sent at all.
    pub wants_output: bool,
    /// Receives later terminal output.
    pub tap: Option<RemoteTap>,
    /// Called once the output is as it was when the program was adopted.
    pub rebuild: Option<Rebuild>,
    pub limits: ResourceLimits,
    pub sandbox: Option<UnresolvedSandbox>,
}

impl RemoteAdoption {
    /// Adopts a program only to end it, without its output.
    pub fn to_end(key: HeldKey) -> Self {
        Self {
            key,
            output: Output::new(OutputOptions::default()),
            wants_output: false,
            tap: None,
            rebuild: None,
            limits: ResourceLimits::default(),
            sandbox: None,
        }
    }
}

/// Records the read position in a program's output.
pub type ReadNoter = Box<dyn Fn(u64) + Send + Sync>;

/// A program to start on a [`RemoteHost`]. Clones share the outputs.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct RemoteStart {
    /// The program, by its name or path on the far side.
    pub program: OsString,
    /// Whether the program is the user's shell: the far side uses that of its
    /// own user.
    pub is_user_shell: bool,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Changes to the environment of the far side. `None` removes a variable.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Whether the environment is empty apart from `env`.
    pub env_clear: bool,
    /// The working directory, as a path of the caller.
    pub cwd: Option<PathBuf>,
    /// Whether its input is a pipe.
    pub has_input: bool,
    /// Its output streams.
    pub capture: RemoteCapture,
    /// The size of its terminal, if its streams are a terminal.
    pub terminal: Option<TerminalSize>,
    /// The time between `SIGTERM` and `SIGKILL` when its [`Process`] is dropped.
    pub grace: Duration,
    pub limits: ResourceLimits,
    /// Its sandbox. The far side resolves it against its own directories.
    pub sandbox: Option<UnresolvedSandbox>,
    /// Options for keeping it beyond this process, if it is kept.
    pub keep: Option<KeepOptions>,
    /// The programs that it belongs to, see [`Launcher::grouped`](crate::Launcher::grouped).
    pub group: Option<Arc<str>>,
    /// Receives its output.
    pub output: Output,
    /// Whether the output outlives the program.
    pub lasting_output: bool,
    /// Receives its stderr, if separate.
    pub errors: Option<Output>,
    /// Receives its terminal output.
    pub tap: Option<RemoteTap>,
}

/// The output pipes of a remote program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteCapture {
    /// One for stdout and one for stderr.
    Separate,
    /// One for both.
    Merged,
    /// Output is not captured.
    Nothing,
}

/// Receives the output of a remote terminal. Its replies to queries are
/// dropped: the far side replies.
#[derive(Debug, Clone)]
pub struct RemoteTap(pub(crate) Tap);

impl RemoteTap {
    /// Passes the next bytes to it.
    pub fn see(&self, bytes: &[u8]) {
        drop(self.0.see(bytes));
    }
}

impl RemoteStart {
    /// Converts a command. `Err` names the part that a host does not support.
    pub(crate) fn new(
        command: Command,
        edits: &[(OsString, Option<OsString>)],
        limits: ResourceLimits,
    ) -> Result<Self, &'static str> {
        if command.hands_over {
            return Err("a program whose pipes are handed over");
        }
        let mut env = command.env;
        if !command.env_clear {
            env.splice(0..0, edits.iter().cloned());
        }
        let (output, lasting_output) = match command.output {
            OutputTarget::New(options) => (Output::new(options), false),
            OutputTarget::Existing(output) => (output, true),
        };
        Ok(Self {
            program: command.program,
            is_user_shell: command.is_user_shell,
            args: command.args,
            env,
            env_clear: command.env_clear,
            cwd: command.cwd,
            has_input: command.stdin == Stdin::Pipe,
            capture: match command.capture {
                Capture::Separate => RemoteCapture::Separate,
                Capture::Merged => RemoteCapture::Merged,
                Capture::Nothing => RemoteCapture::Nothing,
            },
            errors: (command.split && command.terminal.is_none())
                .then(|| Output::new(OutputOptions::default())),
            terminal: command.terminal,
            grace: command.grace,
            limits,
            sandbox: None,
            keep: command.keep,
            group: None,
            output,
            lasting_output,
            tap: command.tap.map(RemoteTap),
        })
    }
}

/// A program that was started on a [`RemoteHost`]. Dropping it ends the
/// program. Each method corresponds to the method of [`Process`] with the same
/// name; states are as of the last message from the far side.
pub trait RemoteProcess: Send + Sync {
    fn pid(&self) -> u32;
    fn output(&self) -> &Output;
    fn errors(&self) -> &Output;
    fn exit(&self) -> Option<Exit>;
    fn exceeded(&self) -> Option<LimitKind>;
    fn limits(&self) -> ResourceLimits;
    fn write(&self, bytes: &[u8]) -> Result<(), WriteError>;
    fn close_stdin(&self);
    fn signal(&self, signal: Signal) -> Result<(), SignalError>;
    fn usage(&self) -> ResourceUse;
    fn listeners(&self) -> Option<Vec<InputReader>>;
    fn end(&self, grace: Duration) -> RemoteFuture<'_, Receipt>;
    fn settle(&self, max: Duration) -> RemoteFuture<'_, ()>;
    fn remaining(&self) -> usize;
    /// Changes with every event: output, an exit, a prompt.
    fn changes(&self) -> watch::Receiver<u64>;
    fn has_terminal(&self) -> bool;
    fn size(&self) -> TerminalSize;
    fn resize(&self, size: TerminalSize);
    fn modes(&self) -> Modes;
    fn prompt(&self) -> Option<Prompt>;
    /// Whether the terminal did not echo the last write, or that is unknown.
    fn hid_last_write(&self) -> bool;
    fn port_open(&self, port: u16) -> RemoteFuture<'static, ()>;
    /// The host, if it does not respond now. [`RemoteProcess::changes`] reports when that changes.
    fn unreachable(&self) -> Option<UnreachableHost>;
    fn held_key(&self) -> Option<&HeldKey>;
    fn read_noter(&self) -> Option<ReadNoter>;
    fn noted_read(&self) -> u64;
    fn leave(&self) -> RemoteFuture<'_, ()>;
    fn allowed(&self) -> Option<String>;
    fn denied(&self) -> Vec<String>;
    fn unprotected(&self) -> Vec<String>;
}

/// Resolves when the program's host has been unreachable for this time from now on.
pub(crate) async fn unreachable_for(remote: &dyn RemoteProcess, time: Duration) {
    let mut changes = remote.changes();
    let mut since = None;
    loop {
        changes.borrow_and_update();
        let is_silent = remote.unreachable().is_some();
        since = is_silent.then(|| since.unwrap_or_else(Instant::now));
        let left = since.map_or(time, |since| lease_left(time, since.elapsed()));
        if is_silent && left.is_zero() {
            return;
        }
        tokio::select! {
            () = lease_wait(left), if is_silent => {}
            seen = changes.changed() => if seen.is_err() {
                return;
            }
        }
    }
}

/// A host that does not respond now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreachableHost {
    pub host: String,
    /// The time of its last message.
    pub since: SystemTime,
    /// The far side ends the program after this time without a connection; `None` while that time does not count.
    pub lease: Option<Duration>,
}
