//! Programs with and without a sandbox, started by the same pool of shims.

use std::fs;
use std::sync::Arc;

use windlass_process::Launcher;
use windlass_sandbox::{NetworkRule, ResourceLimits};

use crate::sandbox::{Machine, as_both_users, run, with_network, workspace};
use crate::support::launcher;

as_both_users!("sandbox_shims": a_program_has_the_filter_of_its_own_sandbox);

/// The confinement that a program finds itself in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    filters: usize,
    no_new_privileges: bool,
    internet: bool,
}

/// The value of a line of `/proc/PID/status`.
fn value(status: &str, name: &str) -> usize {
    let mut lines = status.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.expect("a line of this name").trim().parse().unwrap()
}

async fn found(launcher: &Launcher, machine: &Machine) -> Found {
    let script = "cat /proc/self/status; python3 -c 'import socket; socket.socket(2)' 2>/dev/null && echo internet";
    let (text, _) = run(launcher, script, &machine.root, &machine.home).await;
    Found {
        filters: value(&text, "Seccomp_filters"),
        no_new_privileges: value(&text, "NoNewPrivs") == 1,
        internet: text.contains("internet"),
    }
}

async fn a_program_has_the_filter_of_its_own_sandbox() {
    let machine = Arc::new(Machine::new());
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let outside = Found {
        filters: value(&status, "Seccomp_filters"),
        no_new_privileges: value(&status, "NoNewPrivs") == 1,
        internet: true,
    };
    let inside = |internet| Found {
        filters: outside.filters + 1,
        no_new_privileges: true,
        internet,
    };
    let plain = launcher();
    let limits = ResourceLimits {
        processes: Some(64),
        ..ResourceLimits::default()
    };
    let kinds = [
        (plain.clone(), outside),
        (machine.confine(&plain, &workspace()), inside(false)),
        (plain.limited(limits), outside),
        (
            machine.confine(&plain, &with_network(NetworkRule::Loopback)),
            inside(true),
        ),
    ];
    // Each kind follows every other one, and finds the idle shims of all.
    for step in 1..kinds.len() {
        for index in 0..kinds.len() {
            for index in [index, (index + step) % kinds.len()] {
                let (launcher, expected) = &kinds[index];
                assert_eq!(found(launcher, &machine).await, *expected, "kind {index}");
            }
        }
    }
    // At once, so that the pool has several of each kind.
    for _ in 0..2 {
        let mut tasks = tokio::task::JoinSet::new();
        for (launcher, expected) in kinds.iter().chain(&kinds).chain(&kinds) {
            let (launcher, expected) = (launcher.clone(), *expected);
            let machine = Arc::clone(&machine);
            tasks.spawn(async move {
                assert_eq!(found(&launcher, &machine).await, expected);
            });
        }
        tasks.join_all().await;
    }
}
