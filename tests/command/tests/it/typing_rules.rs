//! Rules hold for what is typed as they do for what is started.

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::support::{Drive, Project, call};

/// Everything runs unasked, but for one program.
const DENY: &str = r#"
[conversation.tools.shell]
run = "unattended"
[conversation.tools.shell.permissions]
"touch *" = "deny"
"#;

/// A person is asked, but for the log.
const ALLOW: &str = r#"
[conversation.tools.shell.permissions]
"git log *" = "allow"
"ls *" = "allow"
"#;

const DENIED: &str = "the configuration denies `touch *` of `shell`; nothing has run";

/// Sends a call, replies `reply` to whatever is asked, and returns the requests' patterns and the call's own reply.
fn step(drive: &mut Drive, arguments: Value, reply: &str) -> (Vec<Value>, Value) {
    drive.send(&json!([call("shell", arguments)]));
    let mut asked = Vec::new();
    loop {
        let line = drive.next();
        if line["request"].is_object() {
            asked.push(line["request"]["patterns"].clone());
            let id = &line["request"]["id"];
            drive.send(&json!({"permission": id, "reply": reply}));
        } else {
            return (asked, line["replies"][0].clone());
        }
    }
}

fn spawn(command: &str, terminal: bool) -> Value {
    json!({"action": "spawn", "id": "a", "command": command, "terminal": terminal})
}

fn typed(input: &str) -> Value {
    json!({"action": "apply", "id": "a", "input": input})
}

fn piece(input: &str) -> Value {
    json!({"action": "apply", "id": "a", "input": input, "enter": false})
}

fn keys(keys: &[&str]) -> Value {
    json!({"action": "apply", "id": "a", "keys": keys})
}

fn text(reply: &Value) -> String {
    reply["content"]["content"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn error(reply: &Value) -> &str {
    reply["content"].as_str().unwrap_or_default()
}

#[test]
fn a_denied_command_is_not_typed_into_a_shell() {
    needs!("bash");
    for terminal in [true, false] {
        let project = Project::with_config(DENY);
        let mut drive = project.drive_asking();
        // It may run anything, so that it is asked about where something is denied.
        let (asked, _) = step(&mut drive, spawn("bash --norc", terminal), "once");
        assert_eq!(asked.len(), 1);
        let (asked, reply) = step(&mut drive, typed("echo a$((1+1))b"), "reject");
        assert!(asked.is_empty(), "{asked:?}");
        if terminal {
            assert!(text(&reply).contains("a2b"), "{reply}");
        }
        for line in ["touch x", "true; 'touch' x", "env touch x", "true\ntouch x"] {
            let (asked, reply) = step(&mut drive, typed(line), "reject");
            assert!(asked.is_empty(), "{asked:?}");
            assert_eq!(error(&reply), DENIED, "{line}");
        }
        // In pieces.
        let (_, reply) = step(&mut drive, piece("tou"), "reject");
        assert_eq!(reply["is_error"], false, "{reply}");
        let (_, reply) = step(&mut drive, piece("ch x"), "reject");
        assert_eq!(error(&reply), DENIED);
        assert!(!project.root().join("x").exists());
    }
}

#[test]
fn keys_that_make_a_line_are_judged_together_and_history_is_asked_about() {
    needs!("bash");
    let project = Project::with_config(DENY);
    let mut drive = project.drive_asking();
    step(&mut drive, spawn("bash --norc", true), "once");
    step(&mut drive, keys(&["t", "o", "u"]), "reject");
    let (_, reply) = step(
        &mut drive,
        keys(&["c", "h", "space", "x", "enter"]),
        "reject",
    );
    assert_eq!(error(&reply), DENIED);
    step(&mut drive, keys(&["ctrl-c"]), "reject");
    step(&mut drive, typed("echo here"), "reject");
    let (asked, _) = step(&mut drive, keys(&["up"]), "reject");
    assert!(asked.is_empty(), "{asked:?}");
    let (asked, reply) = step(&mut drive, keys(&["enter"]), "reject");
    assert_eq!(asked.len(), 1, "{reply}");
    assert_eq!(reply["is_error"], true);
}

#[test]
fn text_that_a_program_reads_is_data() {
    let project = Project::with_config(DENY);
    let mut drive = project.drive_asking();
    let (asked, _) = step(&mut drive, spawn("cat", true), "reject");
    assert!(asked.is_empty());
    let (asked, reply) = step(&mut drive, typed("touch x"), "reject");
    assert!(asked.is_empty(), "{asked:?}");
    assert!(text(&reply).contains("touch x"), "{reply}");
}

#[test]
fn a_line_typed_ahead_of_a_shell_is_judged() {
    needs!("bash");
    let project = Project::with_config(DENY);
    let mut drive = project.drive_asking();
    step(&mut drive, spawn("bash --norc", true), "once");
    step(&mut drive, typed("sleep 600"), "once");
    let (_, reply) = step(&mut drive, typed("touch x"), "reject");
    assert_eq!(error(&reply), DENIED);
}

#[test]
fn a_rule_that_allows_a_line_does_not_allow_what_its_pager_runs() {
    needs!("git", "less");
    let project = Project::with_config(ALLOW);
    for args in [
        &["init", "-q", "."][..],
        &["config", "core.pager", "less -+F"],
        &["config", "user.name", "Nobody"],
        &["config", "user.email", "nobody@example.org"],
        &["commit", "-q", "--allow-empty", "-m", "first"],
    ] {
        crate::term_sitting::outside(&project, "git", args);
    }
    let mut drive = project.drive_asking();
    let (asked, _) = step(&mut drive, spawn("git log", true), "reject");
    assert!(asked.is_empty(), "{asked:?}");
    let (asked, reply) = step(&mut drive, typed("!touch x"), "reject");
    assert_eq!(asked, [json!(["!touch x"])]);
    assert_eq!(reply["is_error"], true);
    assert!(!project.root().join("x").exists());
    let (asked, _) = step(&mut drive, keys(&["q"]), "reject");
    assert!(asked.is_empty(), "{asked:?}");
}

#[test]
fn a_shell_that_a_person_permitted_takes_lines_unasked() {
    needs!("bash");
    let project = Project::with_config(ALLOW);
    let mut drive = project.drive_asking();
    let (asked, _) = step(&mut drive, spawn("bash --norc", true), "once");
    assert_eq!(asked.len(), 1);
    for line in ["echo a", "for i in 1 2", "do echo $i", "done", "touch x"] {
        let (asked, _) = step(&mut drive, typed(line), "reject");
        assert!(asked.is_empty(), "{line}: {asked:?}");
    }
}

#[test]
fn the_editor_of_git_runs_no_commands() {
    needs!("git", "vim");
    let project = crate::term_git::repository();
    let git = |args: &[&str]| crate::term_sitting::outside(&project, "git", args);
    project.write("a", "1");
    git(&["add", "a"]);
    git(&["commit", "-q", "-m", "first"]);
    project.write("a", "2");
    git(&["add", "a"]);
    let mut drive = project.drive();
    let mut act = |arguments: Value| drive.content("git", arguments);
    act(json!({"action": "spawn", "id": "c", "command": "commit"}));
    for input in [":!touch x", ":call system('touch x')", "!!touch x"] {
        act(json!({"action": "apply", "id": "c", "input": input}));
        act(json!({"action": "apply", "id": "c", "keys": ["enter"]}));
    }
    act(json!({"action": "abort", "id": "c"}));
    assert!(!project.root().join("x").exists());
    git(&["commit", "-q", "-m", "second"]);
    act(json!({"action": "spawn", "id": "r", "command": "rebase", "args": ["--root"]}));
    act(json!({"action": "apply", "id": "r", "input": "Oexec touch x\u{1b}:wq"}));
    let ended = drive.content("await", json!({"all": ["r"], "timeout_secs": 20}));
    assert!(!project.root().join("x").exists(), "{ended}");
    assert!(ended.to_string().contains("nothing was rebased"), "{ended}");
}
