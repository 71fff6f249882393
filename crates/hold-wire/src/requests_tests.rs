use proptest::prelude::*;

use super::*;

fn wants() -> impl Strategy<Value = Wants> {
    prop_oneof![
        Just(Wants::Adopt),
        Just(Wants::Describe),
        any::<(u64, u32)>().prop_map(|(from, limit)| Wants::Output { from, limit }),
        any::<u64>().prop_map(|millis| Wants::End {
            grace: Duration::from_millis(millis)
        }),
    ]
}

proptest! {
    #[test]
    fn requests_are_read_as_they_were_written(
        version: u8,
        nonce: [u8; 16],
        wants in wants(),
        later in proptest::collection::vec(any::<u8>(), 0..32),
    ) {
        let request = HolderRequest { version, nonce, wants };
        let mut bytes = request.write();
        prop_assert_eq!(HolderRequest::read(&bytes), Some(request.clone()));
        // A later version may append fields.
        bytes.extend(later);
        prop_assert_eq!(HolderRequest::read(&bytes), Some(request));
    }

    #[test]
    fn no_bytes_confuse_a_reader_of_requests(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = HolderRequest::read(&bytes);
    }

    #[test]
    fn a_request_that_is_cut_short_is_none(version: u8, nonce: [u8; 16], wants in wants(), cut in 1_usize..18) {
        let bytes = HolderRequest { version, nonce, wants }.write();
        prop_assert_eq!(HolderRequest::read(&bytes[..bytes.len() - cut]), None);
    }
}
