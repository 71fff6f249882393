//! The conversations of the protocol's design, with real programs.
//!
//! Tools wait for a file before they go on, so that the test says when.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Drive, Project, call};

/// The tools of the conversations. A spawn is answered soon, so that what
/// takes a little longer is still running then.
const TOOLS: &str = r#"
[conversation.tools."*"]
settle_max_secs = 0.05

[conversation.tools.cargo_check]
source = "local"
command = "sh check.sh {{tool.arguments.package}}"
parameters.package = { type = "string", required = false }
spawn.actions = ["spawn", "fetch", "abort"]

[conversation.tools.cargo_test]
source = "local"
command = "sh test.sh"
parameters.package = { type = "string", required = false }
spawn.actions = ["spawn", "fetch", "abort"]

[conversation.tools.crate_search]
source = "local"
command = "sh crates.sh"
parameters.query = { type = "string" }
spawn.stateful = true

[conversation.tools.github_code_search]
source = "local"
command = "sh github.sh"
parameters.query = { type = "string" }
spawn.stateful = true

[conversation.tools.git]
source = "local"
command = "sh stage.sh"
settle_max_secs = 10
parameters.command = { type = "string", enum = ["stage", "commit", "rebase"] }
parameters.args = { type = "array", items = { type = "string" }, required = false }
spawn.stateful = true
"#;

fn project() -> Project {
    let project = Project::with_config(TOOLS);
    project.write("check.sh", "sleep 1.5; printf 'ok, 0 warnings'");
    project.write(
        "test.sh",
        r#"sleep 1.6; echo '{"type": "stopped", "result": {"Ok": "test result: ok. 42 passed"}}'"#,
    );
    project.write(
        "crates.sh",
        r#"sleep 1; echo '{"type": "success", "content": "tokio, async-std, ..."}'"#,
    );
    project.write("github.sh", "sleep 1000");
    project.write(
        "stage.sh",
        "printf 'diff --git a/...'
         until [ -e ask ]; do sleep 0.01; done
         printf 'Stage hunk? [y/n/...]'
         read answer; [ \"$answer\" = y ] || exit 1
         printf 'Next hunk: ...'
         until [ -e end ]; do sleep 0.01; done
         printf 'Staged 3 hunks.'",
    );
    project
}

fn contents(reply: &Value) -> Value {
    let replies = reply["replies"].as_array().unwrap();
    replies
        .iter()
        .map(|reply| reply["content"].clone())
        .collect()
}

#[test]
fn checking_and_testing_in_one_batch() {
    let project = project();
    let mut drive = project.drive();
    let reply = drive.run([
        call(
            "cargo_check",
            json!({"action": "spawn", "id": "check", "package": "jp_cli"}),
        ),
        call(
            "cargo_test",
            json!({"action": "spawn", "id": "test", "package": "jp_cli"}),
        ),
        call("await", json!({"all": ["check", "test"]})),
    ]);
    let expected = json!({"batch": "1", "replies": [
        {"id": "1", "content": {"id": "check", "state": "running"}, "is_error": false},
        {"id": "2", "content": {"id": "test", "state": "running"}, "is_error": false},
        {"id": "3", "content": {
            "completed": [
                {"id": "check", "state": "stopped", "result": "ok, 0 warnings"},
                {"id": "test", "state": "stopped", "result": "test result: ok. 42 passed"},
            ],
            "pending": [],
        }, "is_error": false},
    ]});
    assert_eq!(reply, expected);
}

#[test]
fn racing_two_searches() {
    let project = project();
    let mut drive = project.drive();
    let reply = drive.run([
        call(
            "crate_search",
            json!({"action": "spawn", "id": "crates", "query": "async runtime"}),
        ),
        call(
            "github_code_search",
            json!({"action": "spawn", "id": "github", "query": "async runtime"}),
        ),
        call("await", json!({"any": ["crates", "github"]})),
    ]);
    let expected = json!([
        {"id": "crates", "state": "running"},
        {"id": "github", "state": "running"},
        {
            "completed": [{"id": "crates", "state": "stopped", "result": "tokio, async-std, ..."}],
            "pending": [{"id": "github", "state": "running"}],
        },
    ]);
    assert_eq!(contents(&reply), expected);
    assert_eq!(reply["notices"], Value::Null, "all of it has been told");
    let loser = drive.content(
        "github_code_search",
        json!({"action": "abort", "id": "github"}),
    );
    assert_eq!(loser["result"], json!("aborted by the assistant"));
}

#[test]
fn waiting_no_longer_than_said() {
    let project = project();
    let mut drive = project.drive();
    let reply = drive.run([
        call(
            "crate_search",
            json!({"action": "spawn", "id": "check", "query": ""}),
        ),
        call(
            "github_code_search",
            json!({"action": "spawn", "id": "test", "query": ""}),
        ),
        call(
            "await",
            json!({"all": ["check", "test"], "timeout_secs": 4}),
        ),
    ]);
    let expected = json!({
        "completed": [{"id": "check", "state": "stopped", "result": "tokio, async-std, ..."}],
        "pending": [{"id": "test", "state": "running"}],
        "timed_out": true,
    });
    assert_eq!(contents(&reply)[2], expected);
    // Handles are not aborted on timeout, and can be awaited again.
    let again = drive.content("await", json!({"any": ["check", "test"]}));
    assert_eq!(
        again["completed"][0]["result"],
        json!("tokio, async-std, ...")
    );
    assert_eq!(again["pending"][0]["state"], json!("running"));
}

#[test]
fn any_and_all_hold_together() {
    let project = project();
    let mut drive = project.drive();
    let reply = drive.run([
        call("cargo_check", json!({"action": "spawn", "id": "check"})),
        call(
            "crate_search",
            json!({"action": "spawn", "id": "crates", "query": ""}),
        ),
        call(
            "github_code_search",
            json!({"action": "spawn", "id": "github", "query": ""}),
        ),
        call(
            "await",
            json!({"all": ["check"], "any": ["crates", "github"]}),
        ),
    ]);
    let awaited = &contents(&reply)[3];
    let completed = awaited["completed"].as_array().unwrap();
    assert_eq!(completed.len(), 2, "{awaited}");
    assert_eq!(
        awaited["pending"],
        json!([{"id": "github", "state": "running"}])
    );
}

#[test]
fn waiting_for_nothing_and_for_nobody_is_an_error() {
    let project = project();
    let mut drive = project.drive();
    assert_eq!(
        drive.error("await", json!({})),
        "At least one handle ID required"
    );
    let error = drive.error("await", json!({"all": ["my_handle"]}));
    assert_snapshot!(
        error,
        @"Handle `my_handle` not found; this session is new, and a handle belongs to the session that spawned it"
    );
    drive.run([call(
        "github_code_search",
        json!({"action": "spawn", "id": "github", "query": ""}),
    )]);
    let error = drive.error("await", json!({"any": [], "all": []}));
    assert_snapshot!(
        error,
        @"At least one handle ID required; handles: github (github_code_search, running)"
    );
    let error = drive.error("await", json!({"any": ["github", "githab"]}));
    assert_snapshot!(
        error,
        @"Handle `githab` not found; handles: github (github_code_search, running)"
    );
}

#[test]
fn staging_hunks_interactively() {
    let project = project();
    let mut drive = project.drive();
    let view = drive.content(
        "git",
        json!({"action": "spawn", "id": "staging", "command": "stage", "args": ["--patch"]}),
    );
    assert_eq!(
        view,
        json!({"id": "staging", "state": "running", "content": "diff --git a/..."})
    );

    project.write("ask", "");
    saying(&mut drive, r"Stage hunk\?");
    let view = drive.content("git", json!({"action": "fetch", "id": "staging"}));
    assert_eq!(
        view,
        json!({"id": "staging", "state": "running", "content": "Stage hunk? [y/n/...]"})
    );

    let view = drive.content(
        "git",
        json!({"action": "apply", "id": "staging", "input": "y"}),
    );
    assert_eq!(
        view,
        json!({"id": "staging", "state": "running", "content": "Next hunk: ..."})
    );

    project.write("end", "");
    let notice = loop {
        let reply = drive.run([call(
            "cargo_check",
            json!({"action": "fetch", "id": "nobody"}),
        )]);
        if let Some(notice) = reply["notices"].get(0) {
            break notice.clone();
        }
    };
    let expected = json!({
        "level": "info",
        "kind": "success",
        "handle": "staging",
        "tool": "git",
        "text": "`staging` finished successfully; fetch it to read its result",
    });
    assert_eq!(notice, expected);
    let view = drive.content("git", json!({"action": "fetch", "id": "staging"}));
    assert_eq!(
        view,
        json!({"id": "staging", "state": "stopped", "result": "Staged 3 hunks."})
    );
}

/// Waits until the staging says this.
#[track_caller]
fn saying(drive: &mut Drive, pattern: &str) {
    let until = json!([{"id": "staging", "pattern": pattern}]);
    let awaited = drive.content("await", json!({"until": until, "timeout_secs": 60}));
    assert_eq!(
        awaited["matched"][0]["pattern"],
        json!(pattern),
        "{awaited}"
    );
}

#[test]
fn an_action_that_a_tool_does_not_declare_is_refused() {
    let project = project();
    let mut drive = project.drive();
    let reply = drive.run([
        call("cargo_check", json!({"action": "spawn", "id": "check"})),
        call(
            "cargo_check",
            json!({"action": "apply", "id": "check", "input": "y"}),
        ),
        call("cargo_test", json!({"action": "fetch", "id": "check"})),
    ]);
    assert_eq!(
        contents(&reply),
        json!([
            {"id": "check", "state": "running"},
            "`apply` is not an action of this tool; it has spawn, fetch, abort",
            "handle `check` belongs to `cargo_check`; call `cargo_check` with this id",
        ])
    );
}
