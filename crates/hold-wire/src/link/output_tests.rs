use proptest::prelude::*;

use super::*;
use crate::{FarFrame, frame};

proptest! {
    #[test]
    fn a_frame_that_was_filled_is_the_frame_that_is_written(
        (program, from, is_stderr) in any::<(u64, u64, bool)>(),
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        room in 0_usize..300,
    ) {
        let mut filled = OutputFrame::new(program, from, is_stderr, room);
        filled.output().extend_from_slice(&bytes);
        prop_assert_eq!(filled.length(), bytes.len());
        let written = FarFrame::Output { program, from, is_stderr, bytes: bytes.clone() }.write();
        prop_assert_eq!(filled.finish(), frame(&written));
        let piece = FramedOutput { program, from, is_stderr, bytes: &bytes };
        prop_assert_eq!(FramedOutput::read(&written), Some(piece));
    }

    #[test]
    fn a_frame_that_was_cleared_is_empty_at_its_new_offset(
        (program, from, later) in any::<(u64, u64, u64)>(),
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut cleared = OutputFrame::new(program, from, true, bytes.len());
        cleared.output().extend_from_slice(&bytes);
        cleared.clear(later);
        let empty = FarFrame::Output { program, from: later, is_stderr: true, bytes: Vec::new() };
        prop_assert_eq!(cleared.finish(), frame(&empty.write()));
    }
}

#[test]
fn other_frames_have_no_output() {
    assert_eq!(FramedOutput::read(&FarFrame::Beat.write()), None);
    assert_eq!(FramedOutput::read(&[]), None);
}
