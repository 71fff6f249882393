//! A command whose output cannot be written: nobody reads it any more, or the
//! disk is full.

use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::process::{Output, Stdio};

use windlass_outside::model::Turn;

use crate::query::asked;
use crate::support::{Drive, Project, spawn};

/// Every command that prints something and exits.
const COMMANDS: [&[&str]; 17] = [
    &["--help"],
    &["--version"],
    &["help", "drive"],
    &["ps"],
    &["ps", "--json"],
    &["tools"],
    &["tools", "--json"],
    &["tools", "check"],
    &["tools", "new", "fresh"],
    &["models"],
    &["sessions"],
    &["permissions"],
    &["init"],
    &["completions", "bash"],
    &["call", "shell", r#"{"command":"echo it"}"#],
    &["mcp", "install"],
    &["mcp", "install", "claude", "--print"],
];

/// A pipe that nobody reads.
fn unread() -> OwnedFd {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

fn full() -> OwnedFd {
    let full = OpenOptions::new().write(true).open("/dev/full");
    full.unwrap().into()
}

fn run(project: &Project, args: &[&str], stdout: OwnedFd) -> Output {
    let mut command = project.windlass(args);
    command.stdin(Stdio::null()).stdout(stdout);
    command.output().unwrap()
}

/// A project in which each command has something to print, and a session that
/// is under way.
fn with_session() -> (Project, Drive) {
    let project = Project::new();
    let mut drive = project.drive();
    let begun = drive.run([spawn("s", "sleep 600")]);
    assert_eq!(
        begun["replies"][0]["content"]["state"], "running",
        "{begun}"
    );
    (project, drive)
}

#[test]
fn a_command_that_nobody_reads_ends_with_141_and_says_nothing() {
    let (project, _drive) = with_session();
    for args in COMMANDS {
        let output = run(&project, args, unread());
        let said = String::from_utf8_lossy(&output.stderr);
        // What goes to stderr by design may be there; a complaint may not.
        assert!(!said.contains("panicked"), "{args:?}: {said}");
        assert!(!said.contains("Broken pipe"), "{args:?}: {said}");
        assert_eq!(output.status.code(), Some(141), "{args:?}: {said}");
    }
}

#[test]
fn a_command_whose_output_cannot_be_written_fails_with_one_line() {
    let (project, _drive) = with_session();
    for args in COMMANDS {
        let output = run(&project, args, full());
        let said = String::from_utf8_lossy(&output.stderr);
        let complaints = said.lines().filter(|line| line.contains("space"));
        assert_eq!(complaints.count(), 1, "{args:?}: {said}");
        assert!(!said.contains("panicked"), "{args:?}: {said}");
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
    }
}

#[test]
fn a_drive_whose_output_is_full_fails_with_one_line() {
    let project = Project::new();
    let batch = r#"[{"tool":"shell","arguments":{"command":"echo it"}}]"#;
    project.write("lines", &format!("{batch}\n"));
    let lines = std::fs::File::open(project.root().join("lines")).unwrap();
    let mut command = project.windlass(&["drive"]);
    let output = command.stdin(lines).stdout(full()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn complaints_that_cannot_be_written_do_no_harm() {
    let project = Project::new();
    for args in [&["no-such-subcommand"][..], &["call", "shell", "no json"]] {
        let mut command = project.windlass(args);
        command.stdin(Stdio::null()).stderr(full());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_nobody_reads_is_aborted() {
    for form in [&[][..], &["--json"]] {
        let asked = asked("unattended", [Turn::text("a word")]).await;
        let args = [form, &["query", "do", "it"]].concat();
        let output = tokio::task::block_in_place(|| run(&asked.project, &args, unread()));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(141), "{form:?}: {said}");
        assert_eq!(said, "", "{form:?}");
    }
}

#[test]
fn an_mcp_server_whose_client_does_not_read_ends_as_every_command_does() {
    let project = Project::new();
    let initialize = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    });
    project.write("lines", &format!("{initialize}\n"));
    for (stdout, code) in [(unread(), 141), (full(), 1)] {
        let lines = std::fs::File::open(project.root().join("lines")).unwrap();
        let mut command = project.windlass(&["mcp"]);
        let output = command.stdin(lines).stdout(stdout).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert_eq!(said.lines().count(), usize::from(code == 1), "{said}");
    }
}
