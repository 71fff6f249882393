//! With `--ask` the driver is the person, and answers for the assistant too.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Drive, Project, call, spawn};

/// Reads the next line, which must be this event.
#[track_caller]
fn event(drive: &mut Drive, kind: &str) -> Value {
    let line = drive.next();
    assert_eq!(line["event"], json!(kind), "{line}");
    line
}

/// Sends a shell command to be run once, reads the request for it and replies.
#[track_caller]
fn ask(drive: &mut Drive, command: &str, reply: Value) -> Value {
    drive.send(&json!([call("shell", json!({"command": command}))]));
    let request = event(drive, "permission")["request"].clone();
    answer(drive, &request, reply);
    drive.next()["replies"][0].clone()
}

fn answer(drive: &mut Drive, request: &Value, mut reply: Value) {
    reply["permission"] = request["id"].clone();
    drive.send(&reply);
}

#[test]
fn a_request_says_what_would_run() {
    let project = Project::new();
    let mut drive = project.drive_asking();
    let arguments = json!({"command": "git status -s && ls | wc"});
    drive.send(
        &json!({"batch": "b", "calls": [{"id": "c", "tool": "shell", "arguments": arguments}]}),
    );
    let request = event(&mut drive, "permission")["request"].clone();
    assert!(request["id"].as_str().unwrap().starts_with("per_"));
    assert!(request["sessionID"].as_str().unwrap().starts_with("ses_"));
    assert_eq!(request["permission"], json!("shell"));
    assert_eq!(request["patterns"], json!(["git status -s", "ls", "wc"]));
    assert_eq!(request["always"], json!(["git status *", "ls *", "wc *"]));
    assert_eq!(
        request["metadata"],
        json!({
            "tool": "shell", "arguments": arguments,
            // As every front end shows it: with its operators.
            "rendering": {
                "title": "Run `shell`?",
                "body": ["git status -s && ls | wc"],
                "always": ["git status *", "ls *", "wc *"],
            },
        })
    );
    assert_eq!(request["tool"]["callID"], json!("c"));
    answer(&mut drive, &request, json!({"reply": "reject"}));
    let reply = drive.next();
    assert_eq!(reply["batch"], json!("b"));
    assert_eq!(
        reply["replies"],
        json!([{"id": "c", "content": "the user rejected `shell`; nothing has run", "is_error": true}])
    );
}

#[test]
fn once_is_once_and_always_is_always() {
    let project = Project::new();
    let mut drive = project.drive_asking();
    let once = json!({"reply": "once"});
    assert_eq!(
        ask(&mut drive, "echo one", once.clone())["content"],
        json!("one\n")
    );
    assert_eq!(ask(&mut drive, "echo one", once)["content"], json!("one\n"));
    let always = json!({"reply": "always"});
    assert_eq!(
        ask(&mut drive, "echo one", always)["content"],
        json!("one\n")
    );
    // No request is made any more, except for commands that hide among the words.
    let content = drive.content("shell", json!({"command": "echo one more"}));
    assert_eq!(content, json!("one more\n"));
    let reply = ask(
        &mut drive,
        "echo one $(touch hidden)",
        json!({"reply": "reject", "message": "not so"}),
    );
    assert_eq!(reply["content"], json!("the user rejected `shell`: not so"));
    let reply = ask(
        &mut drive,
        "echo one; touch hidden",
        json!({"reply": "reject"}),
    );
    assert_eq!(reply["is_error"], json!(true));
    assert!(!project.root().join("hidden").exists());
}

#[test]
fn always_holds_for_a_local_tool() {
    let project = Project::with_config(
        r#"
        [conversation.tools.it]
        source = "local"
        command = "echo {{tool.arguments.word}}"
        parameters.word = { type = "string" }
        "#,
    );
    let mut drive = project.drive_asking();
    drive.send(&json!([call("it", json!({"word": "one"}))]));
    let request = event(&mut drive, "permission")["request"].clone();
    assert_eq!(request["patterns"], json!([r#"{"word":"one"}"#]));
    answer(&mut drive, &request, json!({"reply": "always"}));
    assert_eq!(drive.next()["replies"][0]["content"], json!("one\n"));
    assert_eq!(drive.content("it", json!({"word": "two"})), json!("two\n"));
}

#[test]
fn arguments_may_be_changed() {
    let project = Project::with_config("[conversation.tools.shell]\nrun = \"edit\"\n");
    let mut drive = project.drive_asking();
    let edited = json!({"reply": "once", "arguments": {"command": "echo mine"}});
    assert_eq!(
        ask(&mut drive, "echo theirs", edited)["content"],
        json!("mine\n")
    );
    drive.send(&json!([call("shell", json!({"command": "echo theirs"}))]));
    let request = event(&mut drive, "permission")["request"].clone();
    let wrong = json!({"reply": "once", "arguments": {"command": 5}});
    answer(&mut drive, &request, wrong);
    let told = drive.next()["error"].as_str().unwrap().to_owned();
    assert_snapshot!(told, @r#"the edited arguments are invalid: `command`: 5 is not of type "string"; the request stays open, edit them again"#);
    answer(&mut drive, &request, json!({"reply": "once"}));
    assert_eq!(drive.next()["replies"][0]["content"], json!("theirs\n"));
}

#[test]
fn only_starting_is_asked_about_unless_the_config_says_more() {
    let project = Project::with_config("[conversation.tools.shell]\nrun = { apply = \"ask\" }\n");
    let mut drive = project.drive_asking();
    drive.send(&json!([spawn("it", "cat")]));
    let request = event(&mut drive, "permission")["request"].clone();
    assert_eq!(request["metadata"]["action"], json!("spawn"));
    answer(&mut drive, &request, json!({"reply": "once"}));
    assert_eq!(
        drive.next()["replies"][0]["content"]["state"],
        json!("running")
    );
    drive.content("shell", json!({"action": "fetch", "id": "it"}));
    drive.send(&json!([call(
        "shell",
        json!({"action": "apply", "id": "it", "input": "rm -rf /"})
    )]));
    let request = event(&mut drive, "permission")["request"].clone();
    assert_eq!(
        request["metadata"]["arguments"],
        json!({"input": "rm -rf /"})
    );
    let harmless = json!({"reply": "once", "arguments": {"input": "ls"}});
    answer(&mut drive, &request, harmless);
    assert_eq!(
        drive.next()["replies"][0]["content"]["content"],
        json!("ls\n")
    );
    drive.content("shell", json!({"action": "abort", "id": "it"}));
}

#[test]
fn a_tool_that_is_skipped_says_so() {
    let project = Project::with_config("[conversation.tools.shell]\nrun = \"skip\"\n");
    for mut drive in [project.drive(), project.drive_asking()] {
        let reply = drive.one("shell", json!({"command": "touch ran"}));
        assert_eq!(
            reply["content"],
            json!("skipped: the configuration sets `shell` not to run")
        );
        assert_eq!(reply["is_error"], json!(false));
    }
    assert!(!project.root().join("ran").exists());
}

#[test]
fn a_cancelled_batch_withdraws_its_request() {
    let project = Project::new();
    let mut drive = project.drive_asking();
    drive.send(&json!([spawn("it", "touch ran")]));
    let request = event(&mut drive, "permission")["request"].clone();
    drive.send(&json!({"cancel": "1"}));
    let reply = drive.next();
    assert_eq!(reply["replies"][0]["content"], json!("cancelled"));
    let id = request["id"].as_str().unwrap();
    answer(&mut drive, &request, json!({"reply": "once"}));
    let error = drive.next();
    assert_eq!(
        error,
        json!({"error": format!("`{id}` is no longer open; it was answered elsewhere, or withdrawn")})
    );
    assert!(!project.root().join("ran").exists());
}

/// A tool that asks whether it is sure.
const SURE: &str = r#"
[conversation.tools.it]
source = "local"
command = "sh it.sh {{tool.answers.sure}}"
run = "unattended"
settle_max_secs = 20
parameters = {}
spawn.stateful = true
"#;

fn sure() -> Project {
    let project = Project::with_config(SURE);
    project.write(
        "it.sh",
        r#"if [ -z "$1" ]; then
             echo '{"type":"needs_input","question":{"id":"sure","text":"Sure?","answer_type":"Boolean"}}'
           else
             echo "{\"type\":\"success\",\"content\":\"sure: $1\"}"
           fi"#,
    );
    project
}

#[test]
fn a_question_of_a_call_is_answered_by_event() {
    let project = sure();
    let mut drive = project.drive_asking();
    drive.send(&json!([call("it", json!({}))]));
    let asked = event(&mut drive, "question");
    assert_eq!(asked["call"], json!("1"));
    assert_eq!(asked["tool"], json!("it"));
    assert_eq!(asked["question"]["text"], json!("Sure?"));
    drive.send(&json!({"answer": asked["ask"], "value": "perhaps"}));
    let error = drive.next();
    assert_eq!(
        error,
        json!({"error": "question `sure` needs true or false, not \"perhaps\""})
    );
    drive.send(&json!({"answer": asked["ask"], "value": true}));
    assert_eq!(drive.next()["replies"][0]["content"], json!("sure: true"));
    drive.send(&json!({"answer": asked["ask"], "value": true}));
    let ask = asked["ask"].as_str().unwrap();
    assert_eq!(
        drive.next(),
        json!({"error": format!("`{ask}` is no longer open; it was answered elsewhere, or withdrawn")})
    );
}

#[test]
fn the_first_answer_to_a_handle_wins() {
    let project = sure();
    let mut drive = project.drive_asking();
    // By apply: the question is then closed to the person.
    drive.send(&json!([call("it", json!({"action": "spawn", "id": "h"}))]));
    let (asked, spawned) = in_either_order(&mut drive);
    assert_eq!(asked["handle"], json!("h"));
    assert_eq!(spawned["replies"][0]["content"]["state"], json!("waiting"));
    let apply = json!({"action": "apply", "id": "h", "input": false});
    drive.send(&json!([call("it", apply)]));
    let (withdrawn, applied) = in_either_order(&mut drive);
    assert_eq!(withdrawn["event"], json!("withdrawn"));
    assert_eq!(withdrawn["ask"], asked["ask"]);
    let view = &applied["replies"][0]["content"];
    assert_eq!(view["result"], json!("sure: false"), "{view}");
    drive.send(&json!({"answer": asked["ask"], "value": true}));
    assert!(drive.next()["error"].is_string());
    // By event: await keeps waiting for the person, and ends with the tool.
    drive.send(&json!([
        call("it", json!({"action": "spawn", "id": "h"})),
        call("await", json!({"all": ["h"]}))
    ]));
    let asked = event(&mut drive, "question");
    drive.send(&json!({"answer": asked["ask"], "value": true}));
    let reply = drive.next();
    assert_eq!(
        reply["replies"][1]["content"]["completed"][0]["result"],
        json!("sure: true")
    );
}

/// The question event and the batch's reply, whichever comes first.
#[track_caller]
fn in_either_order(drive: &mut Drive) -> (Value, Value) {
    let (first, second) = (drive.next(), drive.next());
    if first["event"].is_string() {
        (first, second)
    } else {
        (second, first)
    }
}

#[test]
fn the_assistant_decides_at_the_turn_s_end() {
    let project = Project::with_config("[conversation.tools.shell]\nrun = \"unattended\"\n");
    let mut drive = project.drive_asking();
    drive.run([
        spawn("long", "echo up; exec sleep 1000"),
        spawn("short", "until [ -e go ]; do sleep 0.01; done; echo done"),
    ]);
    drive.send(&json!({"turn_end": true}));
    let asked = event(&mut drive, "inquire");
    let handles = asked["handles"].as_array().unwrap();
    assert_eq!(handles.len(), 2);
    assert_eq!(handles[0]["id"], json!("long"));
    assert_eq!(handles[0]["tool"], json!("shell"));
    assert_eq!(handles[0]["state"], json!("running"));
    assert_eq!(handles[0]["output_preview"], json!("up\n"));
    assert!(handles[0]["elapsed_secs"].is_number());
    drive.send(&json!({"inquire": asked["ask"], "decisions": {"nobody": "wait"}}));
    let error = drive.next()["error"].as_str().unwrap().to_owned();
    assert_snapshot!(error, @"inquiry `q_turn_1` is not about `nobody`; it is about long, short");
    drive.send(&json!({"inquire": asked["ask"], "decisions": {"long": "abort", "short": "wait"}}));
    project.write("go", "");
    let ended = drive.next();
    assert_eq!(
        ended,
        json!({"turn_end": {
            "ended": ["long"],
            "awaited": ["short"],
            "results": [{"id": "short", "state": "stopped", "result": "done\n"}],
        }})
    );
    // What was of the turn is gone with it.
    let error = drive.error("shell", json!({"action": "fetch", "id": "long"}));
    assert_eq!(error, "Handle `long` not found");
}
