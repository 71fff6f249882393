//! The same without a zygote: plain process groups.

use windlass_process::{
    Command, Exit, Launcher, LauncherOptions, Receipt, StartError, Stdin, WriteError,
};

use crate::support::{DEADLINE, GRACE, alive, eventually, shell, text, token};

fn launcher() -> Launcher {
    let launcher = Launcher::new(LauncherOptions {
        hold_trees: false,
        ..LauncherOptions::default()
    });
    let launcher = launcher.unwrap();
    assert!(!launcher.holds_trees());
    launcher
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_run_and_are_read() {
    let script = "read line; echo got $line; echo err >&2; exit 4";
    let process = launcher()
        .start(shell(script).stdin(Stdin::Pipe).merge_output())
        .await
        .unwrap();
    process.write(b"it\n").unwrap();
    assert_eq!(process.wait().await, Exit::Code(4));
    assert_eq!(text(&process), "got it\nerr\n");
    assert_eq!(process.write(b"x"), Err(WriteError::Exited));
    assert_eq!(process.end(GRACE).await, Receipt::default());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_group_is_ended() {
    let token = token();
    let script =
        format!("sleep {token} & sh -c 'trap \"\" TERM; sleep {token}; :' & wait; : {token}");
    let process = launcher().start(shell(&script)).await.unwrap();
    eventually("all run", || alive(&token).len() == 4);
    assert_eq!(process.remaining().await, 3);
    assert_eq!(
        process.end(GRACE).await,
        Receipt {
            ended: 4,
            survivors: vec![]
        }
    );
    assert_eq!(alive(&token), []);
    assert_eq!(process.exit(), Some(Exit::Signal(15)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_the_last_clone_ends_the_group() {
    let token = token();
    let process = launcher()
        .start(shell(&format!("sleep {token} & wait")))
        .await
        .unwrap();
    eventually("both run", || alive(&token).len() == 2);
    drop(process);
    eventually("none is left", || alive(&token).is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grandchild_that_holds_the_pipe_does_not_delay_the_exit() {
    let token = token();
    let process = launcher()
        .start(shell(&format!("sleep {token} & echo ok")))
        .await
        .unwrap();
    let exit = tokio::time::timeout(DEADLINE, process.wait()).await;
    assert_eq!(exit, Ok(Exit::Code(0)));
    assert_eq!(text(&process), "ok\n");
    assert_eq!(process.end(GRACE).await.ended, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_start_says_why() {
    let launcher = launcher();
    let error = launcher
        .start(Command::new("/no/such/program"))
        .await
        .unwrap_err();
    assert!(matches!(error, StartError::NotFound { .. }), "{error:?}");
    let error = launcher
        .start(Command::new("true").cwd("/no/such/folder"))
        .await
        .unwrap_err();
    assert!(matches!(error, StartError::Cwd { .. }), "{error:?}");
}
