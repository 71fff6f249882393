//! Starts a program: one message to a shim, one back.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use super::ConfineMessage;
use super::link::{ShimControl, ShimGone, ShimMonitor, milliseconds};
use super::wire::{self, INLINE_LIMIT, Report, StartStage, StartWriter, flag};
use super::zygotes::{IdleShim, RESERVE, Zygotes};
use crate::command::{Capture, Stdin};
use crate::find::explain;
use crate::pipes::Theirs;
use crate::{Command, StartError};

/// Enough if all idle shims and their zygote were killed.
const ATTEMPTS: usize = RESERVE + 2;

/// Orders that precede the start of a program.
#[derive(Default)]
pub(crate) struct Extras<'a> {
    /// The order to keep it, with its descriptors.
    pub(crate) keep: Option<(&'a [u8], &'a [BorrowedFd<'a>])>,
    /// The order to confine it.
    pub(crate) confine: Option<&'a ConfineMessage>,
}

/// Starts `command`, whose executable is `path`, with `theirs` as its streams.
pub(crate) async fn start(
    zygotes: &Arc<Zygotes>,
    command: &Command,
    path: &Path,
    theirs: Theirs,
    extras: Extras<'_>,
) -> Result<(u32, ShimControl, ShimMonitor), StartError> {
    let Extras { keep, confine } = extras;
    let system = |source| StartError::System {
        program: command.program.clone(),
        source,
    };
    let interrupted = || StartError::Interrupted {
        program: command.program.clone(),
    };
    let _permit = zygotes.starts.acquire().await.map_err(|_| interrupted())?;
    let order = StartMessage::new(command, path, theirs)?;
    let mut attempts = 0;
    loop {
        let filter = confine.and_then(|confine| confine.shim_filter);
        let shim = zygotes.shim(filter).map_err(system)?;
        let IdleShim {
            control, zygote, ..
        } = shim;
        let mut watch = ShimMonitor::new(control, zygotes, filter).map_err(system)?;
        let kept = keep.map_or(Ok(()), |(bytes, fds)| watch.send(bytes, fds));
        let confined =
            kept.and_then(|()| confine.map_or(Ok(()), |it| watch.send(&it.bytes, &it.fds())));
        let report = match confined.and_then(|()| watch.send(&order.bytes, &order.fds())) {
            Ok(()) => watch.first().await,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                Err(ShimGone { unread: true })
            }
            Err(error) => return Err(system(error)),
        };
        match report {
            Ok(Report::Started { pid, .. }) => {
                let hold = ShimControl::new(&watch, Some(zygote), keep.map(|_| command.grace));
                return Ok((pid, hold, watch));
            }
            Ok(Report::Failed { stage, errno }) => {
                let error = io::Error::from_raw_os_error(errno);
                return Err(match (stage, &command.cwd) {
                    (StartStage::Fork, _) => system(error),
                    (StartStage::Confine, _) => StartError::Confine {
                        program: command.program.clone(),
                        source: error,
                    },
                    (StartStage::Cwd, Some(cwd)) => StartError::Cwd {
                        path: cwd.clone(),
                        source: error,
                    },
                    _ => explain(&command.program, path, error),
                });
            }
            // The zygote or the shim was killed before it read the order: nothing ran, so another shim is tried.
            Err(ShimGone { unread: true }) if attempts < ATTEMPTS => attempts += 1,
            // It was killed after it had read the order. The program may have run, and must not run twice.
            Ok(_) | Err(_) => return Err(interrupted()),
        }
    }
}

/// The message that starts a program, with its descriptors.
struct StartMessage {
    bytes: Vec<u8>,
    pipes: Vec<OwnedFd>,
    file: Option<OwnedFd>,
}

impl StartMessage {
    fn new(command: &Command, path: &Path, theirs: Theirs) -> Result<Self, StartError> {
        let (pipes, terminal) = match theirs {
            Theirs::Terminal(path) => (Vec::new(), Some(path)),
            // A program with a terminal beside its pipes is started without a zygote.
            Theirs::Pipes(pipes) | Theirs::Beside(pipes, _) => (pipes, None),
        };
        let bytes = encode(command, path, terminal.as_deref())?;
        if bytes.len() <= INLINE_LIMIT {
            return Ok(Self {
                bytes,
                pipes,
                file: None,
            });
        }
        let too_long = || StartError::TooLong {
            program: command.program.clone(),
        };
        let length = u32::try_from(bytes.len()).map_err(|_| too_long())?;
        let file = memory_file(&bytes).map_err(|source| StartError::System {
            program: command.program.clone(),
            source,
        })?;
        Ok(Self {
            bytes: wire::in_file(length),
            pipes,
            file: Some(file),
        })
    }

    fn fds(&self) -> Vec<BorrowedFd<'_>> {
        let fds = self.pipes.iter().chain(&self.file);
        fds.map(AsFd::as_fd).collect()
    }
}

fn encode(command: &Command, path: &Path, terminal: Option<&CStr>) -> Result<Vec<u8>, StartError> {
    let flags = if terminal.is_some() {
        flag::TERMINAL
    } else {
        pipe_flags(command)
    };
    let flags = flags
        | if command.env_clear {
            flag::CLEAR_ENV
        } else {
            0
        };
    let cwd = match &command.cwd {
        // The zygote's working directory is that of the runtime when it was started.
        Some(cwd) => std::path::absolute(cwd).unwrap_or_else(|_| cwd.clone()),
        None => std::env::current_dir().unwrap_or_default(),
    };
    let cwd = passable(cwd.as_os_str())?;
    let path = passable(path.as_os_str())?;
    let grace = milliseconds(command.grace);
    let mut writer = StartWriter::new(flags, grace, path, cwd, terminal.unwrap_or_default());
    writer.arg(passable(&command.program)?);
    for arg in &command.args {
        writer.arg(passable(arg)?);
    }
    for (index, (name, value)) in command.env.iter().enumerate() {
        let bytes = passable(name)?;
        if bytes.is_empty() || bytes.contains(&b'=') {
            return Err(StartError::Unpassable { text: name.clone() });
        }
        let value = value.as_deref().map(passable).transpose()?;
        let overridden = command.env[index + 1..]
            .iter()
            .any(|(later, _)| later == name);
        if !overridden && name != super::marker::VARIABLE {
            writer.edit(bytes, value);
        }
    }
    Ok(writer.finish())
}

fn pipe_flags(command: &Command) -> u8 {
    let stdin = match command.stdin {
        Stdin::Pipe => flag::STDIN,
        Stdin::Null => 0,
    };
    stdin
        | match command.capture {
            Capture::Separate => flag::STDOUT | flag::STDERR,
            Capture::Merged => flag::STDOUT | flag::MERGE,
            Capture::Nothing => 0,
        }
}

fn passable(text: &OsStr) -> Result<&[u8], StartError> {
    match memchr::memchr(0, text.as_bytes()) {
        None => Ok(text.as_bytes()),
        Some(_) => Err(StartError::Unpassable {
            text: text.to_owned(),
        }),
    }
}

/// Creates a file in memory with this content, for orders that are too long for a message.
pub(super) fn memory_file(bytes: &[u8]) -> io::Result<OwnedFd> {
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    let file = rustix::fs::memfd_create("windlass-order", flags)?;
    let mut file = std::fs::File::from(file);
    io::Write::write_all(&mut file, bytes)?;
    Ok(file.into())
}
