//! Requests of a driver: what it reads of its session, and events as they happen.

use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::processes::signal;
use crate::support::{Drive, Project, spawn};

/// Sends a request; returns its reply, and the events that came before it.
fn ask(drive: &mut Drive, request: Value) -> (Value, Vec<Value>) {
    let mut line = request;
    line["request"] = json!("r");
    drive.send(&line);
    let mut events = Vec::new();
    loop {
        let line = drive.next();
        if line["reply"] == "r" {
            return (line, events);
        }
        events.push(line);
    }
}

/// The value of the reply to a request.
pub(crate) fn value(drive: &mut Drive, request: Value) -> Value {
    let (reply, _) = ask(drive, request);
    assert!(reply["error"].is_null(), "{reply}");
    reply["value"].clone()
}

fn error(drive: &mut Drive, request: Value) -> String {
    let (reply, _) = ask(drive, request);
    reply["error"].as_str().unwrap().to_owned()
}

#[test]
fn a_session_and_its_tools_are_reported() {
    let project = Project::new();
    let mut drive = project.drive();
    let session = value(&mut drive, json!({"op": "session"}));
    assert!(session["id"].as_str().unwrap().starts_with("ses_"));
    assert_eq!(session["pid"], json!(drive.pid()));
    assert_eq!(session["root"], json!(project.root()));
    assert_eq!(session["trusted"], json!(true));
    let names = |tools: &Value| -> Vec<String> {
        let tools = tools.as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let tools = value(&mut drive, json!({"op": "tools"}));
    assert_eq!(names(&tools), ["shell", "git", "await"]);
    let flat = value(&mut drive, json!({"op": "tools", "dialect": "openai"}));
    assert_eq!(names(&flat), names(&tools));
    assert!(tools[0]["parameters"]["oneOf"].is_array() && flat[0]["parameters"]["oneOf"].is_null());
    let unknown = error(&mut drive, json!({"op": "tools", "dialect": "klingon"}));
    assert_snapshot!(unknown, @"`klingon` is not a schema dialect; use one of json-schema, anthropic, openai, openai-strict, gemini, gemini-legacy, mcp, ollama, llama-cpp");
}

#[test]
fn a_request_that_is_not_understood_is_refused_by_its_id() {
    let project = Project::new();
    let mut drive = project.drive();
    let why = error(&mut drive, json!({"op": "fly"}));
    assert_snapshot!(why, @"request `r` is invalid: unknown variant `fly`, expected one of `session`, `tools`, `handles`, `screen`, `output`, `add_tool`, `follow`, `unfollow`");
    let why = error(&mut drive, json!({"op": "screen", "handle": "none"}));
    assert_snapshot!(why, @"Handle `none` not found; this session is new, and a handle belongs to the session that spawned it");
    drive.run([spawn("text", "cat")]);
    let why = error(&mut drive, json!({"op": "screen", "handle": "text"}));
    assert_eq!(
        why,
        "handle `text` has no terminal; read its output instead"
    );
}

#[test]
fn output_is_read_by_offset_and_the_assistant_reads_it_all_the_same() {
    let project = Project::new();
    let mut drive = project.drive();
    drive.run([spawn("x", "printf 'é one\\ntw'; read line; echo o; exit 4")]);
    let whole = json!({"op": "output", "handle": "x", "wait": true, "lines": true});
    assert_eq!(
        value(&mut drive, whole),
        json!({"from": 0, "to": 7, "text": "é one\n", "ended": false})
    );
    let raw = json!({"op": "output", "handle": "x", "from": 7, "wait": true});
    assert_eq!(
        value(&mut drive, raw),
        json!({"from": 7, "to": 9, "text": "tw", "ended": false})
    );
    drive.send(&json!({"request": "rest", "op": "output", "handle": "x", "from": 7, "wait": true, "lines": true}));
    let apply = json!({"action": "apply", "id": "x", "input": "go"});
    drive.send(&json!([{"tool": "shell", "arguments": apply}]));
    let lines = [drive.next(), drive.next()];
    let applied = lines
        .iter()
        .find(|line| line["replies"].is_array())
        .unwrap();
    let told = &applied["replies"][0]["content"];
    let text = told["content"].as_str().or(told["result"].as_str());
    assert!(
        text.unwrap().starts_with("o\n") || text == Some("the program exited with code 4"),
        "{told}"
    );
    let rest = lines.iter().find(|line| line["reply"] == "rest").unwrap();
    let rest = &rest["value"];
    assert_eq!(
        rest,
        &json!({"from": 7, "to": 11, "text": "two\n", "ended": rest["ended"]})
    );
    let end = json!({"op": "output", "handle": "x", "from": 11, "wait": true});
    assert_eq!(
        value(&mut drive, end),
        json!({"from": 11, "to": 11, "text": "", "ended": true})
    );
    let handles = value(&mut drive, json!({"op": "handles"}));
    assert_eq!(handles[0]["id"], json!("x"));
    assert_eq!(handles[0]["state"], json!("stopped"));
}

#[test]
fn events_are_reported_from_where_the_driver_wants_them() {
    let project = Project::new();
    let mut drive = project.drive();
    drive.content("shell", json!({"command": "true"}));
    let last = value(&mut drive, json!({"op": "session"}))["last_event"].clone();
    value(&mut drive, json!({"op": "follow", "after": 0}));
    let mut numbers = Vec::new();
    while json!(numbers.len()) != last {
        let event = drive.next();
        assert_eq!(event["event"], json!("update"), "{event}");
        numbers.push(event["number"].as_u64().unwrap());
    }
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    value(&mut drive, json!({"op": "unfollow"}));
    let reply = drive.run([json!({"tool": "shell", "arguments": {"command": "true"}})]);
    assert!(reply["replies"].is_array(), "no more events come: {reply}");
}

#[test]
fn a_batch_that_waits_holds_up_no_concurrent_one() {
    let project = Project::new();
    let mut drive = project.drive();
    drive.run([spawn("door", "read line")]);
    let wait = json!({"tool": "await", "arguments": {"all": ["door"]}});
    drive.send(&json!({"batch": "waits", "calls": [wait], "concurrent": true}));
    let knock =
        json!({"tool": "shell", "arguments": {"action": "apply", "id": "door", "input": "x"}});
    drive.send(&json!({"batch": "knocks", "calls": [knock], "concurrent": true}));
    let mut answered = [drive.next(), drive.next()].map(|line| line["batch"].clone());
    answered.sort_by_key(Value::to_string);
    assert_eq!(answered, [json!("knocks"), json!("waits")]);
}

#[test]
fn ctrl_c_is_left_to_a_driver_that_wants_it() {
    let project = Project::new();
    let mut drive = project.lines(&["drive", "--ignore-interrupts"]);
    value(&mut drive, json!({"op": "session"}));
    signal(drive.pid(), Signal::INT);
    assert_eq!(
        drive.content("shell", json!({"command": "echo on"})),
        json!("on\n")
    );
    signal(drive.pid(), Signal::TERM);
    assert_eq!(drive.wait().code(), Some(143));
}
