use insta::assert_snapshot;

use super::super::Screen;
use super::super::recording::{bytes, replay, replayed};
use super::*;

/// A reader of a screen of 6 rows and 20 columns.
struct Desk {
    screen: Screen,
    reader: ScreenReader,
}

impl Desk {
    fn new() -> Self {
        Self {
            screen: Screen::new(6, 20),
            reader: ScreenReader::default(),
        }
    }

    fn write(&mut self, escaped: &str) -> &mut Self {
        self.screen.feed(&bytes(escaped));
        self
    }

    fn type_in(&mut self, text: &str) -> &mut Self {
        self.screen.typed(text);
        self
    }

    fn read(&mut self) -> String {
        self.view(ScreenView::New).text
    }

    fn view(&mut self, view: ScreenView) -> ScreenText {
        self.screen.read(&mut self.reader, view, 10_000)
    }
}

#[test]
fn lines_are_reported_once() {
    let mut desk = Desk::new();
    assert_eq!(desk.write("one\\r\\ntwo\\r\\n").read(), "one\ntwo\n");
    assert_eq!(desk.read(), "");
    assert_eq!(desk.write("three\\r\\n").read(), "three\n");
    let long = "4\\r\\n5\\r\\n6\\r\\n7\\r\\n8\\r\\n9\\r\\n";
    assert_eq!(desk.write(long).read(), "4\n5\n6\n7\n8\n9\n");
    assert_eq!(desk.read(), "");
}

#[test]
fn a_prompt_has_no_newline_and_keeps_its_blank() {
    assert_eq!(Desk::new().write("hello\\r\\n$ ").read(), "hello\n$ ");
}

#[test]
fn empty_lines_are_reported_when_they_are_written() {
    let mut desk = Desk::new();
    assert_eq!(desk.write("a\\r\\n").read(), "a\n");
    assert_eq!(desk.write("\\r\\nb\\r\\n").read(), "\nb\n");
}

#[test]
fn a_redrawn_line_is_reported_in_its_last_form() {
    let mut desk = Desk::new();
    assert_eq!(desk.write("10%\\r20%\\r30%").read(), "30%");
    assert_eq!(
        desk.write("\\r40%\\r100%\\r\\ndone\\r\\n").read(),
        "100%\ndone\n"
    );
}

#[test]
fn a_long_progress_bar_costs_little() {
    let mut desk = Desk::new();
    for step in 0..400 {
        desk.write(&format!("\\r[{:<10}] {step}", "#".repeat(step / 40)));
    }
    let told = desk.write("\\r\\n$ ").read();
    assert_eq!(told, "[######### ] 399\n$ ");
}

#[test]
fn bars_that_are_drawn_by_moving_up_are_reported_where_they_changed() {
    let mut desk = Desk::new();
    assert_eq!(desk.write("a 1%\\r\\nb 1%\\r\\n").read(), "a 1%\nb 1%\n");
    assert_eq!(desk.write("\\e[2A\\ra 1%\\r\\nb 9%\\r\\n").read(), "b 9%\n");
}

#[test]
fn a_wrapped_line_is_one_line() {
    let mut desk = Desk::new();
    let long = "abcdefghij".repeat(20);
    assert_eq!(
        desk.write(&format!("{long}\\r\\n$ ")).read(),
        format!("{long}\n$ ")
    );
    assert_eq!(desk.read(), "");
}

#[test]
fn a_long_line_that_grows_is_reported_from_its_old_end() {
    let mut desk = Desk::new();
    let long = "abcdefghij".repeat(60);
    assert_eq!(desk.write(&long).read(), long);
    assert_eq!(desk.write("more").read(), "more");
    assert_eq!(desk.write("\\r\\nnext\\r\\n").read(), "next\n");
}

#[test]
fn tabs_are_reported_as_they_were_written() {
    assert_eq!(
        Desk::new().write("a\\tb\\t\\tc\\r\\n").read(),
        "a\tb\t\tc\n"
    );
}

#[test]
fn after_a_clear_only_what_is_there_is_reported() {
    for clear in ["\\e[H\\e[2J", "\\e[2J\\e[H", "\\e[H\\e[J", "\\ec"] {
        let mut desk = Desk::new();
        assert_eq!(desk.write("$ ").read(), "$ ");
        desk.write("1\\r\\n2\\r\\n3\\r\\n4\\r\\n5\\r\\n6\\r\\n7\\r\\n8\\r\\n");
        assert_eq!(desk.write(clear).write("$ ").read(), "$ ", "{clear}");
        let all = desk.view(ScreenView::All).text;
        assert_eq!(all, "$ 1\n2\n3\n4\n5\n6\n7\n8\n$ ", "{clear}");
    }
}

#[test]
fn what_was_typed_is_not_reported_again() {
    let mut desk = Desk::new();
    assert_eq!(desk.write(">>> ").read(), ">>> ");
    desk.type_in("6*7\n");
    assert_eq!(desk.write("6*7\\r\\n42\\r\\n>>> ").read(), "42\n>>> ");
}

#[test]
fn what_was_typed_and_scrolled_off_is_not_reported_again() {
    let mut desk = Desk::new();
    desk.write("$ ").read();
    desk.type_in("seq 8\n").write("seq 8\\r\\n");
    let told = desk
        .write("1\\r\\n2\\r\\n3\\r\\n4\\r\\n5\\r\\n6\\r\\n7\\r\\n8\\r\\n$ ")
        .read();
    assert_eq!(told, "1\n2\n3\n4\n5\n6\n7\n8\n$ ");
}

#[test]
fn an_answer_that_repeats_what_was_typed_is_reported() {
    let mut desk = Desk::new();
    assert_eq!(
        desk.type_in("same\n").write("same\\r\\nsame\\r\\n").read(),
        "same\n"
    );
}

#[test]
fn an_echo_that_is_not_exact_is_reported() {
    let mut desk = Desk::new();
    desk.write("$ ").read();
    assert_eq!(desk.type_in("ls").write("ls -la").read(), "$ ls -la");
}

#[test]
fn a_prompt_that_was_not_told_is_reported_with_what_was_typed() {
    let mut desk = Desk::new();
    assert_eq!(
        desk.write("$ ")
            .type_in("ls\n")
            .write("ls\\r\\nx\\r\\n")
            .read(),
        "$ ls\nx\n"
    );
}

#[test]
fn typing_in_pieces_is_one_typing() {
    let mut desk = Desk::new();
    desk.write("$ ").read();
    assert_eq!(desk.type_in("ec").write("ec").read(), "");
    desk.type_in("ho ").type_in("a\n");
    assert_eq!(desk.write("ho a\\r\\na\\r\\n$ ").read(), "a\n$ ");
}

#[test]
fn an_echo_that_arrives_in_pieces_is_not_reported() {
    let mut desk = Desk::new();
    desk.write("$ ").read();
    assert_eq!(desk.type_in("echo a\n").write("ech").read(), "");
    assert_eq!(desk.write("o a\\r\\na\\r\\n$ ").read(), "a\n$ ");
}

#[test]
fn several_lines_typed_at_once_are_not_reported_again() {
    let mut desk = Desk::new();
    desk.write("$ ").read();
    desk.type_in("echo a\necho b\n");
    let told = desk
        .write("echo a\\r\\na\\r\\n$ echo b\\r\\nb\\r\\n$ ")
        .read();
    assert_eq!(told, "a\nb\n$ ");
}

#[test]
fn a_typed_line_that_wraps_is_not_reported_again() {
    let mut desk = Desk::new();
    desk.write("$ ").read();
    let long = "x".repeat(50);
    desk.type_in(&long);
    assert_eq!(desk.write(&long).write("\\r\\nok\\r\\n").read(), "ok\n");
}

#[test]
fn a_secret_leaves_nothing_to_tell() {
    let mut desk = Desk::new();
    desk.write("Password: ").read();
    desk.type_in("secret\n");
    assert_eq!(desk.write("\\r\\nwelcome\\r\\n").read(), "welcome\n");
}

#[test]
fn a_bar_below_the_region_is_not_reported_with_every_line() {
    let mut desk = Desk::new();
    desk.write("\\e[1;5r\\e[6;1H[50%]\\e[1;1H").read();
    desk.write("a\\r\\nb\\r\\nc\\r\\nd\\r\\ne\\r\\nf\\r\\ng\\r\\n");
    assert_eq!(desk.read(), "a\nb\nc\nd\ne\nf\ng\n\n");
    assert_eq!(desk.write("h\\r\\n").read(), "h\n\n");
}

#[test]
fn a_full_screen_is_reported_and_then_what_changes() {
    let mut desk = Desk::new();
    assert_eq!(desk.write("$ ").read(), "$ ");
    let drawn = desk
        .write("vi\\r\\n\\e[?1049h\\e[Hone\\r\\ntwo\\r\\nthree\\r\\nfour")
        .view(ScreenView::New);
    assert_eq!(drawn.text, "one\ntwo\nthree\nfour");
    assert!(drawn.full_screen);
    assert_eq!(desk.read(), "");
    assert_eq!(desk.write("\\e[4;1H\\e[2K").read(), "4│");
    assert_eq!(desk.write("\\e[3;1HTHREE").read(), "3│THREE");
    assert_eq!(desk.write("\\e[H1\\r\\n2\\r\\n3").read(), "1ne\n2wo\n3HREE");
    assert_eq!(desk.write("\\e[2J").read(), "1│\n2│\n3│");
    let back = desk.write("\\e[?1049l$ ").view(ScreenView::New);
    assert_eq!(back.text, "$ vi\n$ ");
    assert!(!back.full_screen);
    assert_eq!(desk.write("\\e[?1049h\\e[Hagain").read(), "again");
}

#[test]
fn views_tell_the_screen_and_everything() {
    let mut desk = Desk::new();
    desk.write("1\\r\\n2\\r\\n3\\r\\n4\\r\\n5\\r\\n6\\r\\n7\\r\\n$ ");
    assert_eq!(desk.view(ScreenView::Screen).text, "3\n4\n5\n6\n7\n$");
    assert_eq!(desk.read(), "1\n2\n");
    assert_eq!(desk.view(ScreenView::All).text, "1\n2\n3\n4\n5\n6\n7\n$ ");
    assert_eq!(desk.read(), "");
    desk.write("\\e[?1049h\\e[Hfull");
    assert_eq!(
        desk.view(ScreenView::All).text,
        "1\n2\n3\n4\n5\n6\n7\n$\nfull"
    );
}

#[test]
fn a_resize_tells_nothing_again() {
    let mut desk = Desk::new();
    let lines = "a line that is long\\r\\nb\\r\\nanother long line\\r\\n$ ";
    desk.write(lines).read();
    for (rows, cols) in [(6, 9), (3, 30), (12, 80), (2, 5), (6, 20)] {
        desk.screen.resize(rows, cols);
        assert_eq!(desk.read(), "", "{rows} {cols}");
    }
    assert_eq!(desk.write("x\\r\\ny\\r\\n").read(), "$ x\ny\n");
    let all = desk.view(ScreenView::All).text;
    assert_eq!(all, "a line that is long\nb\nanother long line\n$ x\ny\n");
}

#[test]
fn a_resize_behind_a_full_screen_program_loses_nothing() {
    let mut desk = Desk::new();
    desk.write("1\\r\\n2\\r\\n").read();
    desk.write("3\\r\\n4\\r\\n5\\r\\n\\e[?1049h\\e[Hfull");
    desk.screen.resize(3, 10);
    desk.write("\\e[?1049l");
    assert_eq!(desk.read(), "3\n4\n5\n");
    assert_eq!(desk.view(ScreenView::All).text, "1\n2\n3\n4\n5\n");
}

#[test]
fn what_is_no_longer_kept_is_counted() {
    let mut desk = Desk::new();
    for number in 0..20_000 {
        desk.write(&format!("line {number}\\r\\n"));
    }
    let told = desk.view(ScreenView::New);
    let (marker, rest) = told.text.split_once('\n').unwrap();
    assert!(marker.contains("bytes omitted"));
    assert!(rest.ends_with("line 19998\nline 19999\n"));
    let total: usize = (0..20_000)
        .map(|number| format!("line {number}\n").len())
        .sum();
    assert_eq!(told.omitted_bytes + rest.len() as u64, total as u64);
}

#[test]
fn a_line_is_reported_once_at_any_time_of_reading() {
    use proptest::prelude::*;
    let lines = proptest::collection::vec("[a-z]{0,50}", 1..80);
    let looks = proptest::collection::vec(1..60_usize, 1..40);
    proptest!(|(lines in lines, looks in looks)| {
        let numbered: Vec<String> = (0..).zip(&lines).map(|(n, line)| format!("{n}:{line}.")).collect();
        let output = numbered.join("\r\n") + "\r\n";
        let mut desk = Desk::new();
        let mut told = String::new();
        let (mut rest, mut looks) = (output.as_bytes(), looks.iter().cycle());
        while !rest.is_empty() {
            let (part, after) = rest.split_at((*looks.next().unwrap()).min(rest.len()));
            desk.screen.feed(part);
            rest = after;
            let text = desk.read();
            // An unfinished line is reported again when it has changed.
            if !text.is_empty() && !told.is_empty() && !told.ends_with('\n') {
                let last = told.rfind('\n').map_or(0, |at| at + 1);
                if text.starts_with(&told[last..]) { told.truncate(last); } else { told.push('\n'); }
            }
            told.push_str(&text);
        }
        if !told.ends_with('\n') {
            told.push('\n');
        }
        prop_assert_eq!(told, numbered.join("\n") + "\n");
    });
}

#[test]
fn python_is_read_as_a_conversation() {
    assert_snapshot!(replayed(include_str!("recordings/python.txt")), @r#"
    >>> 
    ======
    42
    >>> 
    ======
    a
    b
    >>> 
    ======
    ... 
    ======
    ... 
    ======
    >>> 
    ======
    1
    >>> 
    ======
    >>> 
    ======
    100
    >>>
"#);
}

#[test]
fn bash_is_read_as_a_conversation() {
    assert_snapshot!(replayed(include_str!("recordings/bash.txt")), @r#"
    $ 
    ======
    hello
    $ 
    ======
    1
    2
    3
    4
    5
    6
    7
    8
    9
    10
    11
    12
    13
    14
    15
    16
    17
    18
    19
    20
    21
    22
    23
    24
    25
    26
    27
    28
    29
    30
    31
    32
    33
    34
    35
    36
    37
    38
    39
    40
    $ 
    ======
    > 
    ======
    1
    2
    $ 
    ======
    $ 
    ======

    ======
    same

    ======
    $
"#);
}

#[test]
fn staging_hunks_is_read_as_a_conversation() {
    assert_snapshot!(replayed(include_str!("recordings/git_add.txt")), @r#"
    diff --git a/n.txt b/n.txt
    index e8823e1..da462f1 100644
    --- a/n.txt
    +++ b/n.txt
    @@ -1,6 +1,6 @@
     1
     2
    -3
    +three
     4
     5
     6
    (1/2) Stage this hunk [y,n,q,a,d,j,J,g,/,e,p,?]? 
    ======
    @@ -22,7 +22,7 @@
     22
     23
     24
    -25
    +x
     26
     27
     28
    (2/2) Stage this hunk [y,n,q,a,d,K,g,/,e,p,?]? 
    ======
    y - stage this hunk
    n - do not stage this hunk
    q - quit; do not stage this hunk or any of the remaining ones
    a - stage this hunk and all later hunks in the file
    d - do not stage this hunk or any of the later hunks in the file
    K - leave this hunk undecided, see previous hunk
    g - select a hunk to go to
    / - search for a hunk matching the given regex
    e - manually edit the current hunk
    p - print the current hunk, 'P' to use the pager
    ? - print help
    (2/2) Stage this hunk [y,n,q,a,d,K,g,/,e,p,?]? 
    ======
"#);
}

#[test]
fn vim_is_read_as_rows() {
    assert_snapshot!(replayed(include_str!("recordings/vim.txt")));
}

#[test]
fn less_is_read_as_screens() {
    assert_snapshot!(replayed(include_str!("recordings/less.txt")));
}

#[test]
fn a_list_that_is_drawn_one_row_lower_is_not_reported_again() {
    let mut desk = Desk::new();
    let (first, second) = ("the first of them all", "the second of them");
    desk.screen.resize(6, 40);
    desk.write(&format!("{first}\\r\\n{second}\\r\\nthe third\\r\\n"))
        .read();
    let drawn =
        format!("\\e[H\\e[Knone before this one\\r\\n\\e[K{first}\\r\\n\\e[K{second} now\\r\\n");
    let told = desk.write(&drawn).read();
    assert_eq!(told, "none before this one\nthe second of them now\n");
}

#[test]
fn a_step_in_vim_or_top_costs_less_than_a_quarter_of_a_screen() {
    let recordings = [
        include_str!("recordings/vim.txt"),
        include_str!("recordings/top.txt"),
    ];
    let steps: Vec<usize> = recordings
        .into_iter()
        .flat_map(|recording| {
            let told = replay(recording);
            // The first look is the whole screen, the last is after the program has ended.
            told[1..told.len() - 1]
                .iter()
                .map(String::len)
                .collect::<Vec<_>>()
        })
        .collect();
    let average = steps.iter().sum::<usize>() / steps.len();
    assert!(average * 4 < 24 * 80, "{average} bytes a step");
}

#[test]
fn what_has_left_the_screen_is_scrollback_and_nothing_else() {
    let mut desk = Desk::new();
    desk.write("1\\r\\n2\\r\\n");
    assert_eq!(desk.screen.scrollback(), "");
    desk.write("3\\r\\n4\\r\\n5\\r\\n6\\r\\n7\\r\\n8");
    assert_eq!(desk.screen.scrollback(), "1\n2\n");
    assert_eq!(desk.read(), "1\n2\n3\n4\n5\n6\n7\n8");
    assert_eq!(desk.screen.scrollback(), "1\n2\n");
}
