//! Length-prefixed messages, for a connection without message boundaries.

/// The longest message that is accepted.
pub const LONGEST_FRAME: usize = 1 << 20;

/// The size of the length prefix.
pub(crate) const HEAD: usize = 4;

/// Prefixes a message with its length.
pub fn frame(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend_from_slice(message);
    bytes
}

/// The announced length exceeds [`LONGEST_FRAME`]: the peer does not speak this protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a frame of {length} bytes is announced; the longest has {LONGEST_FRAME}")]
pub struct FrameTooLong {
    /// The announced length.
    pub length: usize,
}

/// The capacity of a buffer, in units of the requested room.
const ROOM: usize = 4;

/// Reassembles messages from the pieces in which they arrive.
#[derive(Debug, Default)]
pub struct FrameBuffer {
    bytes: Vec<u8>,
    /// The number of bytes at the front that were returned already.
    given: usize,
}

impl FrameBuffer {
    /// Appends received bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.incoming(bytes.len()).extend_from_slice(bytes);
    }

    /// The buffer to append received bytes to, with room for at least `room` of them.
    pub fn incoming(&mut self, room: usize) -> &mut Vec<u8> {
        let spare = self.bytes.capacity() - self.bytes.len();
        // An incomplete message is moved to the front only if there is no room behind it.
        if self.given == self.bytes.len() || spare < room {
            self.bytes.drain(..self.given);
            self.given = 0;
            self.bytes.reserve(room * ROOM);
        }
        &mut self.bytes
    }

    /// The next message, if it has arrived completely.
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
