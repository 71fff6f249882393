use super::*;

/// The keys in what a terminal sends, read in one piece.
fn keys(bytes: &str) -> Vec<KeyPress> {
    let mut typing = KeyParser::default();
    typing.take(bytes.as_bytes());
    typing.complete_pending();
    typing.keys.into()
}

#[test]
fn keys_are_read_by_what_they_are_for() {
    assert_eq!(
        keys("aÄ日\r\n"),
        [
            KeyPress::Char('a'),
            KeyPress::Char('Ä'),
            KeyPress::Char('日'),
            KeyPress::Enter,
            KeyPress::LineBreak
        ]
    );
    assert_eq!(
        keys("\x1b[A\x1bOB\x1b[H\x1b[3~\x1b[1;5D\x1bf\x17\x7f"),
        [
            KeyPress::Up,
            KeyPress::Down,
            KeyPress::Home,
            KeyPress::Delete,
            KeyPress::WordLeft,
            KeyPress::WordRight,
            KeyPress::EraseWord,
            KeyPress::Backspace
        ]
    );
    assert_eq!(keys("\x1b"), [KeyPress::Escape]);
    assert_eq!(
        keys("\x1b[200~a\rb\x1b[201~"),
        [KeyPress::Paste("a\rb".into())]
    );
}

#[test]
fn what_comes_in_pieces_is_one_key() {
    let mut typing = KeyParser::default();
    for byte in "\x1b[B日".bytes() {
        typing.take(&[byte]);
    }
    assert_eq!(typing.keys, [KeyPress::Down, KeyPress::Char('日')]);
}

#[test]
fn ctrl_c_is_never_part_of_something_else() {
    assert_eq!(keys("\x03\x03"), [KeyPress::Interrupt, KeyPress::Interrupt]);
    assert_eq!(
        keys("\x1b[\x03a"),
        [KeyPress::Interrupt, KeyPress::Char('a')]
    );
    assert_eq!(keys("\x1b[200~half\x03"), [KeyPress::Interrupt]);
    assert_eq!(keys("\x1b\x03"), [KeyPress::Escape, KeyPress::Interrupt]);
}
