//! What a dead runtime left is ended at the next start, and nothing else.

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{
    Probe, VICTIMS, alive, eventually, kill, launcher, none_left, parent, run_alone, stat, token,
    up, victim,
};

#[test]
fn only_what_a_dead_runtime_left_is_ended() {
    let (left, living) = (token(), token());
    let dead = Probe::start(&victim(&left));
    let runs = Probe::start(&victim(&living));
    up(&left);
    up(&living);

    // All that would end the tree is stopped first and killed then, so that it cannot.
    let shim = parent(dead.program);
    let zygote = parent(shim);
    for pid in [zygote, shim] {
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
    assert!(launcher().sweep() >= VICTIMS);
}
