//! The process around one test: what it reports, and that nothing outlives it.
#![cfg(target_os = "linux")]

use std::io::Read;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// More time than anything here needs.
const PLENTY: u64 = 60_000;

/// A guard around a shell that runs a script.
struct Guard {
    child: Child,
    folder: TempDir,
}

impl Guard {
    fn start(limit: u64, script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["guard", &limit.to_string()])
            .arg(folder.path().join("output"))
            .args(["/bin/sh", "-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self { child, folder }
    }

    /// Its report, and the output of the script.
    fn report(mut self) -> (Value, String) {
        let mut report = String::new();
        let stdout = self.child.stdout.as_mut().unwrap();
        stdout.read_to_string(&mut report).unwrap();
        assert!(self.child.wait().unwrap().success());
        (serde_json::from_str(&report).unwrap(), self.output())
    }

    fn output(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("output")).unwrap_or_default()
    }
}

fn is_alive(pid: &str) -> bool {
    std::fs::exists(format!("/proc/{}", pid.trim())).unwrap()
}

#[test]
fn the_exit_and_the_output_of_a_test_are_reported() {
    let (report, output) = Guard::start(PLENTY, "echo out; echo error >&2; exit 3").report();
    // As `waitpid` returns it.
    assert_eq!(report["status"], 3 << 8);
    assert_eq!(report["killed"], serde_json::json!([]));
    assert_eq!(output, "out\nerror\n");
    let (report, _) = Guard::start(PLENTY, "kill -9 $$").report();
    assert_eq!(report["status"], 9);
}

#[test]
fn a_test_has_no_terminal_and_no_input() {
    let (report, output) = Guard::start(PLENTY, "cat; true </dev/tty || echo none").report();
    assert_eq!(report["status"], 0);
    assert!(output.ends_with("none\n"), "{output}");
}

#[test]
fn the_time_on_the_processor_includes_that_of_orphans() {
    // The orphan ends on its own, after the test.
    let busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let (report, _) = Guard::start(PLENTY, &format!("setsid sh -c '{busy}' & exit 0")).report();
    assert_eq!(report["status"], 0);
    assert!(report["cpu"].as_u64().unwrap() >= 50, "{report}");
    assert_eq!(report["killed"], serde_json::json!([]));
}

#[test]
fn a_test_that_exceeds_its_limit_is_killed_with_its_tree() {
    let script = "setsid sleep 1000 & echo $!; sleep 1001";
    let (report, output) = Guard::start(300, script).report();
    assert_eq!(report["status"], Value::Null);
    let killed = report["killed"].to_string();
    assert!(killed.contains(" sleep 1000"), "{killed}");
    assert!(killed.contains(" sleep 1001"), "{killed}");
    assert!(!is_alive(&output));
}

#[test]
fn a_process_that_outlives_its_test_is_named_and_killed() {
    let script = "(trap '' TERM; exec setsid sleep 1002) & echo $!; exit 0";
    let (report, output) = Guard::start(PLENTY, script).report();
    assert_eq!(report["status"], 0);
    assert_eq!(report["killed"][0], format!("{} sleep 1002", output.trim()));
    assert!(!is_alive(&output));
}

#[test]
fn the_end_of_the_runner_ends_the_test() {
    let mut guard = Guard::start(PLENTY, "setsid sleep 1003 & echo $!; sleep 1004");
    while guard.output().is_empty() {
        std::thread::yield_now();
    }
    let orphan = guard.output();
    // The pipe is closed when the runner ends.
    drop(guard.child.stdin.take());
    guard.child.wait().unwrap();
    assert!(!is_alive(&orphan));
}

#[test]
fn a_program_that_cannot_be_run_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["guard", "1000"])
        .arg(folder.path().join("output"))
        .arg(folder.path().join("absent"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cannot run `"), "{said}");
}
