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
    /// The version that the client speaks.
    pub version: u8,
    /// Proves that the client is authorized.
    pub nonce: Nonce,
    /// The requested operation.
    pub wants: Wants,
}

/// The operation of a [`HolderRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// Adopts the program. The client then owns it, and the connection carries orders and reports.
    Adopt,
    /// Returns the status of the program.
    Describe,
    /// Returns output of the program.
    Output {
        /// The offset of the first byte.
        from: u64,
        /// The maximum number of bytes.
        limit: u32,
    },
    /// Ends the program and its process tree. The receipt is sent when all processes are gone.
    End {
        /// The time between `SIGTERM` and `SIGKILL`.
        grace: Duration,
    },
}

impl HolderRequest {
    /// Encodes the request.
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

    /// Decodes a request; `None` if it is invalid.
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
