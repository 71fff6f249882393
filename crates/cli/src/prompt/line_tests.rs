use super::*;

/// Types `keys` and shows what is there, with the cursor as `|`.
fn check(keys: impl IntoIterator<Item = Key>, expected: &str) {
    let mut line = Line::default();
    for key in keys {
        line.take(key);
    }
    let (before, after) = line.text.split_at(line.cursor);
    assert_eq!(format!("{before}|{after}"), expected);
}

fn typed(text: &str) -> Vec<Key> {
    text.chars().map(Key::Char).collect()
}

#[test]
fn keys_edit_where_the_cursor_is() {
    let then = |keys: &[Key]| [typed("ab cd"), keys.to_vec()].concat();
    check(then(&[]), "ab cd|");
    check(then(&[Key::Left, Key::Char('x')]), "ab cx|d");
    check(then(&[Key::Home, Key::Delete]), "|b cd");
    check(then(&[Key::Backspace]), "ab c|");
    check(then(&[Key::EraseWord]), "ab |");
    check(then(&[Key::EraseWord, Key::EraseWord]), "|");
    check(then(&[Key::WordLeft, Key::EraseBefore]), "|cd");
    check(then(&[Key::WordLeft, Key::EraseAfter]), "ab |");
    check(then(&[Key::Home, Key::WordRight]), "ab| cd");
    check(
        then(&[Key::Home, Key::Left, Key::Backspace, Key::Right]),
        "a|b cd",
    );
    check(then(&[Key::Left, Key::End, Key::Delete]), "ab cd|");
}

#[test]
fn what_looks_like_one_letter_is_one() {
    let keys = || typed("日e\u{301}👩\u{200d}🚀");
    check([keys(), vec![Key::Backspace]].concat(), "日e\u{301}|");
    check(
        [keys(), vec![Key::Backspace, Key::Backspace]].concat(),
        "日|",
    );
    check(
        [keys(), vec![Key::Home, Key::Delete]].concat(),
        "|e\u{301}👩\u{200d}🚀",
    );
}

#[test]
fn a_paste_keeps_its_lines_but_not_its_end() {
    check([Key::Paste("a\r\nb\rc\n".into())], "a\nb\nc|");
}

#[test]
fn a_long_line_shows_what_is_around_the_cursor() {
    let mut line = Line::default();
    line.take(Key::Paste("abcdefghij".into()));
    assert_eq!(line.window(5), ("ghij".into(), 4));
    line.take(Key::Left);
    line.take(Key::Left);
    assert_eq!(line.window(5), ("efghi".into(), 4));
    line.take(Key::Home);
    assert_eq!(line.window(5), ("abcde".into(), 0));
    line.take(Key::Paste("日\n本".into()));
    assert_eq!(line.window(20), ("日↵本abcdefghij".into(), 5));
}
