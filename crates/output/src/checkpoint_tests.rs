//! An output that another process continues equals the output of a single process.

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{Checkpoint, Output, OutputOptions, Stream};

/// Pieces that are split within characters, objects and lines.
const PIECES: [&[u8]; 9] = [
    b"plain\n",
    b"a \xe2\x82",
    b"\xac b\n",
    b"\xf0",
    b"\x9f\x98\x80",
    b"{\"a\": ",
    b"\"}\"}",
    b"\n\n",
    &[b'x'; 700],
];

fn options(log: Option<&Path>, hold_object: bool) -> OutputOptions {
    OutputOptions {
        memory: 512,
        log: log.map(Path::to_owned),
        hold_object,
        ..OutputOptions::default()
    }
}

/// Everything that was pushed, with the stream that it came from.
#[derive(Default)]
struct Pushed {
    pieces: Vec<(Stream, u64, &'static [u8])>,
    end: u64,
}

impl Pushed {
    fn push(&mut self, output: &Output, stream: Stream, piece: &'static [u8]) {
        output.push(stream, piece);
        self.pieces.push((stream, self.end, piece));
        self.end += piece.len() as u64;
    }

    /// Pushes the bytes of the checkpoint again.
    fn replay(&self, output: &Output, checkpoint: &Checkpoint) {
        for (stream, at, piece) in &self.pieces {
            let from = checkpoint.replay[*stream as usize];
            let skip = usize::try_from(from.saturating_sub(*at)).unwrap();
            if let Some(rest) = piece.get(skip..) {
                output.add_again(*stream, at + skip as u64, rest);
            }
        }
        output.announce();
    }
}

proptest! {
    #[test]
    fn a_resumed_output_continues_as_if_nothing_had_happened(
        pushes in vec((any::<bool>(), select(&PIECES[..]), 0..8_u8), 1..60),
        hold_object: bool,
        death in 0..60_usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (log, other) = (folder.path().join("log"), folder.path().join("other"));
        let whole = Output::new(options(Some(&other), hold_object));
        let mut output = Output::new(options(Some(&log), hold_object));
        output.keep_log();
        let mut pushed = Pushed::default();
        let mut checkpoint = Checkpoint::default();
        for (index, (is_stderr, piece, chance)) in pushes.into_iter().enumerate() {
            let stream = if is_stderr { Stream::Stderr } else { Stream::Stdout };
            whole.push(stream, piece);
            pushed.push(&output, stream, piece);
            if chance == 0 {
                checkpoint = output.checkpoint();
                prop_assert!(checkpoint.replay_from() <= output.written());
            }
            if index == death {
                output = Output::resume(options(Some(&log), hold_object), &checkpoint);
                output.keep_log();
                pushed.replay(&output, &checkpoint);
            }
        }
        for output in [&whole, &output] {
            output.end_run();
            output.release();
            output.finish();
        }
        prop_assert_eq!(output.written(), whole.written());
        prop_assert_eq!(output.line_range(1..=u64::MAX, usize::MAX), whole.line_range(1..=u64::MAX, usize::MAX));
        prop_assert_eq!(output.checkpoint().newlines, whole.checkpoint().newlines);
        let (resumed, uninterrupted) = (output.raw(0..u64::MAX), whole.raw(0..u64::MAX));
        prop_assert_eq!(
            String::from_utf8_lossy(&resumed),
            String::from_utf8_lossy(&uninterrupted)
        );
    }
}

#[test]
fn the_last_line_is_known_after_resuming() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let output = Output::new(options(Some(&log), false));
    output.keep_log();
    output.push(Stream::Stdout, b"first\nsecond\n");
    let checkpoint = output.checkpoint();
    drop(output);
    let output = Output::resume(options(Some(&log), false), &checkpoint);
    assert_eq!(output.last_line(Stream::Stdout).as_deref(), Some("second"));
    assert_eq!(output.position(), 13);
}

#[test]
fn without_its_log_a_resumed_output_misses_what_was_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let output = Output::new(options(Some(&log), false));
    output.push(Stream::Stdout, b"gone\n");
    let checkpoint = output.checkpoint();
    drop(output);
    assert!(!log.exists());
    let output = Output::resume(options(Some(&log), false), &checkpoint);
    output.push(Stream::Stdout, b"new\n");
    assert_eq!(output.raw(0..u64::MAX), b"new\n");
    assert_eq!(output.position(), 9);
}

#[test]
fn a_hole_in_the_log_is_known_after_resuming() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let small = || OutputOptions {
        log_limit: 64 << 10,
        ..options(Some(&log), false)
    };
    let output = Output::new(small());
    output.keep_log();
    for number in 0..40_000_u32 {
        output.push(Stream::Stdout, format!("line {number}\n").as_bytes());
    }
    let checkpoint = output.checkpoint();
    let before = output.raw(0..u64::MAX);
    drop(output);
    let output = Output::resume(small(), &checkpoint);
    assert_eq!(output.raw(0..u64::MAX), before);
}
