//! `cargo xtask test` on a simulated machine: its cargo and its apt-get are
//! scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

/// A test binary: its tests are files that exist, and each runs its content.
const BINARY: &str = r#"
case "$*" in
    *--ignored*) echo "for_others: test" ;;
    *--list*) echo "for_others: test"; for test in "$FOLDER/tests"/*; do echo "${test##*/}: test"; done ;;
    *) . "$FOLDER/tests/$1" ;;
esac"#;
/// The examples of a library.
const EXAMPLES: &str = "echo 'running 3 tests'; echo 'test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s'";
const FAILING_EXAMPLES: &str = "echo 'running 2 tests'; echo 'test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s'; exit 101";

/// A Python that finds no tests of the package.
const NO_TESTS: &str = "echo 'Ran 0 tests' >&2; echo OK >&2";
/// The suites that this machine cannot run: types, TypeScript and two adapters.
const SUITES: usize = 4;

/// Everything that the tests need.
const PROGRAMS: [&str; 34] = [
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
    "mount",
    "unshare",
    "script",
    "prlimit",
    "su",
    "seq",
    "sha256sum",
    "strip",
    "tar",
    "node",
    "npm",
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
        for folder in [NATS_FOLDER, "tests", "tmp", "target/debug"] {
            fs::create_dir_all(machine.folder().join(folder)).unwrap();
        }
        machine.script("target/debug/windlass", "exit 0");
        machine.script("binary", BINARY);
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

    /// Gives the test binary a test, which is a script.
    fn test(&self, name: &str, script: &str) -> &Self {
        fs::write(self.folder().join("tests").join(name), script).unwrap();
        self
    }

    /// The output of `cargo xtask test` where examples of libraries do this, and whether it
    /// succeeded.
    fn check(&self, examples: &str, arguments: &[&str]) -> (String, bool) {
        self.check_with("[ \"$2\" = --doc ] || build", examples, arguments)
    }

    /// [`check`](Self::check) with a cargo that builds the tests in its own way.
    fn check_with(&self, build: &str, examples: &str, arguments: &[&str]) -> (String, bool) {
        let binary = self.folder().join("binary");
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let id = concat!(
            "path+file://",
            env!("CARGO_MANIFEST_DIR"),
            "#",
            env!("CARGO_PKG_VERSION")
        );
        let artifact = serde_json::json!({
            "reason": "compiler-artifact",
            "package_id": id,
            "manifest_path": manifest,
            "target": {
                "kind": ["test"], "crate_types": ["bin"], "name": "it", "src_path": manifest,
                "edition": "2024", "doc": false, "doctest": false, "test": true,
            },
            "profile": {
                "opt_level": "0", "debuginfo": 0, "debug_assertions": true,
                "overflow_checks": true, "test": true,
            },
            "features": [],
            "filenames": [],
            "executable": binary,
            "fresh": true,
        });
        // Only the real cargo knows the packages.
        let path = std::env::var("PATH").unwrap();
        let real = env!("CARGO");
        self.script(
            "cargo",
            &format!(
                "[ \"$1\" != metadata ] || PATH='{path}' exec '{real}' \"$@\"\n\
                 build() {{ echo '{artifact}'; exit 0; }}\n{build}\n{examples}"
            ),
        );
        let starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        let child = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .arg("test")
            .args(arguments)
            .env("CARGO", self.folder().join("cargo"))
            .env("CARGO_TARGET_DIR", self.folder().join("target"))
            .env("PATH", self.folder())
            .env("TMPDIR", self.folder().join("tmp"))
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
    let machine = Machine::without(&["npm"]);
    machine.test("one", "").test("two", "");
    let (stdout, succeeded) = machine.check(EXAMPLES, &[]);
    assert_eq!(last_line(&stdout), counts(4, 0, SUITES));
    assert!(succeeded);
}

#[test]
fn a_test_that_others_run_is_not_run() {
    let machine = Machine::new(&PROGRAMS);
    machine.test("one", "");
    let (stdout, _) = machine.check(EXAMPLES, &["--test", "it"]);
    assert_eq!(last_line(&stdout), counts(1, 0, 0));
}

#[test]
fn the_whole_workspace_is_built_unless_a_package_is_selected() {
    let machine = Machine::new(&PROGRAMS);
    machine.test("one", "");
    for (arguments, built) in [
        (&[][..], "$ cargo test --no-run --workspace\n"),
        (&["-p", "xtask"], "$ cargo test --no-run --package xtask\n"),
    ] {
        let (stdout, _) = machine.check(EXAMPLES, arguments);
        assert!(stdout.contains(built), "{stdout}");
    }
}

#[test]
fn a_failed_test_is_named_and_shown_with_its_output() {
    let machine = Machine::without(&["npm"]);
    machine
        .test("good", "")
        .test("bad", "echo unexpected >&2; exit 101");
    let (stdout, succeeded) = machine.check(EXAMPLES, &[]);
    let shown = "FAILED: xtask it bad: it ended with exit status: 101\nunexpected\n";
    assert!(stdout.contains(shown), "{stdout}");
    assert!(stdout.contains("\nfailed: xtask it bad\n"), "{stdout}");
    assert_eq!(last_line(&stdout), counts(3, 1, SUITES));
    assert!(!succeeded);
}

#[test]
fn a_failed_example_is_counted_and_told_by_the_exit_code() {
    let machine = Machine::without(&["npm"]);
    machine.test("good", "");
    let (stdout, succeeded) = machine.check(FAILING_EXAMPLES, &[]);
    assert_eq!(last_line(&stdout), counts(2, 1, SUITES));
    assert!(!succeeded);
}

#[test]
fn what_does_not_compile_is_reported_by_the_exit_code() {
    let machine = Machine::new(&PROGRAMS);
    machine.test("one", "");
    let (stdout, succeeded) = machine.check_with("exit 101", "", &[]);
    assert!(!stdout.contains(" passed, "), "{stdout}");
    assert!(!succeeded);
}

#[test]
fn no_test_at_all_is_not_a_success() {
    let machine = Machine::new(&PROGRAMS);
    machine.test("one", "");
    let (stdout, succeeded) = machine.check(EXAMPLES, &["absent"]);
    assert_eq!(last_line(&stdout), counts(0, 0, 0));
    assert!(!succeeded);
}

#[test]
fn the_times_of_all_tests_are_stored() {
    let machine = Machine::new(&PROGRAMS);
    machine.test("good", "").test("bad", "exit 1");
    let (stdout, _) = machine.check(EXAMPLES, &["--test", "it"]);
    let stored = fs::read_to_string(machine.folder().join("target/test-times.json")).unwrap();
    let stored: serde_json::Value = serde_json::from_str(&stored).unwrap();
    let mut tests: Vec<String> = stored["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            assert!(row["milliseconds"].is_u64() && row["cpu_milliseconds"].is_u64());
            format!("{} {}", row["test"].as_str().unwrap(), row["result"])
        })
        .collect();
    tests.sort();
    assert_eq!(
        tests,
        ["xtask it bad \"failed\"", "xtask it good \"passed\""]
    );
    assert!(stdout.contains("  slowest tests\n"), "{stdout}");
}

#[test]
fn a_test_that_was_skipped_is_named_and_not_counted_as_passed() {
    let machine = Machine::new(&PROGRAMS);
    let skip = "echo 'commits_are_shown: git' >> \"$WINDLASS_SKIP_LOG\"";
    machine.test("commits_are_shown", skip).test("other", "");
    let (stdout, succeeded) = machine.check(EXAMPLES, &["--test", "it"]);
    assert!(
        stdout.contains("skipped: xtask it commits_are_shown: commits_are_shown: git\n"),
        "{stdout}"
    );
    assert_eq!(last_line(&stdout), counts(1, 0, 1));
    assert!(succeeded);
    // Strictly, it must be listed.
    let (stdout, succeeded) = machine.check(EXAMPLES, &["--test", "it", "--strict"]);
    let said = "failed: xtask it commits_are_shown: it was skipped, and `xtask/skips.toml` does not list it\n";
    assert!(stdout.contains(said), "{stdout}");
    assert_eq!(last_line(&stdout), counts(1, 1, 0));
    assert!(!succeeded);
}

#[test]
fn what_cannot_be_had_is_said_and_passed_to_the_tests() {
    let machine = Machine::without(&["git", "python3"]);
    machine.test("shown", "echo \"without $WINDLASS_SKIP\"; exit 1");
    let (stdout, _) = machine.check(EXAMPLES, &["--test", "it"]);
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
    // As on a machine whose user may install without a password.
    machine.script(
        "sudo",
        "while case $1 in -n|*=*) true;; *) false;; esac; do shift; done; exec \"$@\"",
    );
    machine.script("true", "exit 0");
    machine.test("shown", "echo \"without $WINDLASS_SKIP.\"; exit 1");
    let (stdout, _) = machine.check(EXAMPLES, &["--test", "it"]);
    let said = stdout.find("installing Debian packages: git\n").unwrap();
    let update = stdout.find("\napt-get update\n").unwrap();
    let install = stdout
        .find("\napt-get install --yes --no-install-recommends git\n")
        .unwrap();
    assert!(said < update && update < install);
    assert!(stdout.contains("without .\n"), "{stdout}");
}

#[test]
fn clients_that_cannot_be_had_are_said_and_passed_to_the_tests() {
    let machine = Machine::without(&["npm"]);
    fs::remove_dir_all(machine.folder().join(CLIENTS_FOLDER)).unwrap();
    machine.test("shown", "echo \"without $WINDLASS_SKIP\"; exit 1");
    let (stdout, _) = machine.check(EXAMPLES, &["--test", "it"]);
    let said = "skipping the tests with other people's MCP clients: cannot run `npm`";
    assert!(stdout.contains(said), "{stdout}");
    assert!(
        stdout.contains("without npm,mcp-node,mcp-python,page-driver\n"),
        "{stdout}"
    );
}

#[test]
fn a_broker_that_cannot_be_had_is_said_and_passed_to_the_tests() {
    let machine = Machine::without(&["python3"]);
    fs::remove_dir_all(machine.folder().join(NATS_FOLDER)).unwrap();
    machine.test("shown", "echo \"without $WINDLASS_SKIP\"; exit 1");
    let (stdout, _) = machine.check(EXAMPLES, &["--test", "it"]);
    let said = "skipping the tests of pools: cannot run `python3`";
    assert!(stdout.contains(said), "{stdout}");
    assert!(stdout.contains("without python3,nats-server\n"), "{stdout}");
}

#[test]
fn an_installation_that_fails_is_said() {
    let machine = Machine::without(&["git", "sudo"]);
    machine.script("apt-get", "exit 100");
    machine.test("one", "");
    let (stdout, succeeded) = machine.check(EXAMPLES, &["--test", "it"]);
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
    assert_eq!(last_line(&stdout), counts(1, 0, 0));
    assert!(succeeded);
}

#[test]
fn nothing_is_left_behind() {
    let machine = Machine::new(&PROGRAMS);
    machine.test("one", "echo text; exit 1");
    machine.check(EXAMPLES, &[]);
    let left = fs::read_dir(machine.folder().join("tmp")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}
