//! What a dead runtime left is ended at the next start, and nothing else.

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{
    Probe, VICTIMS, alive, alone_with_leftovers, eventually, kill, launcher, none_left, parent,
    run_alone, stat, token, up, victim,
};

#[test]
fn only_what_a_dead_runtime_left_is_ended() {
    let _alone = alone_with_leftovers();
    let (left, living) = (token(), token());
    let dead = Probe::start(&victim(&left));
    let runs = Probe::start(&victim(&living));
    up(&left);
    up(&living);

    // All that would end the tree is stopped first and killed then, so that it cannot; the runtime before the others,
    // because it would let them go on.
    let shim = parent(dead.program);
    let zygote = parent(shim);
    for pid in [dead.runtime.id(), zygote, shim] {
        kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::STOP).unwrap();
        eventually("it is stopped", || {
            stat(pid).is_some_and(|(state, _)| state == 'T')
        });
    }
    let spare = shims(zygote).into_iter().find(|&pid| pid != shim);
    dead.kill();
    for pid in [Some(zygote), Some(shim), spare].into_iter().flatten() {
        kill(pid);
        // A shim that still lives is left to its work.
        eventually("it is dead", || {
            stat(pid).is_none_or(|(state, _)| state == 'Z')
        });
    }
    assert_eq!(alive(&left).len(), VICTIMS, "they are left");

    run_alone("sweep::sweeper");
    none_left(&left);
    assert_eq!(
        alive(&living).len(),
        VICTIMS,
        "a living runtime's are left alone"
    );
    runs.kill();
    none_left(&living);
}

/// A container's runtime is alive, although its pid is unknown outside.
#[test]
fn what_is_marked_in_a_container_is_left_alone() {
    let _alone = alone_with_leftovers();
    let token = token();
    let privileges: &[&str] = if rustix::process::geteuid().is_root() {
        &[]
    } else {
        &["--user", "--map-root-user"]
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "what a stranger started in a container"
    )]
    let mut container = std::process::Command::new("unshare")
        .args(privileges)
        .args(["--pid", "--fork", "--kill-child", "--mount-proc"])
        .args(["env", "WINDLASS_RUNTIME=1999999-0", "sleep", &token])
        .spawn()
        .unwrap();
    let sleeps = || {
        let sleeping = |pid: &u32| {
            std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|it| it == "sleep\n")
        };
        alive(&token).iter().any(sleeping)
    };
    eventually("it sleeps", sleeps);
    run_alone("sweep::other_sweeper");
    assert!(sleeps(), "it is left alone");
    container.kill().unwrap();
    container.wait().unwrap();
    none_left(&token);
}

fn shims(zygote: u32) -> Vec<u32> {
    let children =
        std::fs::read_to_string(format!("/proc/{zygote}/task/{zygote}/children")).unwrap();
    children
        .split_ascii_whitespace()
        .map(|pid| pid.parse().unwrap())
        .collect()
}

#[ignore = "the next runtime"]
#[test]
fn sweeper() {
    assert!(launcher().sweep(&[]) >= VICTIMS);
}

#[ignore = "a runtime beside the container"]
#[test]
fn other_sweeper() {
    launcher().sweep(&[]);
}
