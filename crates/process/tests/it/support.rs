//! What the tests share: a launcher, a tree that is hard to end, and a look at `/proc`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use windlass_process::{Command, Launcher, LauncherOptions, Process};

pub(crate) const GRACE: Duration = Duration::from_millis(300);
/// How long anything may take on a machine that has other work too.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);

pub(crate) fn launcher() -> Launcher {
    let launcher = Launcher::new(LauncherOptions::default()).unwrap();
    assert!(launcher.holds_trees());
    launcher
}

pub(crate) fn shell(script: &str) -> Command {
    Command::new("/bin/sh").args(["-c", script]).grace(GRACE)
}

pub(crate) fn text(process: &Process) -> String {
    process.output().read_all(usize::MAX).text
}

/// A text that no other process has among its arguments: a number of seconds to sleep.
pub(crate) fn token() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("8{:07}.{next:04}", std::process::id())
}

/// How many processes [`victim`] makes.
pub(crate) const VICTIMS: usize = 7;

/// A foreground process, a background child, a child that ignores `SIGTERM` (with one of its own), a double fork under
/// `nohup`, a daemon, and a daemon without an environment.
pub(crate) fn victim(token: &str) -> String {
    format!(
        "sleep {token} & \
         sh -c 'trap \"\" TERM; sleep {token}; :' & \
         (nohup sleep {token} >/dev/null 2>&1 &) ; \
         setsid sleep {token} & \
         setsid env -i /bin/sleep {token} & \
         wait; : {token}"
    )
}

/// The processes that have the token among their arguments.
pub(crate) fn alive(token: &str) -> Vec<u32> {
    let pids = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|it| it.file_name().to_str()?.parse().ok());
    let has = |pid: &u32| {
        let args = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        // The probe carries the script in its environment, never among its arguments.
        String::from_utf8_lossy(&args).contains(token)
    };
    pids.filter(has).collect()
}

/// The state and the parent of a process; `None` when it is gone.
pub(crate) fn stat(pid: u32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

pub(crate) fn parent(pid: u32) -> u32 {
    stat(pid).expect("it runs").1
}

pub(crate) fn kill(pid: u32) {
    signal(pid, rustix::process::Signal::KILL);
}

pub(crate) fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// The variable that names the scope of a runtime's sweeps.
pub(crate) const SCOPE: &str = "WINDLASS_SWEEP_SCOPE";

/// The scope of the calling thread, and so of this test: other tests do not sweep its leftovers.
pub(crate) fn own_scope() -> String {
    let link = fs::read_link("/proc/thread-self").unwrap();
    link.into_os_string().into_string().unwrap()
}

/// Waits for a condition that another process makes true.
#[track_caller]
pub(crate) fn eventually(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until the whole victim is up: two shells, and five that have become what they were to become.
#[track_caller]
pub(crate) fn up(token: &str) {
    eventually("the victim is up", || {
        let pids = alive(token);
        let sleeping = pids.iter().filter(|&&pid| name(pid) == "sleep").count();
        pids.len() == VICTIMS && sleeping == VICTIMS - 2
    });
}

/// The short name of a process.
pub(crate) fn name(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm"))
        .unwrap_or_default()
        .trim()
        .to_owned()
}

#[track_caller]
pub(crate) fn none_left(token: &str) {
    eventually("none is left", || alive(token).is_empty());
}

/// Another runtime, in a process of its own, that has started a script.
pub(crate) struct Probe {
    pub(crate) runtime: Child,
    pub(crate) program: u32,
}

impl Probe {
    pub(crate) fn start(script: &str) -> Self {
        Self::start_in(&own_scope(), script)
    }

    pub(crate) fn start_in(scope: &str, script: &str) -> Self {
        Self::start_with(scope, script, "")
    }

    pub(crate) fn start_on_terminal(script: &str) -> Self {
        Self::start_with(&own_scope(), script, "yes")
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the runtime itself is nobody's program"
    )]
    fn start_with(scope: &str, script: &str, terminal: &str) -> Self {
        let mut runtime = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "support::probe", "--ignored", "--nocapture"])
            .env(SCOPE, scope)
            .env("PROBE_SCRIPT", script)
            .env("PROBE_TERMINAL", terminal)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(runtime.stdout.take().unwrap()).lines();
        let mut lines = lines.map_while(Result::ok);
        let program = lines.find_map(|line| line.split_once("program=")?.1.parse().ok());
        let program = program.expect("the probe tells what it started");
        Self { runtime, program }
    }

    pub(crate) fn kill(mut self) {
        self.runtime.kill().unwrap();
        self.runtime.wait().unwrap();
    }
}

/// Runs a test that is ignored, because it needs a process of its own.
#[track_caller]
pub(crate) fn run_alone(name: &str) {
    run_alone_in(&own_scope(), name);
}

/// Runs a test that is ignored in a scope; in none if its name is empty.
#[expect(
    clippy::disallowed_methods,
    reason = "the runtime itself is nobody's program"
)]
#[track_caller]
pub(crate) fn run_alone_in(scope: &str, name: &str) {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .env(SCOPE, scope)
        .args(["--exact", name, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}

/// Not a test: what [`Probe`] runs.
#[ignore = "the other runtime of the tests about deaths"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn probe() {
    let script = std::env::var("PROBE_SCRIPT").unwrap();
    let mut command = shell(&script).env_remove("PROBE_SCRIPT");
    if std::env::var("PROBE_TERMINAL").is_ok_and(|it| !it.is_empty()) {
        command = command.terminal(windlass_process::TerminalSize::default());
    }
    let process = launcher().start(command).await.unwrap();
    println!("program={}", process.pid());
    // Until the test that started us kills us, or is itself gone.
    let _ = std::io::stdin().lines().count();
}

/// The id of a user that owns nothing.
const NOBODY: &str = "65534";

/// Runs a test, which may be ignored, as an ordinary user.
#[track_caller]
pub(crate) fn run_as_ordinary_user(name: &str) {
    let words: &[&str] = if rustix::process::geteuid().is_root() {
        &[
            "setpriv",
            "--reuid",
            NOBODY,
            "--regid",
            NOBODY,
            "--clear-groups",
        ]
    } else {
        &["env"]
    };
    run_test_under(words, name);
}

/// Runs a test that is ignored where no namespaces can be made.
#[track_caller]
pub(crate) fn run_without_namespaces(name: &str) {
    let none =
        "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set -all \"$@\"";
    run_test_under(&["unshare", "-Ur", "sh", "-c", none, "sh"], name);
}

/// Runs a test, which may be ignored, by a command that gets it as its last words.
#[expect(
    clippy::disallowed_methods,
    reason = "the runtime itself is nobody's program"
)]
#[track_caller]
fn run_test_under(words: &[&str], name: &str) {
    // The user may not be able to reach the folder of the executable.
    let exe = fs::File::open(std::env::current_exe().unwrap()).unwrap();
    rustix::io::fcntl_setfd(&exe, rustix::io::FdFlags::empty()).unwrap();
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&exe));
    let output = std::process::Command::new(words[0])
        .args(&words[1..])
        .arg(path)
        .args(["--exact", name, "--include-ignored", "--nocapture"])
        .env("TRUST_KEY", "sk-in-the-environment")
        .env_remove("WINDLASS_SKIP_LOG")
        .current_dir("/")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    windlass_skip::relay(&errors);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{errors}"
    );
}
