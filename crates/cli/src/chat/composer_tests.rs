use super::*;

fn typed(text: &str) -> Vec<KeyPress> {
    text.chars().map(KeyPress::Char).collect()
}

fn press(composer: &mut Composer, keys: impl IntoIterator<Item = KeyPress>) -> Composed {
    keys.into_iter()
        .map(|key| composer.take(key))
        .last()
        .unwrap_or(Composed::Stay)
}

fn sent(composer: &mut Composer, text: &str) {
    press(composer, typed(text));
    assert_eq!(
        composer.take(KeyPress::Enter),
        Composed::Sent(text.to_owned())
    );
}

#[test]
fn enter_sends_and_a_line_break_does_not() {
    let mut composer = Composer::new(None);
    assert_eq!(composer.take(KeyPress::Enter), Composed::Stay);
    press(&mut composer, typed("one"));
    composer.take(KeyPress::LineBreak);
    press(&mut composer, typed("two\\"));
    assert_eq!(composer.take(KeyPress::Enter), Composed::Stay);
    press(&mut composer, typed("three"));
    assert_eq!(
        composer.take(KeyPress::Enter),
        Composed::Sent("one\ntwo\nthree".to_owned())
    );
    assert_eq!(composer.text(), "");
}

#[test]
fn a_paste_of_several_lines_is_not_sent() {
    let mut composer = Composer::new(None);
    assert_eq!(
        composer.take(KeyPress::Paste("a\r\nb\rc\n".into())),
        Composed::Stay
    );
    assert_eq!(composer.text(), "a\nb\nc");
}

#[test]
fn up_and_down_move_by_lines_and_then_through_the_history() {
    let mut composer = Composer::new(None);
    sent(&mut composer, "first");
    sent(&mut composer, "second");
    press(&mut composer, typed("ab"));
    composer.take(KeyPress::LineBreak);
    press(&mut composer, typed("cdef"));
    press(&mut composer, [KeyPress::Up, KeyPress::Char('x')]);
    assert_eq!(composer.text(), "abx\ncdef");
    press(&mut composer, [KeyPress::Down, KeyPress::Char('y')]);
    assert_eq!(composer.text(), "abx\ncdeyf");
    press(&mut composer, [KeyPress::Up, KeyPress::Up]);
    assert_eq!(composer.text(), "second");
    composer.take(KeyPress::Up);
    assert_eq!(composer.text(), "first");
    composer.take(KeyPress::Up);
    assert_eq!(composer.text(), "first");
    press(&mut composer, [KeyPress::Down, KeyPress::Down]);
    assert_eq!(composer.text(), "abx\ncdeyf", "the message that was left");
}

#[test]
fn a_search_goes_back_to_messages_that_hold_the_text() {
    let mut composer = Composer::new(None);
    for text in ["run tests", "list files", "run it again"] {
        sent(&mut composer, text);
    }
    press(&mut composer, typed("run"));
    composer.take(KeyPress::Search);
    assert_eq!(composer.text(), "run it again");
    composer.take(KeyPress::Search);
    assert_eq!(composer.text(), "run tests");
    composer.take(KeyPress::Search);
    assert_eq!(composer.text(), "run");
}

#[test]
fn the_history_is_kept_in_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history");
    sent(&mut Composer::new(Some(file.clone())), "line");
    let mut composer = Composer::new(Some(file));
    composer.take(KeyPress::Up);
    assert_eq!(composer.text(), "line");
}

#[test]
fn a_long_message_shows_the_lines_around_the_cursor() {
    let mut composer = Composer::new(None);
    press(&mut composer, typed("日本語abcdef"));
    composer.take(KeyPress::LineBreak);
    press(&mut composer, typed("g"));
    let (lines, cursor) = composer.draw('›', 11, 10);
    assert_eq!(lines, ["› 日本語ab", "  cdef", "  g"]);
    assert_eq!(
        cursor,
        LiveCursor {
            above: 0,
            column: 3
        }
    );
    let (lines, cursor) = composer.draw('›', 11, 2);
    assert_eq!(lines, ["  cdef", "  g"]);
    assert_eq!(
        cursor,
        LiveCursor {
            above: 0,
            column: 3
        }
    );
    press(&mut composer, [KeyPress::Up, KeyPress::Home]);
    let (lines, cursor) = composer.draw('›', 11, 10);
    assert_eq!(lines.len(), 3);
    assert_eq!(
        cursor,
        LiveCursor {
            above: 2,
            column: 2
        }
    );
}

#[test]
fn ctrl_d_ends_only_an_empty_message() {
    let mut composer = Composer::new(None);
    press(&mut composer, [KeyPress::Char('a'), KeyPress::Home]);
    assert_eq!(composer.take(KeyPress::EndOfInput), Composed::Stay);
    assert_eq!(composer.take(KeyPress::EndOfInput), Composed::End);
}
