use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn frames_come_out_as_they_went_in(
        messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..8),
        piece in 1_usize..20,
    ) {
        let wire: Vec<u8> = messages.iter().flat_map(|message| frame(message)).collect();
        let mut buffer = FrameBuffer::default();
        let mut read = Vec::new();
        for piece in wire.chunks(piece) {
            buffer.push(piece);
            while let Some(message) = buffer.next_frame().unwrap() {
                read.push(message.to_vec());
            }
        }
        prop_assert_eq!(read, messages);
    }
}

#[test]
fn a_length_that_cannot_be_is_an_error() {
    let mut buffer = FrameBuffer::default();
    buffer.push(b"GET / HTTP/1.1");
    assert!(buffer.next_frame().is_err());
}
