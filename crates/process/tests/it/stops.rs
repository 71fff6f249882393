//! A program that stops its shim, or its zygote, is ended all the same.

use windlass_process::{Exit, StartError};

use crate::support::{
    GRACE, Probe, alive, eventually, kill, launcher, none_left, parent, run_alone, shell, signal,
    stat, token,
};

/// A shell that stops its shim for as long as it lives, with a daemon that does so too.
fn stopper(token: &str) -> String {
    let stop = "while :; do kill -STOP $SHIM 2>/dev/null; done";
    format!("export SHIM=$PPID; setsid sh -c '{stop}; : {token}' & {stop}; : {token}")
}

/// A shell that stops its shim once.
fn stopper_once(token: &str) -> String {
    format!("kill -STOP $PPID; echo stopped; sleep {token}; :")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_has_stopped_its_shim_is_ended() {
    let token = token();
    let process = launcher()
        .start(shell(&stopper_once(&token)))
        .await
        .unwrap();
    eventually("it has stopped its shim", || process.output().written() > 0);
    assert_eq!(process.end(GRACE).await.survivors, []);
    assert_eq!(process.exit(), Some(Exit::Signal(15)), "the shim goes on");
    none_left(&token);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_goes_on_stopping_its_shim_is_ended() {
    let token = token();
    match launcher().start(shell(&stopper(&token))).await {
        Ok(process) => {
            eventually("it runs", || {
                alive(&token).len() >= 2 || process.exit().is_some()
            });
            // Its shim goes on, or is killed.
            assert_eq!(process.end(GRACE).await.survivors, []);
        }
        // Its shim was killed before it could tell that the program runs.
        Err(StartError::Interrupted { .. }) => {}
        Err(error) => panic!("{error}"),
    }
    none_left(&token);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_program_that_has_stopped_its_shim_is_ended() {
    let token = token();
    let process = launcher()
        .start(shell(&stopper_once(&token)))
        .await
        .unwrap();
    eventually("it has stopped its shim", || process.output().written() > 0);
    drop(process);
    none_left(&token);
}

#[test]
fn a_killed_runtime_leaves_none_of_a_program_that_has_stopped_its_shim() {
    let token = token();
    let probe = Probe::start(&stopper_once(&token));
    eventually("it runs", || !alive(&token).is_empty());
    probe.kill();
    none_left(&token);
}

#[test]
fn a_stopped_zygote_and_its_shims_go_on() {
    run_alone("stops::stopped_zygote");
}

#[ignore = "its zygote is stopped"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_zygote() {
    let token = token();
    let launcher = launcher();
    // The zygote leads the group that the shims are in.
    let script = format!(
        "zygote=$(cut -d' ' -f4 /proc/$PPID/stat); kill -STOP -$zygote; echo stopped; sleep {token}; :"
    );
    let process = launcher.start(shell(&script)).await.unwrap();
    eventually("it has stopped them", || process.output().written() > 0);
    // Needs a shim, and so the zygote.
    let other = launcher.start(shell("exit 3")).await.unwrap();
    assert_eq!(other.wait().await, Exit::Code(3));
    process.end(GRACE).await;
    none_left(&token);
}

#[test]
fn what_stopped_shims_and_zygotes_hold_is_swept() {
    let token = token();
    let probe = Probe::start(&format!("sleep {token}; :"));
    eventually("it runs", || alive(&token).len() == 2);
    let shim = parent(probe.program);
    let zygote = parent(shim);
    // The runtime first, or it would let the zygote go on.
    let runtime = probe.runtime.id();
    for pid in [runtime, zygote, shim] {
        signal(pid, rustix::process::Signal::STOP);
        eventually("it is stopped", || {
            stat(pid).is_some_and(|(state, _)| state == 'T')
        });
    }
    probe.kill();
    assert_eq!(alive(&token).len(), 2, "nobody ends them");
    run_alone("stops::sweeper");
    none_left(&token);
    for pid in [zygote, shim] {
        eventually("it is gone too", || {
            stat(pid).is_none_or(|(state, _)| state == 'Z')
        });
    }
}

/// One that forks while it is ended, one without an environment, and one that is called as a shim is.
#[test]
fn what_hides_from_the_sweep_is_swept() {
    let token = token();
    let probe = Probe::start(&format!(
        "trap '' TERM; \
         setsid env -i sh -c 'trap \"\" TERM; while :; do sleep 0.01; done; : {token}' & \
         (setsid env -i /bin/sleep {token} &); \
         while :; do (sh -c 'sleep 0.05; : {token}' &); sleep 0.01; done; : {token}"
    ));
    eventually("they run", || alive(&token).len() >= 4);
    let shim = parent(probe.program);
    let zygote = parent(shim);
    let runtime = probe.runtime.id();
    for pid in [runtime, zygote, shim] {
        signal(pid, rustix::process::Signal::STOP);
    }
    probe.kill();
    for pid in [zygote, shim] {
        kill(pid);
    }
    eventually("the shim is dead", || {
        stat(shim).is_none_or(|(state, _)| state == 'Z')
    });
    assert!(!alive(&token).is_empty(), "they are left");
    run_alone("stops::sweeper");
    none_left(&token);
}

#[ignore = "the next runtime"]
#[test]
fn sweeper() {
    assert!(launcher().sweep(&[]) >= 1);
}

/// The runtime adopts what a dead zygote and a dead shim leave, whatever it calls itself and wherever it has gone.
#[test]
fn what_calls_itself_a_shim_is_no_shim() {
    let token = token();
    let probe = Probe::start(&format!(
        "bash -c 'exec -a windlass-zygote setsid -w env -i bash -c \"exec -a windlass-zygote sleep {token}\"' & \
         wait; : {token}"
    ));
    let sleeps = || {
        alive(&token)
            .iter()
            .any(|&pid| crate::support::name(pid) == "sleep")
    };
    eventually("it sleeps", sleeps);
    let shim = parent(probe.program);
    let zygote = parent(shim);
    kill(zygote);
    kill(shim);
    none_left(&token);
    probe.kill();
}
