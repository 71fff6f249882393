//! What a dead runtime left is ended at the next start, and nothing else.

use std::sync::mpsc;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{
    Probe, SCOPE, VICTIMS, alive, eventually, kill, launcher, name, none_left, own_scope, parent,
    run_alone, run_alone_in, stat, token, up, victim,
};

#[test]
fn only_what_a_dead_runtime_left_is_ended() {
    let (left, living) = (token(), token());
    let dead = Probe::start(&victim(&left));
    let runs = Probe::start(&victim(&living));
    up(&left);
    up(&living);
    leave(dead);
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

#[test]
fn a_sweep_ends_leftovers_of_its_own_scope_only() {
    let (own, others) = (token(), token());
    let other = OtherScope::new();
    let probe = Probe::start(&victim(&own));
    let other_probe = Probe::start_in(&other.name, &victim(&others));
    up(&own);
    up(&others);
    leave(probe);
    leave(other_probe);

    run_alone_in(&other.name, "sweep::sweeper");
    none_left(&others);
    run_alone_in(NO_SCOPE, "sweep::any_sweeper");
    assert_eq!(alive(&own).len(), VICTIMS, "nobody else ends them");
    run_alone("sweep::sweeper");
    none_left(&own);
}

#[test]
fn any_runtime_without_a_scope_ends_leftovers_of_a_scope_that_is_over() {
    let token = token();
    let scope = OtherScope::new();
    let probe = Probe::start_in(&scope.name, &victim(&token));
    up(&token);
    leave(probe);
    drop(scope);
    run_alone_in(NO_SCOPE, "sweep::any_sweeper");
    none_left(&token);
}

#[test]
fn a_runtime_that_a_tool_started_has_no_scope() {
    let token = token();
    let probe = std::env::current_exe().unwrap();
    let nested = format!(
        "sleep 1000 | env {SCOPE}={} PROBE_SCRIPT='exec sleep {token}' \
         {} --exact support::probe --ignored --nocapture",
        own_scope(),
        probe.display()
    );
    let outer = Probe::start_in(NO_SCOPE, &nested);
    let sleeps = || alive(&token).into_iter().find(|&pid| name(pid) == "sleep");
    eventually("it sleeps", || sleeps().is_some());
    let shim = parent(sleeps().unwrap());
    let runtime = parent(parent(shim));
    stop_and_kill(runtime, shim, || kill(runtime));
    assert!(sleeps().is_some(), "it is left");
    run_alone_in(NO_SCOPE, "sweep::any_sweeper");
    eventually("it is ended", || sleeps().is_none());
    outer.kill();
    none_left(&token);
}

#[test]
fn a_tool_that_lowers_the_number_of_its_scope_is_ended() {
    let token = token();
    let folder = tempfile::tempdir().unwrap();
    let number = folder.path().join("number");
    let script = format!(
        "while [ ! -e {file} ]; do sleep 0.02; done; \
         prlimit --pid $$ --rss=$(cat {file}):$(cat {file}) && exec sleep {token}",
        file = number.display()
    );
    let probe = Probe::start_in(NO_SCOPE, &script);
    // A living thread that has started later than the runtime.
    let runtime_start = start_of(probe.runtime.id());
    let mut later = OtherScope::new();
    while later.start() <= runtime_start {
        later = OtherScope::new();
    }
    let draft = folder.path().join("draft");
    std::fs::write(&draft, later.number().to_string()).unwrap();
    std::fs::rename(draft, number).unwrap();
    let sleeps = || alive(&token).into_iter().any(|pid| name(pid) == "sleep");
    eventually("it sleeps", sleeps);
    leave(probe);
    assert!(sleeps(), "it is left");
    run_alone_in(NO_SCOPE, "sweep::any_sweeper");
    none_left(&token);
}

/// Instead of a scope's name.
const NO_SCOPE: &str = "";

/// A scope that another thread owns until this is dropped.
struct OtherScope {
    name: String,
    end: Option<mpsc::Sender<()>>,
    owner: Option<std::thread::JoinHandle<()>>,
}

impl OtherScope {
    fn new() -> Self {
        let (sender, name) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let owner = std::thread::spawn(move || {
            sender.send(own_scope()).unwrap();
            let _ = ended.recv();
        });
        Self {
            name: name.recv().unwrap(),
            end: Some(end),
            owner: Some(owner),
        }
    }

    fn thread(&self) -> u32 {
        self.name.rsplit('/').next().unwrap().parse().unwrap()
    }

    fn start(&self) -> u64 {
        start_of(self.thread())
    }

    /// The number that processes of this scope carry.
    fn number(&self) -> u64 {
        (1 << 62) - (self.start() << 22 | u64::from(self.thread()))
    }
}

impl Drop for OtherScope {
    fn drop(&mut self) {
        drop(self.end.take());
        self.owner.take().unwrap().join().unwrap();
    }
}

/// The start of a process or thread, in clock ticks since boot.
fn start_of(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit_once(')').unwrap().1;
    fields.split(' ').nth(20).unwrap().parse().unwrap()
}

/// Kills a runtime so that it leaves its program.
fn leave(dead: Probe) {
    stop_and_kill(dead.runtime.id(), parent(dead.program), || dead.kill());
}

/// Kills a runtime, its zygote and its shims. All that would end the tree is stopped first, so that it cannot; the runtime
/// before the others, because it would let them go on.
fn stop_and_kill(runtime: u32, shim: u32, kill_runtime: impl FnOnce()) {
    let zygote = parent(shim);
    for pid in [runtime, zygote, shim] {
        kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::STOP).unwrap();
        eventually("it is stopped", || {
            stat(pid).is_some_and(|(state, _)| state == 'T')
        });
    }
    let spare = shims(zygote).into_iter().find(|&pid| pid != shim);
    kill_runtime();
    for pid in [Some(zygote), Some(shim), spare].into_iter().flatten() {
        kill(pid);
        // A shim that still lives is left to its work.
        eventually("it is dead", || {
            stat(pid).is_none_or(|(state, _)| state == 'Z')
        });
    }
}

/// A container's runtime is alive, although its pid is unknown outside.
#[test]
fn what_is_marked_in_a_container_is_left_alone() {
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
    run_alone_in(NO_SCOPE, "sweep::any_sweeper");
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

#[ignore = "a runtime without a scope"]
#[test]
fn any_sweeper() {
    launcher().sweep(&[]);
}
