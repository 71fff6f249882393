use std::fs;
use std::ops::Range;

use crate::{Checkpoint, Output, OutputOptions, Stream};

/// More than one step between positions.
const PIECE: usize = 150 << 10;
const MEMORY: usize = 512 << 10;

fn options(folder: &tempfile::TempDir) -> OutputOptions {
    OutputOptions {
        memory: MEMORY,
        log: Some(folder.path().join("log")),
        ..OutputOptions::default()
    }
}

/// Bytes that depend on their offset.
fn bytes(range: Range<u64>) -> Vec<u8> {
    range
        .map(|offset| b'a' + u8::try_from(offset / 7 % 26).unwrap())
        .collect()
}

fn push(output: &Output, length: usize) {
    let from = output.position();
    output.push(Stream::Stdout, &bytes(from..from + length as u64));
}

#[test]
fn forgotten_output_is_not_logged() {
    let folder = tempfile::tempdir().unwrap();
    let output = Output::new(options(&folder));
    for _ in 0..20 {
        push(&output, PIECE);
        output.forget_before(output.position());
    }
    assert!(!folder.path().join("log").exists());
    assert_eq!(output.position(), 20 * PIECE as u64);
    let end = output.position();
    assert_eq!(output.raw(end - 100..end), bytes(end - 100..end));
    // Bytes that are neither in memory nor in the log are not invented.
    assert_eq!(output.raw(0..100), []);
}

#[test]
fn output_that_is_not_forgotten_is_logged_from_there_on() {
    let folder = tempfile::tempdir().unwrap();
    let output = Output::new(options(&folder));
    push(&output, PIECE);
    output.forget_before(1000);
    for _ in 0..20 {
        push(&output, PIECE);
    }
    let end = output.position();
    assert_eq!(output.raw(1000..end), bytes(1000..end));
    assert_eq!(output.raw(0..1000), []);
    let log = fs::read(folder.path().join("log")).unwrap();
    assert!(log[..1000].iter().all(|byte| *byte == 0));
    // The log is forgotten later, too.
    output.forget_before(end);
    push(&output, PIECE);
    push(&output, MEMORY);
    let more = output.position();
    assert_eq!(output.raw(end..more), bytes(end..more));
    assert_eq!(output.raw(1000..1100), []);
}

#[test]
fn another_process_goes_on_from_a_forgotten_position() {
    let folder = tempfile::tempdir().unwrap();
    let output = Output::new(options(&folder));
    output.forget_before(0);
    assert_eq!(output.forgotten_checkpoint(), None);
    for _ in 0..4 {
        push(&output, PIECE);
    }
    assert_eq!(output.forgotten_checkpoint(), None);
    output.forget_before(2 * PIECE as u64 + 10);
    let checkpoint = output.forgotten_checkpoint().unwrap();
    let at = 2 * PIECE as u64;
    let expected = Checkpoint {
        stored: at,
        replay: [at, at],
        base: at,
        released: true,
        ..Checkpoint::default()
    };
    assert_eq!(checkpoint, expected);
    assert_eq!(output.forgotten_checkpoint(), None);
    output.keep_log();
    drop(output);
    let next = Output::resume(options(&folder), &checkpoint);
    assert_eq!(next.position(), at);
    for _ in 0..8 {
        push(&next, PIECE);
    }
    let end = next.position();
    assert_eq!(next.raw(at..end), bytes(at..end));
    assert_eq!(next.raw(0..at), []);
    // The next one after it continues with the log of this one.
    let checkpoint = next.checkpoint();
    assert_eq!((checkpoint.stored, checkpoint.base), (end, at));
    next.keep_log();
    drop(next);
    let last = Output::resume(options(&folder), &checkpoint);
    push(&last, PIECE);
    let end = last.position();
    assert_eq!(last.raw(at..end), bytes(at..end));
}

#[test]
fn a_position_is_where_no_character_is_incomplete_or_names_its_start() {
    let folder = tempfile::tempdir().unwrap();
    let output = Output::new(options(&folder));
    output.forget_before(0);
    push(&output, PIECE);
    let at = output.position();
    output.push(Stream::Stdout, &"\u{20ac}".as_bytes()[..2]);
    output.push(Stream::Stderr, &bytes(0..PIECE as u64));
    output.forget_before(output.position());
    let checkpoint = output.forgotten_checkpoint().unwrap();
    assert_eq!(checkpoint.stored, at + PIECE as u64);
    assert_eq!(checkpoint.replay[0], at);
    assert_eq!(checkpoint.replay[1], at + 2 + PIECE as u64);
}
