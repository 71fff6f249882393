use crate::screen::{Colour, Screen};

/// The rows that have left a screen of two rows, each run as `colour:text`.
fn left(bytes: &[u8]) -> Vec<String> {
    let mut screen = Screen::new(2, 20);
    screen.feed(bytes);
    let rows = screen.styled_scrollback();
    let shown = rows.iter().map(|row| {
        let runs = row.runs.iter().map(|run| {
            let colour = match run.style.foreground {
                Some(Colour::Indexed(index)) => format!("{index}:"),
                Some(Colour::Rgb(red, green, blue)) => format!("{red},{green},{blue}:"),
                None => String::new(),
            };
            format!("{colour}{}", run.text)
        });
        runs.collect::<Vec<_>>().join("|")
    });
    shown.collect()
}

#[test]
fn colours_stay_with_rows_that_have_left() {
    let shown = left(b"plain\r\n\x1b[31mred\x1b[0m and \x1b[32mgreen\x1b[0m\r\nlast\r\nend");
    assert_eq!(shown, ["plain", "1:red| and |2:green"]);
}

#[test]
fn wide_characters_and_tabs_are_counted_as_drawn() {
    let shown = left("\x1b[31m\u{65e5}\x1b[0ma\tb\x1b[32mc\x1b[0m\r\nlast\r\nend".as_bytes());
    assert_eq!(shown, ["1:\u{65e5}|a     b|2:c"]);
}

#[test]
fn lines_that_are_never_drawn_keep_the_colour_that_was_chosen() {
    let mut bytes = b"\x1b[34mfirst\r\n".to_vec();
    for _ in 0..100 {
        bytes.extend_from_slice(b"many\r\n");
    }
    let (begun, rest) = bytes.split_at(b"\x1b[34mfirst\r\n".len());
    let mut screen = Screen::new(4, 20);
    screen.feed(begun);
    screen.feed(rest);
    let rows = screen.styled_scrollback();
    assert!(rows.len() > 90);
    for row in &rows {
        assert_eq!(
            row.runs[0].style.foreground,
            Some(Colour::Indexed(4)),
            "{row:?}"
        );
    }
}

#[test]
fn the_looks_that_are_kept_are_bounded() {
    let mut screen = Screen::new(2, 100);
    for number in 0..20_000 {
        let row = (0..90).fold(String::new(), |row, cell| {
            row + &format!("\x1b[3{}mx", (cell + number) % 8)
        });
        screen.feed(format!("{row}\x1b[0m\r\n").as_bytes());
    }
    let rows = screen.styled_scrollback();
    let styled = rows.iter().filter(|row| row.runs.len() > 1).count();
    assert!((10..1000).contains(&styled), "{styled} of {}", rows.len());
    assert!(rows.last().unwrap().runs.len() > 80);
}
