//! A holder's replies.

use std::time::Duration;

use crate::VERSION;
use crate::bytes::{ByteReader, ByteWriter};
use crate::receipt::HoldReceipt;

const ADOPTED: u8 = 12;
const BUSY: u8 = 13;
const REFUSED: u8 = 14;
const STATUS: u8 = 16;
const OUTPUT: u8 = 19;
const RECEIPT: u8 = 20;

const STDERR: u8 = 1;
const STDIN: u8 = 2;
const TERMINAL: u8 = 4;
const STDIN_CLOSED: u8 = 8;

/// The input of a held program, apart from a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HeldInput {
    /// It has none.
    #[default]
    None,
    /// A pipe that its owner writes to.
    Open,
    /// A pipe that its owner has closed.
    Closed,
}

/// The streams of a held program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Streams {
    /// Whether stderr has its own pipe.
    pub stderr: bool,
    /// Its input.
    pub stdin: HeldInput,
    /// Whether its streams are a terminal. The terminal's master then replaces stdout.
    pub terminal: bool,
}

impl Streams {
    /// Encodes them as bits of a byte. The four highest bits are unused.
    pub fn flags(self) -> u8 {
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let stdin = match self.stdin {
            HeldInput::None => 0,
            HeldInput::Open => STDIN,
            HeldInput::Closed => STDIN_CLOSED,
        };
        flag(self.stderr, STDERR) | stdin | flag(self.terminal, TERMINAL)
    }

    /// Decodes them from bits of a byte. Unknown bits are ignored.
    pub fn from_flags(flags: u8) -> Self {
        Self {
            stderr: flags & STDERR != 0,
            stdin: if flags & STDIN != 0 {
                HeldInput::Open
            } else if flags & STDIN_CLOSED != 0 {
                HeldInput::Closed
            } else {
                HeldInput::None
            },
            terminal: flags & TERMINAL != 0,
        }
    }
}

/// A holder's reply to a [`HolderRequest`](crate::HolderRequest).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HolderReply {
    /// The client now owns the program. On a local socket, its descriptors are attached.
    Adopted {
        /// The program's streams.
        streams: Streams,
        /// The program's process id.
        pid: u32,
        /// The holder's process id.
        holder: u32,
        /// The wait status, if the program has exited.
        status: Option<i32>,
        /// How long it was held.
        held: Duration,
    },
    /// The status of the program.
    Status {
        /// The program's process id.
        pid: u32,
        /// The holder's process id.
        holder: u32,
        /// The wait status, if the program has exited.
        status: Option<i32>,
        /// The process id of its owner; 0 if it is held.
        owner: u32,
        /// The remaining time of the lease.
        left: Duration,
        /// The number of bytes of output that the holder has read.
        written: u64,
        /// Whether its process tree is being ended.
        ending: bool,
    },
    /// Output of the program.
    Output {
        /// The offset of the first byte. It is greater than the requested one if older output was discarded.
        from: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The program and its process tree have been ended.
    Receipt(HoldReceipt),
    /// A live runtime owns it.
    Busy {
        /// The runtime's process id.
        owner: u32,
    },
    /// The client is not authorized, or speaks a different version.
    Refused {
        /// The version that the holder speaks.
        version: u8,
    },
}

impl HolderReply {
    /// Encodes the reply.
    pub fn write(&self) -> Vec<u8> {
        let head = |kind| ByteWriter::new(kind).u8(VERSION);
        match self {
            Self::Adopted {
                streams,
                pid,
                holder,
                status,
                held,
            } => {
                head(ADOPTED)
                    .u8(streams.flags())
                    .u32(*pid)
                    .u32(*holder)
                    .status(*status)
                    .duration(*held)
                    .0
            }
            Self::Status {
                pid,
                holder,
                status,
                owner,
                left,
                written,
                ending,
            } => {
                head(STATUS)
                    .u32(*pid)
                    .u32(*holder)
                    .status(*status)
                    .u32(*owner)
                    .duration(*left)
                    .u64(*written)
                    .u8(u8::from(*ending))
                    .0
            }
            Self::Output { from, bytes } => head(OUTPUT).u64(*from).bytes(bytes).0,
            Self::Receipt(receipt) => receipt.write_to(head(RECEIPT)).0,
            Self::Busy { owner } => head(BUSY).u32(*owner).0,
            Self::Refused { version } => vec![REFUSED, *version],
        }
    }

    /// Decodes a reply; `None` if it is invalid.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader(bytes);
        let kind = reader.u8()?;
        let version = reader.u8()?;
        Some(match kind {
            ADOPTED => Self::Adopted {
                streams: Streams::from_flags(reader.u8()?),
                pid: reader.u32()?,
                holder: reader.u32()?,
                status: reader.status()?,
                held: reader.duration()?,
            },
            STATUS => Self::Status {
                pid: reader.u32()?,
                holder: reader.u32()?,
                status: reader.status()?,
                owner: reader.u32()?,
                left: reader.duration()?,
                written: reader.u64()?,
                ending: reader.u8()? != 0,
            },
            OUTPUT => Self::Output {
                from: reader.u64()?,
                bytes: reader.bytes()?.to_vec(),
            },
            RECEIPT => Self::Receipt(HoldReceipt::read_from(&mut reader)?),
            BUSY => Self::Busy {
                owner: reader.u32()?,
            },
            REFUSED => Self::Refused { version },
            _ => return None,
        })
    }
}

#[cfg(test)]
#[path = "replies_tests.rs"]
mod tests;
