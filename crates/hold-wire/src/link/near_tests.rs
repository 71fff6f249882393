use proptest::prelude::*;

use super::*;
use crate::{LinkNetwork, SandboxRules};

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..20)
}

fn millis() -> impl Strategy<Value = Duration> {
    any::<u64>().prop_map(Duration::from_millis)
}

fn rules() -> impl Strategy<Value = SandboxRules> {
    let texts = || proptest::collection::vec(".{0,8}", 0..3);
    let network = prop_oneof![
        Just(LinkNetwork::None),
        Just(LinkNetwork::Loopback),
        texts().prop_map(LinkNetwork::Allow),
        Just(LinkNetwork::Full)
    ];
    let lists = (
        proptest::option::of(texts()),
        proptest::option::of(texts()),
        texts(),
    );
    (".{0,8}", lists, network, any::<bool>()).prop_map(
        |(mode, (read, write, deny), network, refuses)| SandboxRules {
            mode,
            read,
            write,
            deny,
            network,
            refuses,
        },
    )
}

fn sandboxes() -> impl Strategy<Value = Option<LinkSandbox>> {
    let sandbox = (bytes(), rules(), proptest::option::of(rules()));
    proptest::option::of(sandbox.prop_map(|(root, rules, floor)| LinkSandbox {
        root,
        rules,
        floor,
    }))
}

fn starts() -> impl Strategy<Value = ProgramStart> {
    let capture = prop_oneof![
        Just(LinkCapture::Separate),
        Just(LinkCapture::Merged),
        Just(LinkCapture::Nothing)
    ];
    let env = proptest::collection::vec((bytes(), proptest::option::of(bytes())), 0..4);
    (
        (bytes(), proptest::collection::vec(bytes(), 0..4), env),
        (proptest::option::of(bytes()), any::<[bool; 3]>(), capture),
        (
            any::<Option<(u16, u16)>>(),
            millis(),
            any::<[Option<u64>; 7]>(),
            any::<u64>(),
        ),
        (sandboxes(), proptest::option::of(millis())),
    )
        .prop_map(
            |(
                (program, args, env),
                (cwd, flags, capture),
                (terminal, grace, limits, credit),
                (sandbox, keep),
            )| {
                ProgramStart {
                    program,
                    is_user_shell: flags[0],
                    args,
                    env,
                    env_clear: flags[1],
                    cwd,
                    has_input: flags[2],
                    capture,
                    terminal,
                    grace,
                    limits,
                    credit,
                    sandbox,
                    keep,
                }
            },
        )
}

fn frames() -> impl Strategy<Value = NearFrame> {
    let asks = proptest::collection::vec(".{0,8}", 0..3);
    prop_oneof![
        (
            any::<u8>(),
            ".{0,9}",
            any::<[u8; 16]>(),
            millis(),
            millis(),
            asks
        )
            .prop_map(|(version, program, session, lease, heartbeat, asks)| {
                NearFrame::Hello(NearHello {
                    version,
                    program,
                    session,
                    lease,
                    heartbeat,
                    asks,
                })
            }),
        (any::<u64>(), starts().prop_map(Box::new))
            .prop_map(|(program, start)| NearFrame::Start { program, start }),
        (
            any::<(u64, u64, u64, Option<([u8; 16], u64)>)>(),
            sandboxes()
        )
            .prop_map(|((program, from, credit, origin), sandbox)| {
                NearFrame::Resume {
                    program,
                    from,
                    credit,
                    origin: origin.map(|(session, program)| ProgramOrigin { session, program }),
                    sandbox: sandbox.map(Box::new),
                }
            }),
        (any::<(u64, u64)>(), bytes()).prop_map(|((program, id), bytes)| NearFrame::Order {
            program,
            id,
            order: HolderOrder::Write(bytes)
        }),
        any::<(u64, u64)>().prop_map(|(program, until)| NearFrame::Credit { program, until }),
        (any::<(u64, u64)>(), millis()).prop_map(|((program, id), limit)| NearFrame::Settle {
            program,
            id,
            limit
        }),
        any::<u64>().prop_map(|program| NearFrame::Ask { program }),
        any::<u64>().prop_map(|program| NearFrame::Forget { program }),
        any::<u64>().prop_map(|program| NearFrame::Leave { program }),
        any::<(u64, u16, u64)>().prop_map(|(id, port, program)| NearFrame::Port {
            id,
            port,
            program
        }),
        Just(NearFrame::Beat),
    ]
}

proptest! {
    #[test]
    fn frames_are_read_as_they_were_written(frame in frames(), later in bytes()) {
        let mut written = frame.write();
        prop_assert_eq!(NearFrame::read(&written), Some(frame.clone()));
        // A later version may append fields.
        written.extend(later);
        prop_assert_eq!(NearFrame::read(&written), Some(frame));
    }

    #[test]
    fn no_bytes_confuse_a_reader(
        kind in 64_u8..75,
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let _ = NearFrame::read(&bytes);
        let _ = NearFrame::read(&[&[kind], &bytes[..]].concat());
    }

    #[test]
    fn a_frame_that_is_cut_short_is_none(frame in frames(), cut in any::<proptest::sample::Index>()) {
        let written = frame.write();
        prop_assert_eq!(NearFrame::read(&written[..cut.index(written.len())]), None);
    }
}
