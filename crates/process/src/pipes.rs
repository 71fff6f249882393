//! The streams between the runtime and a program: pipes, or a terminal.
//!
//! Only our ends are non-blocking, because programs expect blocking ones. All
//! are created close-on-exec, atomically where the system supports it.

use std::ffi::CString;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use crate::Command;
use crate::command::{Capture, Stdin};
use crate::terminal::{self, OpenedTerminal};

/// Our ends.
#[derive(Default)]
pub(crate) struct Ours {
    pub(crate) stdin: Option<Arc<OwnedFd>>,
    /// Whether an earlier owner of the program has closed its stdin.
    pub(crate) input_closed: bool,
    pub(crate) stdout: Option<Arc<OwnedFd>>,
    pub(crate) stderr: Option<Arc<OwnedFd>>,
    /// Its terminal, if any. `stdin` and `stdout` are then its master. A terminal beside pipes has a `stderr` too.
    pub(crate) terminal: Option<OpenedTerminal>,
    /// The caller's ends of stdin and stdout.
    pub(crate) handed_over: Option<HandedOver>,
}

/// The pipes of a program that the caller reads and writes.
pub(crate) struct HandedOver {
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
}

/// The program's ends.
pub(crate) enum Theirs {
    /// The existing ones of stdin, stdout and stderr, in this order.
    Pipes(Vec<OwnedFd>),
    /// The path of a terminal.
    Terminal(CString),
    /// Pipes, and the path of a terminal beside them.
    Beside(Vec<OwnedFd>, CString),
}

/// Creates the streams of a command; a terminal is created in the directory `terminals`, if given.
pub(crate) fn open(
    command: &Command,
    terminals: Option<BorrowedFd<'_>>,
) -> io::Result<(Ours, Theirs)> {
    let mut ours = Ours::default();
    let opened = command
        .terminal
        .map(|size| terminal::open(size, terminals))
        .transpose()?;
    if let Some(opened) = opened {
        let path = opened.path.clone();
        let theirs = if command.terminal_beside {
            Theirs::Beside(pipes(command, &mut ours)?, path)
        } else {
            Theirs::Terminal(path)
        };
        ours.stdin = Some(Arc::clone(&opened.master));
        ours.stdout = Some(Arc::clone(&opened.master));
        ours.terminal = Some(opened);
        return Ok((ours, theirs));
    }
    let theirs = pipes(command, &mut ours)?;
    Ok((ours, Theirs::Pipes(theirs)))
}

/// Creates the pipes of a command and returns the program's ends.
fn pipes(command: &Command, ours: &mut Ours) -> io::Result<Vec<OwnedFd>> {
    let mut theirs = Vec::with_capacity(3);
    if command.stdin == Stdin::Pipe {
        let (read, write) = io::pipe()?;
        theirs.push(read.into());
        ours.stdin = Some(unblocked(write.into())?);
    }
    if command.capture != Capture::Nothing {
        let (read, write) = io::pipe()?;
        theirs.push(write.into());
        ours.stdout = Some(unblocked(read.into())?);
    }
    if command.capture == Capture::Separate {
        let (read, write) = io::pipe()?;
        theirs.push(write.into());
        ours.stderr = Some(unblocked(read.into())?);
    }
    if command.hands_over {
        let stdin = ours.stdin.take().and_then(Arc::into_inner);
        let stdout = ours.stdout.take().and_then(Arc::into_inner);
        ours.handed_over = stdin
            .zip(stdout)
            .map(|(stdin, stdout)| HandedOver { stdin, stdout });
    }
    Ok(theirs)
}

fn unblocked(fd: OwnedFd) -> io::Result<Arc<OwnedFd>> {
    rustix::io::ioctl_fionbio(&fd, true)?;
    Ok(Arc::new(fd))
}
