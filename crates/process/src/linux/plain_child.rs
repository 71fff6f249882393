//! A program without a shim, started by `posix_spawn`.
//!
//! Start at [`PlainChild::spawn`]. This process is not forked, so the cost does not depend on its size.

use std::ffi::{CStr, CString, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::Arc;

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process_group, pidfd_open, waitpid,
};
use tokio::io::Interest;

use super::guard::OWN_SESSIONS;
use super::own_marker;
use super::spawn::{FdAction, ProcessPlacement, StringList, spawn};
use crate::Command;
use crate::command::{Capture, Stdin};
use crate::pipes::Theirs;
use crate::readiness::{Registered, register};

/// A program that this process started without a shim.
pub(crate) struct PlainChild {
    pid: Pid,
    /// Its pidfd, which is readable when it has exited.
    exited: Registered,
    is_waited_for: bool,
}

impl PlainChild {
    /// Starts `command`, whose executable is `path`, with `theirs` as its streams.
    pub(crate) fn spawn(
        command: &Command,
        path: &Path,
        theirs: Theirs,
        environment: &[(OsString, OsString)],
    ) -> io::Result<Self> {
        let program = CString::new(path.as_os_str().as_bytes())?;
        let words = std::iter::once(&command.program).chain(&command.args);
        let words: Vec<CString> = words
            .map(|arg| CString::new(arg.as_bytes()))
            .collect::<Result<_, _>>()?;
        let variables = variables(command, environment)?;
        let folder = command.cwd.as_ref();
        let folder = folder.map(|cwd| CString::new(cwd.as_os_str().as_bytes()));
        let folder = folder.transpose()?;
        let streams = ChildStreams::of(command, &theirs);
        let mut actions = streams.actions();
        actions.extend(folder.as_deref().map(|path| FdAction::Enter { path }));
        let leads_session = command.own_session || !matches!(theirs, Theirs::Pipes(_));
        let place = if leads_session {
            ProcessPlacement::Session
        } else {
            ProcessPlacement::Group
        };
        let argv = StringList::new(words.iter().map(CString::as_c_str));
        let envp = StringList::new(variables.iter().map(CString::as_c_str));
        // Locked, so that a launcher of this process that holds trees does not mistake the program for an orphan.
        let mut sessions = OWN_SESSIONS.lock();
        let pid = spawn(&program, &argv, &envp, place, &actions)?;
        if leads_session {
            sessions.push(pid);
        }
        drop(sessions);
        // The program has its own copies; ours would keep its pipes open.
        drop(theirs);
        let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidData)?;
        Self::watch(pid).inspect_err(|_| {
            let _ = kill_process_group(pid, Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::empty());
            OWN_SESSIONS
                .lock()
                .retain(|&it| it != pid.as_raw_nonzero().get());
        })
    }

    fn watch(pid: Pid) -> io::Result<Self> {
        // It was not waited for, so its pid was not reused.
        let exited = pidfd_open(pid, PidfdFlags::NONBLOCK)?;
        Ok(Self {
            pid,
            exited: register(Arc::new(exited), Interest::READABLE)?,
            is_waited_for: false,
        })
    }

    pub(crate) fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().cast_unsigned()
    }

    /// Waits for its exit; returns the status in the format of `waitpid`. Cancel-safe.
    pub(crate) async fn wait(&mut self) -> io::Result<i32> {
        loop {
            let mut guard = self.exited.readable().await?;
            match waitpid(Some(self.pid), WaitOptions::NOHANG) {
                Ok(Some((_, status))) => {
                    self.is_waited_for = true;
                    return Ok(status.as_raw());
                }
                Ok(None) => guard.clear_ready(),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Drop for PlainChild {
    fn drop(&mut self) {
        if !self.is_waited_for {
            // One that still runs is waited for by the system when this process ends.
            let _ = waitpid(Some(self.pid), WaitOptions::NOHANG);
        }
    }
}

/// The environment of a program, as `NAME=VALUE`.
fn variables(
    command: &Command,
    environment: &[(OsString, OsString)],
) -> Result<Vec<CString>, std::ffi::NulError> {
    let mut variables: Vec<(OsString, OsString)> = Vec::new();
    let mut set = |name: &OsString, value: Option<&OsString>| {
        variables.retain(|(it, _)| it != name);
        variables.extend(value.map(|value| (name.clone(), value.clone())));
    };
    if !command.env_clear {
        for (name, value) in environment {
            set(name, Some(value));
        }
    }
    for (name, value) in &command.env {
        set(name, value.as_ref());
    }
    if let Some((name, value)) = own_marker() {
        set(&name.into(), Some(&value.into()));
    }
    let entry = |(mut name, value): (OsString, OsString)| {
        name.push("=");
        name.push(value);
        CString::new(name.into_vec())
    };
    variables.into_iter().map(entry).collect()
}

/// The streams of a program.
struct ChildStreams<'a> {
    /// A terminal, which becomes the controlling one.
    terminal: Option<&'a CStr>,
    /// Stdin, stdout and stderr. `None` is the terminal, or `/dev/null` if that is not a stream.
    pipes: [Option<RawFd>; 3],
    is_on_terminal: bool,
}

impl<'a> ChildStreams<'a> {
    fn of(command: &Command, theirs: &'a Theirs) -> Self {
        let (terminal, pipes): (_, &[OwnedFd]) = match theirs {
            Theirs::Pipes(pipes) => (None, pipes),
            Theirs::Terminal(path) => (Some(path.as_c_str()), &[]),
            Theirs::Beside(pipes, path) => (Some(path.as_c_str()), pipes),
        };
        let mut pipes = pipes.iter().map(AsRawFd::as_raw_fd);
        let mut next = |is_wanted: bool| is_wanted.then(|| pipes.next()).flatten();
        let stdin = next(command.stdin == Stdin::Pipe);
        let stdout = next(command.capture != Capture::Nothing);
        let stderr = match command.capture {
            Capture::Merged => stdout,
            Capture::Separate => next(true),
            Capture::Nothing => None,
        };
        Self {
            terminal,
            pipes: [stdin, stdout, stderr],
            is_on_terminal: matches!(theirs, Theirs::Terminal(_)),
        }
    }

    fn actions(&self) -> Vec<FdAction<'a>> {
        // The terminal is opened as stdin, which a pipe then replaces: the session keeps the terminal.
        let terminal = self.terminal.map(|path| FdAction::Open { path, to: 0 });
        let mut actions: Vec<_> = terminal.into_iter().collect();
        for (to, pipe) in (0..).zip(self.pipes) {
            match pipe {
                Some(from) => actions.push(FdAction::Duplicate { from, to }),
                None if self.is_on_terminal && to == 0 => {}
                None if self.is_on_terminal => actions.push(FdAction::Duplicate { from: 0, to }),
                None => {
                    let path = c"/dev/null";
                    actions.push(FdAction::Open { path, to });
                }
            }
        }
        actions
    }
}

#[cfg(test)]
#[path = "plain_child_tests.rs"]
mod tests;
