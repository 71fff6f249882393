use super::super::Cursor;
use super::*;

fn holding() -> Output {
    Output::new(OutputOptions {
        hold_object: true,
        ..OutputOptions::default()
    })
}

fn text(output: &Output) -> String {
    output.read_all(1 << 20).text
}

#[test]
fn an_output_that_printed_nothing_is_small() {
    let size = size_of::<OutputShared>();
    assert!(size < 500, "{size} bytes");
    let output = Output::new(OutputOptions::default());
    let state = output.shared.state.lock();
    assert!(state.changes.is_none() && state.held.is_none());
}

#[test]
fn nothing_is_added_after_finish() {
    let output = Output::new(OutputOptions::default());
    output.push(Stream::Stdout, b"a");
    output.finish();
    output.push(Stream::Stdout, b"b");
    output.finish();
    assert_eq!(text(&output), "a");
    assert_eq!(output.written(), 1);
    assert!(output.is_finished());
}

#[test]
fn clones_are_one_output() {
    let output = Output::new(OutputOptions::default());
    assert_eq!(output.last_write(), None);
    output.clone().push(Stream::Stdout, b"a");
    assert_eq!(text(&output), "a");
    assert!(output.last_write().is_some());
}

#[test]
fn changes_follow_what_is_written() {
    let output = Output::new(OutputOptions::default());
    output.push(Stream::Stdout, b"abc");
    let mut changes = output.changes();
    assert_eq!(*changes.borrow_and_update(), 3);
    assert!(!changes.has_changed().unwrap());
    output.push(Stream::Stderr, b"de");
    assert!(changes.has_changed().unwrap());
    assert_eq!(*changes.borrow_and_update(), 5);
    drop(changes);
    output.push(Stream::Stdout, b"f");
    let mut changes = output.changes();
    assert_eq!(*changes.borrow_and_update(), 6);
    output.finish();
    assert!(changes.has_changed().unwrap(), "finish is a change");
    assert_eq!(*changes.borrow_and_update(), 6);
}

#[test]
fn streams_never_stand_inside_a_character_of_each_other() {
    let output = Output::new(OutputOptions::default());
    output.push(Stream::Stdout, b"\xe2\x82");
    output.push(Stream::Stderr, b"err\n");
    output.push(Stream::Stdout, b"\xac\n\xe9");
    assert_eq!(text(&output), "err\n€\n");
    output.finish();
    assert_eq!(text(&output), "err\n€\n\u{fffd}");
    assert_eq!(output.written(), output.position());
}

#[test]
fn the_last_line_is_kept_for_each_stream() {
    let output = Output::new(OutputOptions::default());
    output.push(Stream::Stdout, b"out\n");
    output.push(Stream::Stderr, b"\x1b[31merr\x1b[0m\n");
    output.push(Stream::Stdout, b"\n");
    assert_eq!(output.last_line(Stream::Stdout).as_deref(), Some("out"));
    assert_eq!(output.last_line(Stream::Stderr).as_deref(), Some("err"));
}

#[test]
fn an_object_is_held_and_can_be_taken() {
    let output = holding();
    output.push(Stream::Stdout, b" {\"type\":");
    output.push(Stream::Stderr, b"log\n");
    output.push(Stream::Stdout, b"\"running\"}\n");
    assert_eq!(text(&output), "log\n");
    assert_eq!(output.position(), 4);
    assert_eq!(output.written(), 24);
    assert_eq!(output.last_line(Stream::Stdout), None);
    assert_eq!(output.take_object(), None, "it has not finished");
    output.finish();
    let object = " {\"type\":\"running\"}\n";
    assert_eq!(output.take_object().as_deref(), Some(object));
    assert_eq!(text(&output), "log\n");
    let mut cursor = Cursor::at(output.position());
    let mut changes = output.changes();
    changes.mark_unchanged();
    output.release();
    assert!(changes.has_changed().unwrap());
    assert!(output.has_new(&cursor));
    assert_eq!(output.read(&mut cursor, 1000).text, object);
    assert_eq!(output.take_object(), None);
}

#[test]
fn what_is_no_object_is_shown_at_once() {
    for (chunks, expected) in [
        (&["plain"][..], "plain"),
        (&["{\"a\":1}", "\n", "more"], "{\"a\":1}\nmore"),
        (&["  ", "\n", "x"], "  \nx"),
        (&["{}", "{}", "tail"], "{}{}tail"),
    ] {
        let output = holding();
        for chunk in chunks {
            output.push(Stream::Stdout, chunk.as_bytes());
        }
        assert_eq!(text(&output), expected);
        output.finish();
        assert_eq!(output.take_object(), None);
        assert_eq!(text(&output), expected);
    }
}

#[test]
fn an_object_too_large_is_shown() {
    let output = holding();
    output.push(Stream::Stdout, b"{\"");
    for _ in 0..16 {
        assert_eq!(output.position(), 0);
        output.push(Stream::Stdout, &vec![b'x'; 64 << 10]);
    }
    assert_eq!(output.position(), (1 << 20) + 2);
}

#[test]
fn finish_shows_an_incomplete_object() {
    let output = holding();
    output.push(Stream::Stdout, b"{\"a\":");
    assert_eq!(text(&output), "");
    output.finish();
    assert_eq!(output.take_object(), None);
    assert_eq!(text(&output), "{\"a\":");
}

#[test]
fn the_log_goes_with_the_last_clone_unless_kept() {
    let folder = tempfile::tempdir().unwrap();
    for (name, keeps) in [("kept", true), ("removed", false)] {
        let path = folder.path().join(name);
        let output = Output::new(OutputOptions {
            memory: 4,
            log: Some(path.clone()),
            ..OutputOptions::default()
        });
        output.push(Stream::Stdout, b"123456");
        if keeps {
            output.keep_log();
        }
        let clone = output.clone();
        drop(output);
        assert!(path.exists());
        drop(clone);
        assert_eq!(path.exists(), keeps);
    }
}

#[test]
fn finish_brings_the_log_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let output = Output::new(OutputOptions {
        memory: 4,
        log: Some(path.clone()),
        ..OutputOptions::default()
    });
    output.push(Stream::Stdout, b"123");
    output.push(Stream::Stdout, b"456");
    output.finish();
    assert_eq!(std::fs::read(path).unwrap(), b"123456");
}

#[test]
fn each_byte_knows_its_stream() {
    let output = Output::new(OutputOptions::default());
    output.push(Stream::Stdout, b"ab");
    output.push(Stream::Stderr, b"c");
    output.push(Stream::Stderr, b"d");
    output.push(Stream::Stdout, b"e");
    assert_eq!(output.stream_at(0), (Stream::Stdout, Some(2)));
    assert_eq!(output.stream_at(3), (Stream::Stderr, Some(4)));
    assert_eq!(output.stream_at(4), (Stream::Stdout, None));
}
