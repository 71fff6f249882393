use super::*;

/// The keys in what a terminal sends, read in one piece.
fn keys(bytes: &str) -> Vec<Key> {
    let mut typing = Typing::default();
    typing.take(bytes.as_bytes());
    typing.settle();
    typing.keys.into()
}

#[test]
fn keys_are_read_by_what_they_are_for() {
    assert_eq!(
        keys("aÄ日\r\n"),
        [
            Key::Char('a'),
            Key::Char('Ä'),
            Key::Char('日'),
            Key::Enter,
            Key::LineBreak
        ]
    );
    assert_eq!(
        keys("\x1b[A\x1bOB\x1b[H\x1b[3~\x1b[1;5D\x1bf\x17\x7f"),
        [
            Key::Up,
            Key::Down,
            Key::Home,
            Key::Delete,
            Key::WordLeft,
            Key::WordRight,
            Key::EraseWord,
            Key::Backspace
        ]
    );
    assert_eq!(keys("\x1b"), [Key::Escape]);
    assert_eq!(keys("\x1b[200~a\rb\x1b[201~"), [Key::Paste("a\rb".into())]);
}

#[test]
fn what_comes_in_pieces_is_one_key() {
    let mut typing = Typing::default();
    for byte in "\x1b[B日".bytes() {
        typing.take(&[byte]);
    }
    assert_eq!(typing.keys, [Key::Down, Key::Char('日')]);
}

#[test]
fn ctrl_c_is_never_part_of_something_else() {
    assert_eq!(keys("\x03\x03"), [Key::Interrupt, Key::Interrupt]);
    assert_eq!(keys("\x1b[\x03a"), [Key::Interrupt, Key::Char('a')]);
    assert_eq!(keys("\x1b[200~half\x03"), [Key::Interrupt]);
    assert_eq!(keys("\x1b\x03"), [Key::Escape, Key::Interrupt]);
}
