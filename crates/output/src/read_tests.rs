use std::path::PathBuf;

use proptest::prelude::*;

use super::super::{OutputOptions, Stream};
use super::*;

fn output(memory: usize, log: Option<PathBuf>) -> Output {
    Output::new(OutputOptions {
        memory,
        log,
        ..OutputOptions::default()
    })
}

fn plain() -> Output {
    output(256 << 10, None)
}

/// The result of a read after each push.
fn reads(chunks: &[&[u8]]) -> Vec<String> {
    let output = plain();
    let mut cursor = Cursor::default();
    let mut texts = Vec::new();
    for chunk in chunks {
        output.push(Stream::Stdout, chunk);
        texts.push(output.read(&mut cursor, 1 << 20).text);
    }
    texts
}

/// Numbered lines of ten bytes.
fn numbered(count: usize) -> String {
    let lines: Vec<_> = (0..count).map(|number| format!("{number:09}\n")).collect();
    lines.concat()
}

/// The text before and after the marker, and the number in it.
fn parts(excerpt: &Excerpt) -> (String, u64, String) {
    let text = &excerpt.text;
    let start = text.find("[… ").expect("a marker");
    let end = start + text[start..].find("…]\n").expect("a marker") + "…]\n".len();
    let digits = text[start..end].split(" bytes").next().unwrap();
    let number = digits
        .chars()
        .filter(char::is_ascii_digit)
        .collect::<String>();
    (
        text[..start].to_owned(),
        number.parse().unwrap(),
        text[end..].to_owned(),
    )
}

#[test]
fn a_read_gives_what_is_new_and_moves_the_cursor() {
    let output = plain();
    let mut cursor = Cursor::default();
    assert!(!output.has_new(&cursor));
    output.push(Stream::Stdout, b"one\n");
    output.push(Stream::Stderr, b"two\n");
    assert!(output.has_new(&cursor));
    assert_eq!(output.read(&mut cursor, 100).text, "one\ntwo\n");
    assert!(!output.has_new(&cursor));
    assert_eq!(output.read(&mut cursor, 100), Excerpt::default());
    output.push(Stream::Stdout, b"three");
    assert_eq!(output.read(&mut cursor, 100).text, "three");
    assert_eq!(output.read_all(100).text, "one\ntwo\nthree");
}

#[test]
fn a_prompt_is_given_once() {
    assert_eq!(
        reads(&[b"Name: ", b"", b"\r\nhello\n"]),
        ["Name: ", "", "\nhello\n"]
    );
}

#[test]
fn a_redrawn_line_is_given_in_its_newer_form() {
    assert_eq!(
        reads(&[b"50%\r", b"60%\r", b"60%\r", b"7", b"\r100%\n", b"x"]),
        ["50%", "60%", "", "70%", "100%\n", "x"]
    );
    assert_eq!(reads(&[b"50%\r", b"\n"]), ["50%", "\n"]);
    assert_eq!(reads(&[b"abc", b"\rabcdef"]), ["abc", "def"]);
    assert_eq!(reads(&[b"abc", b"\x1b[2K\r", b"x\n"]), ["abc", "", "x\n"]);
}

#[test]
fn what_is_incomplete_is_held_back() {
    assert_eq!(
        reads(&[b"a\x1b[3", b"1mb", b"\x1b]0;ti", b"tle\x07c\x1b", b"[0md"]),
        ["a", "b", "", "c", "d"]
    );
    assert_eq!(reads(&[b"a\xe2\x82", b"\xacb"]), ["a", "€b"]);
}

#[test]
fn finish_gives_what_was_held_back() {
    let output = plain();
    let mut cursor = Cursor::default();
    output.push(Stream::Stdout, b"a\xe2\x82");
    assert_eq!(output.read(&mut cursor, 100).text, "a");
    assert!(!output.has_new(&cursor));
    output.finish();
    assert!(output.has_new(&cursor));
    assert_eq!(output.read(&mut cursor, 100).text, "\u{fffd}");
    assert!(!output.has_new(&cursor));
}

#[test]
fn what_does_not_fit_is_cut_out_of_the_middle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let output = output(256 << 10, Some(path.clone()));
    let all = numbered(1000);
    output.push(Stream::Stdout, all.as_bytes());
    assert!(!path.exists());
    // The smaller limit has room for exactly these lines.
    for limit in [192, 200] {
        let excerpt = output.read_all(limit);
        assert_eq!(
            excerpt.text,
            "000000000\n000000001\n000000002\n000000003\n000000004\n000000005\n000000006\n000000007\n\
         [… 9,840 bytes omitted …]\n\
         000000992\n000000993\n000000994\n000000995\n000000996\n000000997\n000000998\n000000999\n"
        );
        assert_eq!(excerpt.omitted_bytes, 9840);
        assert_eq!(excerpt.log, Some(path.clone()));
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), all);
}

#[test]
fn what_fits_names_no_log() {
    let folder = tempfile::tempdir().unwrap();
    let output = output(10, Some(folder.path().join("log")));
    let all = numbered(20);
    output.push(Stream::Stdout, all.as_bytes());
    let excerpt = output.read_all(1000);
    assert_eq!(excerpt.text, all, "the older part comes from the log");
    assert_eq!((excerpt.omitted_bytes, excerpt.log), (0, None));
}

#[test]
fn a_huge_line_is_cut_between_characters() {
    let output = plain();
    output.push(Stream::Stdout, "é".repeat(10_000).as_bytes());
    let excerpt = output.read_all(500);
    let (head, omitted, tail) = parts(&excerpt);
    assert!(excerpt.text.len() <= 500 && excerpt.text.len() > 480);
    assert!(head.trim_end().chars().all(|character| character == 'é'));
    assert!(tail.chars().all(|character| character == 'é'));
    assert_eq!(
        head.trim_end().len() + tail.len() + usize::try_from(omitted).unwrap(),
        20_000
    );
}

#[test]
fn a_huge_line_among_short_ones_fills_the_limit() {
    let output = plain();
    output.push(Stream::Stdout, b"first\n");
    output.push(Stream::Stdout, &vec![b'x'; 100_000]);
    output.push(Stream::Stdout, b"\nlast\n");
    let excerpt = output.read_all(1000);
    let (head, _, tail) = parts(&excerpt);
    assert!(excerpt.text.len() > 950);
    assert!(head.starts_with("first\nxxx"));
    assert!(tail.ends_with("xxx\nlast\n"));
}

#[test]
fn the_head_of_a_huge_span_comes_from_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let output = output(1000, Some(path.clone()));
    let all = numbered(1_000_000);
    for chunk in all.as_bytes().chunks(65_536) {
        output.push(Stream::Stdout, chunk);
    }
    let mut cursor = Cursor::default();
    let excerpt = output.read(&mut cursor, 2000);
    let (head, omitted, tail) = parts(&excerpt);
    assert!(head.starts_with("000000000\n000000001\n") && all.starts_with(&head));
    assert!(tail.ends_with("000999999\n") && all.ends_with(&tail));
    assert!(tail.starts_with("000999"), "a whole line: {tail}");
    assert_eq!(
        head.len() + tail.len() + usize::try_from(omitted).unwrap(),
        all.len()
    );
    assert_eq!(excerpt.log, Some(path));
    assert!(!output.has_new(&cursor));
    output.push(Stream::Stdout, b"more\n");
    assert_eq!(output.read(&mut cursor, 2000).text, "more\n");
}

#[test]
fn a_large_limit_is_filled() {
    let folder = tempfile::tempdir().unwrap();
    let output = output(1000, Some(folder.path().join("log")));
    output.push(Stream::Stdout, numbered(200_000).as_bytes());
    let limit = 300_000;
    let length = output.read_all(limit).text.len();
    assert!(length <= limit && length > limit - 100, "{length} bytes");
}

#[test]
fn without_a_log_what_outgrew_memory_is_reported_as_omitted() {
    let output = output(100, None);
    let all = numbered(100);
    output.push(Stream::Stdout, all.as_bytes());
    let excerpt = output.read_all(10_000);
    let (head, omitted, tail) = parts(&excerpt);
    assert_eq!(head, "");
    assert_eq!(tail.len() + usize::try_from(omitted).unwrap(), all.len());
    assert!(all.ends_with(&tail) && !tail.is_empty());
    assert_eq!(excerpt.log, None);
}

#[test]
fn a_log_that_cannot_be_made_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let output = output(100, Some(file.join("log")));
    output.push(Stream::Stdout, numbered(100).as_bytes());
    let excerpt = output.read_all(500);
    assert!(
        excerpt
            .text
            .contains("bytes omitted, the log could not be written: ")
    );
    assert_eq!(excerpt.log, None);
    assert!(excerpt.text.len() <= 500);
}

#[test]
fn what_the_log_dropped_is_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let output = Output::new(OutputOptions {
        memory: 4096,
        log_limit: 64 << 10,
        log: Some(folder.path().join("log")),
        hold_object: false,
    });
    let all = numbered(100_000);
    for chunk in all.as_bytes().chunks(1000) {
        output.push(Stream::Stdout, chunk);
    }
    let gap = output.shared.state.lock().store.gap();
    assert!(!gap.is_empty());
    let place = |at: u64| usize::try_from(at).unwrap();
    let bytes = all.as_bytes();
    let kept = [&bytes[..place(gap.start)], &bytes[place(gap.end)..]].concat();
    assert_eq!(output.raw(0..u64::MAX), kept);
    assert_eq!(output.raw(gap.clone()), b"");
    assert_eq!(
        output.raw(gap.end..gap.end + 5),
        bytes[place(gap.end)..][..5]
    );
    let excerpt = output.read_all(1 << 20);
    let (head, omitted, tail) = parts(&excerpt);
    assert!(all.starts_with(head.trim_end()) && all.ends_with(&tail));
    assert!(omitted >= gap.end - gap.start);
    assert!(!excerpt.text.contains('\0'));
}

#[test]
fn raw_bytes_are_as_they_were_pushed() {
    let folder = tempfile::tempdir().unwrap();
    let output = output(10, Some(folder.path().join("log")));
    output.push(Stream::Stdout, b"\x1b[31m01234\r56789\xff\x00abc");
    assert_eq!(output.raw(0..7), b"\x1b[31m01");
    assert_eq!(output.raw(15..u64::MAX), b"9\xff\x00abc");
    assert_eq!(output.raw(100..200), b"");
    let reversed = Range { start: 5, end: 2 };
    assert_eq!(output.raw(reversed), b"");
}

#[test]
fn a_tiny_limit_is_kept() {
    let output = plain();
    output.push(Stream::Stdout, numbered(100).as_bytes());
    for limit in 0..100 {
        let excerpt = output.read_all(limit);
        assert!(excerpt.text.len() <= limit);
        assert!(excerpt.omitted_bytes > 0);
    }
}

#[test]
fn a_truncated_log_does_not_stop_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let output = output(10, Some(path.clone()));
    output.push(Stream::Stdout, numbered(20).as_bytes());
    std::fs::write(&path, "").unwrap();
    let mut cursor = Cursor::default();
    let text = output.read(&mut cursor, 1000).text;
    assert_eq!(text, "000000019\n");
    assert!(!output.has_new(&cursor));
}

#[test]
fn what_the_log_drops_before_it_is_read_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let output = Output::new(OutputOptions {
        memory: 100,
        log_limit: 32 << 10,
        log: Some(folder.path().join("log")),
        hold_object: false,
    });
    let push = || output.push(Stream::Stdout, numbered(5000).as_bytes());
    push();
    let part = output.shared.state.lock().store.part(40_000..50_000);
    push();
    let gap = output.shared.state.lock().store.gap();
    assert!(gap.contains(&40_000) && gap.contains(&50_000));
    assert_eq!(output.shared.load(part), (50_000, Vec::new()));
    let part = output.shared.state.lock().store.part(gap.end..gap.end + 9);
    assert_eq!(output.shared.load(part).0, gap.end);
}

/// The log is so small that it drops bytes while they are read.
#[test]
fn reads_stay_in_order_while_the_log_drops_its_middle() {
    let folder = tempfile::tempdir().unwrap();
    let output = Output::new(OutputOptions {
        memory: 4096,
        log_limit: 32 << 10,
        log: Some(folder.path().join("log")),
        hold_object: false,
    });
    let pusher = std::thread::spawn({
        let output = output.clone();
        move || {
            for lines in numbered(300_000).as_bytes().chunks(500) {
                output.push(Stream::Stdout, lines);
            }
            output.finish();
        }
    });
    let mut cursor = Cursor::default();
    let mut last = None;
    loop {
        let is_last = output.is_finished();
        let excerpt = output.read(&mut cursor, 4000);
        for line in excerpt.text.lines().filter(|line| !line.starts_with('[')) {
            assert_eq!(line.len(), 9, "a whole line: {line:?}");
            let number: u32 = line.parse().unwrap();
            assert!(last < Some(number), "{last:?}, then {number}");
            last = Some(number);
        }
        if is_last {
            break;
        }
    }
    pusher.join().unwrap();
    assert_eq!(last, Some(299_999));
}

/// Text without carriage returns and other movements.
fn lines() -> impl Strategy<Value = String> {
    proptest::collection::vec("[a-zé🦀 ]{0,30}\n|[a-z]{0,12}|\n", 0..60)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn cursors_neither_lose_nor_repeat(
        text in lines(),
        memory in 0_usize..200,
        sizes in proptest::collection::vec((1_usize..80, any::<bool>()), 1..60),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let output = output(memory, Some(folder.path().join("log")));
        let mut cursor = Cursor::default();
        let mut given = String::new();
        let mut rest = text.as_bytes();
        for (size, reads) in sizes.into_iter().cycle() {
            if rest.is_empty() { break; }
            let (chunk, after) = rest.split_at(rest.len().min(size));
            output.push(Stream::Stdout, chunk);
            rest = after;
            if reads {
                given.push_str(&output.read(&mut cursor, usize::MAX).text);
            }
        }
        output.finish();
        given.push_str(&output.read(&mut cursor, usize::MAX).text);
        prop_assert_eq!(&given, &text);
        prop_assert_eq!(output.read_all(usize::MAX).text, text);
    }

    #[test]
    fn cutting_obeys_the_limit_and_the_lines(
        lengths in proptest::collection::vec(0_usize..30, 1..400),
        limit in 0_usize..2000,
        memory in prop_oneof![Just(256_usize << 10), 500_usize..5000],
    ) {
        let lines: Vec<_> = lengths.iter().enumerate().map(|(n, length)| format!("{n}:{}\n", "x".repeat(*length))).collect();
        let text = lines.concat();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let output = output(memory, Some(path.clone()));
        output.push(Stream::Stdout, text.as_bytes());
        let excerpt = output.read_all(limit);
        prop_assert!(excerpt.text.len() <= limit);
        if text.len() <= limit {
            prop_assert_eq!(excerpt, Excerpt { text, ..Excerpt::default() });
        } else {
            prop_assert_eq!(std::fs::read_to_string(&path).unwrap(), text.clone());
            prop_assert_eq!(excerpt.log.as_ref(), Some(&path));
            // With room for a few lines on either side, only whole lines are given.
            if limit >= 250 {
                let (head, omitted, tail) = parts(&excerpt);
                prop_assert!(text.starts_with(&head) && text.ends_with(&tail));
                prop_assert!(head.ends_with('\n') && tail.ends_with('\n'));
                let tail_start = text.len() - tail.len();
                prop_assert_eq!(&text[tail_start - 1..tail_start], "\n");
                prop_assert_eq!(omitted, excerpt.omitted_bytes);
                prop_assert_eq!(head.len() + tail.len() + usize::try_from(omitted).unwrap(), text.len());
            }
        }
    }

    #[test]
    fn any_bytes_can_be_read_in_any_steps(
        chunks in proptest::collection::vec((proptest::collection::vec(any::<u8>(), 0..300), any::<bool>(), 0_usize..400), 0..30),
        memory in 0_usize..500,
        with_log in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let output = output(memory, with_log.then(|| folder.path().join("log")));
        let mut cursor = Cursor::default();
        for (chunk, is_stderr, limit) in chunks {
            output.push(if is_stderr { Stream::Stderr } else { Stream::Stdout }, &chunk);
            let excerpt = output.read(&mut cursor, limit);
            prop_assert!(excerpt.text.len() <= limit);
            prop_assert!(excerpt.text.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()));
            prop_assert!(!output.has_new(&cursor));
        }
    }
}

#[test]
fn raw_bytes_are_appended_from_memory_and_from_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let output = Output::new(OutputOptions {
        memory: 8,
        log: Some(folder.path().join("log")),
        ..OutputOptions::default()
    });
    let all = b"0123456789abcdefghij";
    for piece in all.chunks(3) {
        output.push(Stream::Stdout, piece);
    }
    for from in 0..all.len() {
        for until in from..=all.len() {
            let mut bytes = b"before".to_vec();
            output.append_raw(from as u64..until as u64, &mut bytes);
            assert_eq!(bytes, [b"before", &all[from..until]].concat());
        }
    }
    let mut bytes = Vec::new();
    output.append_raw(15..99, &mut bytes);
    assert_eq!(bytes, all[15..], "what there is not is left out");
}
