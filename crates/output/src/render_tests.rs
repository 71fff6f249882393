use proptest::prelude::*;

use super::*;

#[derive(Default)]
struct Shown(String);

impl Sink for Shown {
    fn ended(&mut self, line: &mut LineBuffer, end: LineEnd, _: u64) {
        self.0.push_str(&line.text());
        if end == LineEnd::Newline {
            self.0.push('\n');
        }
    }
}

fn shown<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut renderer = Renderer::default();
    let mut shown = Shown::default();
    for chunk in chunks {
        renderer.feed(chunk, &mut shown);
    }
    renderer.finish(&mut shown);
    shown.0.push_str(&renderer.line().text());
    shown.0
}

/// Rendered in one piece and byte by byte.
#[track_caller]
fn check(bytes: impl AsRef<[u8]>, expected: &str) {
    let bytes = bytes.as_ref();
    assert_eq!(shown([bytes]), expected);
    assert_eq!(shown(bytes.chunks(1)), expected, "byte by byte");
}

#[test]
fn plain_text_stays_unchanged() {
    check("a\n\tb\n\nc", "a\n\tb\n\nc");
    check("größer → 🦀\n", "größer → 🦀\n");
}

#[test]
fn colours_and_other_sequences_are_stripped() {
    check("\x1b[1;31mred\x1b[0m \x1b[38:2::1:2:3mx\x1b[m", "red x");
    check("\x1b[?25lhidden\x1b[?25h\x1b(Bset\x1b=\x1b7", "hiddenset");
    check("\x1b[3Aup\x1b[2J", "up");
}

#[test]
fn strings_for_the_terminal_are_swallowed() {
    check("a\x1b]0;title\x07b", "ab");
    check("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb");
    check("a\x1bPq#0;2\n~~\x1b\\b", "ab");
    check("a\x1b_Gi=1;AAAA\x1b\\b", "ab");
}

#[test]
fn an_unfinished_title_does_not_swallow_the_next_line() {
    check("a\x1b]0;title\nb", "a\nb");
    check("a\x1b[12\nb", "a\nb");
}

#[test]
fn an_endless_device_string_ends_at_its_limit() {
    let mut bytes = b"\x1bP".to_vec();
    bytes.resize(bytes.len() + STRING_LIMIT as usize + 1, b'q');
    bytes.extend(b"text");
    check(bytes, "text");
}

#[test]
fn continuation_bytes_are_no_controls() {
    // U+4E9B has the byte 0x9b, the 8-bit form of `ESC [`.
    check("\u{4e9b}31m", "\u{4e9b}31m");
    // The control itself, as a character, is removed.
    check("a\u{9b}b\u{85}c", "abc");
}

#[test]
fn invalid_bytes_are_replaced_as_the_standard_library_does() {
    for bytes in [
        &b"a\xffb"[..],
        b"\xe2\x82",
        b"\xe2\x82\xe2\x82\xac",
        b"\xf0\x9f\x98x",
        b"\xc0\x80\xed\xa0\x80",
        b"\x80",
    ] {
        check(bytes, &String::from_utf8_lossy(bytes));
    }
    check(b"\xe2\x82\x1b[0mx\xe2\n", "\u{fffd}x\u{fffd}\n");
}

#[test]
fn other_controls_are_removed() {
    check("a\x00b\x07c\x0bd\x7fe\x0e", "abcde");
}

#[test]
fn a_carriage_return_and_a_newline_are_a_newline() {
    check("a\r\nb\r\r\nc\r\n", "a\nb\nc\n");
}

#[test]
fn a_redrawn_line_is_what_a_terminal_shows() {
    check("10%\r20%\r100%\ndone", "100%\ndone");
    check("abc\rx", "xbc");
    check("long text\r\x1b[Kshort\n", "short\n");
    check("long text\x1b[2K\rshort\n", "short\n");
    check("long text\x1b[1G\x1b[0Kshort\n", "short\n");
    check("größer\rx\n", "xrößer\n");
    check("50%\r", "50%");
    check("abc\x1b[2Dd", "adc");
    check("abc\r\x1b[1Cd", "adc");
    check("a\x1b[3Cb", "a   b");
}

#[test]
fn a_backspace_steps_back() {
    check("abc\x08\x08X", "aXc");
    check("\x08a_\x08b", "ab");
}

#[test]
fn far_movements_take_little_memory() {
    let text = shown([b"\x1b[65535Gx\x1b[65535Cy".as_slice()]);
    assert!(text.len() < 2048, "{} bytes", text.len());
}

#[test]
fn long_lines_come_in_pieces_without_a_newline() {
    struct Ends(Vec<(usize, LineEnd, u64)>);
    impl Sink for Ends {
        fn ended(&mut self, line: &mut LineBuffer, end: LineEnd, position: u64) {
            self.0.push((line.count(), end, position));
        }
    }
    let mut bytes = vec![b'x'; LINE_LIMIT * 2 + 10];
    bytes.push(b'\n');
    let mut ends = Ends(Vec::new());
    Renderer::default().feed(&bytes, &mut ends);
    let limit = LINE_LIMIT as u64;
    assert_eq!(
        ends.0,
        [
            (LINE_LIMIT, LineEnd::Piece, limit),
            (LINE_LIMIT, LineEnd::Piece, limit * 2),
            (10, LineEnd::Newline, limit * 2 + 11),
        ]
    );
}

/// Bytes that are likely to hit something.
fn terminal_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        "[a-z]{0,6}".prop_map(String::into_bytes),
        proptest::sample::select(vec![
            "\n",
            "\r",
            "\r\n",
            "\t",
            "\x08",
            "é",
            "🦀",
            "\x1b[K",
            "\x1b[2K",
            "\x1b[1m",
            "\x1b]0;t\x07",
            "\x1b",
            "\x1b[",
            "\x1bP",
            "\x1b\\",
            "\u{9b}",
            "\x1b[3D",
            "\x1b[2C",
            "\x1b[7G",
            "\x1b[1K",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn how_bytes_are_cut_changes_nothing(
        bytes in terminal_bytes(),
        sizes in proptest::collection::vec(1_usize..9, 1..50),
    ) {
        let mut chunks = Vec::new();
        let mut rest = &bytes[..];
        for size in sizes.iter().cycle() {
            if rest.is_empty() { break; }
            let (chunk, after) = rest.split_at(rest.len().min(*size));
            chunks.push(chunk);
            rest = after;
        }
        prop_assert_eq!(shown(chunks), shown([&bytes[..]]));
    }

    #[test]
    fn no_control_is_ever_shown(bytes in terminal_bytes()) {
        let text = shown([&bytes[..]]);
        prop_assert!(text.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()), "{:?}", text);
    }

    #[test]
    fn text_without_controls_is_decoded_as_the_standard_library_does(
        bytes in proptest::collection::vec(any::<u8>().prop_filter("a control", |b| *b >= 0x20 && *b != 0x7f), 0..60),
    ) {
        let expected: String = String::from_utf8_lossy(&bytes).chars().filter(|c| !c.is_control()).collect();
        prop_assert_eq!(shown([&bytes[..]]), expected);
    }
}
