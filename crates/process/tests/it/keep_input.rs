//! The input of kept programs: its end, and its next owner.

use std::path::Path;
use std::time::Duration;

use windlass_output::OutputOptions;
use windlass_process::{
    AdoptOptions, Exit, KeepOptions, Launcher, Process, Stdin, TerminalSize, WriteError,
};

use crate::support::{DEADLINE, GRACE, eventually, launcher, shell};

/// More than a pipe takes.
const MUCH: usize = 400_000;

/// Starts a script that is kept in this folder, with a pipe as its input.
async fn keep(launcher: &Launcher, folder: &Path, script: &str) -> Process {
    let command = shell(script).stdin(Stdin::Pipe).merge_output();
    let command = command.keep(KeepOptions {
        lease: Duration::from_mins(1),
        folder: folder.to_owned(),
        name: "it".to_owned(),
        output: OutputOptions::default(),
        registration: None,
    });
    launcher.start(command).await.unwrap()
}

/// The next owner of a program.
async fn hand_on(launcher: &Launcher, process: Process) -> Process {
    let key = process.held_key().unwrap().clone();
    process.leave().await;
    drop(process);
    let mut options = AdoptOptions::new(OutputOptions::default());
    // Its holder may be slow on a busy machine.
    options.patience = DEADLINE;
    launcher.adopt(&key, options).await.unwrap()
}

#[track_caller]
fn ends_with(process: &Process, expected: &str) {
    eventually("it has read the end of its input", || {
        process.exit().is_some()
    });
    assert_eq!(process.exit(), Some(Exit::Code(0)));
    let output = process.output().raw(0..u64::MAX);
    assert_eq!(String::from_utf8_lossy(&output), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_input_reaches_a_kept_program() {
    let folder = tempfile::tempdir().unwrap();
    let process = keep(&launcher(), folder.path(), "cat; echo over").await;
    process.write(b"one\n").unwrap();
    process.close_stdin();
    ends_with(&process, "one\nover\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_input_follows_queued_input() {
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    let script = format!("until test -e {}; do sleep 0.01; done; wc -c", go.display());
    let process = keep(&launcher(), folder.path(), &script).await;
    process.write(&vec![b'x'; MUCH]).unwrap();
    process.close_stdin();
    std::fs::write(&go, "").unwrap();
    ends_with(&process, &format!("{MUCH}\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_input_reaches_an_adopted_program() {
    let folder = tempfile::tempdir().unwrap();
    let launcher = launcher();
    let process = keep(&launcher, folder.path(), "cat; echo over").await;
    process.write(b"one\n").unwrap();
    let process = hand_on(&launcher, process).await;
    process.write(b"two\n").unwrap();
    process.close_stdin();
    ends_with(&process, "one\ntwo\nover\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_input_stays_closed_for_the_next_owners() {
    let folder = tempfile::tempdir().unwrap();
    let launcher = launcher();
    let script = "cat; echo over; exec sleep 1000";
    let mut process = keep(&launcher, folder.path(), script).await;
    process.close_stdin();
    for _ in 0..2 {
        process = hand_on(&launcher, process).await;
        assert_eq!(process.write(b"more\n"), Err(WriteError::Closed));
        process.close_stdin();
    }
    eventually("it has read the end of its input", || {
        process.output().raw(0..u64::MAX) == b"over\n"
    });
    assert_eq!(process.end(GRACE).await.ended, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_input_of_a_terminal_does_not_close_it() {
    let folder = tempfile::tempdir().unwrap();
    let launcher = launcher();
    let command = shell("cat; cat; echo over").terminal(TerminalSize::default());
    let command = command.keep(KeepOptions {
        lease: Duration::from_mins(1),
        folder: folder.path().to_owned(),
        name: "it".to_owned(),
        output: OutputOptions::default(),
        registration: None,
    });
    let process = launcher.start(command).await.unwrap();
    process.close_stdin();
    let process = hand_on(&launcher, process).await;
    process.write(b"more\n").unwrap();
    process.close_stdin();
    ends_with(&process, "more\r\nmore\r\nover\r\n");
}
