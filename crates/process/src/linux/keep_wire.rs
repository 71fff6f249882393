//! The messages by which a program is kept beyond its runtime and adopted by the next one.
//!
//! [`KeepOrder`] goes to a shim before its start order, from the same executable. The others travel between
//! executables of different versions, so they begin with [`VERSION`], and only ever get longer.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The version of the messages of an adoption.
pub(super) const VERSION: u8 = 1;

pub(super) const KEEP: u8 = 10;
const ADOPT: u8 = 11;
const ADOPTED: u8 = 12;
const BUSY: u8 = 13;
const REFUSED: u8 = 14;
const DESCRIBE: u8 = 15;
const DESCRIBED: u8 = 16;

const STDERR: u8 = 1;
const STDIN: u8 = 2;
const TERMINAL: u8 = 4;
const EXITED: u8 = 8;
const HOLD_OBJECT: u8 = 16;

/// Proves that an adopter has read the file that leads to the holder.
pub(crate) type Nonce = [u8; 16];

/// Which streams a kept program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Streams {
    pub(super) stderr: bool,
    pub(super) stdin: bool,
    /// Its streams are a terminal, whose master stands in the place of stdout.
    pub(super) terminal: bool,
}

impl Streams {
    fn flags(self) -> u8 {
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        flag(self.stderr, STDERR) | flag(self.stdin, STDIN) | flag(self.terminal, TERMINAL)
    }

    fn from_flags(flags: u8) -> Self {
        Self {
            stderr: flags & STDERR != 0,
            stdin: flags & STDIN != 0,
            terminal: flags & TERMINAL != 0,
        }
    }
}

/// Our ends of a kept program's streams, and the memory that its output is in.
pub(super) struct KeptDescriptors {
    /// The shared memory, and both ends of the stage.
    pub(super) memory: [OwnedFd; 3],
    /// The pipe of stdout, or the master of the terminal.
    pub(super) stdout: OwnedFd,
    pub(super) stderr: Option<OwnedFd>,
    pub(super) stdin: Option<OwnedFd>,
}

impl KeptDescriptors {
    /// Sorts descriptors that have come along with a message.
    pub(super) fn sort(streams: Streams, fds: &mut impl Iterator<Item = OwnedFd>) -> Option<Self> {
        Some(Self {
            memory: [fds.next()?, fds.next()?, fds.next()?],
            stdout: fds.next()?,
            stderr: if streams.stderr {
                Some(fds.next()?)
            } else {
                None
            },
            stdin: if streams.stdin {
                Some(fds.next()?)
            } else {
                None
            },
        })
    }
}

/// Tells a shim to keep the program that it is told to start next. Its listening socket comes along first, then what
/// [`KeptDescriptors`] has.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KeepOrder {
    pub(super) streams: Streams,
    pub(super) lease: Duration,
    pub(super) nonce: Nonce,
    pub(super) log_limit: u64,
    pub(super) hold_object: bool,
    /// Where it listens, to be removed when it is done.
    pub(super) socket: PathBuf,
    /// Where it leaves its last word.
    pub(super) receipt: PathBuf,
    pub(super) log: Option<PathBuf>,
}

impl KeepOrder {
    pub(super) fn write(&self) -> Vec<u8> {
        let hold = if self.hold_object { HOLD_OBJECT } else { 0 };
        let mut bytes = vec![KEEP, self.streams.flags() | hold];
        bytes.extend(milliseconds(self.lease).to_ne_bytes());
        bytes.extend(self.log_limit.to_ne_bytes());
        bytes.extend(self.nonce);
        for path in [Some(&self.socket), Some(&self.receipt), self.log.as_ref()] {
            bytes.extend(path.map_or(&[][..], |path| path.as_os_str().as_bytes()));
            bytes.push(0);
        }
        bytes
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut paths = bytes.get(34..)?.split(|&byte| byte == 0);
        let mut path = || Some(Path::new(OsStr::from_bytes(paths.next()?)).to_owned());
        Some(Self {
            streams: Streams::from_flags(bytes[1]),
            hold_object: bytes[1] & HOLD_OBJECT != 0,
            lease: Duration::from_millis(number(bytes, 2)?),
            log_limit: number(bytes, 10)?,
            nonce: bytes.get(18..34)?.try_into().ok()?,
            socket: path()?,
            receipt: path()?,
            log: path().filter(|path| !path.as_os_str().is_empty()),
        })
    }
}

/// A request to a holder.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HolderRequest {
    pub(super) version: u8,
    pub(super) wants: Wants,
    pub(super) nonce: Nonce,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wants {
    /// The program.
    Adopt,
    /// A description of it.
    Describe,
}

impl HolderRequest {
    pub(super) fn write(&self) -> Vec<u8> {
        let kind = match self.wants {
            Wants::Adopt => ADOPT,
            Wants::Describe => DESCRIBE,
        };
        let mut bytes = vec![kind, self.version];
        bytes.extend(self.nonce);
        bytes
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let wants = match *bytes.first()? {
            ADOPT => Wants::Adopt,
            DESCRIBE => Wants::Describe,
            _ => return None,
        };
        Some(Self {
            wants,
            version: *bytes.get(1)?,
            nonce: bytes.get(2..18)?.try_into().ok()?,
        })
    }
}

/// A holder's answer to a [`HolderRequest`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HolderReply {
    /// The program is the asker's. [`KeptDescriptors`] come along, and from now on the socket is its control socket.
    Adopted {
        streams: Streams,
        pid: u32,
        shim: u32,
        /// The wait status, if the program has exited.
        status: Option<i32>,
        /// How long it was held.
        held: Duration,
    },
    /// The program as it stands.
    Described {
        pid: u32,
        shim: u32,
        /// The wait status, if the program has exited.
        status: Option<i32>,
        /// The process that has it; 0 if it is held.
        owner: u32,
        /// How much is left of the lease.
        left: Duration,
    },
    /// A runtime that lives has it.
    Busy { owner: u32 },
    /// The asker has no right to it, or speaks another version than this one.
    Refused { version: u8 },
}

impl HolderReply {
    pub(super) fn write(&self) -> Vec<u8> {
        match self {
            Self::Adopted {
                streams,
                pid,
                shim,
                status,
                held,
            } => {
                let exited = if status.is_some() { EXITED } else { 0 };
                let mut bytes = vec![ADOPTED, streams.flags() | exited];
                bytes.extend(pid.to_ne_bytes());
                bytes.extend(shim.to_ne_bytes());
                bytes.extend(status.unwrap_or(0).to_ne_bytes());
                bytes.extend(milliseconds(*held).to_ne_bytes());
                bytes
            }
            Self::Described {
                pid,
                shim,
                status,
                owner,
                left,
            } => {
                let mut bytes = vec![DESCRIBED, if status.is_some() { EXITED } else { 0 }];
                bytes.extend(pid.to_ne_bytes());
                bytes.extend(shim.to_ne_bytes());
                bytes.extend(status.unwrap_or(0).to_ne_bytes());
                bytes.extend(owner.to_ne_bytes());
                bytes.extend(milliseconds(*left).to_ne_bytes());
                bytes
            }
            Self::Busy { owner } => {
                let mut bytes = vec![BUSY, VERSION];
                bytes.extend(owner.to_ne_bytes());
                bytes
            }
            Self::Refused { version } => vec![REFUSED, *version],
        }
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let small = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let flags = *bytes.get(1)?;
        match bytes[0] {
            ADOPTED => Some(Self::Adopted {
                streams: Streams::from_flags(flags),
                pid: small(2)?,
                shim: small(6)?,
                status: (flags & EXITED != 0).then_some(small(10)?.cast_signed()),
                held: Duration::from_millis(number(bytes, 14)?),
            }),
            DESCRIBED => Some(Self::Described {
                pid: small(2)?,
                shim: small(6)?,
                status: (flags & EXITED != 0).then_some(small(10)?.cast_signed()),
                owner: small(14)?,
                left: Duration::from_millis(number(bytes, 18)?),
            }),
            BUSY => Some(Self::Busy { owner: small(2)? }),
            REFUSED => Some(Self::Refused { version: flags }),
            _ => None,
        }
    }
}

fn milliseconds(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
#[path = "keep_wire_tests.rs"]
mod tests;
