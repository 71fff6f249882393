//! Knowing that a program has said what it has to say.

use std::time::{Duration, Instant};

use windlass_process::{Command, Exit, Stdin};

use crate::support::{launcher, shell, text};

/// Long enough that a test which waits for all of it fails.
const MAX: Duration = Duration::from_secs(30);

async fn settles(process: &windlass_process::Process) {
    let start = Instant::now();
    process.settle(MAX).await;
    assert!(start.elapsed() < MAX);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exit_settles() {
    let process = launcher()
        .start(shell("echo one; sleep 0.1; echo two"))
        .await
        .unwrap();
    process.wait().await;
    settles(&process).await;
    assert_eq!(text(&process), "one\ntwo\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_waits_for_input_settles_after_its_answer() {
    let script = "echo name?; read name; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo hello $name; read more";
    let process = launcher()
        .start(shell(script).stdin(Stdin::Pipe))
        .await
        .unwrap();
    settles(&process).await;
    assert_eq!(text(&process), "name?\n");
    process.write(b"you\n").unwrap();
    settles(&process).await;
    assert_eq!(
        text(&process),
        "name?\nhello you\n",
        "it computed in silence, and was waited for"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_computes_in_silence_has_not_settled() {
    let script = "echo start; while :; do :; done";
    let process = launcher().start(shell(script)).await.unwrap();
    let max = Duration::from_millis(200);
    let start = Instant::now();
    process.settle(max).await;
    assert!(start.elapsed() >= max);
    assert_eq!(process.exit(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_that_computes_keeps_it_from_settling() {
    let script = "(setsid sh -c 'while :; do :; done' &) ; echo start; read line";
    let process = launcher()
        .start(shell(script).stdin(Stdin::Pipe))
        .await
        .unwrap();
    let max = Duration::from_millis(200);
    let start = Instant::now();
    process.settle(max).await;
    assert!(start.elapsed() >= max);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exit_during_the_wait_settles_at_once() {
    let process = launcher()
        .start(Command::new("cat").stdin(Stdin::Pipe))
        .await
        .unwrap();
    settles(&process).await;
    process.close_stdin();
    settles(&process).await;
    process.wait().await;
    assert_eq!(process.exit(), Some(Exit::Code(0)));
}
