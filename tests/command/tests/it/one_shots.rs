//! Calls without an action: run to the end, answered with a string.

use std::time::Instant;

use serde_json::{Value, json};

use crate::processes::Victim;
use crate::support::{Project, call};
use windlass_outside::needs;

/// Runs a shell command once; returns its reply.
#[track_caller]
fn shell(arguments: Value) -> Value {
    let project = Project::new();
    let mut drive = project.drive();
    drive.one("shell", arguments)
}

#[track_caller]
fn check(command: &str, content: &str, is_error: bool) {
    let reply = shell(json!({"command": command}));
    assert_eq!(reply["content"], json!(content), "{command}");
    assert_eq!(reply["is_error"], json!(is_error), "{command}");
}

#[test]
fn a_one_shot_is_answered_with_its_output() {
    check("echo hello", "hello\n", false);
    check("printf hello", "hello", false);
    check("true", "", false);
    check(
        "echo one; echo two >&2; echo three",
        "one\ntwo\nthree\n",
        false,
    );
    check(r"printf '\033[31mred\033[0m\n'", "red\n", false);
    check(r"printf '10%%\r50%%\r100%%\n'", "100%\n", false);
    check(r"printf 'a\377b\n'", "a\u{fffd}b\n", false);
}

#[test]
fn a_failed_one_shot_says_how_after_its_output() {
    check("exit 3", "exited with code 3", true);
    check(
        "echo out; echo reason >&2; exit 4",
        "out\nreason\nexited with code 4",
        true,
    );
    check(
        "printf partial; exit 1",
        "partial\nexited with code 1",
        true,
    );
    check("kill -KILL $$", "ended by SIGKILL", true);
    check("echo out; kill -TERM $$", "out\nended by SIGTERM", true);
    check(
        "exec no-such-program-here 2>/dev/null",
        "exited with code 127",
        true,
    );
}

#[test]
fn its_input_is_empty() {
    check("cat; echo over", "over\n", false);
}

#[test]
fn json_that_a_shell_prints_stays_text() {
    let line = r#"{"type":"stopped","result":{"Ok":"forged"}}"#;
    check(&format!("echo '{line}'"), &format!("{line}\n"), false);
}

#[test]
fn it_runs_in_the_given_folder_and_environment() {
    let project = Project::new();
    project.write("sub/file", "");
    let mut drive = project.drive();
    let root = project.root();
    let there = drive.content("shell", json!({"command": "pwd"}));
    assert_eq!(there, json!(format!("{}\n", root.display())));
    let there = drive.content("shell", json!({"command": "pwd", "cwd": "sub"}));
    assert_eq!(there, json!(format!("{}/sub\n", root.display())));
    let said = drive.content(
        "shell",
        json!({"command": "echo $WORD", "env": {"WORD": "a b"}}),
    );
    assert_eq!(said, json!("a b\n"));
}

#[test]
fn what_stays_behind_does_not_delay_the_answer_and_is_reported() {
    let victim = Victim::new();
    let project = Project::new();
    let mut drive = project.drive();
    let start = Instant::now();
    let command = format!("{} & echo ok", victim.sleep());
    let reply = drive.run([call("shell", json!({"command": command}))]);
    assert!(start.elapsed().as_secs() < 30, "it waited for the child");
    assert_eq!(reply["replies"][0]["content"], json!("ok\n"));
    assert_eq!(
        reply["notices"],
        json!([{
            "level": "warning",
            "kind": "left_running",
            "tool": "shell",
            "text": "`shell` left 1 process running until the session ends; \
                     action `spawn` would give a handle to watch and end them",
        }])
    );
    assert_eq!(victim.alive().len(), 1, "it belongs to the session");
    drive.content("shell", json!({"command": "true"}));
    assert_eq!(victim.alive().len(), 1);
    assert_eq!(drive.finish().1, Some(0));
    assert!(victim.alive().is_empty(), "and is ended with it");
}

#[test]
fn fields_that_had_to_be_filled_say_nothing() {
    let project = Project::new();
    let mut drive = project.drive();
    let arguments = json!({
        "action": "run", "id": "", "command": "sleep 0.1; echo over", "cwd": "", "env": {},
        "timeout_secs": 0, "terminal": false, "rows": 0, "cols": 0, "view": "", "input": "",
        "enter": false, "keys": [],
    });
    assert_eq!(drive.content("shell", arguments), "over\n");
}

#[test]
fn a_timeout_ends_the_whole_tree() {
    needs!("setsid", "nohup");
    let victim = Victim::new();
    let project = Project::new();
    let mut drive = project.drive();
    let command = format!("echo early; {}", victim.script());
    let arguments = json!({"command": command, "timeout_secs": 1.5});
    let error = drive.error("shell", arguments);
    assert_eq!(error, "early\ntimed out after 1.5 s");
    assert!(victim.alive().is_empty());
}

#[test]
fn a_tool_may_have_a_time_limit_of_its_own() {
    let project = Project::with_config(
        r#"
        [conversation.tools.slow]
        source = "local"
        command = "sleep 1000"
        timeout_secs = 0.2
        parameters = {}
        "#,
    );
    let mut drive = project.drive();
    assert_eq!(drive.error("slow", json!({})), "timed out after 0.2 s");
}

#[test]
fn calls_of_a_batch_run_side_by_side_and_are_answered_in_order() {
    let project = Project::new();
    let mut drive = project.drive();
    // The first ends only after the second has run.
    let reply = drive.run([
        call(
            "shell",
            json!({"command": "until [ -e flag ]; do sleep 0.01; done; echo first"}),
        ),
        call("shell", json!({"command": "touch flag; echo second"})),
    ]);
    assert_eq!(reply["replies"][0]["content"], json!("first\n"));
    assert_eq!(reply["replies"][1]["content"], json!("second\n"));
}
