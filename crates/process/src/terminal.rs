//! The terminal of a program: its size, its modes, and whether the program
//! waits for input.
//!
//! Start at [`Terminal`]. `prompt` detects prompts; `driver` and `input`
//! transfer the bytes as for pipes. The bytes are not interpreted here: a
//! [`Tap`] can feed a screen.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Winsize, tcgetattr, tcgetpgrp,
    tcgetwinsize, tcsetattr, tcsetwinsize,
};

use crate::RemoteProcess;
use crate::input::Input;
#[cfg(target_os = "linux")]
use crate::linux::{BriefWait, BriefWaits, Device};

/// The size of a terminal, at least one row and two columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    pub rows: u16,
    pub cols: u16,
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self { rows: 24, cols: 80 }
    }
}

impl TerminalSize {
    fn winsize(self) -> Winsize {
        Winsize {
            ws_row: self.rows.max(1),
            ws_col: self.cols.max(2),
            ws_xpixel: 0,
            ws_ypixel: 0,
        }
    }
}

/// The terminal's input modes, as set by the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes {
    /// Whether the program reads whole lines; otherwise single keys, as editors and shells do.
    pub canonical: bool,
    /// Whether the terminal echoes typed text.
    pub echo: bool,
}

/// The kind of input that a program waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompt {
    /// Anything.
    Input,
    /// A secret: the program reads a line without echo.
    Secret,
}

/// Receives the output of a terminal's program; see
/// [`Command::terminal_with`](crate::Command::terminal_with).
#[derive(Clone)]
pub(crate) struct Tap(Arc<Mutex<TapFunction>>);

type TapFunction = dyn FnMut(&[u8]) -> Vec<u8> + Send;

impl Tap {
    pub(crate) fn new(function: impl FnMut(&[u8]) -> Vec<u8> + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(function)))
    }

    pub(crate) fn see(&self, bytes: &[u8]) -> Vec<u8> {
        (self.0.lock())(bytes)
    }
}

impl std::fmt::Debug for Tap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tap")
    }
}

/// The terminal of a [`Process`](crate::Process) that was started with one.
#[derive(Clone, Copy)]
pub enum ProgramTerminal<'a> {
    /// It is on this machine.
    #[doc(hidden)]
    Local(LocalTerminal<'a>),
    /// It is on another machine.
    #[doc(hidden)]
    Remote(&'a dyn RemoteProcess),
}

/// A terminal on this machine.
#[derive(Clone, Copy)]
pub struct LocalTerminal<'a>(pub(crate) &'a Terminal);

impl ProgramTerminal<'_> {
    /// Changes its size. The system notifies the foreground programs (`SIGWINCH`).
    pub fn resize(self, size: TerminalSize) -> io::Result<()> {
        match self {
            Self::Local(terminal) => terminal.0.resize(size),
            Self::Remote(program) => {
                program.resize(size);
                Ok(())
            }
        }
    }

    /// Its current size; a program may have changed it.
    pub fn size(self) -> TerminalSize {
        match self {
            Self::Local(terminal) => terminal.0.size(),
            Self::Remote(program) => program.size(),
        }
    }

    /// The current input modes. Those of a new terminal are canonical, with
    /// echo.
    pub fn modes(self) -> Modes {
        match self {
            Self::Local(terminal) => terminal.0.modes(),
            Self::Remote(program) => program.modes(),
        }
    }

    /// Whether the terminal did not echo the last write, if that is known only
    /// afterwards: on another machine.
    pub fn hid_last_write(self) -> bool {
        match self {
            Self::Local(_) => false,
            Self::Remote(program) => program.hid_last_write(),
        }
    }

    /// The kind of prompt at which the program is blocked now: a foreground
    /// process reads the terminal, all input has been read, and all output is
    /// in the [`Output`](windlass_output::Output). Always `None` on systems other than
    /// Linux.
    pub fn prompt(self) -> Option<Prompt> {
        match self {
            Self::Local(terminal) => crate::prompt::prompt(terminal.0),
            Self::Remote(program) => program.prompt(),
        }
    }
}

/// The terminal of a program on this machine.
pub(crate) struct Terminal {
    /// `None` once it was hung up.
    master: Mutex<Option<Arc<OwnedFd>>>,
    /// The program's side, until the program has exited. Used to detect unread
    /// input.
    slave: Mutex<Option<OwnedFd>>,
    /// The device number, as in descriptors of programs.
    #[cfg(target_os = "linux")]
    device: u64,
    /// The processes that were in a timed sleep when it last settled.
    #[cfg(target_os = "linux")]
    naps: Mutex<crate::linux::Runs>,
    /// The processes that waited briefly since the last input.
    #[cfg(target_os = "linux")]
    brief: Mutex<BriefWaits>,
    pub(crate) input: Arc<Input>,
    /// Locked from a read until its bytes are pushed.
    reading: Mutex<()>,
    tap: Option<Tap>,
    /// The common ancestor of the terminal's processes: a shim, or the program itself.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "for `/proc`"))]
    pub(crate) keeper: Keeper,
}

/// The common ancestor or session of the programs of a terminal.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keeper {
    /// All descend from this process.
    #[cfg(target_os = "linux")]
    Shim(i32),
    /// All are in this session.
    Session(#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "for `/proc`"))] i32),
}

impl Terminal {
    pub(crate) fn new(
        opened: OpenedTerminal,
        input: Arc<Input>,
        tap: Option<Tap>,
        keeper: Keeper,
    ) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        let device = rustix::fs::fstat(&opened.slave)?.st_rdev;
        Ok(Self {
            master: Mutex::new(Some(opened.master)),
            slave: Mutex::new(Some(opened.slave)),
            #[cfg(target_os = "linux")]
            device,
            #[cfg(target_os = "linux")]
            naps: Mutex::default(),
            #[cfg(target_os = "linux")]
            brief: Mutex::default(),
            input,
            reading: Mutex::new(()),
            tap,
            keeper,
        })
    }

    pub(crate) fn resize(&self, size: TerminalSize) -> io::Result<()> {
        self.with_master(|master| Ok(tcsetwinsize(master, size.winsize())?))
    }

    pub(crate) fn size(&self) -> TerminalSize {
        let size = self.with_master(|master| Ok(tcgetwinsize(master)?));
        size.map_or_else(
            |_| TerminalSize::default(),
            |size| TerminalSize {
                rows: size.ws_row,
                cols: size.ws_col,
            },
        )
    }

    pub(crate) fn modes(&self) -> Modes {
        let modes = self.with_master(|master| Ok(tcgetattr(master)?.local_modes));
        let modes = modes.unwrap_or(LocalModes::ICANON | LocalModes::ECHO);
        Modes {
            canonical: modes.contains(LocalModes::ICANON),
            echo: modes.contains(LocalModes::ECHO),
        }
    }

    /// The process group that receives the terminal's signals.
    pub(crate) fn foreground(&self) -> Option<rustix::process::Pid> {
        self.with_master(|master| Ok(tcgetpgrp(master)?)).ok()
    }

    /// Whether none of these sleepers has run since it was last settled.
    #[cfg(target_os = "linux")]
    pub(crate) fn slept_through(&self, naps: &crate::linux::Runs) -> bool {
        let known = self.naps.lock();
        naps.iter().all(|nap| known.contains(nap))
    }

    /// Records the sleepers of a settled terminal.
    #[cfg(target_os = "linux")]
    pub(crate) fn note_naps(&self, naps: crate::linux::Runs) {
        *self.naps.lock() = naps;
    }

    /// Whether all of these brief waits for input repeat, which means a prompt:
    /// without new input, each has occurred before, or they have lasted long
    /// enough.
    #[cfg(target_os = "linux")]
    pub(crate) fn waits_in_turns(&self, brief: &[BriefWait]) -> bool {
        brief.is_empty() || {
            let typed = self.input.written();
            self.brief.lock().come_again(typed, brief, Instant::now())
        }
    }

    /// The terminal as identified by system calls, and the time limit of its reads.
    #[cfg(target_os = "linux")]
    pub(crate) fn device(&self) -> Device {
        let attributes = self.with_master(|master| Ok(tcgetattr(master)?));
        let read_limit = attributes.ok().and_then(|attributes| {
            let code = |index| attributes.special_codes[index];
            let takes_keys = !attributes.local_modes.contains(LocalModes::ICANON);
            (takes_keys && code(SpecialCodeIndex::VMIN) == 0).then(|| {
                let tenths = code(SpecialCodeIndex::VTIME);
                Duration::from_millis(u64::from(tenths) * 100)
            })
        });
        Device {
            number: self.device,
            read_limit,
        }
    }

    /// The characters that signal the end of input.
    pub(crate) fn end_of_input(&self) -> EndOfInput {
        let attributes = self.with_master(|master| Ok(tcgetattr(master)?));
        attributes.map_or(
            EndOfInput {
                byte: 4,
                canonical: true,
            },
            |attributes| EndOfInput {
                byte: attributes.special_codes[SpecialCodeIndex::VEOF],
                canonical: attributes.local_modes.contains(LocalModes::ICANON),
            },
        )
    }

    /// Whether the program has unread input. Waits some microseconds for the
    /// kernel to deliver recent writes. `None` once the program has exited.
    pub(crate) fn has_input(&self) -> Option<bool> {
        self.slave.lock().as_ref().map(readable)
    }

    /// Whether all output written so far is in the [`Output`](windlass_output::Output).
    pub(crate) fn all_read(&self) -> bool {
        let _reading = self.reading.lock();
        self.with_master(|master| Ok(readable(master)))
            .is_ok_and(|more| !more)
    }

    /// Locks reading, from a read until its bytes are pushed.
    pub(crate) fn reading(&self) -> MutexGuard<'_, ()> {
        self.reading.lock()
    }

    /// Passes output to the tap, and types its reply.
    pub(crate) fn see(&self, bytes: &[u8]) {
        if let Some(tap) = &self.tap {
            let answer = tap.see(bytes);
            if !answer.is_empty() {
                // If the program does not read, the answer is dropped.
                let _ = self.input.write(&answer);
            }
        }
    }

    /// Handles the exit of the program; others may still use the terminal.
    pub(crate) fn exited(&self) {
        self.slave.lock().take();
    }

    /// Releases the terminal. Once the reading task has done the same, the
    /// kernel sends `SIGHUP` to the programs.
    pub(crate) fn hang_up(&self) {
        self.exited();
        self.master.lock().take();
        self.input.abandon();
    }

    pub(crate) fn is_hung_up(&self) -> bool {
        self.master.lock().is_none()
    }

    pub(crate) fn with_master<T>(
        &self,
        act: impl FnOnce(&OwnedFd) -> io::Result<T>,
    ) -> io::Result<T> {
        let master = self.master.lock();
        let master = master.as_deref();
        act(master.ok_or_else(|| io::Error::from_raw_os_error(libc::EIO))?)
    }
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Terminal")
            .field("size", &self.size())
            .field("modes", &self.modes())
            .finish_non_exhaustive()
    }
}

/// The typed representation of the end of input.
pub(crate) struct EndOfInput {
    pub(crate) byte: u8,
    /// Ends an unfinished line first; only at the start of a line it means the
    /// end.
    pub(crate) canonical: bool,
}

/// A new terminal without programs.
pub(crate) struct OpenedTerminal {
    pub(crate) master: Arc<OwnedFd>,
    slave: OwnedFd,
    pub(crate) path: CString,
}

/// Opens a terminal that another process created, by its master.
#[cfg(target_os = "linux")]
pub(crate) fn reopen(master: OwnedFd) -> io::Result<OpenedTerminal> {
    let path = ptsname(&master, Vec::new())?;
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    Ok(OpenedTerminal {
        slave: rustix::pty::ioctl_tiocgptpeer(&master, flags)?,
        master: Arc::new(master),
        path,
    })
}

/// Creates a terminal; on Linux in the directory `folder`, if it is not the machine's.
pub(crate) fn open(
    size: TerminalSize,
    folder: Option<BorrowedFd<'_>>,
) -> io::Result<OpenedTerminal> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    #[cfg(target_os = "linux")]
    let flags = flags | OpenptFlags::CLOEXEC;
    let master = match folder {
        Some(folder) => {
            let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
            rustix::fs::openat(folder, "ptmx", flags, Mode::empty())?
        }
        None => openpt(flags)?,
    };
    #[cfg(not(target_os = "linux"))]
    rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let path = ptsname(&master, Vec::new())?;
    // Opening it by name would find another one, if it is in another directory.
    #[cfg(target_os = "linux")]
    let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags)?;
    #[cfg(not(target_os = "linux"))]
    let slave = {
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        rustix::fs::open(&path, flags, Mode::empty())?
    };
    let mut attributes = tcgetattr(&slave)?;
    attributes.input_modes |= InputModes::IUTF8;
    tcsetattr(&slave, OptionalActions::Now, &attributes)?;
    tcsetwinsize(&slave, size.winsize())?;
    rustix::io::ioctl_fionbio(&master, true)?;
    Ok(OpenedTerminal {
        master: Arc::new(master),
        slave,
        path,
    })
}

fn readable(fd: impl AsFd) -> bool {
    let mut polls = [PollFd::new(&fd, PollFlags::IN)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    rustix::io::retry_on_intr(|| poll(&mut polls, Some(&now))).is_ok()
        && polls[0].revents().contains(PollFlags::IN)
}
