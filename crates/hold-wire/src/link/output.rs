//! Output frames, encoded and decoded without copying the output.
//!
//! The bytes are those of [`FarFrame::Output`](super::FarFrame::Output).

use super::far::OUTPUT;
use crate::bytes::{ByteReader, ByteWriter};
use crate::frames::HEAD;

/// The position of the output's length in a frame: after the kind, the program, the offset and the stream.
const LENGTH: usize = HEAD + 1 + 8 + 8 + 1;
/// The position of the offset of the first byte.
const FROM: usize = HEAD + 1 + 8;
/// The position of the first byte of output.
const BYTES: usize = LENGTH + 4;

/// The output in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FramedOutput<'frame> {
    /// The program.
    pub program: u64,
    /// The offset of the first byte.
    pub from: u64,
    /// Whether it was written to stderr.
    pub is_stderr: bool,
    /// The bytes.
    pub bytes: &'frame [u8],
}

impl<'frame> FramedOutput<'frame> {
    /// Decodes a frame, without its length prefix; `None` if it is not an output frame.
    pub fn read(frame: &'frame [u8]) -> Option<Self> {
        let mut reader = ByteReader(frame);
        if reader.u8()? != OUTPUT {
            return None;
        }
        Some(Self {
            program: reader.u64()?,
            from: reader.u64()?,
            is_stderr: reader.u8()? != 0,
            bytes: reader.bytes()?,
        })
    }
}

/// A length-prefixed frame that output is appended to.
#[derive(Debug)]
pub struct OutputFrame(Vec<u8>);

impl OutputFrame {
    /// An empty frame with room for `room` bytes of output.
    pub fn new(program: u64, from: u64, is_stderr: bool, room: usize) -> Self {
        let mut head = ByteWriter(Vec::with_capacity(BYTES + room));
        head = head.raw(&[0; HEAD]).u8(OUTPUT).u64(program).u64(from);
        Self(head.u8(u8::from(is_stderr)).raw(&[0; BYTES - LENGTH]).0)
    }

    /// The buffer to append output to.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    /// The number of bytes of output.
    pub fn length(&self) -> usize {
        self.0.len() - BYTES
    }

    /// Discards the output and sets another offset.
    pub fn clear(&mut self, from: u64) {
        self.0.truncate(BYTES);
        self.0[FROM..FROM + 8].copy_from_slice(&from.to_le_bytes());
    }

    /// The finished frame, ready to be sent.
    pub fn finish(mut self) -> Vec<u8> {
        let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
        let (message, output) = (self.0.len() - HEAD, self.length());
        self.0[..HEAD].copy_from_slice(&number(message));
        self.0[LENGTH..BYTES].copy_from_slice(&number(output));
        self.0
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
