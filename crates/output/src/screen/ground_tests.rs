use alacritty_terminal::vte::{Params, Parser, Perform};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Whether the parser treats a letter as text, after some bytes.
fn prints(bytes: &[u8]) -> bool {
    struct Prints(bool);
    impl Perform for Prints {
        fn print(&mut self, c: char) {
            self.0 = c == 'x';
        }
        fn csi_dispatch(&mut self, _: &Params, _: &[u8], _: bool, _: char) {
            self.0 = false;
        }
        fn esc_dispatch(&mut self, _: &[u8], _: bool, _: u8) {
            self.0 = false;
        }
    }
    let mut parser: Parser = Parser::new();
    let mut prints = Prints(false);
    parser.advance(&mut prints, bytes);
    prints.0 = false;
    parser.advance(&mut prints, b"x");
    prints.0
}

#[test]
fn whole_sequences_end_in_text() {
    for bytes in [
        "\x1b[31m",
        "\x1b[?25l and text",
        "\x1b]0;title\x07",
        "\x1b]0;title\x1b\\",
        "\x1bPq\x1b\\",
        "\x1b(B",
        "\x1b7",
        "\x1b[3\x1b[1m",
    ] {
        assert!(is_ground(false, bytes.as_bytes()), "{bytes:?}");
    }
}

#[test]
fn cut_sequences_do_not() {
    for bytes in ["\x1b", "\x1b[3", "\x1b]0;title", "\x1bPq\x07", "\x1b("] {
        assert!(!is_ground(true, bytes.as_bytes()), "{bytes:?}");
    }
}

#[test]
fn text_changes_nothing() {
    assert!(is_ground(true, b"31m\r\n"));
    assert!(!is_ground(false, b"31m\r\n"));
}

proptest! {
    #[test]
    fn what_is_said_to_be_text_is_printed(
        parts in vec(prop_oneof![
            Just(b"\x1b".to_vec()),
            Just(b"\x1b[".to_vec()),
            Just(b"\x1b]".to_vec()),
            Just(b"\x1bP".to_vec()),
            Just(b"\x1b\\".to_vec()),
            Just(b"\x07".to_vec()),
            Just(b"\x18".to_vec()),
            vec(0x00u8..0x80, 1..3),
            vec(b' '..b'@', 1..3),
            vec(b'@'..0x7f, 1..3),
        ], 0..12),
        cut in 0usize..20,
    ) {
        let bytes = parts.concat();
        let (first, second) = bytes.split_at(cut.min(bytes.len()));
        let ground = is_ground(is_ground(true, first), second);
        prop_assert!(!ground || prints(&bytes), "{:?}", bytes);
    }
}
