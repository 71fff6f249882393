use super::*;

/// Types `keys` and shows what is there, with the cursor as `|`.
fn check(keys: impl IntoIterator<Item = KeyPress>, expected: &str) {
    let mut line = LineEditor::default();
    for key in keys {
        line.take(key);
    }
    let (before, after) = line.text.split_at(line.cursor);
    assert_eq!(format!("{before}|{after}"), expected);
}

fn typed(text: &str) -> Vec<KeyPress> {
    text.chars().map(KeyPress::Char).collect()
}

#[test]
fn keys_edit_where_the_cursor_is() {
    let then = |keys: &[KeyPress]| [typed("ab cd"), keys.to_vec()].concat();
    check(then(&[]), "ab cd|");
    check(then(&[KeyPress::Left, KeyPress::Char('x')]), "ab cx|d");
    check(then(&[KeyPress::Home, KeyPress::Delete]), "|b cd");
    check(then(&[KeyPress::Backspace]), "ab c|");
    check(then(&[KeyPress::EraseWord]), "ab |");
    check(then(&[KeyPress::EraseWord, KeyPress::EraseWord]), "|");
    check(then(&[KeyPress::WordLeft, KeyPress::EraseBefore]), "|cd");
    check(then(&[KeyPress::WordLeft, KeyPress::EraseAfter]), "ab |");
    check(then(&[KeyPress::Home, KeyPress::WordRight]), "ab| cd");
    check(
        then(&[
            KeyPress::Home,
            KeyPress::Left,
            KeyPress::Backspace,
            KeyPress::Right,
        ]),
        "a|b cd",
    );
    check(
        then(&[KeyPress::Left, KeyPress::End, KeyPress::Delete]),
        "ab cd|",
    );
}

#[test]
fn what_looks_like_one_letter_is_one() {
    let keys = || typed("日e\u{301}👩\u{200d}🚀");
    check([keys(), vec![KeyPress::Backspace]].concat(), "日e\u{301}|");
    check(
        [keys(), vec![KeyPress::Backspace, KeyPress::Backspace]].concat(),
        "日|",
    );
    check(
        [keys(), vec![KeyPress::Home, KeyPress::Delete]].concat(),
        "|e\u{301}👩\u{200d}🚀",
    );
}

#[test]
fn a_paste_keeps_its_lines_but_not_its_end() {
    check([KeyPress::Paste("a\r\nb\rc\n".into())], "a\nb\nc|");
}

#[test]
fn a_long_line_shows_what_is_around_the_cursor() {
    let mut line = LineEditor::default();
    line.take(KeyPress::Paste("abcdefghij".into()));
    assert_eq!(line.window(5), ("ghij".into(), 4));
    line.take(KeyPress::Left);
    line.take(KeyPress::Left);
    assert_eq!(line.window(5), ("efghi".into(), 4));
    line.take(KeyPress::Home);
    assert_eq!(line.window(5), ("abcde".into(), 0));
    line.take(KeyPress::Paste("日\n本".into()));
    assert_eq!(line.window(20), ("日↵本abcdefghij".into(), 5));
}
