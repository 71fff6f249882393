//! Messages that make a shim confine its program, or prepare namespaces.
//!
//! Both ends are the same executable, as with all messages of `wire`.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use windlass_sandbox::ResourceLimits;

use super::cgroup::ControlGroup;
use super::filter::EntryKey;

pub(super) const CONFINE: u8 = 40;
pub(super) const PREPARE: u8 = 41;

const RULESET: u8 = 1;
const USER: u8 = 2;
const MOUNT: u8 = 4;
const NETWORK: u8 = 8;
const IPC: u8 = 16;
const NO_NEW_PRIVILEGES: u8 = 32;
const KEY: u8 = 64;

/// The size of a seccomp filter's instruction.
pub(super) const INSTRUCTION: usize = size_of::<libc::sock_filter>();

/// Makes a shim confine the next program that it starts. The descriptors of [`ConfineParts`] are attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfineOrder {
    pub(super) parts: ConfineParts,
    /// The instructions of a seccomp filter; empty if there is none.
    pub(super) filter: Vec<u8>,
    /// If set, the shim applies the filter to itself, and its programs inherit it. The key passes the filter.
    pub(super) key: Option<EntryKey>,
    pub(super) limits: ResourceLimits,
    /// The directory for the program's control group; empty if there is none.
    pub(super) group: Vec<u8>,
}

/// The descriptors attached to a [`ConfineOrder`], in this order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a bit of the message"
)]
pub(super) struct ConfineParts {
    pub(super) ruleset: bool,
    pub(super) user: bool,
    pub(super) network: bool,
    pub(super) ipc: bool,
    pub(super) mount: bool,
    /// Whether there is a sandbox, not only limits.
    pub(super) no_new_privileges: bool,
}

impl ConfineParts {
    fn flags(self) -> u8 {
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        bit(self.ruleset, RULESET)
            | bit(self.user, USER)
            | bit(self.network, NETWORK)
            | bit(self.ipc, IPC)
            | bit(self.mount, MOUNT)
            | bit(self.no_new_privileges, NO_NEW_PRIVILEGES)
    }

    fn from_flags(flags: u8) -> Self {
        Self {
            ruleset: flags & RULESET != 0,
            user: flags & USER != 0,
            network: flags & NETWORK != 0,
            ipc: flags & IPC != 0,
            mount: flags & MOUNT != 0,
            no_new_privileges: flags & NO_NEW_PRIVILEGES != 0,
        }
    }
}

const NUMBERS: usize = 7;
const KEY_AT: usize = 2 + NUMBERS * 8;
const HEADER: usize = KEY_AT + 16 + 4;

impl ConfineOrder {
    pub(super) fn write(&self) -> Vec<u8> {
        let limits = &self.limits;
        let milliseconds = |time: Option<Duration>| {
            time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1))
        };
        let numbers = [
            limits.memory,
            limits.processes.map(u64::from),
            milliseconds(limits.cpu),
            limits.open_files,
            limits.file_size,
            milliseconds(limits.wall),
            limits.disk,
        ];
        let mut bytes = Vec::with_capacity(HEADER + self.filter.len());
        let key = if self.key.is_some() { KEY } else { 0 };
        bytes.extend([CONFINE, self.parts.flags() | key]);
        for number in numbers {
            bytes.extend(number.unwrap_or(0).to_ne_bytes());
        }
        for word in self.key.map_or([0; 2], |key| key.0) {
            bytes.extend(word.to_ne_bytes());
        }
        let group = u32::try_from(self.group.len()).unwrap_or(0);
        bytes.extend(group.to_ne_bytes());
        bytes.extend(&self.group[..group as usize]);
        bytes.extend(&self.filter);
        bytes
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| {
            let word = bytes.get(at..at + 8)?.try_into().ok()?;
            Some(u64::from_ne_bytes(word))
        };
        let number = |index: usize| word(2 + index * 8).filter(|number| *number > 0);
        let key = EntryKey([word(KEY_AT)?, word(KEY_AT + 8)?]);
        let group = u32::from_ne_bytes(bytes.get(HEADER - 4..HEADER)?.try_into().ok()?) as usize;
        let (group, filter) = bytes.get(HEADER..)?.split_at_checked(group)?;
        Some(Self {
            parts: ConfineParts::from_flags(bytes[1]),
            limits: ResourceLimits {
                memory: number(0),
                processes: number(1).and_then(|number| u32::try_from(number).ok()),
                cpu: number(2).map(Duration::from_millis),
                open_files: number(3),
                file_size: number(4),
                wall: number(5).map(Duration::from_millis),
                disk: number(6),
            },
            group: group.to_vec(),
            filter: filter.to_vec(),
            key: (bytes[1] & KEY != 0).then_some(key),
        })
        .filter(|order| order.filter.len().is_multiple_of(INSTRUCTION))
    }
}

/// A [`ConfineOrder`] with its descriptors, in a shim.
pub(super) struct Confine {
    pub(super) limits: ResourceLimits,
    /// The directory for a control group.
    group: PathBuf,
    pub(super) filter: Vec<libc::sock_filter>,
    /// If set, the shim has the filter, and its programs inherit it.
    pub(super) key: Option<EntryKey>,
    pub(super) ruleset: Option<OwnedFd>,
    /// Namespaces in the order in which they are entered; the mount namespace is last.
    pub(super) namespaces: Vec<OwnedFd>,
    /// Whether the mount namespace is among them.
    pub(super) has_mounts: bool,
    /// Whether there is a sandbox, not only limits.
    pub(super) is_sandbox: bool,
}

impl Confine {
    pub(super) fn new(order: &ConfineOrder, fds: Vec<OwnedFd>) -> Option<Self> {
        let parts = order.parts;
        let mut fds = fds.into_iter();
        let ruleset = if parts.ruleset {
            Some(fds.next()?)
        } else {
            None
        };
        let wanted = [parts.user, parts.network, parts.ipc, parts.mount];
        let namespaces: Vec<OwnedFd> = fds.collect();
        if namespaces.len() != wanted.iter().filter(|is| **is).count() {
            return None;
        }
        let filter = order.filter.chunks_exact(INSTRUCTION);
        Some(Self {
            limits: order.limits,
            group: PathBuf::from(OsStr::from_bytes(&order.group)),
            filter: filter.map(instruction).collect(),
            key: order.key,
            ruleset,
            namespaces,
            has_mounts: parts.mount,
            is_sandbox: parts.no_new_privileges,
        })
    }
}

impl Confine {
    /// The instructions of the filter, to compare them.
    pub(super) fn filter_bytes(&self) -> Vec<u8> {
        let filter = self.filter.iter();
        let filter = filter.flat_map(|it| {
            let [c0, c1] = it.code.to_ne_bytes();
            let [k0, k1, k2, k3] = it.k.to_ne_bytes();
            [c0, c1, it.jt, it.jf, k0, k1, k2, k3]
        });
        filter.collect()
    }

    /// Creates the control group of a program, if there is a directory for it and a limit. Otherwise the shim only
    /// monitors the tree.
    pub(super) fn make_group(&self) -> Option<ControlGroup> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let limits = &self.limits;
        let wanted = limits.memory.is_some() || limits.processes.is_some() || limits.cpu.is_some();
        if !wanted || self.group.as_os_str().is_empty() {
            return None;
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        ControlGroup::make(&self.group, number, limits).ok()
    }
}

fn instruction(bytes: &[u8]) -> libc::sock_filter {
    libc::sock_filter {
        code: u16::from_ne_bytes([bytes[0], bytes[1]]),
        jt: bytes[2],
        jf: bytes[3],
        k: u32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
    }
}

/// Makes a shim create namespaces. It sends their descriptors to the attached socket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PrepareOrder {
    /// Whether to create a user namespace for them.
    pub(super) user: bool,
    /// Whether to create only the mount namespace. The user namespace, if any, is attached after the socket.
    pub(super) known: bool,
    /// The kind of network namespace to create, if any.
    pub(super) network: Option<OwnNetwork>,
    /// Whether to mount a private `/dev/pts`.
    pub(super) terminals: bool,
    pub(super) mounts: Vec<MountStep>,
}

/// The network of a new namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnNetwork {
    /// No interface is up.
    Down,
    /// Its loopback interface is up.
    Loopback,
    /// Its loopback interface is up, and a socket listens there.
    Listening,
}

/// One mount of a new namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MountStep {
    /// The file or directory to mount. It is opened before anything is mounted.
    pub(super) source: CString,
    pub(super) target: CString,
    pub(super) read_only: bool,
    /// Whether to skip the mount if the target no longer exists.
    pub(super) may_vanish: bool,
}

impl PrepareOrder {
    pub(super) fn write(&self) -> Vec<u8> {
        let network = match self.network {
            None => 0,
            Some(OwnNetwork::Down) => 2,
            Some(OwnNetwork::Loopback) => 4,
            Some(OwnNetwork::Listening) => 6,
        };
        let terminals = if self.terminals { 8 } else { 0 };
        let known = if self.known { 16 } else { 0 };
        let flags = u8::from(self.user) | network | terminals | known;
        let mut bytes = vec![PREPARE, flags];
        for step in &self.mounts {
            bytes.push(u8::from(step.read_only) | u8::from(step.may_vanish) << 1);
            bytes.extend(step.source.as_bytes_with_nul());
            bytes.extend(step.target.as_bytes_with_nul());
        }
        bytes
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let flags = *bytes.get(1)?;
        let mut rest = bytes.get(2..)?;
        let mut mounts = Vec::new();
        while let Some((first, more)) = rest.split_first() {
            rest = more;
            let mut string = || {
                let text = CStr::from_bytes_until_nul(rest).ok()?;
                rest = &rest[text.count_bytes() + 1..];
                Some(text.to_owned())
            };
            mounts.push(MountStep {
                read_only: first & 1 != 0,
                may_vanish: first & 2 != 0,
                source: string()?,
                target: string()?,
            });
        }
        Some(Self {
            user: flags & 1 != 0,
            terminals: flags & 8 != 0,
            known: flags & 16 != 0,
            network: match flags >> 1 & 3 {
                0 => None,
                1 => Some(OwnNetwork::Down),
                2 => Some(OwnNetwork::Loopback),
                _ => Some(OwnNetwork::Listening),
            },
            mounts,
        })
    }
}

/// The reply to a [`PrepareOrder`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PrepareReply {
    /// The descriptors are attached: the user, network, IPC and mount namespaces, the directory of terminals, and the
    /// listening socket, as far as they were requested.
    Done,
    /// It failed here, with this error number.
    Failed { stage: PrepareStage, errno: i32 },
}

/// The step at which creating namespaces failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PrepareStage {
    User,
    Map,
    Mount,
    Network,
    /// The mount with this index.
    Step(u32),
}

impl PrepareReply {
    pub(super) fn write(self) -> Vec<u8> {
        let (stage, number, errno) = match self {
            Self::Done => return vec![0],
            Self::Failed { stage, errno } => match stage {
                PrepareStage::User => (1, 0, errno),
                PrepareStage::Map => (2, 0, errno),
                PrepareStage::Mount => (3, 0, errno),
                PrepareStage::Network => (4, 0, errno),
                PrepareStage::Step(number) => (5, number, errno),
            },
        };
        let mut bytes = vec![stage];
        bytes.extend(errno.to_ne_bytes());
        bytes.extend(u32::to_ne_bytes(number));
        bytes
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let stage = match *bytes.first()? {
            0 => return Some(Self::Done),
            1 => PrepareStage::User,
            2 => PrepareStage::Map,
            3 => PrepareStage::Mount,
            4 => PrepareStage::Network,
            _ => PrepareStage::Step(u32::from_ne_bytes(bytes.get(5..9)?.try_into().ok()?)),
        };
        let errno = i32::from_ne_bytes(bytes.get(1..5)?.try_into().ok()?);
        Some(Self::Failed { stage, errno })
    }
}

#[cfg(test)]
#[path = "confine_wire_tests.rs"]
mod tests;
