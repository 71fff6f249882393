//! `windlass sessions`: the record as its users see it.

use std::process::{Command, Stdio};

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::support::{Project, call, files_below, spawn};

/// A session with everything that is recorded of it.
#[track_caller]
pub(crate) fn show(project: &Project, id: &str) -> Value {
    let shown = project.run(&["sessions", "show", id, "--json"], "");
    assert_eq!(shown.code(), Some(0), "{}", shown.stderr());
    serde_json::from_str(&shown.stdout()).unwrap()
}

/// The calls of a session that was shown, in order.
pub(crate) fn parts_of(shown: &Value) -> Vec<Value> {
    let messages = shown["messages"].as_array().unwrap();
    messages
        .iter()
        .flat_map(|message| message["parts"].as_array().unwrap().clone())
        .collect()
}

#[track_caller]
pub(crate) fn sessions(project: &Project) -> Vec<Value> {
    let listed = project.run(&["sessions", "--json"], "");
    assert_eq!(listed.code(), Some(0), "{}", listed.stderr());
    serde_json::from_str(&listed.stdout()).unwrap()
}

#[test]
fn every_front_end_is_recorded() {
    let project = Project::new();
    let called = project.run(&["call", "shell", r#"{"command": "echo one"}"#], "");
    assert_eq!(called.code(), Some(0));
    let mut drive = project.drive();
    drive.content("shell", json!({"command": "echo two"}));
    let listed = sessions(&project);
    let front_ends: Vec<&Value> = listed.iter().map(|session| &session["frontEnd"]).collect();
    assert_eq!(front_ends, ["drive", "call"]);
    assert_eq!(listed[0]["title"], "echo two");
    assert_eq!(listed[0]["directory"], json!(project.root()));
    assert_eq!(listed[0]["runtime"]["pid"], json!(drive.pid()));
    assert!(listed[0]["time"]["ended"].is_null());
    assert!(listed[1]["time"]["ended"].is_number());
    let shown = show(&project, listed[1]["id"].as_str().unwrap());
    assert_eq!(parts_of(&shown)[0]["state"]["output"], "one\n");
}

#[test]
fn two_at_once_record_side_by_side() {
    let project = Project::new();
    let mut drives = [project.drive(), project.drive()];
    for round in 0..20 {
        for drive in &mut drives {
            let command = format!("echo {round}");
            drive.send(&json!([call("shell", json!({"command": command}))]));
        }
        for drive in &mut drives {
            drive.next();
        }
    }
    let listed = sessions(&project);
    assert_eq!(listed.len(), 2);
    for session in listed {
        let shown = show(&project, session["id"].as_str().unwrap());
        let outputs: Vec<Value> = parts_of(&shown)
            .iter()
            .map(|part| part["state"]["output"].clone())
            .collect();
        let expected: Vec<Value> = (0..20).map(|round| json!(format!("{round}\n"))).collect();
        assert_eq!(outputs, expected);
    }
}

#[test]
fn logs_live_as_long_as_their_record() {
    let project = Project::new();
    let command = "head -c 2000000 /dev/zero | tr '\\0' x";
    let called = project.run(
        &["call", "shell", &json!({"command": command}).to_string()],
        "",
    );
    assert_eq!(called.code(), Some(0));
    let logs = project.state_dir().join("logs");
    assert_eq!(files_below(&logs).len(), 1);
    let part = parts_of(&show(&project, "last"))[0].clone();
    let attachment = &part["state"]["attachments"][0]["url"];
    assert!(
        attachment.as_str().unwrap().starts_with("file:///"),
        "{part}"
    );
    project.run(&["sessions", "prune", "--older-than", "1d"], "");
    assert_eq!(files_below(&logs).len(), 1);
    project.run(&["sessions", "prune", "--older-than", "0s"], "");
    assert_eq!(files_below(&logs).len(), 0);
}

#[test]
fn a_session_can_be_pruned_and_one_that_runs_stays() {
    let project = Project::new();
    project.run(&["call", "shell", r#"{"command": "echo one"}"#], "");
    let mut drive = project.drive();
    drive.content("shell", json!({"command": "echo two"}));
    let pruned = project.run(&["sessions", "prune", "--older-than", "0s", "--json"], "");
    let pruned: Value = serde_json::from_str(&pruned.stdout()).unwrap();
    assert_eq!(pruned, json!({"sessions": 1, "parts": 1}));
    assert_eq!(sessions(&project).len(), 1);
    let wrong = project.run(&["sessions", "prune", "--older-than", "soon"], "");
    assert_eq!(wrong.code(), Some(2));
    assert_snapshot!(wrong.stderr(), @"windlass: `soon` is not a time; give a number and s, m, h, d or w, such as 30d");
}

#[test]
fn it_can_be_turned_off_and_where_it_cannot_be_it_is_said() {
    let project = Project::with_own_config("[conversation]\nrecord = false\n");
    let called = project.run(&["call", "shell", r#"{"command": "echo one"}"#], "");
    assert_eq!(called.stdout(), "one\n");
    assert!(!project.state_dir().join("record").exists());

    let project = Project::new();
    std::fs::create_dir_all(project.state_dir()).unwrap();
    std::fs::write(project.state_dir().join("record"), "in the way").unwrap();
    let called = project.run(&["call", "shell", r#"{"command": "echo one"}"#], "");
    assert_eq!(
        (called.code(), called.stdout().as_str()),
        (Some(0), "one\n")
    );
    assert!(
        called.stderr().contains("the session is not recorded"),
        "{}",
        called.stderr()
    );
}

/// Checks JSON values against the schema files with a validator that is not
/// ours.
const VALIDATE: &str = include_str!("../clients/validate.py");

#[test]
fn parts_states_and_requests_are_valid_by_an_independent_validator() {
    needs!("mcp-python");
    let project = Project::with_config("[conversation.tools.shell]\nrun = \"ask\"\n");
    let mut drive = project.drive_asking();
    let mut requests = Vec::new();
    let calls = [
        spawn("a", "cat"),
        call("shell", json!({"command": "exit 3"})),
        call("nothing", json!({})),
    ];
    drive.send(&Value::from_iter(calls));
    for _ in 0..2 {
        let event = drive.next();
        let id = event["request"]["id"].clone();
        drive.send(&json!({"permission": id, "reply": "once"}));
        requests.push(event["request"].clone());
    }
    drive.next();
    let apply = json!({"action": "apply", "id": "a", "input": "x"});
    drive.content("shell", apply);
    drive.kill();
    let shown = show(&project, "last");
    let parts = parts_of(&shown);
    assert_eq!(parts.len(), 4);
    let states: Vec<Value> = parts.iter().map(|part| part["state"].clone()).collect();
    let recorded = shown["permissions"].as_array().unwrap();
    requests.extend(recorded.iter().map(|record| record["request"].clone()));
    let replies = recorded
        .iter()
        .map(|record| record["decision"]["reply"].clone());
    let values = json!({
        "toolPart": parts,
        "toolState": states,
        "permissionRequest": requests,
        "permissionReply": replies.collect::<Vec<_>>(),
    });
    let schemas = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas");
    let mut python = Command::new("mcp-python")
        .args(["-c", VALIDATE, schemas])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    serde_json::to_writer(python.stdin.take().unwrap(), &values).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "14");
}
