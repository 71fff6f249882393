//! What the assistant reads of a handle, in every shape there is.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Project, spawn};

/// Spawns a shell command that exits on its own; returns the notice about it.
#[track_caller]
fn stopped(command: &str) -> Value {
    let project = Project::new();
    let mut drive = project.drive();
    let spawned = drive.run([spawn("it", command)])["replies"][0].clone();
    assert_eq!(spawned["is_error"], json!(false), "{spawned}");
    let view = spawned["content"].clone();
    if view["state"] == json!("stopped") {
        return view;
    }
    let awaited = drive.content("await", json!({"all": ["it"]}));
    awaited["completed"][0].clone()
}

#[test]
fn a_running_handle_has_what_is_new() {
    let project = Project::new();
    let mut drive = project.drive();
    let spawned = drive.content(
        "shell",
        json!({"action": "spawn", "id": "it", "command": "echo one; cat"}),
    );
    assert_eq!(
        spawned,
        json!({"id": "it", "state": "running", "content": "one\n"})
    );
    let fetched = drive.content("shell", json!({"action": "fetch", "id": "it"}));
    assert_eq!(
        fetched,
        json!({"id": "it", "state": "running"}),
        "nothing is new"
    );
    let applied = drive.content(
        "shell",
        json!({"action": "apply", "id": "it", "input": "two"}),
    );
    assert_eq!(
        applied,
        json!({"id": "it", "state": "running", "content": "two\n"})
    );
    let all = drive.content(
        "shell",
        json!({"action": "fetch", "id": "it", "view": "all"}),
    );
    assert_eq!(
        all,
        json!({"id": "it", "state": "running", "content": "one\ntwo\n"})
    );
}

#[test]
fn a_handle_that_stopped_well_has_a_result() {
    assert_eq!(
        stopped("echo done"),
        json!({"id": "it", "state": "stopped", "result": "done\n"})
    );
    assert_eq!(
        stopped("true"),
        json!({"id": "it", "state": "stopped", "result": ""})
    );
}

#[test]
fn a_handle_that_stopped_badly_says_how() {
    assert_eq!(
        stopped("echo out; echo why >&2; exit 3"),
        json!({
            "id": "it",
            "state": "stopped",
            "result": "exited with code 3: why",
            "content": "out\nwhy\n",
            "exit_code": 3,
            "error": {"transient": false},
        })
    );
    assert_eq!(
        stopped("kill -SEGV $$"),
        json!({
            "id": "it",
            "state": "stopped",
            "result": "ended by SIGSEGV",
            "signal": "SIGSEGV",
            "error": {"transient": false},
        })
    );
}

#[test]
fn a_handle_whose_program_cannot_start_has_stopped() {
    let project = Project::new();
    let mut drive = project.drive();
    let view = drive.content(
        "shell",
        json!({"action": "spawn", "id": "it", "command": "true", "cwd": "nowhere"}),
    );
    assert_eq!(view["state"], json!("stopped"));
    let result = view["result"].as_str().unwrap();
    assert!(result.contains("nowhere"), "{result}");
    assert_eq!(view["error"]["transient"], json!(false));
}

#[test]
fn a_stopped_handle_tells_the_rest_once_and_then_all() {
    let project = Project::new();
    let mut drive = project.drive();
    let script = "echo one; read line; echo two";
    drive.run([spawn("it", script)]);
    let view = drive.content(
        "shell",
        json!({"action": "apply", "id": "it", "input": "go"}),
    );
    assert_eq!(
        view,
        json!({"id": "it", "state": "stopped", "result": "two\n"})
    );
    let whole = json!({"id": "it", "state": "stopped", "result": "one\ntwo\n"});
    for _ in 0..2 {
        assert_eq!(
            drive.content("shell", json!({"action": "fetch", "id": "it"})),
            whole
        );
    }
    let error = drive.error(
        "shell",
        json!({"action": "apply", "id": "it", "input": "x"}),
    );
    assert_snapshot!(
        error,
        @"handle `it` has stopped and takes no input; fetch it to read its result"
    );
    let aborted = drive.content("shell", json!({"action": "abort", "id": "it"}));
    assert_eq!(aborted["result"], json!("one\ntwo\n"));
    // Its id is free again.
    let again = drive.content(
        "shell",
        json!({"action": "spawn", "id": "it", "command": "echo new"}),
    );
    assert_eq!(
        again,
        json!({"id": "it", "state": "stopped", "result": "new\n"})
    );
}

#[test]
fn an_aborted_handle_says_who_aborted_it_and_how_many_were_ended() {
    let project = Project::new();
    let mut drive = project.drive();
    drive.run([spawn("it", "echo early; exec sleep 1000")]);
    let view = drive.content("shell", json!({"action": "abort", "id": "it"}));
    assert_eq!(
        view,
        json!({
            "id": "it",
            "state": "stopped",
            "result": "aborted by the assistant",
            "ended": 1,
            "error": {"transient": false},
        })
    );
}

#[test]
fn what_was_not_read_comes_with_an_abort() {
    let project = Project::new();
    let mut drive = project.drive();
    drive.run([spawn(
        "it",
        "trap 'echo last; exit' TERM; echo up; sleep 1000 & wait",
    )]);
    let view = drive.content("shell", json!({"action": "abort", "id": "it"}));
    assert_eq!(view["content"], json!("last\n"), "{view}");
    assert_eq!(view["result"], json!("aborted by the assistant"));
}

#[test]
fn cut_output_says_how_much_is_missing_and_where_it_is() {
    let project = Project::new();
    let mut drive = project.drive();
    let command = "yes 'a line of text' | head -c 1000000";
    drive.run([spawn("it", command)]);
    drive.content("await", json!({"all": ["it"]}));
    let view = drive.content("shell", json!({"action": "fetch", "id": "it"}));
    let result = view["result"].as_str().unwrap();
    assert!(result.len() <= (32 << 10) + 200, "{}", result.len());
    let omitted = view["omitted_bytes"].as_u64().unwrap();
    assert!(omitted > 960_000, "{omitted}");
    let log = std::fs::read(view["log"].as_str().unwrap()).unwrap();
    assert_eq!(log.len(), 1_000_000);
}

#[test]
fn calls_on_one_handle_run_in_call_order() {
    let project = Project::new();
    let mut drive = project.drive();
    let apply = |input: &str| {
        crate::support::call(
            "shell",
            json!({"action": "apply", "id": "it", "input": input}),
        )
    };
    let reply = drive.run([
        spawn("it", "cat"),
        apply("one"),
        apply("two"),
        crate::support::call("shell", json!({"action": "abort", "id": "it"})),
    ]);
    let replies = reply["replies"].as_array().unwrap();
    let contents: Vec<&Value> = replies.iter().map(|reply| &reply["content"]).collect();
    assert_eq!(contents[0]["state"], json!("running"));
    assert_eq!(contents[1]["content"], json!("one\n"));
    assert_eq!(contents[2]["content"], json!("two\n"));
    assert_eq!(contents[3]["state"], json!("stopped"));
}
