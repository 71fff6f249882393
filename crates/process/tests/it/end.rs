//! Ending a tree, and the receipt for it.

use std::time::{Duration, Instant};

use windlass_process::{Exit, Receipt, Signal};

use crate::support::{
    DEADLINE, GRACE, VICTIMS, alive, eventually, launcher, none_left, shell, stat, token, up,
    victim,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn end_leaves_none_and_counts_them() {
    let token = token();
    let process = launcher().start(shell(&victim(&token))).await.unwrap();
    up(&token);
    let receipt = process.end(GRACE).await;
    assert_eq!(
        alive(&token),
        [],
        "when `end` returns they are gone, not later"
    );
    assert_eq!(
        receipt,
        Receipt {
            ended: VICTIMS,
            survivors: vec![]
        }
    );
    assert_eq!(process.exit(), Some(Exit::Signal(15)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn end_does_not_wait_for_the_grace_when_all_obey() {
    let process = launcher().start(shell("sleep 1000 & wait")).await.unwrap();
    process.settle(Duration::from_secs(5)).await;
    let start = Instant::now();
    let receipt = process.end(Duration::from_mins(10)).await;
    assert!(start.elapsed() < DEADLINE);
    assert_eq!(receipt.ended, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_program_may_clean_up_within_the_grace() {
    let script = "trap 'echo cleaned; exit 7' TERM; echo ready; while :; do :; done";
    let process = launcher().start(shell(script)).await.unwrap();
    eventually("it is ready", || process.output().written() > 0);
    process.end(Duration::from_mins(10)).await;
    assert_eq!(process.exit(), Some(Exit::Code(7)));
    assert_eq!(crate::support::text(&process), "ready\ncleaned\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_end_shortens_the_first() {
    let script = "trap '' TERM; echo ready; exec sleep 1000";
    let process = launcher().start(shell(script)).await.unwrap();
    eventually("it is ready", || process.output().written() > 0);
    let start = Instant::now();
    let (long, short) = tokio::join!(
        process.end(Duration::from_mins(10)),
        process.end(Duration::from_millis(10))
    );
    assert!(start.elapsed() < DEADLINE);
    assert_eq!(long, short);
    assert_eq!(long.ended, 1);
    assert_eq!(process.end(GRACE).await, long, "the receipt stays");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ending_what_has_exited_ends_nothing() {
    let process = launcher().start(shell("exit 3")).await.unwrap();
    assert_eq!(process.wait().await, Exit::Code(3));
    assert_eq!(process.end(GRACE).await, Receipt::default());
    assert_eq!(process.exit(), Some(Exit::Code(3)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_program_left_is_ended_after_its_exit() {
    let token = token();
    let script = format!("setsid sleep {token} & sleep {token} & echo done");
    let process = launcher().start(shell(&script)).await.unwrap();
    assert_eq!(process.wait().await, Exit::Code(0));
    eventually("both have become `sleep`", || alive(&token).len() == 2);
    assert_eq!(process.remaining().await, 2);
    assert_eq!(process.end(GRACE).await.ended, 2);
    assert_eq!(alive(&token), []);
    assert_eq!(process.remaining().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_the_last_clone_ends_the_tree() {
    let token = token();
    let process = launcher().start(shell(&victim(&token))).await.unwrap();
    up(&token);
    let clone = process.clone();
    drop(process);
    assert_eq!(clone.exit(), None);
    assert_eq!(alive(&token).len(), VICTIMS);
    drop(clone);
    none_left(&token);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_program_is_ended() {
    let token = token();
    let process = launcher()
        .start(shell(&format!("sleep {token} & wait")))
        .await
        .unwrap();
    eventually("both run", || alive(&token).len() == 2);
    process.signal(Signal::Stop).unwrap();
    let stopped = || {
        alive(&token)
            .iter()
            .all(|&pid| stat(pid).is_some_and(|(state, _)| state == 'T'))
    };
    eventually("both are stopped", stopped);
    assert_eq!(process.end(Duration::from_mins(10)).await.ended, 2);
    assert_eq!(
        process.exit(),
        Some(Exit::Signal(15)),
        "it was woken to hear of it"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_storm_is_ended() {
    let token = token();
    // Every process replaces itself by two for ever; the limit keeps the machine usable.
    let script = format!(
        "trap '' TERM; ulimit -u 400 2>/dev/null; \
         storm() {{ while :; do (sleep 0.01; : {token}) & (setsid sh -c ': {token}; sleep 0.02') & sleep 0.01; done; }}; \
         storm & storm & storm & echo ready; wait"
    );
    let process = launcher().start(shell(&script)).await.unwrap();
    eventually("it storms", || {
        process.output().written() > 0 && alive(&token).len() > 8
    });
    let receipt = process.end(Duration::from_millis(100)).await;
    assert_eq!(alive(&token), []);
    assert!(receipt.ended > 4, "{receipt:?}");
    assert_eq!(receipt.survivors, []);
}
