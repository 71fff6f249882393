use proptest::prelude::*;

use super::*;
use crate::receipt::HeldEnd;

fn receipts() -> impl Strategy<Value = HoldReceipt> {
    let reasons = prop_oneof![
        Just(HeldEnd::Lease),
        Just(HeldEnd::Aborted),
        Just(HeldEnd::Asked),
        Just(HeldEnd::Limit)
    ];
    let survivors = proptest::collection::vec((any::<u32>(), ".{0,16}"), 0..4);
    (
        reasons,
        any::<u32>(),
        survivors,
        any::<Option<i32>>(),
        any::<u64>(),
        proptest::option::of("[a-z_]{1,16}"),
    )
        .prop_map(
            |(reason, ended, survivors, status, at, limit)| HoldReceipt {
                reason,
                ended,
                survivors,
                status,
                at,
                limit,
            },
        )
}

fn replies() -> impl Strategy<Value = HolderReply> {
    let duration = || any::<u64>().prop_map(Duration::from_millis);
    prop_oneof![
        (
            (any::<bool>(), 0..3_usize, any::<bool>()),
            any::<(u32, u32, Option<i32>)>(),
            duration()
        )
            .prop_map(|((stderr, stdin, terminal), (pid, holder, status), held)| {
                HolderReply::Adopted {
                    streams: Streams {
                        stderr,
                        stdin: [HeldInput::None, HeldInput::Open, HeldInput::Closed][stdin],
                        terminal,
                    },
                    pid,
                    holder,
                    status,
                    held,
                }
            }),
        (any::<(u32, u32, Option<i32>, u32, u64, bool)>(), duration()).prop_map(
            |((pid, holder, status, owner, written, ending), left)| HolderReply::Status {
                pid,
                holder,
                status,
                owner,
                left,
                written,
                ending,
            }
        ),
        (any::<u64>(), proptest::collection::vec(any::<u8>(), 0..64))
            .prop_map(|(from, bytes)| HolderReply::Output { from, bytes }),
        receipts().prop_map(HolderReply::Receipt),
        any::<u32>().prop_map(|owner| HolderReply::Busy { owner }),
        any::<u8>().prop_map(|version| HolderReply::Refused { version }),
    ]
}

proptest! {
    #[test]
    fn replies_are_read_as_they_were_written(
        reply in replies(),
        later in proptest::collection::vec(any::<u8>(), 0..32),
    ) {
        let mut bytes = reply.write();
        prop_assert_eq!(HolderReply::read(&bytes), Some(reply.clone()));
        bytes.extend(later);
        prop_assert_eq!(HolderReply::read(&bytes), Some(reply));
    }

    #[test]
    fn no_bytes_confuse_a_reader_of_replies(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = HolderReply::read(&bytes);
    }

    #[test]
    fn a_reply_that_is_cut_short_is_none(reply in replies()) {
        let bytes = reply.write();
        prop_assert_eq!(HolderReply::read(&bytes[..bytes.len() - 1]), None);
    }
}

/// Bytes as encoded by the first version. Later versions must always be able to read them.
#[test]
fn the_first_version_is_understood() {
    let status = HolderReply::Status {
        pid: 17,
        holder: 16,
        status: Some(256),
        owner: 3,
        left: Duration::from_millis(1500),
        written: 9,
        ending: true,
    };
    let bytes = [
        16, 1, 17, 0, 0, 0, 16, 0, 0, 0, 1, 0, 1, 0, 0, 3, 0, 0, 0, 220, 5, 0, 0, 0, 0, 0, 0, 9, 0,
        0, 0, 0, 0, 0, 0, 1,
    ];
    assert_eq!(HolderReply::read(&bytes), Some(status));
    assert_eq!(
        HolderReply::read(&[14, 1]),
        Some(HolderReply::Refused { version: 1 })
    );
}

#[test]
fn an_older_holder_is_asked_in_its_own_version() {
    assert_eq!(crate::common_version(VERSION), Some(VERSION));
    assert_eq!(crate::common_version(VERSION + 1), Some(VERSION));
    assert_eq!(crate::common_version(0), None);
}
