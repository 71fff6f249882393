use serde_json::json;

use super::*;

#[test]
fn a_row_says_how_it_looks_and_nothing_else() {
    let mut screen = Screen::new(2, 20);
    screen.feed(b"plain \x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3mrgb");

    let shown = screen_update(&mut screen, None);

    assert_eq!(
        serde_json::to_value(&shown.changed).unwrap(),
        json!([
            {"row": 1, "runs": [
                {"text": "plain "},
                {"text": "red", "fg": 1, "bold": true},
                {"text": " "},
                {"text": "rgb", "fg": [1, 2, 3]},
            ]},
            {"row": 2, "runs": []},
        ])
    );
    assert_eq!(shown.cursor, (1, 14));
}

#[test]
fn only_rows_that_changed_are_told() {
    let mut screen = Screen::new(5, 20);
    screen.feed(b"one\r\ntwo\r\n");
    let seen = screen_update(&mut screen, None).generation;
    screen.feed(b"three");

    let shown = screen_update(&mut screen, Some(seen));

    let rows: Vec<u16> = shown.changed.iter().map(|row| row.row).collect();
    assert_eq!(rows, [3]);
    assert!(
        screen_update(&mut screen, Some(shown.generation))
            .changed
            .is_empty()
    );
}
