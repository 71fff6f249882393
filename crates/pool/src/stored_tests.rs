use windlass_hold_wire::frame;

use super::*;

fn output(from: u64, text: &str) -> Vec<u8> {
    let output = FarFrame::Output {
        program: 3,
        from,
        is_stderr: false,
        bytes: text.as_bytes().to_vec(),
    };
    frame(&output.write())
}

fn exited(offset: u64) -> Vec<u8> {
    let exited = FarFrame::Exited {
        program: 3,
        offset,
        exit: LinkExit::Code(7),
        remaining: 0,
        exceeded: None,
        denied: Vec::new(),
    };
    frame(&exited.write())
}

/// Replays messages to a near end that has `from` bytes; gives the exit, the text and the offsets.
fn replayed(messages: &[Vec<u8>], from: u64) -> (LinkExit, String, ReplayOffsets) {
    let mut stored = StoredOutput::default();
    for message in messages {
        stored.add(message);
    }
    stored.pieces.sort_by_key(|piece| piece.from);
    let replay = stored.replay(9, from, String::from("gone"));
    let mut frames = replay.frames.into_iter();
    let Some(FarFrame::Exited {
        program: 9,
        offset,
        exit,
        ..
    }) = frames.next()
    else {
        panic!("the exit is first");
    };
    assert_eq!(offset, replay.end);
    let (mut text, mut at) = (Vec::new(), from);
    for frame in frames {
        let FarFrame::Output {
            program: 9,
            from,
            bytes,
            ..
        } = frame
        else {
            panic!("{frame:?}");
        };
        assert_eq!(from, at, "the near end has no gap");
        at += bytes.len() as u64;
        text.extend(bytes);
    }
    assert_eq!(at, replay.end);
    (exit, String::from_utf8(text).unwrap(), replay.offsets)
}

#[test]
fn pieces_are_ordered_and_repeated_ones_are_dropped() {
    let messages = [
        output(0, "one "),
        [output(8, "three "), output(14, "four")].concat(),
        output(4, "two "),
        output(4, "two three "),
    ];
    let (exit, text, offsets) = replayed(&messages, 0);
    assert_eq!(text, "one two three four");
    assert_eq!(exit, LinkExit::Lost(String::from("gone")));
    assert_eq!(offsets.of(9), 9);
}

#[test]
fn output_that_the_near_end_has_is_not_repeated() {
    let messages = [output(0, "one "), output(4, "two "), exited(8)];
    let (exit, text, _) = replayed(&messages, 6);
    assert_eq!(text, "o ");
    assert_eq!(exit, LinkExit::Code(7));
    let (_, text, _) = replayed(&messages, 8);
    assert_eq!(text, "");
}

#[test]
fn missing_parts_are_noted_and_offsets_follow() {
    let messages = [output(100, "abc"), output(110, "xyz"), exited(120)];
    let (exit, text, offsets) = replayed(&messages, 0);
    let note = |count| format!("\n[{count} bytes of output are missing: they were not stored]\n");
    let expected = format!("{}abc{}xyz{}", note(100), note(7), note(7));
    assert_eq!(text, expected);
    assert_eq!(exit, LinkExit::Code(7));
    let position = |part: &str| expected.find(part).unwrap() as u64;
    assert_eq!(offsets.of(100), position("abc"));
    assert_eq!(offsets.of(101), position("bc"));
    assert_eq!(offsets.of(111), position("yz"));
    assert!(offsets.of(50) <= position("abc"));
}
