use std::fmt::Write as _;

use windlass_output::{Cursor, Output, OutputOptions, Stream};

use super::{DigestReader, InPart};

const DIGEST: InPart = InPart::Digest { from: 2048 };
const LIMIT: usize = 32 << 10;

fn steps(count: usize) -> String {
    (1..=count).fold(String::new(), |mut text, step| {
        writeln!(text, "[{step}/{count}] compiled module {step}").unwrap();
        text
    })
}

fn logged(folder: &tempfile::TempDir) -> Output {
    Output::new(OutputOptions {
        log: Some(folder.path().join("log")),
        ..OutputOptions::default()
    })
}

#[test]
fn the_end_of_a_finished_output_without_a_newline_gets_none() {
    let folder = tempfile::tempdir().unwrap();
    let output = logged(&folder);
    output.push(Stream::Stdout, (steps(400) + "done").as_bytes());
    output.finish();
    let mut cursor = Cursor::default();
    let reading = DigestReader::default().read(&output, &mut cursor, DIGEST, LIMIT);
    let reading = reading.unwrap();
    assert!(
        reading.text.ends_with("module 400\ndone"),
        "{}",
        reading.text
    );
    let digest = reading.digest.unwrap();
    assert_eq!(digest.whole, steps(400).len() as u64 + 4);
    assert_eq!(digest.shown, reading.text.len() as u64);
}

#[test]
fn a_long_open_line_is_shown_in_part() {
    let folder = tempfile::tempdir().unwrap();
    let output = logged(&folder);
    output.push(Stream::Stdout, "x".repeat(1 << 20).as_bytes());
    let mut cursor = Cursor::default();
    let reading = DigestReader::default().read(&output, &mut cursor, DIGEST, LIMIT);
    let text = reading.unwrap().text;
    assert!(text.len() <= LIMIT, "{}", text.len());
    assert!(text.contains("bytes of an unfinished line …]"), "{text}");
    assert_eq!(cursor.lines(), 0);
}

#[test]
fn without_a_log_nothing_has_been_read() {
    let output = Output::new(OutputOptions::default());
    output.push(Stream::Stdout, steps(400).as_bytes());
    let mut cursor = Cursor::default();
    let reading = DigestReader::default().read(&output, &mut cursor, DIGEST, LIMIT);
    assert_eq!(reading, None);
    assert_eq!(output.read(&mut cursor, LIMIT).text, steps(400));
}

#[test]
fn a_limit_that_is_too_small_for_a_marker_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let output = logged(&folder);
    output.push(Stream::Stdout, steps(400).as_bytes());
    for limit in 0..200 {
        let mut cursor = Cursor::default();
        let reading = DigestReader::default().read(&output, &mut cursor, DIGEST, limit);
        assert!(
            reading.is_none_or(|reading| reading.text.len() <= limit),
            "{limit}"
        );
    }
}

#[test]
fn an_excerpt_names_the_lines_beyond_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let output = logged(&folder);
    output.push(Stream::Stdout, steps(4000).as_bytes());
    let mut cursor = Cursor::default();
    let reading = DigestReader::default().read(&output, &mut cursor, InPart::Excerpt, LIMIT);
    let text = reading.unwrap().text;
    assert!(
        text.len() <= LIMIT && text.len() > LIMIT / 2,
        "{}",
        text.len()
    );
    assert!(text.contains(" lines: "), "{text}");
}

#[test]
fn trouble_in_the_middle_of_a_flood_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let output = logged(&folder);
    let lines = (20 << 20) / 64_usize;
    // Behind the first eight MiB, which are rendered.
    let troubled = (8 << 20) / 64 + 5000;
    for block in (1..=lines).collect::<Vec<_>>().chunks(1024) {
        let text = block.iter().fold(String::new(), |mut text, number| {
            let word = if *number == troubled {
                "ERROR the disk is full"
            } else {
                "INFO a row was stored "
            };
            let second = number / 100 % 60;
            let minute = number / 6000 % 60;
            writeln!(text, "10:{minute:02}:{second:02} {word} {number:032}").unwrap();
            text
        });
        output.push(Stream::Stdout, text.as_bytes());
    }
    output.finish();
    let mut cursor = Cursor::default();
    let reading = DigestReader::default().read(&output, &mut cursor, DIGEST, LIMIT);
    let text = reading.unwrap().text;
    let shown = text.find("ERROR the disk is full").expect("it is shown");
    let marker = format!("–{} …]\n", troubled - 1);
    assert!(text[..shown].contains(&marker), "{text}");
    assert_eq!(
        output.line_range(troubled as u64..=troubled as u64, LIMIT),
        text[shown - 9..].lines().next().unwrap().to_owned() + "\n"
    );
}
