//! Output in the pieces that frames carry.

use windlass_hold_wire::LONGEST_PIECE;
use windlass_output::{Output, Stream};

/// Output of one stream.
pub(super) struct LinkPiece {
    pub(super) from: u64,
    pub(super) is_stderr: bool,
    pub(super) bytes: Vec<u8>,
}

impl LinkPiece {
    /// The next piece. One that cannot be had is empty, at the offset after it.
    pub(super) fn next(output: &Output, from: u64, until: u64) -> Self {
        let (stream, change) = output.stream_at(from);
        let until = until
            .min(from + LONGEST_PIECE as u64)
            .min(change.unwrap_or(u64::MAX));
        let mut bytes = output.raw(from..until);
        let mut from = from;
        if bytes.len() as u64 != until - from {
            // The middle of a long output is not kept. The near side sees the gap by the offset.
            from = until;
            bytes.clear();
        }
        Self {
            from,
            is_stderr: stream == Stream::Stderr,
            bytes,
        }
    }
}
