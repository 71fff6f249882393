use std::fmt::Write as _;

use proptest::prelude::*;

use super::END;
use crate::{Cursor, Output, OutputOptions, Stream};

#[test]
fn lines_are_found_by_their_numbers_while_the_output_grows() {
    let output = Output::new(OutputOptions::default());
    output.push(Stream::Stdout, b"one\ntwo\nthree\nfour");
    assert_eq!(output.line_range(2..=3, 1000), "two\nthree\n");
    assert_eq!(output.line_range(4..=4, 1000), "");
    output.push(Stream::Stdout, b"teen\n");
    assert_eq!(output.line_range(2..=9, 1000), "two\nthree\nfourteen\n");
}

#[test]
fn a_range_beyond_the_limit_names_the_lines_that_it_leaves_out() {
    let output = Output::new(OutputOptions::default());
    for line in 1..=100 {
        output.push(
            Stream::Stdout,
            format!("line number {line:03}\n").as_bytes(),
        );
    }
    let text = output.line_range(11..=90, 128 + 64);
    assert_eq!(
        text,
        "line number 011\nline number 012\nline number 013\nline number 014\n[… 72 lines: 15–86 …]\nline number 087\n\
         line number 088\nline number 089\nline number 090\n"
    );
}

#[test]
fn the_last_line_of_a_finished_output_needs_no_newline() {
    let output = Output::new(OutputOptions::default());
    output.push(Stream::Stdout, b"one\ntwo");
    assert_eq!(output.line_range(2..=2, 1000), "");
    output.finish();
    assert_eq!(output.line_range(2..=2, 1000), "two");
    assert_eq!(output.line_range(1..=9, 1000), "one\ntwo");
}

/// An output of `count` lines, each of which says its number.
fn numbered(count: u64, options: OutputOptions) -> Output {
    let output = Output::new(options);
    let mut chunk = String::new();
    for line in 1..=count {
        writeln!(chunk, "{line:015}").unwrap();
        if chunk.len() >= 1 << 16 || line == count {
            output.push(Stream::Stdout, chunk.as_bytes());
            chunk.clear();
        }
    }
    output
}

#[test]
fn lines_in_the_middle_of_a_flood_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let count = 4 * END / 16;
    let output = numbered(
        count,
        OutputOptions {
            log: Some(folder.path().join("log")),
            ..OutputOptions::default()
        },
    );
    let middle = count / 2;
    let text = output.line_range(middle..=middle + 1, 1000);
    assert_eq!(text, format!("{middle:015}\n{:015}\n", middle + 1));
    let text = output.line_range(1..=count, 200);
    assert!(text.starts_with("000000000000001\n"), "{text}");
    assert!(text.ends_with(&format!("{count:015}\n")), "{text}");
    let marker = text.lines().find(|line| line.contains('…')).unwrap();
    let shown = text.lines().count() as u64 - 1;
    assert!(
        marker.starts_with(&format!("[… {} lines: ", count - shown)),
        "{text}"
    );
}

#[test]
fn lines_that_are_not_kept_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let count = 1 << 18;
    let output = numbered(
        count,
        OutputOptions {
            memory: 64 << 10,
            log_limit: 1 << 20,
            log: Some(folder.path().join("log")),
            ..OutputOptions::default()
        },
    );
    let middle = count * 5 / 8;
    let text = output.line_range(middle..=middle + 9, 1000);
    assert_eq!(text, format!("[… 10 lines: {middle}–{} …]\n", middle + 9));
    let text = output.line_range(count..=count, 1000);
    assert_eq!(text, format!("{count:015}\n"));
}

#[test]
fn a_logged_output_has_the_same_lines() {
    let folder = tempfile::tempdir().unwrap();
    let output = numbered(
        1000,
        OutputOptions {
            log: Some(folder.path().join("log")),
            ..OutputOptions::default()
        },
    );
    output.keep_log();
    output.push(Stream::Stdout, b"the end");
    output.finish();
    let logged = output.logged().unwrap();
    let lines = output.line_range(990..=1001, 1000);
    let all = output.read_all(1 << 20).text;
    drop(output);
    assert_eq!(logged.open().line_range(990..=1001, 1000), lines);
    assert!(lines.ends_with("the end"), "{lines}");
    assert_eq!(logged.open().read_all(1 << 20).text, all);
}

#[test]
fn an_output_without_a_log_is_not_logged() {
    assert!(Output::new(OutputOptions::default()).logged().is_none());
}

proptest! {
    #[test]
    fn ranges_side_by_side_are_the_text(text in "[a-c\\n\\r\u{1b}é]{0,60}", cut in 0_u64..12) {
        let output = Output::new(OutputOptions::default());
        output.push(Stream::Stdout, text.as_bytes());
        output.finish();
        let whole = output.read(&mut Cursor::default(), 1 << 20).text;
        let first = output.line_range(1..=cut.max(1), 1 << 20);
        let rest = output.line_range(cut.max(1) + 1..=100, 1 << 20);
        prop_assert_eq!(first + &rest, whole);
    }
}
