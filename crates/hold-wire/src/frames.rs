//! Messages on a connection that has no boundaries between them: each follows its length.

/// The longest message that is read.
pub const LONGEST_FRAME: usize = 1 << 20;

/// The length of the number before a message.
pub(crate) const HEAD: usize = 4;

/// A message behind its length.
pub fn frame(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend_from_slice(message);
    bytes
}

/// A message is announced that is longer than any may be: the other end does not speak this protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a frame of {length} bytes is announced; the longest has {LONGEST_FRAME}")]
pub struct FrameTooLong {
    /// The length that was announced.
    pub length: usize,
}

/// Puts messages together from the pieces in which they arrive.
#[derive(Debug, Default)]
pub struct FrameBuffer {
    bytes: Vec<u8>,
    /// How many bytes at the front have been given out.
    given: usize,
}

impl FrameBuffer {
    /// Adds bytes that have arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.incoming(bytes.len()).extend_from_slice(bytes);
    }

    /// The buffer that bytes which arrive are to be appended to, with room for at least `room` of them.
    pub fn incoming(&mut self, room: usize) -> &mut Vec<u8> {
        if self.given > 0 {
            self.bytes.drain(..self.given);
            self.given = 0;
        }
        self.bytes.reserve(room);
        &mut self.bytes
    }

    /// The next message, if all of it has arrived.
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, FrameTooLong> {
        let rest = &self.bytes[self.given..];
        let Some(head) = rest.first_chunk::<HEAD>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*head) as usize;
        if length > LONGEST_FRAME {
            return Err(FrameTooLong { length });
        }
        if rest.len() < HEAD + length {
            return Ok(None);
        }
        let from = self.given + HEAD;
        self.given = from + length;
        Ok(Some(&self.bytes[from..from + length]))
    }
}

#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;
