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

/// Which streams a held program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Streams {
    /// Its stderr is a pipe of its own.
    pub stderr: bool,
    /// It has an input.
    pub stdin: bool,
    /// Its streams are a terminal, whose master stands in the place of stdout.
    pub terminal: bool,
}

impl Streams {
    /// As the bits of a byte. The five highest are free.
    pub fn flags(self) -> u8 {
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        flag(self.stderr, STDERR) | flag(self.stdin, STDIN) | flag(self.terminal, TERMINAL)
    }

    /// From the bits of a byte. Those that mean nothing here are ignored.
    pub fn from_flags(flags: u8) -> Self {
        Self {
            stderr: flags & STDERR != 0,
            stdin: flags & STDIN != 0,
            terminal: flags & TERMINAL != 0,
        }
    }
}

/// A holder's reply to a [`HolderRequest`](crate::HolderRequest).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HolderReply {
    /// The program is the asker's. On a local socket its descriptors come along.
    Adopted {
        /// The streams that it has.
        streams: Streams,
        /// The program's process.
        pid: u32,
        /// The holder's process.
        holder: u32,
        /// The wait status, if the program has exited.
        status: Option<i32>,
        /// How long it was held.
        held: Duration,
    },
    /// The status of the program.
    Status {
        /// The program's process.
        pid: u32,
        /// The holder's process.
        holder: u32,
        /// The wait status, if the program has exited.
        status: Option<i32>,
        /// The process that has it; 0 if it is held.
        owner: u32,
        /// How much is left of the lease.
        left: Duration,
        /// How many bytes the program has written, as far as the holder has read them.
        written: u64,
        /// Its tree is being ended.
        ending: bool,
    },
    /// Output of the program.
    Output {
        /// The offset of the first byte. It is later than the one asked for where older output is not kept.
        from: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The program has been ended, with its tree.
    Receipt(HoldReceipt),
    /// A runtime that lives has it.
    Busy {
        /// The runtime's process.
        owner: u32,
    },
    /// The asker has no right to it, or speaks another version than this one.
    Refused {
        /// The version that the holder speaks.
        version: u8,
    },
}

impl HolderReply {
    /// The reply as bytes.
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

    /// Reads a reply; `None` if it is none.
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
