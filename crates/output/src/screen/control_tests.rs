use insta::assert_snapshot;

use super::super::Screen;
use super::super::recording::bytes;

/// A screen of six rows and ten columns with a letter in every cell, and its content after some bytes.
fn letters(escaped: &str) -> Vec<String> {
    let mut screen = Screen::new(6, 10);
    for row in 1..=6 {
        let letter = char::from(b'a' + row - 1);
        let text = letter.to_string().repeat(10);
        screen.feed(format!("\x1b[{row};1H{text}").as_bytes());
    }
    screen.feed(&bytes(escaped));
    screen.rows()
}

fn check(escaped: &str, rows: [&str; 6]) {
    assert_eq!(letters(escaped), rows, "{escaped}");
}

fn cursor(escaped: &str) -> (u16, u16) {
    let mut screen = Screen::new(6, 10);
    screen.feed(&bytes(escaped));
    screen.cursor()
}

fn reply(escaped: &str) -> String {
    let mut screen = Screen::new(6, 10);
    let reply = screen.feed(&bytes(escaped));
    String::from_utf8(reply).unwrap().replace('\x1b', "^[")
}

const A: &str = "aaaaaaaaaa";
const B: &str = "bbbbbbbbbb";
const C: &str = "cccccccccc";
const D: &str = "dddddddddd";
const E: &str = "eeeeeeeeee";
const F: &str = "ffffffffff";

#[test]
fn erasing_above_takes_every_row_above() {
    check("\\e[1;3H\\e[1J", ["   aaaaaaa", B, C, D, E, F]);
    check("\\e[2;3H\\e[1J", ["", "   bbbbbbb", C, D, E, F]);
    check("\\e[3;10H\\e[1J", ["", "", "", D, E, F]);
}

#[test]
fn a_cursor_between_the_margins_stays_between_them() {
    let margins = "\\e[2;4r\\e[?69h\\e[3;6s";
    for (start, movement, end) in [
        ((3, 4), "\\e[9A", (2, 4)),
        ((3, 4), "\\e[9B", (4, 4)),
        ((3, 4), "\\e[9C", (3, 6)),
        ((3, 4), "\\e[9D", (3, 3)),
        ((3, 4), "\\r", (3, 3)),
        ((1, 1), "\\e[9A", (1, 1)),
        ((1, 1), "\\e[9B", (4, 1)),
        ((6, 8), "\\e[9B", (6, 8)),
        ((6, 8), "\\e[9A", (2, 8)),
        ((5, 8), "\\e[9C", (5, 10)),
        ((5, 2), "\\e[9D", (5, 1)),
    ] {
        let (row, column) = start;
        let escaped = format!("{margins}\\e[{row};{column}H{movement}");
        assert_eq!(cursor(&escaped), end, "{start:?} {movement}");
    }
}

#[test]
fn the_pattern_fills_the_screen_and_goes_home() {
    let mut screen = Screen::new(2, 4);
    screen.feed(b"\x1b[1;2r\x1b[2;3H\x1b#8");
    assert_eq!(screen.rows(), ["EEEE", "EEEE"]);
    assert_eq!(screen.cursor(), (1, 1));
}

#[test]
fn a_region_moves_down_and_leaves_the_rest() {
    check("\\e[2;4r\\e[T", [A, "", B, C, E, F]);
    check("\\e[2;4r\\e[2;1H\\eM\\eM", [A, "", "", B, E, F]);
    check("\\e[2;4r\\e[3;5H\\e[L", [A, B, "", C, E, F]);
    check("\\e[2;4r\\e[5;5H\\e[L", [A, B, C, D, E, F]);
    check("\\e[2;4r\\e[9T", [A, "", "", "", E, F]);
}

#[test]
fn what_scrolls_between_left_and_right_margins_leaves_the_rest() {
    let margins = "\\e[2;4r\\e[?69h\\e[3;6s";
    let moved = [A, "bbccccbbbb", "ccddddcccc", "dd    dddd", E, F];
    check(&format!("{margins}\\e[S"), moved);
    check(&format!("{margins}\\e[4;3H\\n"), moved);
    check(&format!("{margins}\\e[2;3H\\e[M"), moved);
    check(
        &format!("{margins}\\e[T"),
        [A, "bb    bbbb", "ccbbbbcccc", "ddccccdddd", E, F],
    );
    check(&format!("{margins}\\e[4;8H\\n"), [A, B, C, D, E, F]);
}

#[test]
fn columns_are_inserted_and_deleted_between_the_margins() {
    let margins = "\\e[2;3r\\e[?69h\\e[3;6s";
    check(
        &format!("{margins}\\e[2;4H\\e[2'}}"),
        [A, "bbb  bbbbb", "ccc  ccccc", D, E, F],
    );
    check(
        &format!("{margins}\\e[2;4H\\e[2'~"),
        [A, "bbbb  bbbb", "cccc  cccc", D, E, F],
    );
    check(
        &format!("{margins}\\e[2;3H\\e6"),
        [A, "bb bbbbbbb", "cc ccccccc", D, E, F],
    );
}

#[test]
fn rectangles_are_copied_filled_and_erased() {
    check(
        "\\e[1;1;2;2;1;3;4$v",
        [A, B, "cccaaccccc", "dddbbddddd", E, F],
    );
    check("\\e[88;2;3;3;4$x", [A, "bbXXbbbbbb", "ccXXcccccc", D, E, F]);
    check("\\e[5;9;99;99$z", [A, B, C, D, "eeeeeeee", "ffffffff"]);
    check("\\e[3;3;2;2$z", [A, B, C, D, E, F]);
}

#[test]
fn protected_text_is_spared_by_selective_erasing() {
    let text = "\\e[H\\e[1\"qXX\\e[0\"qyy";
    check(&format!("{text}\\e[?2K"), ["XX", B, C, D, E, F]);
    check(
        &format!("{text}\\e[1;1;1;9${{"),
        ["XX       a", B, C, D, E, F],
    );
    check(&format!("{text}\\e[2K"), ["", B, C, D, E, F]);
    check("\\e[H\\eVXX\\eWyy\\e[2K", ["XX", B, C, D, E, F]);
}

#[test]
fn wide_characters_are_never_cut_in_half() {
    let mut screen = Screen::new(3, 8);
    screen.feed("日日日日\r\n".as_bytes());
    screen.feed(b"\x1b[?69h\x1b[2;5s\x1b[1;2H\x1b[P");
    assert_eq!(screen.rows()[0], " 日   日");
    assert_eq!(screen.styled_row(0).unwrap().runs[0].text, " 日   日");
}

#[test]
fn the_sum_of_a_cell_tells_its_character() {
    assert_eq!(reply("Q\\e[7;1;1;1;1;1*y"), "^[P7!~FFAF^[\\");
    assert_eq!(reply("\\e[8;1;2;2;2;2*y"), "^[P8!~FFE0^[\\");
    assert_eq!(reply("ab\\e[1;1;1;1;1;2*y"), "^[P1!~FF3D^[\\");
}

#[test]
fn settings_are_reported_and_unknown_ones_are_not_repeated() {
    assert_eq!(reply("\\e[2;5r\\eP$qr\\e\\\\"), "^[P1$r2;5r^[\\");
    assert_eq!(
        reply("\\e[1;31;48;2;1;2;3m\\eP$qm\\e\\\\"),
        "^[P1$r0;1;31;48:2::1:2:3m^[\\"
    );
    assert_eq!(reply("\\e[5 q\\eP$q q\\e\\\\"), "^[P1$r5 q^[\\");
    assert_eq!(reply("\\eP$qrm -rf /\\e\\\\"), "^[P0$r^[\\");
}

#[test]
fn capabilities_are_reported_each_for_itself() {
    assert_snapshot!(
        reply("\\eP+q436F;544e;6b75\\e\\\\"),
        @r"^[P1+r436F=323536^[\^[P1+r544e=787465726D2D323536636F6C6F72^[\^[P1+r6b75=1B4F41^[\"
    );
    assert_eq!(reply("\\eP+qzz;7878\\e\\\\"), "^[P0+r^[\\^[P0+r^[\\");
}

#[test]
fn an_unknown_string_is_not_answered() {
    assert_eq!(reply("\\ePq#0;2;0;0;0\\e\\\\\\eP1$tx\\e\\\\"), "");
}

#[test]
fn a_title_is_not_reported_to_programs() {
    assert_eq!(reply("\\e]2;evil\\a\\e[21t"), "^[]l^[\\");
}

#[test]
fn modes_are_put_aside_and_brought_back() {
    assert_eq!(
        reply("\\e[?2004h\\e[?2004s\\e[?2004l\\e[?2004r\\e[?2004$p"),
        "^[[?2004;1$y"
    );
    assert_eq!(reply("\\e[?69$p\\e[?12345$p"), "^[[?69;2$y^[[?12345;0$y");
}

#[test]
fn a_column_change_that_was_not_allowed_leaves_the_screen() {
    check("\\e[?3h\\e[?3l", [A, B, C, D, E, F]);
    check("\\e[?40h\\e[?3h", [""; 6]);
}

#[test]
fn the_alternate_screen_keeps_its_text_and_cursor_as_its_mode_says() {
    let rows = |escaped: &str| {
        let mut screen = Screen::new(2, 10);
        screen.feed(&bytes(escaped));
        screen.rows()[0].clone()
    };
    assert_eq!(rows("one\\e[?47hTWO\\e[?47l\\e[?47h"), "   TWO");
    assert_eq!(rows("one\\e[?1047hTWO\\e[?1047l\\e[?1047h"), "");
    assert_eq!(rows("one\\e[?1049hTWO\\e[?1049lx"), "onex");
    assert_eq!(rows("one\\e[?47hTWO\\e[?47lx"), "one   x");
}
