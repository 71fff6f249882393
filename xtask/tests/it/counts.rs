//! `cargo xtask test` on a simulated machine: its cargo and its apt-get are
//! scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

const PASSED: &str = "echo 'running 4 tests'; echo 'test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s'";
const FAILED: &str = "echo 'running 3 tests'; echo 'test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s'; exit 101";

/// A Python that finds no tests of the package.
const NO_TESTS: &str = "echo 'Ran 0 tests' >&2; echo OK >&2";
/// The suites that this machine cannot run: types, TypeScript and two adapters.
const SUITES: usize = 4;

/// Everything that the tests need.
const PROGRAMS: [&str; 23] = [
    "sh",
    "bash",
    "git",
    "python3",
    "curl",
    "setsid",
    "nohup",
    "vim",
    "less",
    "gdb",
    "gcc",
    "pytest",
    "top",
    "whiptail",
    "ssh-keygen",
    "ssh",
    "sshd",
    "sudo",
    "setpriv",
    "useradd",
    "chromium",
    "ip",
    "nsenter",
];
/// Programs that are not installed from Debian.
const CLIENTS: [&str; 3] = ["mcp-node", "mcp-python", "page-driver"];
const CLIENTS_FOLDER: &str = "cache/windlass-mcp-clients/bin";
/// The directory of the NATS server.
const NATS_FOLDER: &str = "cache/windlass-nats-2.15.1/bin";
/// Marks the installation of the clients as complete.
const INSTALLED: &str = "cache/windlass-mcp-clients/installed";
const WANTED: &str = concat!(
    include_str!("../../clients/npm"),
    include_str!("../../clients/pypi")
);

/// Locked while a script is written and while a child is started. A child that
/// another thread starts meanwhile would keep the script open for writing, and
/// such a file cannot be executed.
static STARTING: Mutex<()> = Mutex::new(());

/// A directory that is the whole `PATH`.
struct Machine(TempDir);

impl Machine {
    fn new(programs: &[&str]) -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        for program in programs {
            machine.script(program, "exit 0");
        }
        if programs.contains(&"python3") {
            machine.script("python3", NO_TESTS);
        }
        fs::create_dir_all(machine.folder().join(CLIENTS_FOLDER)).unwrap();
        for program in CLIENTS {
            machine.script(&format!("{CLIENTS_FOLDER}/{program}"), "exit 0");
        }
        fs::write(machine.folder().join(INSTALLED), WANTED).unwrap();
        fs::create_dir_all(machine.folder().join(NATS_FOLDER)).unwrap();
        machine.script(&format!("{NATS_FOLDER}/nats-server"), "exit 0");
        machine
    }

    /// A machine with everything that the tests need except these.
    fn without(missing: &[&str]) -> Self {
        let mut programs = PROGRAMS.to_vec();
        programs.retain(|program| !missing.contains(program));
        Self::new(&programs)
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }

    fn script(&self, name: &str, text: &str) {
        let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.folder().join(name);
        fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The output of `cargo xtask test` with this cargo, and whether it
    /// succeeded.
    fn check(&self, cargo: &str) -> (String, bool) {
        // Only the real cargo knows the target directory.
        let path = std::env::var("PATH").unwrap();
        let real = env!("CARGO");
        let metadata = format!("[ \"$1\" != metadata ] || PATH='{path}' exec '{real}' \"$@\"");
        self.script("cargo", &format!("{metadata}\n{cargo}"));
        let starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        let child = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .arg("test")
            .env("CARGO", self.folder().join("cargo"))
            .env("PATH", self.folder())
            .env("TMPDIR", self.folder())
            .env("XDG_CACHE_HOME", self.folder().join("cache"))
            .env("FOLDER", self.folder())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        drop(starting);
        let output = child.wait_with_output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        (stdout, output.status.success())
    }
}

fn last_line(stdout: &str) -> &str {
    stdout.lines().last().unwrap_or_default()
}

fn counts(passed: usize, failed: usize, skipped: usize) -> String {
    format!("{passed} passed, {failed} failed, {skipped} skipped")
}

#[test]
fn the_counts_are_the_last_line() {
    let (stdout, content) = Machine::new(&PROGRAMS).check(&format!("{PASSED}\n{PASSED}"));
    assert_eq!(last_line(&stdout), counts(6, 0, 2 + SUITES));
    assert!(content);
}

#[test]
fn all_of_the_workspace_is_tested_by_plain_cargo_test() {
    let (stdout, _) = Machine::new(&PROGRAMS).check(&format!("echo \"[$*]\"\n{PASSED}"));
    assert!(
        stdout.contains("[test --workspace --no-fail-fast]"),
        "{stdout}"
    );
}

#[test]
fn a_failed_test_is_counted_and_told_by_the_exit_code() {
    let (stdout, content) = Machine::new(&PROGRAMS).check(&format!("{PASSED}\n{FAILED}"));
    assert_eq!(last_line(&stdout), counts(5, 1, 1 + SUITES));
    assert!(!content);
}

#[test]
fn what_does_not_compile_is_reported_by_the_exit_code() {
    let (stdout, content) = Machine::new(&PROGRAMS).check("exit 101");
    assert_eq!(last_line(&stdout), counts(0, 0, 0));
    assert!(!content);
}

#[test]
fn no_test_at_all_is_not_a_success() {
    let (_, content) = Machine::new(&PROGRAMS).check("exit 0");
    assert!(!content);
}

#[test]
fn a_test_that_was_skipped_is_named_and_not_counted_as_passed() {
    let skip = "echo 'commits_are_shown: git' >> \"$WINDLASS_SKIP_LOG\"";
    let (stdout, content) = Machine::new(&PROGRAMS).check(&format!("{skip}\n{PASSED}"));
    assert!(
        stdout.contains("skipped: commits_are_shown: git\n"),
        "{stdout}"
    );
    assert_eq!(last_line(&stdout), counts(2, 0, 2 + SUITES));
    assert!(content);
}

#[test]
fn what_cannot_be_had_is_said_and_passed_to_the_tests() {
    let (stdout, _) = Machine::without(&["git", "python3"])
        .check(&format!("echo \"without $WINDLASS_SKIP\"\n{PASSED}"));
    for program in ["git", "python3"] {
        let said = format!("skipping the tests that need `{program}`: it is missing and ");
        assert!(stdout.contains(&said), "{stdout}");
    }
    assert!(stdout.contains("without git,python3\n"), "{stdout}");
}

#[test]
fn what_is_missing_is_installed_where_that_is_allowed() {
    let machine = Machine::without(&["git"]);
    machine.script(
        "apt-get",
        "echo \"apt-get $*\"\n[ \"$1\" = update ] || { : > \"$FOLDER/git\"; /bin/chmod 755 \"$FOLDER/git\"; }",
    );
    let (stdout, _) = machine.check(&format!("echo \"without $WINDLASS_SKIP.\"\n{PASSED}"));
    if rustix::process::geteuid().is_root() {
        let update = stdout.find("\napt-get update\n").unwrap();
        let install = stdout
            .find("\napt-get install --yes --no-install-recommends git\n")
            .unwrap();
        assert!(update < install);
        assert!(stdout.contains("without .\n"), "{stdout}");
    } else {
        assert!(stdout.contains("only root can install it"), "{stdout}");
        assert!(stdout.contains("without git.\n"), "{stdout}");
    }
}

#[test]
fn clients_that_cannot_be_had_are_said_and_passed_to_the_tests() {
    let machine = Machine::new(&PROGRAMS);
    fs::remove_dir_all(machine.folder().join(CLIENTS_FOLDER)).unwrap();
    let (stdout, _) = machine.check(&format!("echo \"without $WINDLASS_SKIP\"\n{PASSED}"));
    let said = "skipping the tests with other people's MCP clients: cannot run `npm`";
    assert!(stdout.contains(said), "{stdout}");
    assert!(
        stdout.contains("without mcp-node,mcp-python,page-driver\n"),
        "{stdout}"
    );
}

#[test]
fn a_broker_that_cannot_be_had_is_said_and_passed_to_the_tests() {
    let machine = Machine::without(&["python3"]);
    fs::remove_dir_all(machine.folder().join(NATS_FOLDER)).unwrap();
    let (stdout, _) = machine.check(&format!("echo \"without $WINDLASS_SKIP\"\n{PASSED}"));
    let said = "skipping the tests of pools: cannot run `python3`";
    assert!(stdout.contains(said), "{stdout}");
    assert!(stdout.contains("without python3,nats-server\n"), "{stdout}");
}

#[test]
fn an_installation_that_fails_is_said() {
    let machine = Machine::without(&["git"]);
    machine.script("apt-get", "exit 100");
    let (stdout, content) = machine.check(PASSED);
    let why = if rustix::process::geteuid().is_root() {
        "`apt-get update` failed"
    } else {
        "only root can install it"
    };
    assert!(
        stdout.contains(&format!(
            "skipping the tests that need `git`: it is missing and {why} (Debian package `git`)\n"
        )),
        "{stdout}"
    );
    assert_eq!(last_line(&stdout), counts(3, 0, 1 + SUITES));
    assert!(content);
}

#[test]
fn nothing_is_left_behind() {
    let machine = Machine::new(&PROGRAMS);
    machine.check(PASSED);
    let left: Vec<_> = fs::read_dir(machine.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("windlass"))
        .collect();
    assert_eq!(left, [""; 0]);
}
