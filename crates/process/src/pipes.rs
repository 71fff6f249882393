//! The pipes between the runtime and a program.
//!
//! Only our ends do not block: the other ends belong to programs that expect to.

use std::io;
use std::os::fd::OwnedFd;

use rustix::pipe::{PipeFlags, pipe_with};

use crate::Command;
use crate::command::{Capture, Stdin};

/// Our ends.
pub(crate) struct Ours {
    pub(crate) stdin: Option<OwnedFd>,
    pub(crate) stdout: Option<OwnedFd>,
    pub(crate) stderr: Option<OwnedFd>,
}

/// The program's ends, in the order stdin, stdout, stderr, those that there are.
pub(crate) type Theirs = Vec<OwnedFd>;

/// Makes the pipes that a command asks for.
pub(crate) fn open(command: &Command) -> io::Result<(Ours, Theirs)> {
    let mut theirs = Theirs::with_capacity(3);
    let mut ours = Ours {
        stdin: None,
        stdout: None,
        stderr: None,
    };
    if command.stdin == Stdin::Pipe {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        theirs.push(read);
        ours.stdin = Some(unblocked(write)?);
    }
    if command.capture != Capture::Nothing {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        theirs.push(write);
        ours.stdout = Some(unblocked(read)?);
    }
    if command.capture == Capture::Separate {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        theirs.push(write);
        ours.stderr = Some(unblocked(read)?);
    }
    Ok((ours, theirs))
}

fn unblocked(fd: OwnedFd) -> io::Result<OwnedFd> {
    rustix::io::ioctl_fionbio(&fd, true)?;
    Ok(fd)
}
