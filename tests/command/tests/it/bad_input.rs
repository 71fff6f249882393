//! Bad lines: each is answered with one error, and the next line still works.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Drive, Project, call};

/// Sends a bad line; returns the error that answers it, after a look at whether
/// the next line still works.
#[track_caller]
fn error_for(drive: &mut Drive, line: &str) -> String {
    drive.send_text(line);
    let answer = drive.next();
    let object = answer.as_object().unwrap();
    assert_eq!(object.len(), 1, "{answer}");
    let error = object["error"].as_str().unwrap().to_owned();
    assert!(!error.contains(char::is_control), "{error:?}");
    assert!(error.len() < 2000, "{} bytes of error", error.len());
    assert_still_works(drive);
    error
}

#[track_caller]
fn assert_still_works(drive: &mut Drive) {
    let reply = drive.content("shell", json!({"command": "echo works"}));
    assert_eq!(reply, json!("works\n"));
}

#[test]
fn a_bad_line_is_answered_with_one_error_and_the_next_line_works() {
    let project = Project::new();
    let mut drive = project.drive();
    for (line, expected) in [
        ("hello", "not JSON"),
        ("{", "not JSON"),
        ("[{\"tool\":\"shell\"}] trailing", "not JSON"),
        ("42", "a list of calls or an object"),
        ("null", "a list of calls or an object"),
        ("\"text\"", "a list of calls or an object"),
        ("{}", "must have one of `calls`"),
        ("{\"batch\":\"b\"}", "must have one of `calls`"),
        ("{\"calls\":{}}", "`calls` must be a list"),
        ("{\"batch\":7,\"calls\":[]}", "`batch` must be a string"),
        ("{\"calls\":[],\"more\":1}", "unknown key `more`"),
        ("[1]", "call 1 must be an object"),
        ("[{\"arguments\":{}}]", "tool"),
        ("[{\"tool\":5}]", "call 1 is invalid"),
        (
            "[{\"tool\":\"shell\",\"arguments\":[]}]",
            "call 1 is invalid",
        ),
        ("[{\"tool\":\"shell\",\"id\":5}]", "call 1 is invalid"),
        (
            "[{\"tool\":\"shell\",\"name\":\"x\"}]",
            "unknown field `name`",
        ),
        (
            "[{\"tool\":\"a\",\"id\":\"x\"},{\"tool\":\"b\",\"id\":\"x\"}]",
            "same id `x`",
        ),
        ("{\"cancel\":1}", "`cancel` must be"),
        ("{\"cancel\":\"nope\"}", "no batch `nope`"),
        ("{\"turn_end\":false}", "`turn_end` must be true"),
        ("{\"turn_end\":\"yes\"}", "`turn_end` must be true"),
        ("{\"permission\":\"per_1\",\"reply\":\"once\"}", "--ask"),
        ("{\"answer\":\"q_1\",\"value\":true}", "--ask"),
        ("{\"inquire\":\"q_1\",\"decisions\":{}}", "--ask"),
    ] {
        let error = error_for(&mut drive, line);
        assert!(error.contains(expected), "{line} gave: {error}");
    }
}

#[test]
fn lines_beyond_all_measure_are_refused() {
    let project = Project::new();
    let mut drive = project.drive();
    let long = format!("[\"{}\"]", "x".repeat(10 << 20));
    let error = error_for(&mut drive, &long);
    assert_snapshot!(error, @"the line is longer than 8 MiB; send shorter lines");
    let deep = "[".repeat(200_000);
    let error = error_for(&mut drive, &deep);
    assert_snapshot!(error, @"not JSON: recursion limit exceeded at line 1 column 128");
    let arguments = format!("{}{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let line = format!("[{{\"tool\":\"shell\",\"arguments\":{arguments}}}]");
    let error = error_for(&mut drive, &line);
    assert_snapshot!(error, @"not JSON: recursion limit exceeded at line 1 column 655");
}

#[test]
fn a_line_that_is_not_utf8_is_refused() {
    let project = Project::new();
    let run = project.run(&["drive"], b"\xff\xfe\n[]\n");
    assert_eq!(
        run.lines(),
        [
            json!({"error": "the line is not UTF-8"}),
            json!({"batch": "2", "replies": []}),
        ]
    );
    assert_eq!(run.code(), Some(0));
}

#[test]
fn empty_lines_are_passed_over_and_counted() {
    let project = Project::new();
    let run = project.run(&["drive"], "\n   \n[]\r\n\n");
    assert_eq!(run.lines(), [json!({"batch": "3", "replies": []})]);
}

#[test]
fn the_last_line_needs_no_end() {
    let project = Project::new();
    let run = project.run(&["drive"], "[]");
    assert_eq!(run.lines(), [json!({"batch": "1", "replies": []})]);
    let run = project.run(&["drive"], "[");
    assert_eq!(run.lines().len(), 1);
    assert_snapshot!(run.stdout(), @r#"{"error":"not JSON: EOF while parsing a list at line 1 column 1"}"#);
}

#[test]
fn calls_that_cannot_be_run_are_refused_alone() {
    let project = Project::new();
    let mut drive = project.drive();
    let long = "i".repeat(1024);
    for (tool, arguments, expected) in [
        ("nope", json!({}), "there is no tool `nope`; the tools are"),
        ("shell", json!({}), "command"),
        ("shell", json!({"command": 5}), "command"),
        ("shell", json!({"command": "ls", "comand": "ls"}), "comand"),
        ("shell", json!({"action": "dance", "id": "x"}), "dance"),
        ("shell", json!({"action": 5, "id": "x"}), "action"),
        ("shell", json!({"action": "spawn", "command": "ls"}), "id"),
        ("shell", json!({"action": "spawn", "id": "x"}), "command"),
        (
            "shell",
            json!({"action": "spawn", "id": "a b", "command": "ls"}),
            "a b",
        ),
        (
            "shell",
            json!({"action": "spawn", "id": "", "command": "ls"}),
            "1",
        ),
        (
            "shell",
            json!({"action": "spawn", "id": 7, "command": "ls"}),
            "id",
        ),
        (
            "shell",
            json!({"action": "spawn", "id": long, "command": "ls"}),
            "64",
        ),
        (
            "shell",
            json!({"action": "fetch", "id": "nobody"}),
            "Handle `nobody` not found",
        ),
        ("shell", json!({"action": "fetch"}), "id"),
        ("await", json!({}), "At least one handle ID required"),
        (
            "await",
            json!({"any": [], "all": []}),
            "At least one handle ID required",
        ),
        (
            "await",
            json!({"all": ["my_handle"]}),
            "Handle `my_handle` not found",
        ),
        ("await", json!({"all": "my_handle"}), "all"),
        (
            "await",
            json!({"all": ["x"], "timeout_secs": "soon"}),
            "timeout_secs",
        ),
        (
            "await",
            json!({"until": [{"id": "x", "port": 70_000}]}),
            "`until.0.port`: 70000 is greater than the maximum of 65535",
        ),
        (
            "shell",
            json!({"command": "true", "timeout_secs": -5}),
            "`timeout_secs`: -5 is less than the minimum of 0",
        ),
        (
            "shell",
            json!({"command": "true", "timeout_secs": 1e99}),
            "timeout_secs",
        ),
        (
            "shell",
            json!({"action": "fetch", "id": "x", "veiw": "all"}),
            "action `fetch` does not take `veiw`",
        ),
    ] {
        let what = format!("{tool} {arguments}");
        let reply = drive.run([
            call(tool, arguments),
            call("shell", json!({"command": "echo beside"})),
        ]);
        let refused = &reply["replies"][0];
        assert_eq!(refused["is_error"], json!(true), "{what}: {refused}");
        let content = refused["content"].as_str().unwrap();
        assert!(content.contains(expected), "{what} gave: {content}");
        assert!(content.len() < 2000, "{what} gave {} bytes", content.len());
        assert_eq!(reply["replies"][1]["content"], json!("beside\n"));
    }
}

#[test]
fn a_long_name_is_not_said_back_whole() {
    let project = Project::new();
    let mut drive = project.drive();
    let error = drive.error(&"n".repeat(1 << 20), json!({}));
    assert!(error.len() < 500, "{} bytes", error.len());
    let id = "c".repeat(1024);
    drive.send(&json!([{"id": id, "tool": "shell", "arguments": {"command": "echo it"}}]));
    let reply = drive.next();
    assert_eq!(reply["replies"][0]["id"], Value::String(id));
    assert_eq!(reply["replies"][0]["content"], json!("it\n"));
}

#[test]
fn a_batch_that_would_take_an_id_twice_is_refused_whole() {
    let project = Project::new();
    let mut drive = project.drive();
    let spawn = |id: &str| crate::support::spawn(id, "touch ran; sleep 1000");
    let reply = drive.run([
        spawn("x"),
        call("shell", json!({"command": "touch ran"})),
        spawn("x"),
    ]);
    assert_eq!(reply["replies"].as_array().unwrap().len(), 3);
    for reply in reply["replies"].as_array().unwrap() {
        assert_eq!(reply["is_error"], json!(true));
        let content = reply["content"].as_str().unwrap();
        assert!(content.contains("handle `x` is spawned twice"), "{content}");
    }
    drive.run([crate::support::spawn("y", "sleep 1000")]);
    let reply = drive.run([spawn("x"), spawn("y")]);
    assert_eq!(reply["replies"].as_array().unwrap().len(), 2);
    for reply in reply["replies"].as_array().unwrap() {
        assert_eq!(
            reply["content"],
            json!("handle `y` is already active; choose another ID; no call of this batch has run")
        );
    }
    assert!(!project.root().join("ran").exists(), "nothing of it ran");
}
