//! Results of programs and of ending process trees.

/// The result of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// The result is unknown; the text explains why. The tree was ended.
    Lost(String),
}

impl Exit {
    /// Whether it exited with code 0.
    pub fn success(&self) -> bool {
        *self == Self::Code(0)
    }

    /// Decodes a status of `waitpid`.
    pub fn from_wait_status(status: i32) -> Self {
        if libc::WIFEXITED(status) {
            Self::Code(libc::WEXITSTATUS(status))
        } else {
            Self::Signal(libc::WTERMSIG(status))
        }
    }
}

/// The result of ending a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Receipt {
    /// The number of processes that were ended, including those that appeared
    /// meanwhile.
    pub ended: usize,
    /// Those that `SIGKILL` did not end in time; normally none.
    pub survivors: Vec<Survivor>,
}

/// A process that survived `SIGKILL`, for example in uninterruptible I/O.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survivor {
    /// Its process id.
    pub pid: u32,
    /// Its short name in the process table.
    pub name: String,
}

/// A signal for the process group of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// `SIGINT`, which Ctrl-C sends.
    Interrupt,
    /// `SIGQUIT`.
    Quit,
    /// `SIGTERM`.
    Terminate,
    /// `SIGHUP`.
    Hangup,
    /// `SIGKILL`. It reaches only the group; [`Process::end`](crate::Process::end) reaches the whole tree.
    Kill,
    /// `SIGSTOP`.
    Stop,
    /// `SIGCONT`.
    Continue,
    /// `SIGUSR1`.
    User1,
    /// `SIGUSR2`.
    User2,
}

impl Signal {
    /// The system's number of the signal.
    pub fn number(self) -> i32 {
        match self {
            Self::Interrupt => libc::SIGINT,
            Self::Quit => libc::SIGQUIT,
            Self::Terminate => libc::SIGTERM,
            Self::Hangup => libc::SIGHUP,
            Self::Kill => libc::SIGKILL,
            Self::Stop => libc::SIGSTOP,
            Self::Continue => libc::SIGCONT,
            Self::User1 => libc::SIGUSR1,
            Self::User2 => libc::SIGUSR2,
        }
    }
}
