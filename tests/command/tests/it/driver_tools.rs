//! Tools that the driver runs itself.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Drive, Project, call};

/// Offers a tool; returns the reply.
fn add(drive: &mut Drive, mut tool: Value) -> Value {
    tool["request"] = json!("add");
    tool["op"] = json!("add_tool");
    drive.send(&tool);
    drive.next()
}

fn report(drive: &mut Drive, run: &Value, mut report: Value) {
    report["run"] = run.clone();
    drive.send(&report);
}

/// Reads the next line, which must be this event.
#[track_caller]
fn event(drive: &mut Drive, kind: &str) -> Value {
    let line = drive.next();
    assert_eq!(line["event"], json!(kind), "{line}");
    line
}

fn watch() -> Value {
    json!({"name": "watch", "summary": "Watches.", "background": true, "unattended": true})
}

#[test]
fn a_tool_of_the_drivers_is_offered_called_and_answered() {
    let project = Project::new();
    let mut drive = project.drive();
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let added = add(
        &mut drive,
        json!({"name": "double", "summary": "Doubles.", "parameters": schema}),
    );
    assert_eq!(added, json!({"reply": "add", "value": {}}));
    drive.send(&json!({"request": "t", "op": "tools", "dialect": "anthropic"}));
    let tools = drive.next()["value"].clone();
    let tool = tools
        .as_array()
        .unwrap()
        .iter()
        .find(|tool| tool["name"] == "double");
    assert_eq!(tool.unwrap()["parameters"]["required"], json!(["n"]));
    drive.send(&json!([call("double", json!({"n": 4}))]));
    let called = event(&mut drive, "tool_call");
    assert_eq!(
        called,
        json!({"event": "tool_call", "run": called["run"], "tool": "double", "arguments": {"n": 4}})
    );
    report(
        &mut drive,
        &called["run"],
        json!({"report": "result", "text": "8"}),
    );
    assert_eq!(drive.next()["replies"][0]["content"], json!("8"));
    assert!(drive.error("double", json!({"n": "x"})).contains('n'));
    report(
        &mut drive,
        &called["run"],
        json!({"report": "result", "text": "8"}),
    );
    let late = drive.next()["error"].as_str().unwrap().to_owned();
    assert_eq!(
        late,
        "no run `run_1` is active; it has ended, or was aborted"
    );
}

#[test]
fn a_tool_that_cannot_be_offered_is_refused_and_the_rest_works() {
    let project = Project::with_config(
        "[conversation.tools.mine]\nsource = \"local\"\ncommand = \"true\"\nparameters = {}\n",
    );
    let mut drive = project.drive();
    for (tool, why) in [
        (json!({"name": "shell"}), "a built-in tool has that name"),
        (
            json!({"name": "mine"}),
            "the configuration has a tool of that name",
        ),
        (json!({"name": "a b"}), "cannot be a tool's name"),
        (
            json!({"name": "x", "parameters": {"type": "string"}}),
            "`\"type\": \"object\"`",
        ),
        (json!({"name": "x", "flies": true}), "unknown field `flies`"),
    ] {
        let refused = add(&mut drive, tool.clone());
        let error = refused["error"].as_str().unwrap_or_default();
        assert!(error.contains(why), "{tool}: {refused}");
    }
    assert_eq!(add(&mut drive, watch())["value"], json!({}));
    let twice = add(&mut drive, watch());
    assert_snapshot!(twice["error"].as_str().unwrap(), @"there are two tools named `watch`; rename one of them");
}

#[test]
fn a_run_lasts_asks_and_continues() {
    let project = Project::new();
    let mut drive = project.drive();
    add(&mut drive, watch());
    drive.send(&json!([call(
        "watch",
        json!({"action": "spawn", "id": "w"})
    )]));
    let called = event(&mut drive, "tool_call");
    assert_eq!(called["handle"], json!("w"));
    let run = &called["run"];
    report(
        &mut drive,
        run,
        json!({"report": "output", "text": "begun"}),
    );
    let question = json!({"id": "go", "text": "Go on?", "answer_type": "Boolean"});
    report(
        &mut drive,
        run,
        json!({"report": "question", "question": question}),
    );
    let spawned = drive.next()["replies"][0]["content"].clone();
    assert_eq!(
        spawned,
        json!({"id": "w", "state": "waiting", "content": "begun", "question": question})
    );
    drive.send(&json!([call(
        "watch",
        json!({"action": "apply", "id": "w", "input": true})
    )]));
    let answer = event(&mut drive, "tool_answer");
    assert_eq!(
        answer,
        json!({"event": "tool_answer", "run": run, "question": "go", "value": true})
    );
    report(
        &mut drive,
        run,
        json!({"report": "output", "text": "goes on"}),
    );
    report(&mut drive, run, json!({"report": "running"}));
    let applied = drive.next()["replies"][0]["content"].clone();
    assert_eq!(
        applied,
        json!({"id": "w", "state": "running", "content": "goes on"})
    );
    report(
        &mut drive,
        run,
        json!({"report": "error", "error": {"message": "broke", "transient": true}}),
    );
    let awaited = drive.content("await", json!({"all": ["w"]}));
    assert_eq!(
        awaited["completed"],
        json!([{"id": "w", "state": "stopped", "result": "broke", "error": {"transient": true}}])
    );
}

#[test]
fn an_abort_is_reported_and_does_not_wait_for_ever() {
    let project = Project::with_config("[conversation.tools.\"*\"]\ngrace_secs = 0.1\n");
    let mut drive = project.drive();
    add(&mut drive, watch());
    for ends in [true, false] {
        drive.send(&json!([call(
            "watch",
            json!({"action": "spawn", "id": "w"})
        )]));
        let called = event(&mut drive, "tool_call");
        report(&mut drive, &called["run"], json!({"report": "running"}));
        assert_eq!(
            drive.next()["replies"][0]["content"]["state"],
            json!("running")
        );
        drive.send(&json!([call(
            "watch",
            json!({"action": "abort", "id": "w"})
        )]));
        assert_eq!(event(&mut drive, "tool_abort")["run"], called["run"]);
        if ends {
            report(
                &mut drive,
                &called["run"],
                json!({"report": "result", "text": "swept"}),
            );
        }
        let stopped = drive.next()["replies"][0]["content"].clone();
        assert_eq!(stopped["state"], json!("stopped"), "{stopped}");
        if !ends {
            // It may report its end once more, since it cannot know that nobody waits.
            let late = json!({"report": "result", "text": "late"});
            report(&mut drive, &called["run"], json!({"report": "running"}));
            report(&mut drive, &called["run"], late.clone());
            report(&mut drive, &called["run"], late);
            let told = drive.next();
            assert!(told["error"].to_string().contains("run_2"), "{told}");
        }
    }
}

#[test]
fn a_cancelled_batch_aborts_the_runs_of_its_one_shots() {
    let project = Project::new();
    let mut drive = project.drive();
    add(&mut drive, watch());
    drive.send(&json!({"batch": "b", "calls": [call("watch", json!({}))]}));
    let called = event(&mut drive, "tool_call");
    drive.send(&json!({"cancel": "b"}));
    // The reply does not wait for the run to end, so either may come first.
    let mut told = [drive.next(), drive.next()];
    told.sort_by_key(|line| line["event"] != json!("tool_abort"));
    let [abort, reply] = told;
    assert_eq!(abort["run"], called["run"], "{abort}");
    assert_eq!(reply["replies"][0]["is_error"], json!(true), "{reply}");
    report(
        &mut drive,
        &called["run"],
        json!({"report": "result", "text": "late"}),
    );
    drive.send(&json!({"request": "s", "op": "handles"}));
    assert_eq!(drive.next(), json!({"reply": "s", "value": []}));
}
