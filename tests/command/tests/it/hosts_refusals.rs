//! Carriers that fail in their first words or later: each is an error that names the host and says what would work.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::json;
use windlass_outside::needs;

use crate::hosts::hosted;
use crate::hosts_faults::assert_numbers;
use crate::programs::windlass;
use crate::support::Project;

/// The error of a tool on a host that is reached by this shell line.
fn refusal(line: &str) -> String {
    let project = Project::with_own_config(&hosted(&["sh", "-c", line, windlass()], 2));
    let error = project.drive().error("shell", json!({"command": "true"}));
    assert!(error.contains("host `there`"), "{error}");
    error
}

#[test]
fn the_error_for_a_machine_without_windlass_says_to_install_it() {
    let missing = refusal("exec no-such-windlass host");
    assert!(missing.contains("code 127"), "{missing}");
    assert!(missing.contains("install `windlass` there"), "{missing}");
}

#[test]
fn a_carrier_that_exits_names_its_command_and_its_words() {
    let denied = refusal("echo 'Permission denied (publickey).' >&2; exit 255");
    assert!(
        denied.contains("Permission denied (publickey)."),
        "{denied}"
    );
    assert!(denied.contains("run the command by hand"), "{denied}");
    let killed = refusal("kill -9 $$");
    assert!(killed.contains("signal 9"), "{killed}");
    let quiet = refusal("exit 0");
    assert!(quiet.contains("code 0 before the host answered"), "{quiet}");
}

#[test]
fn a_far_side_that_cannot_keep_programs_says_why() {
    let refused = refusal("exec env HOME=/proc/none XDG_STATE_HOME=/proc/none \"$0\" host");
    assert!(refused.contains("refused the link"), "{refused}");
    assert!(refused.contains("/proc/none"), "{refused}");
}

#[test]
fn the_far_side_names_both_versions_too() {
    // A hello of version 99: its kind, the magic, the version, a text, the session, two times and an empty list.
    let hello = [
        &b"@"[..],
        b"windlass\x63\x03\0\0\x009.9",
        &[7; 16],
        &[0; 16],
        &[0; 4],
    ];
    let hello = hello.concat();
    let length = u32::try_from(hello.len()).unwrap().to_le_bytes();
    let project = Project::new();
    let mut command = project.windlass(&["host"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&[&length[..], &hello].concat()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_snapshot!(said, @"windlass: the near side speaks version 99 of the link, and this one speaks version 2");
    // The near side hears it from a hello of this version.
    assert_eq!(output.stdout.get(5..13), Some(&b"windlass"[..]));
}

/// Passes frames on, and after some of them text that is none.
const SPOILING: &str = r"
import os, struct, sys
left = 20000
while left > 0:
    head = sys.stdin.buffer.read(4)
    body = sys.stdin.buffer.read(struct.unpack('<I', head)[0])
    sys.stdout.buffer.write(head + body)
    sys.stdout.buffer.flush()
    left -= len(body)
open(sys.argv[1], 'w').close()
while True:
    os.write(1, b'garbage ')
";

#[test]
fn garbage_in_the_middle_of_a_link_is_a_lost_link() {
    needs!("python3");
    let folder = tempfile::tempdir().unwrap();
    let spoilt = folder.path().join("spoilt");
    // The first link is spoilt after some output; the others are not.
    let line = "test -e \"$1\" && exec \"$0\" host; \"$0\" host | python3 -c \"$2\" \"$1\"";
    let spoilt_path = spoilt.to_str().unwrap();
    let via = ["sh", "-c", line, windlass(), spoilt_path, SPOILING];
    let project = Project::with_own_config(&hosted(&via, 600));
    let mut drive = project.drive();
    let script = "for i in $(seq 1 40); do seq $((i * 1000)) $((i * 1000 + 999)); sleep 0.02; done";
    let spawn = json!({"action": "spawn", "id": "it", "command": script});
    drive.content("shell", spawn);
    let ended = drive.content("await", json!({"all": ["it"]}));
    assert_eq!(ended["completed"][0].get("error"), None, "{ended}");
    assert!(fs::exists(&spoilt).unwrap());
    assert_numbers(&project, 1000..=40_999);
}
