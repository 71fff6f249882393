use proptest::prelude::*;

use super::*;
use crate::{LinkPrompt, LinkReader};

fn texts() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(".{0,8}", 0..3)
}

fn hellos() -> impl Strategy<Value = FarHello> {
    let words = (".{0,8}", ".{0,8}", ".{0,8}", ".{0,8}", ".{0,8}");
    let numbers = any::<(u8, u32, u64, u32, bool)>();
    let programs = proptest::collection::vec((".{0,8}", proptest::option::of(".{0,8}")), 0..3);
    let sandbox = proptest::collection::vec((any::<bool>(), ".{0,8}"), 0..3);
    let parts = (words, numbers, programs, sandbox, texts());
    parts.prop_map(|(words, numbers, programs, sandbox, labels)| FarHello {
        version: numbers.0,
        program: words.0,
        machine: words.1,
        os: words.2,
        arch: words.3,
        cpus: numbers.1,
        memory: numbers.2,
        load: numbers.3,
        home: words.4,
        holds_trees: numbers.4,
        programs,
        sandbox,
        labels,
    })
}

fn statuses() -> impl Strategy<Value = ProgramStatus> {
    let prompt = prop_oneof![
        Just(None),
        Just(Some(LinkPrompt::Input)),
        Just(Some(LinkPrompt::Secret))
    ];
    let reader =
        (texts(), texts(), any::<bool>()).prop_map(|(names, args, is_foreground)| LinkReader {
            names,
            args,
            is_foreground,
        });
    let readers = proptest::option::of(proptest::collection::vec(reader, 0..3));
    (any::<(u64, u64, bool, bool)>(), prompt, readers).prop_map(|(numbers, prompt, readers)| {
        ProgramStatus {
            offset: numbers.0,
            orders: numbers.1,
            prompt,
            canonical: numbers.2,
            echo: numbers.3,
            readers,
        }
    })
}

fn started() -> impl Strategy<Value = FarFrame> {
    (
        any::<(u64, u32, [Option<u64>; 7])>(),
        proptest::option::of(".{0,8}"),
        texts(),
    )
        .prop_map(
            |((program, pid, limits), allowed, unprotected)| FarFrame::Started {
                program,
                pid,
                rules: AppliedRules {
                    limits,
                    allowed,
                    unprotected,
                },
            },
        )
}

fn frames() -> impl Strategy<Value = FarFrame> {
    let exits = prop_oneof![
        any::<i32>().prop_map(LinkExit::Code),
        any::<i32>().prop_map(LinkExit::Signal),
        ".{0,8}".prop_map(LinkExit::Lost)
    ];
    let failures = prop_oneof![
        Just(StartFailure::NotFound),
        Just(StartFailure::Permission),
        Just(StartFailure::NotExecutable),
        Just(StartFailure::Cwd),
        Just(StartFailure::Other)
    ];
    let survivors = proptest::collection::vec((any::<u32>(), ".{0,8}"), 0..3);
    let bytes = proptest::collection::vec(any::<u8>(), 0..40);
    prop_oneof![
        hellos().prop_map(FarFrame::Hello),
        started(),
        (any::<u64>(), failures, ".{0,8}").prop_map(|(program, failure, problem)| {
            FarFrame::Failed {
                program,
                failure,
                problem,
            }
        }),
        any::<(u64, u32, u64, u64, Option<(u16, u16)>, bool)>().prop_map(
            |(program, pid, orders, offset, terminal, input_closed)| FarFrame::Resumed {
                program,
                pid,
                orders,
                offset,
                terminal,
                input_closed
            }
        ),
        (any::<(u64, u32, Option<Vec<u8>>)>(), ".{0,8}").prop_map(
            |((program, ended, receipt), why)| FarFrame::Gone {
                program,
                why,
                ended,
                receipt
            }
        ),
        (any::<(u64, u64, bool)>(), proptest::option::of(".{0,8}")).prop_map(
            |((program, id, is_hidden), error)| FarFrame::Done {
                program,
                id,
                error,
                is_hidden
            }
        ),
        (any::<(u64, u64, bool)>(), bytes).prop_map(|((program, from, is_stderr), bytes)| {
            FarFrame::Output {
                program,
                from,
                is_stderr,
                bytes,
            }
        }),
        (any::<u64>(), statuses())
            .prop_map(|(program, status)| FarFrame::Status { program, status }),
        any::<(u64, u64, u64)>().prop_map(|(program, id, offset)| FarFrame::Settled {
            program,
            id,
            offset
        }),
        (any::<(u64, u64, u32, Option<u8>)>(), exits, texts()).prop_map(
            |((program, offset, remaining, exceeded), exit, denied)| FarFrame::Exited {
                program,
                offset,
                exit,
                remaining,
                exceeded,
                denied
            }
        ),
        (any::<(u64, u32)>(), survivors).prop_map(|((program, ended), survivors)| {
            FarFrame::Ended {
                program,
                ended,
                survivors,
            }
        }),
        any::<(u64, u64, u64, u32)>().prop_map(|(program, cpu, memory, processes)| {
            FarFrame::Usage {
                program,
                cpu: Duration::from_millis(cpu),
                memory,
                processes,
            }
        }),
        any::<u64>().prop_map(|id| FarFrame::Port { id }),
        Just(FarFrame::Beat),
        ".{0,8}".prop_map(|why| FarFrame::Refused { why }),
    ]
}

/// A frame as a program without its last field writes it, and its meaning.
fn older(mut frame: FarFrame) -> Option<(Vec<u8>, FarFrame)> {
    let length = match &mut frame {
        FarFrame::Hello(FarHello { labels, .. }) => {
            labels.clear();
            // Their number.
            4
        }
        FarFrame::Resumed { input_closed, .. } => {
            *input_closed = false;
            1
        }
        _ => return None,
    };
    let mut written = frame.write();
    written.truncate(written.len() - length);
    Some((written, frame))
}

proptest! {
    #[test]
    fn frames_are_read_as_they_were_written(
        frame in frames(),
        later in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        let mut written = frame.write();
        prop_assert_eq!(FarFrame::read(&written), Some(frame.clone()));
        // A later version may append fields.
        written.extend(later);
        prop_assert_eq!(FarFrame::read(&written), Some(frame));
    }

    #[test]
    fn no_bytes_confuse_a_reader(
        kind in 96_u8..111,
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let _ = FarFrame::read(&bytes);
        let _ = FarFrame::read(&[&[kind], &bytes[..]].concat());
    }

    #[test]
    fn the_end_of_output_is_read_alone(frame in frames(), cut in any::<proptest::sample::Index>()) {
        let written = frame.write();
        let end = match frame {
            FarFrame::Output { program, from, ref bytes, .. } => {
                from.checked_add(bytes.len() as u64).map(|end| (program, end))
            }
            _ => None,
        };
        prop_assert_eq!(FarFrame::output_end(&written), end);
        prop_assert_eq!(FarFrame::output_end(&written[..cut.index(written.len())]), None);
    }

    #[test]
    fn a_frame_that_is_cut_short_is_none(frame in frames(), cut in any::<proptest::sample::Index>()) {
        let written = frame.write();
        let cut = &written[..cut.index(written.len())];
        let expected = older(frame).filter(|(older, _)| older == cut);
        prop_assert_eq!(FarFrame::read(cut), expected.map(|(_, frame)| frame));
    }

    #[test]
    fn frames_of_an_older_program_are_read(frame in frames()) {
        if let Some((written, expected)) = older(frame) {
            prop_assert_eq!(FarFrame::read(&written), Some(expected));
        }
    }
}
