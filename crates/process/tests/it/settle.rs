//! Knowing that a program has said what it has to say.

use std::time::{Duration, Instant};

use windlass_process::{Command, Exit, Stdin};

use crate::support::{eventually, launcher, shell, stat, text};

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

// On one thread, so that nothing is read while the test does something else.
#[tokio::test]
async fn what_waits_in_the_pipe_is_read_before_it_settles() {
    let folder = tempfile::tempdir().unwrap();
    let said = folder.path().join("said");
    let script = format!(
        "read name; echo hello $name; : >'{}'; read more",
        said.display()
    );
    let process = launcher()
        .start(shell(&script).stdin(Stdin::Pipe))
        .await
        .unwrap();
    settles(&process).await;
    process.write(b"you\n").unwrap();
    let written = Instant::now();
    eventually("it sleeps again, and has been quiet for long", || {
        let asleep = stat(process.pid()).is_some_and(|(state, _)| state == 'S');
        said.exists() && asleep && written.elapsed() > Duration::from_millis(100)
    });
    settles(&process).await;
    assert_eq!(text(&process), "hello you\n");
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
