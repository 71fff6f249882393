#![expect(
    unsafe_code,
    reason = "a callback that counts forks is registered with the C library"
)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::AsyncReadExt;

use crate::{Command, Exit, Launcher, LauncherOptions, TerminalSize};

static FORKS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count_fork() {
    FORKS.fetch_add(1, Ordering::SeqCst);
}

fn launcher() -> Launcher {
    let options = LauncherOptions {
        hold_trees: false,
        ..LauncherOptions::default()
    };
    Launcher::new(options).unwrap()
}

/// Starts a script with a terminal beside its pipes, and returns its output.
async fn run_beside_terminal(script: &str) -> String {
    let command = Command::new("/bin/sh")
        .args(["-c", script])
        .terminal_beside_pipes(TerminalSize::default(), |_| Vec::new());
    let process = launcher().start(command).await.unwrap();
    let (mut stdout, _stdin) = process.take_pipes().unwrap();
    let mut text = String::new();
    let read = stdout.read_to_string(&mut text);
    let read = tokio::time::timeout(Duration::from_secs(20), read).await;
    read.unwrap().unwrap();
    assert_eq!(process.wait().await, Exit::Code(0), "{text}");
    text
}

#[tokio::test]
async fn a_start_does_not_fork_this_process() {
    // SAFETY: the callback only changes an atomic counter.
    unsafe { libc::pthread_atfork(Some(count_fork), None, None) };
    run_beside_terminal("true").await;
    assert_eq!(FORKS.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_terminal_beside_pipes_is_the_controlling_one_and_no_stream() {
    let script = "exec 3</dev/tty && test -t 3 && echo has; \
                  for fd in 0 1 2; do test -p /dev/fd/$fd && echo pipe; done";
    let text = run_beside_terminal(script).await;
    assert!(text.starts_with("has\npipe\npipe\npipe\n"), "{text}");
}

#[tokio::test]
async fn a_program_starts_in_its_folder() {
    let command = Command::new("pwd").cwd("/usr");
    let process = launcher().start(command).await.unwrap();
    assert_eq!(process.wait().await, Exit::Code(0));
    assert_eq!(process.output().read_all(100).text, "/usr\n");
}
