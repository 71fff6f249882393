//! Every death is covered: of the runtime, of the zygote, of a shim.

use windlass_process::Exit;

use crate::support::{
    GRACE, Probe, VICTIMS, alive, eventually, kill, launcher, none_left, parent, shell, stat,
    token, up, victim,
};

#[test]
fn a_killed_runtime_leaves_none() {
    let token = token();
    let probe = Probe::start(&victim(&token));
    up(&token);
    let shim = parent(probe.program);
    let zygote = parent(shim);
    probe.kill();
    none_left(&token);
    eventually("the shim is gone", || {
        stat(shim).is_none_or(|(state, _)| state == 'Z')
    });
    eventually("the zygote is gone", || {
        stat(zygote).is_none_or(|(state, _)| state == 'Z')
    });
}

#[test]
fn a_killed_zygote_and_then_a_killed_runtime_leave_none() {
    let token = token();
    let probe = Probe::start(&victim(&token));
    up(&token);
    let shim = parent(probe.program);
    kill(parent(shim));
    eventually("the runtime has adopted the shim", || {
        parent(shim) == probe.runtime.id()
    });
    assert_eq!(alive(&token).len(), VICTIMS, "programs live on");
    probe.kill();
    none_left(&token);
}

#[test]
fn a_killed_zygote_and_then_a_killed_shim_leave_none() {
    let token = token();
    let probe = Probe::start(&victim(&token));
    up(&token);
    let shim = parent(probe.program);
    kill(parent(shim));
    eventually("the runtime has adopted the shim", || {
        parent(shim) == probe.runtime.id()
    });
    kill(shim);
    none_left(&token);
    eventually("the shim was waited for", || stat(shim).is_none());
    probe.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_outlive_their_zygote_and_stay_endable() {
    let token = token();
    let launcher = launcher();
    let process = launcher.start(shell(&victim(&token))).await.unwrap();
    up(&token);
    let shim = parent(process.pid());
    let zygote = parent(shim);
    kill(zygote);
    eventually("the zygote was waited for", || stat(zygote).is_none());
    assert_eq!(alive(&token).len(), VICTIMS);

    let next = launcher.start(shell("echo next")).await.unwrap();
    assert_eq!(next.wait().await, Exit::Code(0));

    assert_eq!(process.end(GRACE).await.ended, VICTIMS);
    assert_eq!(alive(&token), []);
    eventually("the adopted shim was waited for", || stat(shim).is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_shim_loses_its_program_and_no_other() {
    let (token, other) = (token(), token());
    let launcher = launcher();
    let process = launcher.start(shell(&victim(&token))).await.unwrap();
    let bystander = launcher.start(shell(&victim(&other))).await.unwrap();
    up(&token);
    up(&other);
    let shim = parent(process.pid());
    kill(shim);
    let Exit::Lost(reason) = process.wait().await else {
        panic!("an exit that nobody saw");
    };
    assert!(reason.contains(&format!("pid {shim}")), "{reason}");
    none_left(&token);
    assert_eq!(alive(&other).len(), VICTIMS);
    assert_eq!(bystander.exit(), None);
    assert_eq!(bystander.end(GRACE).await.ended, VICTIMS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signals_to_everybody_do_not_end_shims() {
    let process = launcher()
        .start(shell("echo ready; exec sleep 1000"))
        .await
        .unwrap();
    eventually("it is ready", || process.output().written() > 0);
    let shim = parent(process.pid());
    for signal in [
        rustix::process::Signal::INT,
        rustix::process::Signal::TERM,
        rustix::process::Signal::HUP,
    ] {
        for pid in [shim, parent(shim)] {
            let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
            rustix::process::kill_process(pid, signal).unwrap();
        }
    }
    assert_eq!(process.end(GRACE).await.ended, 1);
    assert_eq!(process.exit(), Some(Exit::Signal(15)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_own_children_are_left_alone() {
    let token = token();
    #[expect(
        clippy::disallowed_methods,
        reason = "a child that a library user starts by other means"
    )]
    let mut own = std::process::Command::new("setsid")
        .args(["sleep", &token])
        .spawn()
        .unwrap();
    eventually("it runs", || alive(&token).len() == 1);
    let launcher = launcher();
    let process = launcher.start(shell("sleep 1000")).await.unwrap();
    let shim = parent(process.pid());
    let zygote = parent(shim);
    kill(zygote);
    eventually("the zygote was waited for", || stat(zygote).is_none());
    kill(shim);
    assert!(matches!(process.wait().await, Exit::Lost(_)));
    eventually("the shim was waited for", || stat(shim).is_none());
    assert_eq!(
        own.try_wait().unwrap(),
        None,
        "neither killed nor waited for"
    );
    own.kill().unwrap();
    own.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_idle_shims_are_replaced() {
    let launcher = launcher();
    let anchor = launcher.start(shell("sleep 1000")).await.unwrap();
    let shim = parent(anchor.pid());
    let zygote = parent(shim);
    let idle = || {
        let path = format!("/proc/{zygote}/task/{zygote}/children");
        let children = std::fs::read_to_string(path).unwrap();
        let children = children
            .split_ascii_whitespace()
            .map(|pid| pid.parse().unwrap());
        children.filter(|&pid| pid != shim).collect::<Vec<u32>>()
    };
    for _ in 0..10 {
        eventually("there is a reserve", || !idle().is_empty());
        for pid in idle() {
            kill(pid);
        }
        let process = launcher.start(shell("exit 6")).await.unwrap();
        assert_eq!(process.wait().await, Exit::Code(6));
    }
    assert_eq!(anchor.exit(), None);
}
