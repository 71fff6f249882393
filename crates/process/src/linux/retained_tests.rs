use std::io::Write;

use proptest::collection::vec;
use proptest::prelude::*;
use windlass_output::OutputOptions;

use super::*;

const RING: usize = 256 * 1024;

/// The same memory and stage, as another process would have them.
fn heir(retained: &Retained) -> Retained {
    let [file, read, write] = retained
        .descriptors()
        .map(|fd| fd.try_clone_to_owned().unwrap());
    Retained::go_on(file, read, write).unwrap()
}

/// Takes what a stream has, all of it.
fn take_all(
    retained: &Retained,
    fd: impl AsFd + Copy,
    stream: Stream,
    output: &Output,
) -> TakeOutcome {
    loop {
        if !retained.has_room() {
            retained.publish(&output.checkpoint());
        }
        match retained.take(fd, stream, |stream, bytes| output.push(stream, bytes)) {
            TakeOutcome::Some(_) => {}
            last => return last,
        }
    }
}

fn text(output: &Output) -> String {
    String::from_utf8(output.raw(0..u64::MAX)).unwrap()
}

#[test]
fn a_stream_is_taken_to_its_end() {
    let (read, mut write) = io::pipe().unwrap();
    let retained = Retained::new(RING, 0).unwrap();
    let output = Output::new(OutputOptions::default());
    assert_eq!(
        take_all(&retained, &read, Stream::Stdout, &output),
        TakeOutcome::Empty
    );
    write.write_all(b"one\ntwo\n").unwrap();
    assert_eq!(
        take_all(&retained, &read, Stream::Stdout, &output),
        TakeOutcome::Empty
    );
    drop(write);
    assert_eq!(
        take_all(&retained, &read, Stream::Stdout, &output),
        TakeOutcome::End
    );
    assert_eq!(text(&output), "one\ntwo\n");
    assert_eq!(retained.end(), 8);
}

/// The steps of one take that were done before its process was killed.
fn die_after(retained: &Retained, fd: BorrowedFd<'_>, stream: Stream, steps: u8) {
    // Otherwise there is nothing to take.
    if let Ok(length) = retained.stage(fd, stream) {
        let at = retained.end();
        if steps >= 2 {
            retained.intend(at, length);
        }
        if steps >= 3 {
            assert_eq!(retained.fill(at, length).unwrap(), length);
        }
        if steps >= 4 {
            retained.finish(at, length);
        }
    }
}

#[test]
fn a_part_that_was_read_from_the_stage_is_not_read_again() {
    let (read, mut write) = io::pipe().unwrap();
    let retained = Retained::new(RING, 0).unwrap();
    write.write_all(b"0123456789").unwrap();
    let length = retained.stage(read.as_fd(), Stream::Stdout).unwrap();
    retained.intend(0, length);
    assert_eq!(retained.fill(0, 4).unwrap(), 4);
    let heir = heir(&retained);
    assert_eq!(heir.end(), 4);
    let output = Output::resume(OutputOptions::default(), &heir.checkpoint());
    heir.replay(&output);
    take_all(&heir, &read, Stream::Stdout, &output);
    assert_eq!(text(&output), "0123456789");
}

#[test]
fn memory_of_another_form_is_refused() {
    let retained = Retained::new(RING, 0).unwrap();
    retained.header().magic.store(MAGIC + 1, Ordering::Relaxed);
    let [file, read, write] = retained
        .descriptors()
        .map(|fd| fd.try_clone_to_owned().unwrap());
    assert!(Retained::go_on(file, read, write).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Lines are written to two streams, and whoever takes them dies at any step, again and again.
    #[test]
    fn no_byte_is_lost_or_taken_twice(
        lengths in vec((any::<bool>(), 1..40_000_usize, 0..6_u8), 1..40),
        large: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let options = || OutputOptions {
            memory: if large { 64 << 10 } else { 4 << 10 },
            log: Some(folder.path().join("log")),
            ..OutputOptions::default()
        };
        let pipes = [io::pipe().unwrap(), io::pipe().unwrap()];
        let mut retained = Retained::new(RING, 0).unwrap();
        let mut output = Output::new(options());
        output.keep_log();
        let mut wanted = [String::new(), String::new()];
        let mut all = 0;
        for (number, (is_stderr, length, death)) in lengths.into_iter().enumerate() {
            let stream = if is_stderr { Stream::Stderr } else { Stream::Stdout };
            let (read, write) = &pipes[stream as usize];
            let letter = if is_stderr { "e" } else { "o" };
            let line = format!("{letter}{number}:{}\n", letter.repeat(length));
            (&*write).write_all(line.as_bytes()).unwrap();
            wanted[stream as usize].push_str(&line);
            all += line.len();
            if (1..=4).contains(&death) {
                if !retained.has_room() {
                    retained.publish(&output.checkpoint());
                }
                die_after(&retained, read.as_fd(), stream, death);
                retained = heir(&retained);
                output = Output::resume(options(), &retained.checkpoint());
                output.keep_log();
                retained.replay(&output);
            }
            take_all(&retained, read, stream, &output);
        }
        prop_assert_eq!(retained.end(), all as u64);
        let text = text(&output);
        for (stream, letter) in [(Stream::Stdout, 'o'), (Stream::Stderr, 'e')] {
            let of_stream: String =
                text.split_inclusive('\n').filter(|line| line.starts_with(letter)).collect();
            prop_assert!(of_stream == wanted[stream as usize], "{letter}: {} of {} bytes", of_stream.len(), wanted[stream as usize].len());
        }
    }
}
