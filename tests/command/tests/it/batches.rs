//! Batches: names, order, cancelling, and the ends of turns.

use serde_json::{Value, json};

use crate::processes::Victim;
use crate::support::{Drive, Project, call, eventually, spawn};

fn batch(name: &str, calls: &Value) -> Value {
    json!({"batch": name, "calls": calls})
}

#[test]
fn batches_and_calls_keep_their_names_or_get_numbers() {
    let project = Project::new();
    let mut drive = project.drive();
    let echo = json!({"command": "echo it"});
    drive.send(&batch(
        "mine",
        &json!([{"id": "c", "tool": "shell", "arguments": echo}]),
    ));
    assert_eq!(
        drive.next(),
        json!({"batch": "mine", "replies": [{"id": "c", "content": "it\n", "is_error": false}]})
    );
    let reply = drive.run([call("shell", echo.clone()), call("shell", echo)]);
    assert_eq!(reply["batch"], json!("2"), "the line's number");
    assert_eq!(reply["replies"][0]["id"], json!("1"));
    assert_eq!(reply["replies"][1]["id"], json!("2"));
}

#[test]
fn batches_are_answered_in_order() {
    let project = Project::new();
    let mut drive = project.drive();
    let wait = "until [ -e go ]; do sleep 0.01; done; echo first";
    drive.send(&batch(
        "one",
        &json!([call("shell", json!({"command": wait}))]),
    ));
    drive.send(&batch(
        "two",
        &json!([call("shell", json!({"command": "echo second"}))]),
    ));
    project.write("go", "");
    assert_eq!(drive.next()["batch"], json!("one"));
    assert_eq!(drive.next()["batch"], json!("two"));
}

#[test]
fn a_name_that_is_not_answered_yet_is_refused() {
    let project = Project::new();
    let mut drive = project.drive();
    let wait = "until [ -e go ]; do sleep 0.01; done; echo first";
    drive.send(&batch(
        "b",
        &json!([call("shell", json!({"command": wait}))]),
    ));
    drive.send(&batch(
        "b",
        &json!([call("shell", json!({"command": "echo second"}))]),
    ));
    assert_eq!(
        drive.next(),
        json!({"error": "batch `b` is still running; give this one another name"})
    );
    project.write("go", "");
    assert_eq!(drive.next()["replies"][0]["content"], json!("first\n"));
    drive.send(&batch(
        "b",
        &json!([call("shell", json!({"command": "echo again"}))]),
    ));
    assert_eq!(drive.next()["replies"][0]["content"], json!("again\n"));
}

#[test]
fn a_cancelled_batch_ends_its_one_shots_and_keeps_its_handles() {
    let victim = Victim::new();
    let project = Project::new();
    let mut drive = project.drive();
    let script = format!("touch started; {}", victim.sleep());
    drive.send(&batch(
        "b",
        &json!([
            spawn("it", "echo up; tee heard"),
            call("shell", json!({"command": script})),
            call("await", json!({"all": ["it"]})),
            call("shell", json!({"command": "echo quick; touch quick"})),
            call(
                "shell",
                json!({"action": "apply", "id": "it", "input": "hello"})
            ),
        ]),
    ));
    for name in ["started", "quick"] {
        eventually(name, || project.root().join(name).exists());
    }
    // It is typed once the spawn is answered: the spawn of a cancelled batch that is not ends with it.
    eventually("it is spoken to", || {
        std::fs::read_to_string(project.root().join("heard")).is_ok_and(|it| it == "hello\n")
    });
    eventually("it runs", || !victim.alive().is_empty());
    drive.send(&json!({"cancel": "b"}));
    let reply = drive.next();
    let refused = |place: usize| reply["replies"][place].clone();
    assert_eq!(refused(1)["content"], json!("cancelled"));
    assert_eq!(refused(1)["is_error"], json!(true));
    assert_eq!(refused(2)["content"], json!("cancelled"));
    eventually("the one-shot is ended", || victim.alive().is_empty());
    let view = drive.content(
        "shell",
        json!({"action": "apply", "id": "it", "input": "still here"}),
    );
    assert_eq!(view["state"], json!("running"));
    drive.send(&json!({"cancel": "b"}));
    assert_eq!(drive.next(), json!({"error": "no batch `b` is running"}));
}

#[test]
fn a_batch_that_waits_its_turn_can_be_cancelled() {
    let project = Project::new();
    let mut drive = project.drive();
    let wait = "until [ -e go ]; do sleep 0.01; done; echo first";
    drive.send(&batch(
        "one",
        &json!([call("shell", json!({"command": wait}))]),
    ));
    drive.send(&batch(
        "two",
        &json!([call("shell", json!({"command": "touch ran"}))]),
    ));
    drive.send(&json!({"cancel": "two"}));
    // The error for an invalid line shows that the line before was read.
    drive.send_text("?");
    assert!(drive.next()["error"].is_string());
    project.write("go", "");
    assert_eq!(drive.next()["replies"][0]["content"], json!("first\n"));
    assert_eq!(drive.next()["replies"][0]["content"], json!("cancelled"));
    assert!(!project.root().join("ran").exists());
}

#[track_caller]
fn turn_end(drive: &mut Drive) -> Value {
    drive.send(&json!({"turn_end": true}));
    drive.next()["turn_end"].clone()
}

#[test]
fn the_end_of_a_turn_ends_its_handles() {
    let victim = Victim::new();
    let project = Project::new();
    let mut drive = project.drive();
    assert_eq!(turn_end(&mut drive), json!({"ended": [], "awaited": []}));
    drive.run([spawn("one", &victim.sleep()), spawn("two", "echo done")]);
    drive.content("await", json!({"all": ["two"]}));
    assert_eq!(
        turn_end(&mut drive),
        json!({"ended": ["one"], "awaited": []})
    );
    assert!(victim.alive().is_empty());
    let error = drive.error("shell", json!({"action": "fetch", "id": "two"}));
    assert_eq!(error, "Handle `two` not found");
}

#[test]
fn the_end_of_a_turn_waits_where_the_config_says_so() {
    // The turn's end aborts `bell`, and that lets `it` go: not before.
    let project = Project::with_config(
        r#"
        [conversation.tools."*"]
        spawn.lifecycle = { on_turn_end = "await", timeout_secs = 60 }
        [conversation.tools.bell]
        source = "local"
        command = { program = "sh", args = ["-c", "trap 'touch go; exit' TERM; echo hung; while :; do sleep 0.01; done"] }
        parameters = {}
        spawn.stateful = true
        spawn.lifecycle.on_turn_end = "abort"
        "#,
    );
    let mut drive = project.drive();
    drive.run([
        spawn("it", "until [ -e go ]; do sleep 0.01; done; echo built"),
        call("bell", json!({"action": "spawn", "id": "bell"})),
        call(
            "await",
            json!({"until": [{"id": "bell", "pattern": "hung"}]}),
        ),
    ]);
    drive.send(&json!({"turn_end": true}));
    assert_eq!(
        drive.next(),
        json!({"turn_end": {"ended": ["bell"], "awaited": ["it"]}})
    );
    let reply = drive.run([call("shell", json!({"command": "true"}))]);
    let told = reply["notices"].as_array().unwrap();
    assert!(
        told.contains(&json!({
            "level": "info",
            "kind": "success",
            "handle": "it",
            "tool": "shell",
            "text": "`it` stopped: built\n",
        })),
        "{reply}"
    );
}

#[test]
fn the_end_of_a_turn_comes_after_the_calls_before_it() {
    let project = Project::new();
    let mut drive = project.drive();
    drive.send(&json!([
        call("shell", json!({"command": "echo before"})),
        spawn("it", "cat")
    ]));
    drive.send(&json!({"turn_end": true}));
    assert_eq!(drive.next()["replies"][0]["content"], json!("before\n"));
    assert_eq!(
        drive.next(),
        json!({"turn_end": {"ended": ["it"], "awaited": []}})
    );
}

#[test]
fn the_end_of_a_turn_ends_the_waiting_for_its_handles() {
    let project = Project::new();
    let mut drive = project.drive();
    drive.run([spawn("it", "exec sleep 1000")]);
    drive.send(&json!([call("await", json!({"all": ["it"]}))]));
    drive.send(&json!({"turn_end": true}));
    let (first, second) = (drive.next(), drive.next());
    let (turn, reply) = match first.get("turn_end") {
        Some(_) => (first, second),
        None => (second, first),
    };
    assert_eq!(turn, json!({"turn_end": {"ended": ["it"], "awaited": []}}));
    assert_eq!(
        reply["replies"][0]["content"]["completed"][0]["id"],
        json!("it")
    );
}
