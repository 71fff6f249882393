use serde_json::json;

use super::*;

fn call(id: &str, arguments: &Value) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        tool: "shell".to_owned(),
        arguments: arguments.as_object().unwrap().clone(),
    }
}

fn part(id: &str, input: &Value, output: &str) -> ToolPart {
    let part = json!({
        "type": "tool", "id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1", "callID": id,
        "tool": "shell",
        "state": {
            "status": "running", "input": input, "metadata": {"output": output},
            "time": {"start": 1},
        },
    });
    serde_json::from_value(part).unwrap()
}

#[test]
fn a_call_counts_from_when_its_tool_runs() {
    let mut calls = ShownCalls::default();
    calls.start(vec![call("a", &json!({"command": "make"}))]);
    assert!(calls.under_way().all(|call| call.took.is_none()));
    calls.note(
        &part("a", &json!({"command": "make fast"}), "1\n\n2\n3\n4\n5\n"),
        SystemTime::now(),
    );
    let shown = calls.under_way().next().unwrap();
    assert!(shown.took.is_some());
    assert_eq!(shown.title, "shell make fast", "as it was edited");
    assert_eq!(shown.last_lines, ["2", "3", "4", "5"]);
}

#[test]
fn a_done_call_can_be_opened() {
    let mut calls = ShownCalls::default();
    calls.start(vec![call("a", &json!({"command": "make"}))]);
    let end = calls.end("a", false, SystemTime::now()).unwrap();
    assert_eq!(end.took, "0.0s");
    assert!(calls.end("a", false, SystemTime::now()).is_none() && calls.is_idle());
    let reply = json!({"batch": "b", "replies": [{"id": "a", "content": "x\ny\u{1b}[2J\n", "is_error": false}], "notices": []});
    calls.answered(&serde_json::from_value(reply).unwrap());
    assert_eq!(calls.opened(), ["▾ shell make", "  x", "  y\\u{1b}[2J"]);
    assert_eq!(calls.last_output(), ["  x", "  y\\u{1b}[2J"]);
}

#[test]
fn the_time_of_a_call_is_its_own_however_late_its_end_is_seen() {
    let mut calls = ShownCalls::default();
    calls.start(vec![call("a", &json!({"command": "make"}))]);
    let began = SystemTime::now() - Duration::from_mins(1);
    calls.note(&part("a", &json!({"command": "make"}), ""), began);
    let ended = began + Duration::from_secs(2);
    assert_eq!(calls.end("a", false, ended).unwrap().took, "2s");
}
