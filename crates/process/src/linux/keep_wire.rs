//! The order that makes a shim keep its program beyond the runtime.
//!
//! [`KeepOrder`] precedes the start order, from the same executable.
//! `windlass-hold-wire` has the messages between executables of different
//! versions.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windlass_hold_wire::{HeldInput, Nonce, Streams};
use windlass_sandbox::HostPattern;

pub(super) const KEEP: u8 = 10;

const HOLD_OBJECT: u8 = 16;
const PROXY: u8 = 32;

/// Our ends of a kept program's streams, and the memory with its output.
pub(super) struct KeptDescriptors {
    /// The shared memory, and both ends of the stage.
    pub(super) memory: [OwnedFd; 3],
    /// The pipe of stdout, or the master of the terminal.
    pub(super) stdout: OwnedFd,
    pub(super) stderr: Option<OwnedFd>,
    pub(super) stdin: Option<OwnedFd>,
}

impl KeptDescriptors {
    /// Sorts the descriptors attached to a message.
    pub(super) fn sort(streams: Streams, fds: &mut impl Iterator<Item = OwnedFd>) -> Option<Self> {
        Some(Self {
            memory: [fds.next()?, fds.next()?, fds.next()?],
            stdout: fds.next()?,
            stderr: if streams.stderr {
                Some(fds.next()?)
            } else {
                None
            },
            stdin: if streams.stdin == HeldInput::Open {
                Some(fds.next()?)
            } else {
                None
            },
        })
    }
}

/// Makes a shim keep the next program that it starts. Its listening socket is attached first, then the descriptors of
/// [`KeptDescriptors`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KeepOrder {
    pub(super) streams: Streams,
    pub(super) lease: Duration,
    pub(super) nonce: Nonce,
    pub(super) log_limit: u64,
    pub(super) hold_object: bool,
    /// The path of its listening socket, removed at the end.
    pub(super) socket: PathBuf,
    /// The path of its receipt.
    pub(super) receipt: PathBuf,
    pub(super) log: Option<PathBuf>,
    /// The registration file of the program, if any.
    pub(super) registration: Option<PathBuf>,
    /// The hosts of its sandbox's proxy, whose socket is attached last.
    pub(super) proxy: Option<Vec<HostPattern>>,
}

impl KeepOrder {
    pub(super) fn write(&self) -> Vec<u8> {
        let hold = if self.hold_object { HOLD_OBJECT } else { 0 };
        let proxy = if self.proxy.is_some() { PROXY } else { 0 };
        let mut bytes = vec![KEEP, self.streams.flags() | hold | proxy];
        bytes.extend(milliseconds(self.lease).to_ne_bytes());
        bytes.extend(self.log_limit.to_ne_bytes());
        bytes.extend(self.nonce);
        for path in [
            Some(&self.socket),
            Some(&self.receipt),
            self.log.as_ref(),
            self.registration.as_ref(),
        ] {
            bytes.extend(path.map_or(&[][..], |path| path.as_os_str().as_bytes()));
            bytes.push(0);
        }
        // A pattern contains no white space.
        for host in self.proxy.iter().flatten() {
            bytes.extend(format!("{host} ").into_bytes());
        }
        bytes.push(0);
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
            registration: path().filter(|path| !path.as_os_str().is_empty()),
            proxy: if bytes[1] & PROXY == 0 {
                None
            } else {
                let hosts = std::str::from_utf8(paths.next()?).ok()?;
                let hosts = hosts.split_ascii_whitespace().map(HostPattern::parse);
                Some(hosts.collect::<Option<_>>()?)
            },
        })
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
