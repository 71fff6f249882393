//! The messages between the runtime and a shim, as bytes on a `SOCK_SEQPACKET`
//! socket.
//!
//! Both ends are the same executable when a program is started, so there is no
//! version, and numbers have native byte order. Later orders and reports are
//! those of `windlass-hold-wire`, since another executable may adopt a kept
//! program. Strings of a [`StartOrder`] end in NUL, so that the shim can use
//! them in place. The zygote gets only one kind of message: a single byte with
//! the shim's end of a control socket, which means "fork a shim for this".

use std::ffi::CStr;

use windlass_hold_wire::{HolderOrder, HolderReport};
use windlass_sandbox::LimitKind;

use super::confine_wire::{CONFINE, ConfineOrder, PREPARE, PrepareOrder};
use super::keep_wire::{KEEP, KeepOrder};

/// The maximum size of an order inside its message; longer ones are sent in a memory file.
pub(super) const INLINE_LIMIT: usize = 64 * 1024;

const START: u8 = 1;
const IN_FILE: u8 = 2;
const STARTED: u8 = 5;
const FAILED: u8 = 6;
const EXCEEDED: u8 = 42;

/// Flags of a [`StartOrder`]: the attached descriptors, in this order, and other settings.
pub(super) mod flag {
    /// The read end of a pipe for stdin is attached.
    pub(in super::super) const STDIN: u8 = 1;
    /// The write end of a pipe for stdout is attached.
    pub(in super::super) const STDOUT: u8 = 2;
    /// The write end of a pipe for stderr is attached.
    pub(in super::super) const STDERR: u8 = 4;
    /// stderr is redirected to stdout.
    pub(in super::super) const MERGE: u8 = 8;
    /// The environment starts empty.
    pub(in super::super) const CLEAR_ENV: u8 = 16;
    /// All three streams are a terminal, in a new session; no descriptor is attached.
    pub(in super::super) const TERMINAL: u8 = 32;
}

/// Builds a [`StartOrder`].
pub(super) struct StartWriter {
    bytes: Vec<u8>,
    args: u32,
    edits: u32,
}

const HEADER: usize = 14;

impl StartWriter {
    /// An empty `cwd` is that of the zygote.
    pub(super) fn new(
        flags: u8,
        grace_ms: u32,
        program: &[u8],
        cwd: &[u8],
        terminal: &CStr,
    ) -> Self {
        let mut bytes = Vec::with_capacity(512);
        bytes.extend_from_slice(&[START, flags]);
        bytes.extend_from_slice(&grace_ms.to_ne_bytes());
        bytes.extend_from_slice(&[0; 8]);
        let mut writer = Self {
            bytes,
            args: 0,
            edits: 0,
        };
        writer.string(program);
        writer.string(cwd);
        writer.string(terminal.to_bytes());
        writer
    }

    /// All arguments must precede all edits.
    pub(super) fn arg(&mut self, arg: &[u8]) {
        debug_assert_eq!(self.edits, 0, "arguments come before edits");
        self.args += 1;
        self.string(arg);
    }

    pub(super) fn edit(&mut self, name: &[u8], value: Option<&[u8]>) {
        self.edits += 1;
        self.bytes.extend_from_slice(name);
        if let Some(value) = value {
            self.bytes.push(b'=');
            self.bytes.extend_from_slice(value);
        }
        self.bytes.push(0);
    }

    fn string(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.bytes.push(0);
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes[6..10].copy_from_slice(&self.args.to_ne_bytes());
        self.bytes[10..14].copy_from_slice(&self.edits.to_ne_bytes());
        self.bytes
    }
}

/// The message for an order in a memory file of this length. The file is its last descriptor.
pub(super) fn in_file(length: u32) -> Vec<u8> {
    let mut bytes = vec![IN_FILE];
    bytes.extend_from_slice(&length.to_ne_bytes());
    bytes
}

/// A message to a shim.
pub(super) enum ShimOrder<'a> {
    Start(StartOrder<'a>),
    /// An order that was too long for a message.
    InFile {
        length: usize,
    },
    /// Keep the next program.
    Keep(KeepOrder),
    /// Confine the next program.
    Confine(ConfineOrder),
    /// Make namespaces.
    Prepare(PrepareOrder),
    /// For a running program.
    Running(HolderOrder),
}

/// A program to start, as decoded by the shim.
pub(super) struct StartOrder<'a> {
    pub(super) flags: u8,
    pub(super) grace_ms: u32,
    pub(super) program: &'a CStr,
    pub(super) cwd: &'a CStr,
    /// The path of its terminal; empty if it has none.
    pub(super) terminal: &'a CStr,
    pub(super) args: Vec<&'a CStr>,
    /// `NAME=value` sets, `NAME` removes.
    pub(super) edits: Vec<&'a CStr>,
}

impl<'a> ShimOrder<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        match *bytes.first()? {
            START => StartOrder::read(bytes).map(Self::Start),
            IN_FILE => Some(Self::InFile {
                length: number(bytes, 1)? as usize,
            }),
            KEEP => KeepOrder::read(bytes).map(Self::Keep),
            CONFINE => ConfineOrder::read(bytes).map(Self::Confine),
            PREPARE => PrepareOrder::read(bytes).map(Self::Prepare),
            _ => HolderOrder::read(bytes).map(Self::Running),
        }
    }
}

impl<'a> StartOrder<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = bytes.get(HEADER..)?;
        let mut string = || {
            let text = CStr::from_bytes_until_nul(rest).ok()?;
            rest = &rest[text.count_bytes() + 1..];
            Some(text)
        };
        let program = string()?;
        let cwd = string()?;
        let terminal = string()?;
        let args = (0..number(bytes, 6)?)
            .map(|_| string())
            .collect::<Option<_>>()?;
        let edits = (0..number(bytes, 10)?)
            .map(|_| string())
            .collect::<Option<_>>()?;
        Some(Self {
            flags: bytes[1],
            grace_ms: number(bytes, 2)?,
            program,
            cwd,
            terminal,
            args,
            edits,
        })
    }
}

/// The step at which a start failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StartStage {
    /// No shim could be forked.
    Fork,
    Cwd,
    Exec,
    /// The confinement could not be applied.
    Confine,
}

/// A message from a shim.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Report {
    Started {
        pid: u32,
        shim: u32,
    },
    Failed {
        stage: StartStage,
        errno: i32,
    },
    /// About a running program.
    Running(HolderReport),
    /// The tree has exceeded a limit and is being ended.
    Exceeded(LimitKind),
}

/// The maximum size of a [`Report`].
pub(super) const REPORT_LIMIT: usize = 1024;

impl Report {
    pub(super) fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(16);
        match self {
            Self::Started { pid, shim } => {
                bytes.push(STARTED);
                bytes.extend_from_slice(&pid.to_ne_bytes());
                bytes.extend_from_slice(&shim.to_ne_bytes());
            }
            Self::Failed { stage, errno } => {
                bytes.push(FAILED);
                bytes.extend_from_slice(&errno.to_ne_bytes());
                bytes.push(*stage as u8);
            }
            Self::Running(report) => return report.write(),
            Self::Exceeded(kind) => bytes.extend([EXCEEDED, *kind as u8]),
        }
        bytes
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        match *bytes.first()? {
            STARTED => Some(Self::Started {
                pid: number(bytes, 1)?,
                shim: number(bytes, 5)?,
            }),
            FAILED => Some(Self::Failed {
                errno: number(bytes, 1)?.cast_signed(),
                stage: match *bytes.get(5)? {
                    0 => StartStage::Fork,
                    1 => StartStage::Cwd,
                    2 => StartStage::Exec,
                    _ => StartStage::Confine,
                },
            }),
            EXCEEDED => Some(Self::Exceeded(match *bytes.get(1)? {
                0 => LimitKind::Memory,
                1 => LimitKind::Processes,
                2 => LimitKind::Cpu,
                3 => LimitKind::FileSize,
                4 => LimitKind::Wall,
                _ => LimitKind::Disk,
            })),
            _ => HolderReport::read(bytes).map(Self::Running),
        }
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
