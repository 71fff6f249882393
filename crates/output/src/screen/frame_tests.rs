use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::recording::bytes;
use super::super::{Screen, ScreenReader, ScreenView};

const ROWS: u16 = 8;
const COLS: u16 = 60;

/// A reader that knows only the reported changes of a screen.
struct Listener {
    rows: Vec<String>,
}

impl Listener {
    fn new() -> Self {
        let rows = vec![String::new(); usize::from(ROWS)];
        Self { rows }
    }

    fn hear(&mut self, told: &str) {
        if told.is_empty() {
            return;
        }
        // No row in these tests contains these characters.
        if !told.contains(['│', '←']) {
            self.rows = told.lines().map(str::to_owned).collect();
            self.rows.resize(usize::from(ROWS), String::new());
            return;
        }
        let before = self.rows.clone();
        for line in told.lines() {
            if let Some((rows, from)) = line.split_once('←') {
                let (first, last) = rows.split_once('-').unwrap();
                let number = |text: &str| text.parse::<usize>().unwrap() - 1;
                let rows = number(first)..=number(last);
                let from = number(from);
                let length = rows.clone().count();
                self.rows[rows].clone_from_slice(&before[from..from + length]);
                continue;
            }
            let (place, text) = line.split_once('│').unwrap();
            let (row, col) = match place.split_once(':') {
                Some((row, col)) => (row, col.parse().ok()),
                None => (place, None),
            };
            let row: usize = row.parse().unwrap();
            self.rows[row - 1] = match col {
                Some(col) => over(&self.rows[row - 1], col, text),
                None => text.to_owned(),
            };
        }
    }
}

/// A row with a text written over it from a column on.
fn over(row: &str, col: usize, text: &str) -> String {
    let mut cells: Vec<char> = row.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let end = col - 1 + text.len();
    cells.resize(cells.len().max(end), ' ');
    cells[col - 1..end].copy_from_slice(&text);
    cells.into_iter().collect()
}

/// Actions of a program on a screen.
fn drawing() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        4 => "[a-c ]{1,12}",
        1 => "[a-c ]{30,60}",
        1 => "[a日é\u{301}]{1,4}",
    ];
    let at =
        (1..=ROWS, 1..=COLS, text).prop_map(|(row, col, text)| format!("\\e[{row};{col}H{text}"));
    let wipe = (1..=ROWS, 1..=COLS, "[012]")
        .prop_map(|(row, col, what)| format!("\\e[{row};{col}H\\e[{what}K"));
    let scroll = prop::sample::select(vec!["\\e[S", "\\e[T", "\\e[L", "\\e[M", "\\e[2P", "\\e[3@"]);
    prop_oneof![
        12 => at,
        3 => wipe,
        1 => scroll.prop_map(str::to_owned),
        1 => Just("\\e[2J".to_owned()),
    ]
}

#[track_caller]
fn reported_is_shown(start: &str, looks: &[Vec<String>]) -> Result<(), TestCaseError> {
    let mut screen = Screen::new(ROWS, COLS);
    let mut reader = ScreenReader::default();
    let mut listener = Listener::new();
    screen.feed(&bytes(start));
    for drawings in looks {
        for drawing in drawings {
            screen.feed(&bytes(drawing));
        }
        if !screen.is_full_screen() {
            return Ok(());
        }
        let told = screen.read(&mut reader, ScreenView::New, usize::MAX).text;
        listener.hear(&told);
        prop_assert_eq!(&listener.rows, &screen.rows(), "told {:?}", told);
    }
    Ok(())
}

/// Draws a text into each of some rows.
fn rows(numbers: Range<u16>, text: impl Fn(u16) -> String) -> String {
    let drawn: Vec<String> = numbers
        .map(|row| format!("\\e[{row};1H{}", text(row)))
        .collect();
    drawn.concat()
}

#[test]
fn rows_that_moved_are_reported_by_where_they_were() {
    let list = rows(1..7, |row| format!("the {row}. of a list"));
    let mut screen = Screen::new(ROWS, COLS);
    let mut reader = ScreenReader::default();
    let mut look = |output: &str| {
        screen.feed(&bytes(output));
        screen.read(&mut reader, ScreenView::New, usize::MAX).text
    };
    look(&format!("\\e[?1049h{list}"));
    let told = look("\\e[2;1H\\e[Lone between");
    assert_eq!(told, "2│one between\n3-7←2");
}

proptest! {
    #[test]
    fn what_is_reported_makes_the_screen(looks in vec(vec(drawing(), 1..12), 1..8)) {
        let filled = rows(1..ROWS + 1, |_| "word ".repeat(11));
        reported_is_shown(&format!("\\e[?1049h{filled}"), &looks)?;
        reported_is_shown(&format!("\\e[?25l\\e[H\\e[2J{filled}"), &looks)?;
    }
}
