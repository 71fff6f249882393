//! Requests to a holder.

use std::time::Duration;

use crate::Nonce;
use crate::bytes::{ByteReader, ByteWriter};

const ADOPT: u8 = 11;
const DESCRIBE: u8 = 15;
const OUTPUT: u8 = 17;
const END: u8 = 18;

/// A request to a holder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HolderRequest {
    /// The version that the asker speaks.
    pub version: u8,
    /// Proves that the asker may ask.
    pub nonce: Nonce,
    /// The wish itself.
    pub wants: Wants,
}

/// The wish of a [`HolderRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// The program: from then on it is the asker's, and the connection carries orders and reports.
    Adopt,
    /// The status of the program.
    Describe,
    /// Output that the program has written.
    Output {
        /// The offset of the first byte.
        from: u64,
        /// How many bytes at most.
        limit: u32,
    },
    /// The end of the program and its whole tree. It is answered with a receipt when they are gone.
    End {
        /// The time between `SIGTERM` and `SIGKILL`.
        grace: Duration,
    },
}

impl HolderRequest {
    /// The request as bytes.
    pub fn write(&self) -> Vec<u8> {
        let kind = match self.wants {
            Wants::Adopt => ADOPT,
            Wants::Describe => DESCRIBE,
            Wants::Output { .. } => OUTPUT,
            Wants::End { .. } => END,
        };
        let head = ByteWriter::new(kind).u8(self.version).raw(&self.nonce);
        match self.wants {
            Wants::Adopt | Wants::Describe => head.0,
            Wants::Output { from, limit } => head.u64(from).u32(limit).0,
            Wants::End { grace } => head.duration(grace).0,
        }
    }

    /// Reads a request; `None` if it is none.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader(bytes);
        let kind = reader.u8()?;
        let version = reader.u8()?;
        let nonce = reader.array()?;
        let wants = match kind {
            ADOPT => Wants::Adopt,
            DESCRIBE => Wants::Describe,
            OUTPUT => Wants::Output {
                from: reader.u64()?,
                limit: reader.u32()?,
            },
            END => Wants::End {
                grace: reader.duration()?,
            },
            _ => return None,
        };
        Some(Self {
            version,
            nonce,
            wants,
        })
    }
}

#[cfg(test)]
#[path = "requests_tests.rs"]
mod tests;
