//! How processes end: what a program leaves as its result, and what ending its tree reports.

/// How a program stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// How it ended is not known; the text says why. Its tree was ended.
    Lost(String),
}

impl Exit {
    /// Whether it exited with code 0.
    pub fn success(&self) -> bool {
        *self == Self::Code(0)
    }

    /// Reads a status as `waitpid` gives it.
    pub fn from_wait_status(status: i32) -> Self {
        if libc::WIFEXITED(status) {
            Self::Code(libc::WEXITSTATUS(status))
        } else {
            Self::Signal(libc::WTERMSIG(status))
        }
    }
}

/// What ending a tree did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Receipt {
    /// How many processes ran when the end began, or appeared while it went on, and are gone.
    pub ended: usize,
    /// Those that `SIGKILL` did not end in time; normally none.
    pub survivors: Vec<Survivor>,
}

/// A process that outlived `SIGKILL`, as one that waits for a dead disk does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survivor {
    /// Its process id.
    pub pid: u32,
    /// Its short name, as the system knows it.
    pub name: String,
}

/// A signal for the process group of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// `SIGINT`, what Ctrl-C sends.
    Interrupt,
    /// `SIGQUIT`.
    Quit,
    /// `SIGTERM`.
    Terminate,
    /// `SIGHUP`.
    Hangup,
    /// `SIGKILL`. [`Process::end`](crate::Process::end) reaches the whole tree, this only the group.
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
    /// The number the system uses.
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
