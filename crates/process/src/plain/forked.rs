//! Starts programs by the standard library, which forks because of the calls between fork and exec.

use std::ffi::{CStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;

use tokio::process::Child;

use crate::Command;
use crate::command::{Capture, Stdin};
use crate::pipes::Theirs;

/// A started program.
pub(super) struct ForkedChild(Child);

impl ForkedChild {
    #[expect(
        clippy::disallowed_methods,
        reason = "this crate is the one that starts children"
    )]
    pub(super) fn spawn(
        command: &Command,
        path: &Path,
        theirs: Theirs,
        environment: &[(OsString, OsString)],
    ) -> io::Result<Self> {
        let mut builder = builder(command, path, environment);
        match theirs {
            Theirs::Pipes(pipes) => {
                on_pipes(&mut builder, command, pipes)?;
                if command.own_session {
                    lead_session(&mut builder);
                } else {
                    builder.process_group(0);
                }
            }
            Theirs::Beside(pipes, terminal) => {
                on_pipes(&mut builder, command, pipes)?;
                lead_session_on(&mut builder, &terminal)?;
            }
            Theirs::Terminal(path) => on_terminal(&mut builder, &path)?,
        }
        Ok(Self(builder.spawn()?))
    }

    pub(super) fn id(&self) -> u32 {
        self.0.id().expect("it has not been waited for")
    }

    /// Waits for its exit; returns the status in the format of `waitpid`.
    pub(super) async fn wait(&mut self) -> io::Result<i32> {
        Ok(self.0.wait().await?.into_raw())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this crate is the one that starts children"
)]
fn builder(
    command: &Command,
    path: &Path,
    environment: &[(OsString, OsString)],
) -> tokio::process::Command {
    let mut builder = tokio::process::Command::new(path);
    builder
        .arg0(&command.program)
        .args(&command.args)
        .env_clear();
    if !command.env_clear {
        builder.envs(environment.iter().map(|(name, value)| (name, value)));
    }
    for (name, value) in &command.env {
        match value {
            Some(value) => builder.env(name, value),
            None => builder.env_remove(name),
        };
    }
    if let Some(cwd) = &command.cwd {
        builder.current_dir(cwd);
    }
    with_usual_signals(&mut builder);
    builder
}

/// Creates a session without a terminal.
#[expect(
    unsafe_code,
    reason = "the standard library cannot make a session, so that a call is made after a fork"
)]
fn lead_session(builder: &mut tokio::process::Command) {
    // SAFETY: it is a bare system call, which is allowed between fork and exec.
    unsafe {
        builder.pre_exec(|| {
            rustix::process::setsid()?;
            Ok(())
        });
    }
}

/// Creates a session with a terminal that is not one of its streams.
#[expect(
    unsafe_code,
    reason = "the standard library cannot make a session, so that two calls are made after a fork"
)]
fn lead_session_on(builder: &mut tokio::process::Command, path: &CStr) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let terminal = rustix::fs::open(path, flags, Mode::empty())?;
    // SAFETY: both are bare system calls, which are allowed between fork and exec.
    unsafe {
        builder.pre_exec(move || {
            rustix::process::setsid()?;
            rustix::process::ioctl_tiocsctty(&terminal)?;
            Ok(())
        });
    }
    Ok(())
}

fn on_pipes(
    builder: &mut tokio::process::Command,
    command: &Command,
    pipes: Vec<OwnedFd>,
) -> io::Result<()> {
    let mut pipes = pipes.into_iter();
    let mut stream = || pipes.next().map_or_else(Stdio::null, Stdio::from);
    builder.stdin(if command.stdin == Stdin::Pipe {
        stream()
    } else {
        Stdio::null()
    });
    match command.capture {
        Capture::Separate => builder.stdout(stream()).stderr(stream()),
        Capture::Merged => {
            let pipe = pipes.next().ok_or(io::ErrorKind::InvalidInput)?;
            builder.stdout(pipe.try_clone()?).stderr(pipe)
        }
        Capture::Nothing => builder.stdout(Stdio::null()).stderr(Stdio::null()),
    };
    Ok(())
}

/// Resets signals to their defaults. Our parent may have ignored some, which a
/// program would inherit and could then not be interrupted.
#[expect(
    unsafe_code,
    reason = "the standard library leaves signals as they are, so that this is done after a fork"
)]
fn with_usual_signals(builder: &mut tokio::process::Command) {
    const USUAL: [libc::c_int; 8] = [
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGTERM,
        libc::SIGCHLD,
        libc::SIGTSTP,
        libc::SIGTTIN,
        libc::SIGTTOU,
    ];
    // SAFETY: `signal` is allowed between fork and exec, and sets no handler.
    unsafe {
        builder.pre_exec(|| {
            for number in USUAL {
                libc::signal(number, libc::SIG_DFL);
            }
            Ok(())
        });
    }
}

/// Creates a session on the terminal. Its leader also leads a process group.
#[expect(
    unsafe_code,
    reason = "the standard library cannot make a session, so that two calls are made after a fork"
)]
fn on_terminal(builder: &mut tokio::process::Command, path: &CStr) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let terminal = rustix::fs::open(path, flags, Mode::empty())?;
    builder
        .stdin(terminal.try_clone()?)
        .stdout(terminal.try_clone()?)
        .stderr(terminal);
    // SAFETY: both are bare system calls, which are allowed between fork and exec.
    unsafe {
        builder.pre_exec(|| {
            rustix::process::setsid()?;
            rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
            Ok(())
        });
    }
    Ok(())
}
