use crate::lines::{END, WHOLE};
use crate::{Cursor, Output, OutputOptions, RenderedLine, Stream};

fn find_error(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, b"error")
}

/// Lines with their numbers, of an output twice as long as what is rendered whole, where some are replaced.
fn read(replaced: &[(u64, &str)]) -> Vec<(u64, String)> {
    let folder = tempfile::tempdir().unwrap();
    let output = Output::new(OutputOptions {
        log: Some(folder.path().join("log")),
        ..OutputOptions::default()
    });
    let mut text = Vec::new();
    let lines = 2 * WHOLE / 64;
    for number in 1..=lines {
        match replaced.iter().find(|(other, _)| *other == number) {
            Some((_, line)) => text.extend_from_slice(line.as_bytes()),
            None => text.extend_from_slice(format!("{number:063}").as_bytes()),
        }
        text.push(b'\n');
        if text.len() > 1 << 16 {
            output.push(Stream::Stdout, &text);
            text.clear();
        }
    }
    output.push(Stream::Stdout, &text);
    let mut cursor = Cursor::default();
    let mut given = Vec::new();
    let mut next = 1;
    output.read_lines(&mut cursor, find_error, |line| match line {
        RenderedLine::Complete { text, .. } => {
            given.push((next, text.to_owned()));
            next += 1;
        }
        RenderedLine::Skipped(count) => next += count,
    });
    assert_eq!(next, lines + 1, "every line is counted");
    assert_eq!(cursor.lines(), lines);
    given
}

#[test]
fn a_notable_line_in_the_middle_is_given_with_its_number() {
    // In the first chunk behind the head: how many more are scanned is a matter of time.
    let middle = END / 64 + 5000;
    let given = read(&[
        (middle, "\u{1b}[31merror\u{1b}[0m: disk is full"),
        (middle + 1, "error again"),
    ]);
    let notable: Vec<_> = given
        .iter()
        .filter(|(_, text)| text.contains("error"))
        .collect();
    assert_eq!(
        notable,
        [
            &(middle, "error: disk is full".to_owned()),
            &(middle + 1, "error again".to_owned())
        ]
    );
}

#[test]
fn lines_of_both_ends_keep_their_numbers() {
    let given = read(&[]);
    for (number, text) in given {
        assert_eq!(text.len(), 63, "no line is cut");
        assert_eq!(text.trim_start_matches('0'), number.to_string());
    }
}

#[test]
fn a_middle_full_of_notable_lines_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let output = Output::new(OutputOptions {
        log: Some(folder.path().join("log")),
        ..OutputOptions::default()
    });
    let block = b"an error\n".repeat(1 << 13);
    for _ in 0..2 * WHOLE / block.len() as u64 {
        output.push(Stream::Stdout, &block);
    }
    let mut cursor = Cursor::default();
    let (mut given, mut counted) = (0, 0);
    output.read_lines(&mut cursor, find_error, |line| match line {
        RenderedLine::Complete { .. } => given += 1,
        RenderedLine::Skipped(count) => counted += count,
    });
    assert_eq!(given + counted, cursor.lines());
    assert!(given <= 2 * END / 9 + 4098, "{given}");
}
