//! The description of a program to start: arguments, environment and streams.

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
    /// In call order; the last edit of a name wins. `None` removes.
    pub(crate) env: Vec<(OsString, Option<OsString>)>,
    pub(crate) env_clear: bool,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) stdin: Stdin,
    pub(crate) capture: Capture,
    /// Whether stderr has its own output.
    pub(crate) split: bool,
    /// Whether the caller reads stdout and writes stdin.
    pub(crate) hands_over: bool,
    pub(crate) grace: Duration,
    pub(crate) output: OutputTarget,
    /// The size of its terminal, if its streams are a terminal.
    pub(crate) terminal: Option<TerminalSize>,
    pub(crate) tap: Option<Tap>,
    pub(crate) keep: Option<KeepOptions>,
    /// Whether the program is the user's shell.
    pub(crate) is_user_shell: bool,
    /// Whether it leads a session, even with pipes.
    pub(crate) own_session: bool,
    /// Whether it has a terminal beside its pipes.
    pub(crate) terminal_beside: bool,
}

/// The source of a program's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stdin {
    /// `/dev/null`: empty.
    #[default]
    Null,
    /// A pipe that [`Process::write`](crate::Process::write) fills.
    Pipe,
}

/// The destination of a program's output.
#[derive(Debug, Clone)]
pub(crate) enum OutputTarget {
    New(OutputOptions),
    Existing(Output),
}

/// The pipes for a program's output.
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

    /// Runs it in its own session, without a terminal, if it has pipes. Only for launchers that do not hold trees:
    /// their programs are otherwise in this process's session.
    pub fn own_session(mut self) -> Self {
        self.own_session = true;
        self
    }

    /// Gives it a terminal beside its pipes, as `/dev/tty`: the controlling
    /// terminal of its own session. The caller has its stdin and stdout, as
    /// with [`Command::hand_over_pipes`]. Terminal output is recorded as
    /// stdout, and stderr as stderr; [`Process::write`](crate::Process::write)
    /// types. The tap receives the terminal output. The program is a plain
    /// process group, whether or not the launcher holds trees.
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

    /// Marks the program as this user's shell. On another machine, the user's shell there is used.
    pub fn user_shell(mut self) -> Self {
        self.is_user_shell = true;
        self
    }

    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

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

    /// Sets the working directory.
    pub fn cwd(mut self, path: impl AsRef<Path>) -> Self {
        self.cwd = Some(path.as_ref().to_owned());
        self
    }

    /// Sets the source of its input. Default: none.
    pub fn stdin(mut self, stdin: Stdin) -> Self {
        self.stdin = stdin;
        self
    }

    /// Sends stderr into the pipe of stdout, which preserves the order of both.
    /// All output is recorded as stdout.
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

    /// Leaves its stdin and stdout to the caller, see
    /// [`Process::take_pipes`](crate::Process::take_pipes). Its output is its
    /// stderr, and [`Process::write`](crate::Process::write) is not available.
    /// For programs with unlimited output that should block while the caller
    /// does not read.
    pub fn hand_over_pipes(mut self) -> Self {
        self.stdin = Stdin::Pipe;
        self.capture = Capture::Separate;
        self.hands_over = true;
        self
    }

    /// Discards its output.
    pub fn discard_output(mut self) -> Self {
        self.capture = Capture::Nothing;
        self
    }

    /// Runs it on a new terminal, in its own session. All three streams are the
    /// terminal, whatever other settings say, and all output is recorded as
    /// stdout. `TERM` is `xterm-256color` unless set by [`Command::env`];
    /// `COLUMNS` and `LINES` are removed.
    pub fn terminal(mut self, size: TerminalSize) -> Self {
        self.terminal = Some(size);
        self
    }

    /// Like [`Command::terminal`], with a tap: a callback that the reading task
    /// calls with all program output, in order, before it is added to the
    /// output. Its return value is typed at once, as a terminal's reply to a
    /// query. It must not block. Clones of this command share it.
    pub fn terminal_with(
        mut self,
        size: TerminalSize,
        tap: impl FnMut(&[u8]) -> Vec<u8> + Send + 'static,
    ) -> Self {
        self.terminal = Some(size);
        self.tap = Some(Tap::new(tap));
        self
    }

    /// Sets the time between `SIGTERM` and `SIGKILL` for its tree when the
    /// [`Process`](crate::Process) is dropped or this runtime dies. Default: 2
    /// seconds.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Keeps it when this process dies: a holder keeps it for the time of its
    /// lease, and another process can adopt it
    /// ([`Launcher::adopt`](crate::Launcher::adopt)). Dropping its
    /// [`Process`](crate::Process) still ends it. Not available with
    /// handed-over pipes or separate stderr.
    pub fn keep(mut self, options: KeepOptions) -> Self {
        self.keep = Some(options);
        self
    }

    /// Keeps its output in an [`Output`] of its own, made with these options.
    pub fn output(mut self, options: OutputOptions) -> Self {
        self.output = OutputTarget::New(options);
        self
    }

    /// Adds its output to an existing [`Output`]. Its exit ends the output's
    /// run ([`Output::end_run`]); the caller finishes the output or begins
    /// another run.
    pub fn output_to(mut self, output: Output) -> Self {
        self.output = OutputTarget::Existing(output);
        self
    }
}
