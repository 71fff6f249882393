use std::time::Duration;

use proptest::prelude::*;

use super::{RenderedLine, WHOLE};
use crate::{Cursor, Output, OutputOptions, Stream};

fn read(output: &Output, cursor: &mut Cursor) -> (Vec<String>, String) {
    let mut lines = Vec::new();
    let open = output.read_lines(
        cursor,
        |_| None,
        |line| match line {
            RenderedLine::Complete { text, .. } => lines.push(text.to_owned()),
            RenderedLine::Skipped(count) => lines.push(format!("skipped {count}")),
        },
    );
    (lines, open)
}

#[test]
fn complete_lines_are_given_and_the_open_one_is_returned() {
    let output = Output::new(OutputOptions::default());
    let mut cursor = Cursor::default();
    output.push(Stream::Stdout, b"one\n\x1b[31mtwo\x1b[0m\nthr");
    assert_eq!(
        read(&output, &mut cursor),
        (vec!["one".into(), "two".into()], "thr".into())
    );
    assert_eq!(cursor.lines(), 2);
    output.push(Stream::Stdout, b"ee\nfour");
    assert_eq!(
        read(&output, &mut cursor),
        (vec!["ee".into()], "four".into())
    );
    assert_eq!(cursor.lines(), 3);
    assert_eq!(read(&output, &mut cursor), (vec![], String::new()));
}

#[test]
fn the_middle_of_a_flood_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let output = Output::new(OutputOptions {
        log: Some(folder.path().join("log")),
        ..OutputOptions::default()
    });
    let line = [b"0123456789abcde\n".repeat(64)].concat();
    let pushes = 2 * WHOLE / line.len() as u64;
    for _ in 0..pushes {
        output.push(Stream::Stdout, &line);
    }
    let mut cursor = Cursor::default();
    let (lines, _) = read(&output, &mut cursor);
    assert_eq!(cursor.lines(), pushes * 64);
    assert!(lines.iter().any(|line| line.starts_with("skipped ")));
    assert_eq!(output.end_cursor().lines(), pushes * 64);
}

/// Spans of up to twice what is rendered whole: all lines that are not skipped come, and the last ones always do.
#[test]
fn the_last_lines_come_whatever_the_length() {
    let folder = tempfile::tempdir().unwrap();
    let line = b"0123456789abcde\n".repeat(64);
    for quarters in 1..=8 {
        let output = Output::new(OutputOptions {
            log: Some(folder.path().join(quarters.to_string())),
            ..OutputOptions::default()
        });
        for _ in 0..quarters * WHOLE / 4 / line.len() as u64 {
            output.push(Stream::Stdout, &line);
        }
        output.push(Stream::Stdout, b"the last\n");
        let mut cursor = Cursor::default();
        let (lines, _) = read(&output, &mut cursor);
        assert_eq!(
            lines.last().map(String::as_str),
            Some("the last"),
            "{quarters}"
        );
        let skips = lines.iter().any(|line| line.starts_with("skipped "));
        assert_eq!(skips, quarters > 3, "{quarters}");
        assert_eq!(cursor.lines(), output.end_cursor().lines());
    }
}

#[tokio::test(start_paused = true)]
async fn lines_tell_when_they_were_complete() {
    let output = Output::new(OutputOptions::default());
    output.push(Stream::Stdout, b"one\ntw");
    tokio::time::advance(Duration::from_millis(300)).await;
    output.push(Stream::Stdout, b"o\nthree\n");
    let mut times = Vec::new();
    output.read_lines(
        &mut Cursor::default(),
        |_| None,
        |line| {
            if let RenderedLine::Complete { at, .. } = line {
                times.push(at.as_millis());
            }
        },
    );
    assert_eq!(times, [0, 300, 300]);
}

proptest! {
    #[test]
    fn lines_and_open_line_are_the_text(chunks in prop::collection::vec("[a-c\\n\\r]{0,12}", 0..12)) {
        let output = Output::new(OutputOptions::default());
        let (mut by_line, mut by_text) = (Cursor::default(), Cursor::default());
        for chunk in chunks {
            output.push(Stream::Stdout, chunk.as_bytes());
            let (lines, open) = read(&output, &mut by_line);
            let mut text = String::new();
            for line in lines {
                text.push_str(&line);
                text.push('\n');
            }
            prop_assert_eq!(text + &open, output.read(&mut by_text, 1 << 20).text);
            prop_assert_eq!(by_line.lines(), by_text.lines());
        }
    }
}
