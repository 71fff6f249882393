use insta::assert_snapshot;

use super::*;

fn check(width: Option<usize>, colour: bool, expected: &str) {
    let printer = Printer {
        is_json: false,
        colour,
        width,
    };
    let columns = [
        column("HANDLE"),
        column("STATE"),
        column("TOOL").spare(1),
        column("LAST LINE").cut_to(9),
    ];
    let mut listing = Listing::new(columns, "None.");
    listing.row([
        cell("web"),
        cell("running").tone(Tone::Good),
        cell("shell"),
        cell("listening on http://127.0.0.1:8000"),
    ]);
    listing.row([cell("b"), cell("waits"), cell(""), cell("日本 \x1b[2J")]);
    let lines = printer.lines(&listing);
    for line in &lines {
        assert!(width.is_none_or(|width| crate::screen::visible_width(line) <= width));
    }
    assert_eq!(format!("\n{}", lines.join("\n")), expected);
}

#[test]
fn nothing_is_cut_in_a_pipe() {
    check(
        None,
        false,
        "
HANDLE  STATE    TOOL   LAST LINE
web     running  shell  listening on http://127.0.0.1:8000
b       waits           日本 \\u{1b}[2J",
    );
}

#[test]
fn the_widest_text_is_cut_first_and_then_a_column_goes() {
    check(
        Some(50),
        false,
        "
HANDLE  STATE    TOOL   LAST LINE
web     running  shell  listening on http://127.0…
b       waits           日本 \\u{1b}[2J",
    );
    check(
        Some(30),
        false,
        "
HANDLE  STATE    LAST LINE
web     running  listening on…
b       waits    日本 \\u{1b}[…",
    );
}

#[test]
fn states_have_colours() {
    check(
        None,
        true,
        "
\x1b[1mHANDLE\x1b[0m  \x1b[1mSTATE\x1b[0m    \x1b[1mTOOL\x1b[0m   \x1b[1mLAST LINE\x1b[0m
web     \x1b[32mrunning\x1b[0m  shell  listening on http://127.0.0.1:8000
b       waits           日本 \\u{1b}[2J",
    );
}

#[test]
fn an_empty_list_says_so() {
    let printer = Printer {
        is_json: false,
        colour: false,
        width: None,
    };
    let listing = Listing::new([column("A")], "Nothing is here; `do` adds some.");
    assert_eq!(
        printer.lines(&listing),
        ["Nothing is here; `do` adds some."]
    );
}

#[test]
fn a_text_has_the_room_of_the_empty_cells_behind_it() {
    let printer = Printer {
        is_json: false,
        colour: false,
        width: Some(30),
    };
    let columns = [
        column("A"),
        column("FOUND").cut_to(8),
        column("TO DO").cut_to(8),
    ];
    let mut listing = Listing::new(columns, "None.");
    listing.row([
        cell("a"),
        cell("it is not there"),
        cell("install what is missing"),
    ]);
    listing.row([cell("b"), cell("everything is in order here"), cell("")]);
    assert_snapshot!(printer.lines(&listing).join("\n"), @"
    A  FOUND          TO DO
    a  it is not th…  install wha…
    b  everything is in order here
    ");
}

#[test]
fn a_path_keeps_its_end() {
    let printer = Printer {
        is_json: false,
        colour: false,
        width: Some(24),
    };
    let columns = [column("KEY"), column("ORIGIN").cut_to(8)];
    let mut listing = Listing::new(columns, "None.");
    let origin = cell("~/.config/windlass/config.toml:2").keep_end();
    listing.row([cell("kept.max"), origin]);
    assert_eq!(
        printer.lines(&listing).join("\n"),
        "KEY       ORIGIN\n\
         kept.max  …config.toml:2"
    );
}

#[test]
fn sentences_are_broken_between_words() {
    let printer = Printer {
        is_json: false,
        colour: false,
        width: Some(20),
    };
    let mut listing = Listing::new([column("A")], "Nothing is here; `do` adds some.");
    listing.note("reply: windlass permissions");
    assert_eq!(
        printer.lines(&listing),
        [
            "Nothing is here;",
            "`do` adds some.",
            "reply: windlass",
            "permissions"
        ]
    );
    assert_eq!(printer.cut("a call that is long", 5), "a call that is…");
}
