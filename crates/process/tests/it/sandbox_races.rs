//! A sandbox, attacked while files, sockets and other sandboxes come and go.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, SystemTime};

use windlass_process::Launcher;
use windlass_sandbox::{SandboxMode, SandboxSettings};

use crate::sandbox::{Machine, as_both_users, run, start, workspace};
use crate::support::{eventually, text};

as_both_users!(
    "sandbox_races":
    a_socket_that_is_bound_again_is_hidden_again,
    secrets_that_are_replaced_stay_hidden,
    holes_that_are_exchanged_between_two_starts_are_not_written,
    programs_inside_exchange_no_hole,
    programs_inside_reach_no_process_that_is_being_started,
    a_lock_on_a_placeholder_hinders_no_start,
    a_limited_program_has_no_descriptor_either,
);

/// Changes are recognised by the names in a folder, or by the time of its last change if that is old enough.
#[derive(Debug, Clone, Copy)]
enum KnownBy {
    Names,
    FolderTimes,
}

impl KnownBy {
    const BOTH: [Self; 2] = [Self::Names, Self::FolderTimes];

    /// Makes the launcher look at the project and the home, before a change, in this way. A machine that is too slow for
    /// names looks at times in both cases.
    async fn look(self, launcher: &Launcher, machine: &Machine) {
        if matches!(self, Self::FolderTimes) {
            eventually("the last changes are old", || {
                let old = |folder: &Path| {
                    let changed = fs::metadata(folder).unwrap();
                    let changed = Duration::new(
                        changed.ctime().try_into().unwrap(),
                        changed.ctime_nsec().try_into().unwrap(),
                    );
                    let age = (SystemTime::UNIX_EPOCH + changed).elapsed();
                    age.is_ok_and(|age| age > Duration::from_millis(150))
                };
                old(&machine.root) && old(&machine.home)
            });
        }
        run(launcher, "true", &machine.root, &machine.home).await;
    }
}

fn connect(path: &Path) -> String {
    let path = path.display();
    format!("python3 -c 'import socket; socket.socket(1).connect(\"{path}\")'")
}

/// Asserts that a script fails in a launcher's sandbox.
async fn denies(launcher: &Launcher, machine: &Machine, script: &str, when: &str) {
    let (text, exit) = run(launcher, script, &machine.root, &machine.home).await;
    assert!(!exit.success(), "{when}: {script}: {text}");
}

async fn a_socket_that_is_bound_again_is_hidden_again() {
    let machine = Machine::new();
    let launcher = machine.launcher(&workspace());
    let path = machine.home.join("agent.sock");
    for round in 0..3 {
        let _listener = UnixListener::bind(&path).unwrap();
        denies(&launcher, &machine, &connect(&path), &round.to_string()).await;
        // Its mount goes with it.
        fs::remove_file(&path).unwrap();
    }
}

async fn secrets_that_are_replaced_stay_hidden() {
    let machine = Machine::new();
    let secret = machine.root.join("secret.txt");
    fs::write(&secret, "secret").unwrap();
    let settings = SandboxSettings {
        deny: vec![String::from("secret.txt"), String::from("vault")],
        ..workspace()
    };
    fs::create_dir(machine.root.join("vault")).unwrap();
    let launcher = machine.launcher(&settings);
    for known_by in KnownBy::BOTH {
        denies(&launcher, &machine, "grep . secret.txt", "at first").await;
        known_by.look(&launcher, &machine).await;
        let new = machine.root.join("new.txt");
        fs::write(&new, "another secret").unwrap();
        fs::rename(&new, &secret).unwrap();
        denies(&launcher, &machine, "grep . secret.txt", "renamed").await;
        known_by.look(&launcher, &machine).await;
        fs::remove_file(&secret).unwrap();
        fs::write(&secret, "a third secret").unwrap();
        denies(&launcher, &machine, "grep . secret.txt", "made again").await;
        known_by.look(&launcher, &machine).await;
        for folder in [machine.root.join("vault"), machine.home.join(".ssh")] {
            fs::rename(&folder, folder.with_extension("old")).unwrap();
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("key"), "secret").unwrap();
            let _listener = UnixListener::bind(folder.join("agent")).unwrap();
            let read = format!("cat {}/key", folder.display());
            denies(&launcher, &machine, &read, "a folder").await;
            let connect = connect(&folder.join("agent"));
            denies(&launcher, &machine, &connect, "a socket in it").await;
            fs::remove_dir_all(folder.with_extension("old")).unwrap();
        }
    }
}

/// A change, in words and in deed.
type Exchange = (&'static str, fn(&Path));

/// Changes of the files that run later outside, as a person or an editor makes them.
fn exchanges() -> Vec<Exchange> {
    vec![
        ("the hooks are made again", |root| {
            fs::remove_dir_all(root.join(".git/hooks")).unwrap();
            fs::create_dir(root.join(".git/hooks")).unwrap();
        }),
        ("the repository is exchanged", |root| {
            fs::rename(root.join(".git"), root.join("old")).unwrap();
            fs::create_dir_all(root.join(".git/hooks")).unwrap();
            fs::write(root.join(".git/config"), "[core]\n").unwrap();
            fs::remove_dir_all(root.join("old")).unwrap();
        }),
        ("the configuration is replaced", |root| {
            fs::write(root.join("config"), "[core]\n").unwrap();
            fs::rename(root.join("config"), root.join(".git/config")).unwrap();
        }),
        ("an empty folder of ours becomes a file", |root| {
            fs::remove_dir(root.join(".envrc")).unwrap();
            fs::write(root.join(".envrc"), "").unwrap();
        }),
        ("it is removed", |root| {
            fs::remove_file(root.join(".envrc")).unwrap();
        }),
        ("an empty folder of ours is removed", |root| {
            fs::remove_dir(root.join(".mcp.json")).unwrap();
        }),
        ("a folder gets content", |root| {
            fs::write(root.join(".claude/settings.json"), "{}").unwrap();
        }),
    ]
}

async fn holes_that_are_exchanged_between_two_starts_are_not_written() {
    const ATTACK: &str = "for it in .git/hooks/x .git/config .envrc .mcp.json .claude/settings.json .claude/x; do \
                          (echo evil > $it) 2>&1; done; mv .git away; mv .claude away; ln -s /etc/passwd .envrc; true";
    for known_by in KnownBy::BOTH {
        let machine = Machine::new();
        let root = &machine.root;
        let launcher = machine.launcher(&workspace());
        run(&launcher, ATTACK, root, &machine.home).await;
        for (what, exchange) in exchanges() {
            known_by.look(&launcher, &machine).await;
            exchange(root);
            let (text, _) = run(&launcher, ATTACK, root, &machine.home).await;
            let files = [
                ".git/hooks/x",
                ".git/config",
                ".envrc",
                ".mcp.json",
                ".claude/x",
            ];
            for file in files.into_iter().chain([".claude/settings.json"]) {
                let content = fs::read_to_string(root.join(file)).unwrap_or_default();
                assert!(!content.contains("evil"), "{what}: {file}: {text}");
            }
            assert!(
                root.join(".git").is_dir() && !root.join("away").exists(),
                "{what}"
            );
        }
    }
}

/// A program that tries for as long as it runs to get the files that run later outside out of their places. It prints a
/// line after some attempts.
const EXCHANGER: &str = "exec python3 -u -c '
import ctypes, itertools, os
libc = ctypes.CDLL(None)
def attempt(call, *args):
    try:
        call(*args)
    except OSError:
        pass
def exchange(one, other):
    libc.renameat2(-100, one.encode(), -100, other.encode(), 2)
os.makedirs(\"mine/hooks\", exist_ok=True)
for number in itertools.count():
    if number % 500 == 0:
        print(\"tried\")
    name = (\".git\", \".git/hooks\", \".git/config\", \".envrc\", \".claude\")[number % 5]
    attempt(os.rename, name, \"mine/away\")
    attempt(os.rename, \"mine\", name)
    attempt(exchange, \"mine\", name)
    attempt(os.symlink, \"/var/tmp\", name)
    attempt(os.unlink, name)
    attempt(os.rmdir, name)
    attempt(os.mkdir, name)
    attempt(os.link, \"file\", name)
'";

async fn programs_inside_exchange_no_hole() {
    let machine = Machine::new();
    let root = &machine.root;
    let launcher = machine.launcher(&workspace());
    let exchanger = start(&launcher, EXCHANGER, root, &machine.home).await;
    let tries = || text(&exchanger).lines().count();
    eventually("it attacks", || tries() > 0);
    for round in 0..30 {
        // A slow machine gives the attack less time between two starts, but never none.
        let before = tries();
        // Another sandbox comes and goes with each round.
        let other = machine.launcher(&SandboxSettings {
            deny: vec![format!("none-{round}")],
            ..workspace()
        });
        for launcher in [&launcher, &other] {
            let attack = "echo evil > .git/hooks/x; echo evil > .envrc; echo evil >> .git/config; echo evil > .claude/x";
            run(launcher, attack, root, &machine.home).await;
        }
        eventually("it has attacked", || tries() > before);
    }
    assert!(exchanger.exit().is_none(), "{}", text(&exchanger));
    drop(exchanger);
    assert_eq!(
        fs::read_to_string(root.join(".git/config")).unwrap(),
        "[core]\n"
    );
    assert_eq!(fs::read_dir(root.join(".git/hooks")).unwrap().count(), 0);
    for name in [".envrc", ".claude"] {
        let path = root.join(name);
        let is_file = path.symlink_metadata().is_ok_and(|it| !it.is_dir());
        assert!(!is_file && !path.join("x").exists(), "{name}");
    }
}

/// A program that looks for processes to which it could get, such as those that have not yet entered their sandbox. It
/// prints a line after each look at all of them.
const PRIER: &str = "exec python3 -u -c '
import os, sys
own = os.getpid()
while not os.path.exists(\"stop\"):
    for pid in filter(str.isdigit, os.listdir(\"/proc\")):
        if int(pid) == own:
            continue
        for what in (\"fd/0\", \"fd/3\", \"fd/4\", \"root\", \"cwd\", \"exe\", \"mem\", \"environ\", \"ns/mnt\"):
            path = f\"/proc/{pid}/{what}\"
            try:
                if what == \"mem\":
                    os.close(os.open(path, os.O_RDWR))
                elif what == \"environ\":
                    open(path, \"rb\").read()
                else:
                    os.readlink(path)
                print(\"reached\", path)
            except OSError:
                pass
    print(\"looked\")
'";

async fn programs_inside_reach_no_process_that_is_being_started() {
    let machine = Machine::new();
    let launcher = machine.launcher(&workspace());
    let prier = start(&launcher, PRIER, &machine.root, &machine.home).await;
    let looks = || text(&prier).lines().count();
    eventually("it looks", || looks() > 0);
    for _ in 0..40 {
        // Starts go on until it has looked at all processes while they did.
        let before = looks();
        while looks() == before {
            run(&launcher, "true", &machine.root, &machine.home).await;
        }
    }
    fs::write(machine.root.join("stop"), "").unwrap();
    assert!(prier.wait().await.success());
    let text = text(&prier);
    assert!(text.lines().all(|line| line == "looked"), "{text}");
}

async fn a_lock_on_a_placeholder_hinders_no_start() {
    let machine = Machine::new();
    // An empty folder of the person's is as good as one of ours.
    fs::create_dir(machine.root.join(".claude")).unwrap();
    let read_only = machine.launcher(&SandboxSettings::of_mode(SandboxMode::ReadOnly));
    let lock = "exec python3 -u -c 'import fcntl, os, time
fcntl.flock(os.open(\".claude\", os.O_RDONLY), fcntl.LOCK_EX)
print(\"locked\")
time.sleep(1000)'";
    let locker = start(&read_only, lock, &machine.root, &machine.home).await;
    eventually("it is locked", || text(&locker).contains("locked"));
    let launcher = machine.launcher(&workspace());
    for _ in 0..3 {
        let (text, exit) = run(&launcher, "echo works", &machine.root, &machine.home).await;
        assert!(exit.success(), "{text}");
    }
    denies(&launcher, &machine, "echo evil > .claude/x", "locked").await;
    assert!(locker.exit().is_none());
}

async fn a_limited_program_has_no_descriptor_either() {
    let machine = Machine::new();
    let launcher = machine.launcher(&workspace());
    let launcher = launcher.limited(windlass_sandbox::ResourceLimits {
        memory: Some(1 << 30),
        processes: Some(64),
        ..windlass_sandbox::ResourceLimits::default()
    });
    let list = "ls /proc/self/fd | tr '\\n' ' '";
    let (text, _) = run(&launcher, list, &machine.root, &machine.home).await;
    assert_eq!(text, "0 1 2 3 ");
    // A link out of the project leads nowhere.
    symlink("/etc", machine.root.join("etc")).unwrap();
    denies(
        &launcher,
        &machine,
        "echo evil > etc/windlass-test",
        "a link",
    )
    .await;
}
