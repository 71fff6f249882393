//! What to start: a program, its arguments, its environment and its descriptors.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::terminal::Tap;
use crate::{KeepOptions, TerminalSize};
use windlass_output::{Output, OutputOptions};

/// A program that [`Launcher::start`](crate::Launcher::start) can start.
///
/// ```
/// # use windlass_process::Command;
/// let command = Command::new("git").args(["log", "--oneline"]).env("GIT_PAGER", "cat").cwd("/tmp");
/// ```
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Command {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    /// In the order they were asked for; the last edit of a name wins. `None` removes.
    pub(crate) env: Vec<(OsString, Option<OsString>)>,
    pub(crate) env_clear: bool,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) stdin: Stdin,
    pub(crate) capture: Capture,
    /// Stderr is kept apart from stdout.
    pub(crate) split: bool,
    /// Its stdin and stdout are the caller's.
    pub(crate) hands_over: bool,
    pub(crate) grace: Duration,
    pub(crate) output: OutputTarget,
    /// Its streams are a terminal, and not pipes.
    pub(crate) terminal: Option<TerminalSize>,
    pub(crate) tap: Option<Tap>,
    pub(crate) keep: Option<KeepOptions>,
    /// The program is the user's shell.
    pub(crate) is_user_shell: bool,
    /// It leads a session, also on pipes.
    pub(crate) own_session: bool,
    /// Its terminal is beside its pipes.
    pub(crate) terminal_beside: bool,
}

/// Where a program reads its input from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stdin {
    /// `/dev/null`: it is at its end from the start.
    #[default]
    Null,
    /// A pipe that [`Process::write`](crate::Process::write) fills.
    Pipe,
}

/// The output that takes what a program writes.
#[derive(Debug, Clone)]
pub(crate) enum OutputTarget {
    New(OutputOptions),
    Existing(Output),
}

/// Which pipes take what a program writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capture {
    Separate,
    Merged,
    Nothing,
}

impl Command {
    /// A program by name (searched in the `PATH` it will see) or by path (relative ones to its working directory).
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            env_clear: false,
            cwd: None,
            stdin: Stdin::Null,
            capture: Capture::Separate,
            split: false,
            hands_over: false,
            grace: Duration::from_secs(2),
            output: OutputTarget::New(OutputOptions::default()),
            terminal: None,
            tap: None,
            keep: None,
            is_user_shell: false,
            own_session: false,
            terminal_beside: false,
        }
    }

    /// Runs it in a session of its own, without a terminal, if it has pipes. Only for launchers that do not hold trees,
    /// whose programs are in this process's session otherwise.
    pub fn own_session(mut self) -> Self {
        self.own_session = true;
        self
    }

    /// Gives it a terminal of its own beside its pipes, as `/dev/tty`: the controlling terminal of its own session. Its
    /// stdin and stdout are the caller's, as with [`Command::hand_over_pipes`]. What it writes to the terminal is told as
    /// stdout, and what it writes to stderr as stderr; [`Process::write`](crate::Process::write) types. The tap sees what
    /// is written to the terminal. It is a plain process group, whether or not the launcher holds trees.
    pub fn terminal_beside_pipes(
        self,
        size: TerminalSize,
        tap: impl FnMut(&[u8]) -> Vec<u8> + Send + 'static,
    ) -> Self {
        let mut command = self
            .own_session()
            .hand_over_pipes()
            .terminal_with(size, tap);
        command.terminal_beside = true;
        command
    }

    /// Marks the program as this user's shell. On another machine it is the shell of the user there.
    pub fn user_shell(mut self) -> Self {
        self.is_user_shell = true;
        self
    }

    /// Adds one argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets a variable on top of the launcher's environment.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env
            .push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Removes a variable of the launcher's environment.
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), None));
        self
    }

    /// Starts from an empty environment instead of the launcher's. The marker of this runtime stays.
    pub fn env_clear(mut self) -> Self {
        self.env_clear = true;
        self.env.clear();
        self
    }

    /// Runs it in this directory.
    pub fn cwd(mut self, path: impl AsRef<Path>) -> Self {
        self.cwd = Some(path.as_ref().to_owned());
        self
    }

    /// Says where it reads from; nowhere unless said.
    pub fn stdin(mut self, stdin: Stdin) -> Self {
        self.stdin = stdin;
        self
    }

    /// Sends stderr into the pipe of stdout, so that the order of both is exact. All of it is then told as stdout.
    pub fn merge_output(mut self) -> Self {
        self.capture = Capture::Merged;
        self
    }

    /// Keeps stderr in an output of its own, [`Process::errors`](crate::Process::errors), in memory only.
    pub fn split_output(mut self) -> Self {
        self.capture = Capture::Separate;
        self.split = true;
        self
    }

    /// Leaves its stdin and stdout to the caller as they are, see [`Process::take_pipes`](crate::Process::take_pipes).
    /// What it writes to stderr is its output; there is no [`Process::write`](crate::Process::write). For programs that
    /// are spoken to without a limit on what they say, and that wait while nobody reads.
    pub fn hand_over_pipes(mut self) -> Self {
        self.stdin = Stdin::Pipe;
        self.capture = Capture::Separate;
        self.hands_over = true;
        self
    }

    /// Throws away what it writes.
    pub fn discard_output(mut self) -> Self {
        self.capture = Capture::Nothing;
        self
    }

    /// Runs it on a terminal of its own, in a session of its own. All three streams are the terminal, whatever else is
    /// said about them, and everything in the output is told as stdout, as it came. `TERM` is `xterm-256color` unless it
    /// is set by [`Command::env`]; `COLUMNS` and `LINES` are removed.
    pub fn terminal(mut self, size: TerminalSize) -> Self {
        self.terminal = Some(size);
        self
    }

    /// The same as [`Command::terminal`], with a tap: it is called with everything the program writes, in order, by the
    /// task that reads, before the output has it. What it returns is typed at once, as the answer of a terminal that was
    /// asked something. It must not block. Clones of this command share it.
    pub fn terminal_with(
        mut self,
        size: TerminalSize,
        tap: impl FnMut(&[u8]) -> Vec<u8> + Send + 'static,
    ) -> Self {
        self.terminal = Some(size);
        self.tap = Some(Tap::new(tap));
        self
    }

    /// How long its tree has between `SIGTERM` and `SIGKILL` when the [`Process`](crate::Process) is dropped or this
    /// runtime dies. 2 seconds unless said.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Keeps it when this process dies: it is held for the time of its lease, and another process can adopt it
    /// ([`Launcher::adopt`](crate::Launcher::adopt)). Dropping its [`Process`](crate::Process) ends it all the same. Not
    /// for programs whose pipes are handed over or whose stderr is kept apart.
    pub fn keep(mut self, options: KeepOptions) -> Self {
        self.keep = Some(options);
        self
    }

    /// Keeps its output in an [`Output`] of its own, made with these options.
    pub fn output(mut self, options: OutputOptions) -> Self {
        self.output = OutputTarget::New(options);
        self
    }

    /// Adds its output to an [`Output`] that outlives it. Its exit ends the output's run ([`Output::end_run`]); to
    /// finish the output, or to begin another run, is the caller's.
    pub fn output_to(mut self, output: Output) -> Self {
        self.output = OutputTarget::Existing(output);
        self
    }
}
