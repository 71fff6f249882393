//! Splits output into pieces that fit into frames.

use windlass_hold_wire::OutputFrame;
use windlass_output::{Output, Stream};

/// The maximum output in one frame: the default capacity of a pipe. The cost of a frame does not depend on its length,
/// and a reply waits for one at most.
const PIECE: usize = 64 * 1024;

/// A frame with the next output of a program.
pub(super) struct LinkPiece {
    /// The length-prefixed frame.
    pub(super) frame: Vec<u8>,
    /// The offset after its output.
    pub(super) end: u64,
}

impl LinkPiece {
    /// The next piece of one stream. If the output was discarded, the piece is empty and has the offset after the gap.
    pub(super) fn next(program: u64, output: &Output, from: u64, until: u64) -> Self {
        let (stream, change) = output.stream_at(from);
        let end = until
            .min(from + PIECE as u64)
            .min(change.unwrap_or(u64::MAX));
        let length = usize::try_from(end - from).unwrap_or(PIECE);
        let mut frame = OutputFrame::new(program, from, stream == Stream::Stderr, length);
        output.append_raw(from..end, frame.output());
        if frame.length() != length {
            // The middle of a long output is discarded. The near side detects the gap by the offset.
            frame.clear(end);
        }
        Self {
            frame: frame.finish(),
            end,
        }
    }
}
