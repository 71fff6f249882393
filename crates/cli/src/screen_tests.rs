use super::*;

#[test]
fn a_line_is_cut_by_what_is_seen_of_it() {
    assert_eq!(fitting("abcdef", 3), "abc");
    assert_eq!(fitting("\x1b[1mabcdef\x1b[0m", 3), "\x1b[1mabc\x1b[0m");
    assert_eq!(fitting("日本", 3), "日");
    assert_eq!(visible_width("\x1b[36m日a\x1b[0m"), 3);
}

#[test]
fn a_live_area_is_cleared_by_the_rows_that_it_takes_now() {
    let screen = TerminalDisplay {
        drawn: vec![30, 10],
        ..TerminalDisplay::stdout()
    };
    assert_eq!(screen.clearing(40), "\r\x1b[1A\x1b[J");
    assert_eq!(screen.clearing(20), "\r\x1b[2A\x1b[J");
    assert_eq!(TerminalDisplay::stdout().clearing(40), "");
}

#[test]
fn an_unchanged_live_area_is_not_drawn_again() {
    let mut screen = TerminalDisplay::stdout();
    let live = ["› hello".to_owned()];
    let size = (40, 20);
    let mut draw = |committed: &[String], after, size| {
        let text = screen.redrawing(committed, &live, after, size);
        if after == "again" {
            screen.invalidate();
        }
        text
    };

    assert_eq!(draw(&[], "", size).as_deref(), Some("› hello"));
    assert_eq!(draw(&[], "", size), None);
    // The cursor, the size and committed lines are changes.
    assert!(draw(&[], "\r", size).is_some());
    assert!(draw(&[], "\r", (39, 20)).is_some());
    assert!(draw(&["said".to_owned()], "\r", (39, 20)).is_some());
    assert_eq!(draw(&[], "\r", (39, 20)), None);
    assert!(draw(&[], "again", size).is_some());
    assert!(draw(&[], "again", size).is_some());
}
