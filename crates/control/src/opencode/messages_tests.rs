use serde_json::{Value, json};

use super::*;

fn part(id: &str, message: &str, status: &str) -> Value {
    let state = match status {
        "pending" => json!({"status": status, "input": {}, "raw": "{}"}),
        "running" => json!({"status": status, "input": {}, "time": {"start": 1}}),
        _ => {
            json!({"status": status, "input": {}, "output": "", "title": "", "time": {"start": 1, "end": 2}})
        }
    };
    json!({
        "type": "tool", "id": id, "sessionID": "ses_1", "messageID": message,
        "callID": "1", "tool": "t", "state": state,
    })
}

fn message(id: &str, created: u64, parts: &[Value]) -> MessageRecord {
    serde_json::from_value(json!({
        "info": {"id": id, "sessionID": "ses_1", "role": "assistant", "time": {"created": created}},
        "parts": parts,
    }))
    .unwrap()
}

/// The record overlaid with what the journal told at 10 and later, a line per
/// message.
fn check(record: &[MessageRecord], told: &[Value]) -> String {
    let mut messages = record.to_vec();
    let told = told.iter().zip(10..).map(|(part, at)| {
        let part: ToolPart = serde_json::from_value(part.clone()).unwrap();
        (part.id.clone(), (Millis(at), part))
    });
    overlay(
        &mut messages,
        told.collect(),
        &SessionId::new("ses_1").unwrap(),
    );
    let line = |message: &MessageRecord| {
        let message = serde_json::to_value(message).unwrap();
        let parts = message["parts"].as_array().unwrap().iter();
        let parts = parts.map(|part| format!("{}:{}", part["id"], part["state"]["status"]));
        let parts = parts.collect::<Vec<_>>().join(" ");
        let info = &message["info"];
        let done = info["time"]["completed"].is_number();
        format!("{} {parts} {done}", info["id"]).replace('"', "")
    };
    messages.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_has_come_further_counts() {
    let record = [message(
        "msg_1",
        5,
        &[
            part("prt_1", "msg_1", "running"),
            part("prt_2", "msg_1", "completed"),
        ],
    )];
    let told = [
        part("prt_1", "msg_1", "completed"),
        part("prt_2", "msg_1", "running"),
    ];
    assert_eq!(
        check(&record, &told),
        "msg_1 prt_1:completed prt_2:completed true"
    );
}

#[test]
fn what_the_record_does_not_have_yet_follows_it() {
    let record = [message("msg_1", 5, &[part("prt_1", "msg_1", "completed")])];
    let told = [
        part("prt_2", "msg_1", "pending"),
        part("prt_3", "msg_2", "running"),
    ];
    assert_eq!(
        check(&record, &told),
        "msg_1 prt_1:completed prt_2:pending false\nmsg_2 prt_3:running false"
    );
}

#[test]
fn what_is_older_than_the_page_stays_out() {
    let record = [message("msg_2", 20, &[part("prt_2", "msg_2", "completed")])];
    let told = [part("prt_1", "msg_1", "completed")];
    assert_eq!(check(&record, &told), "msg_2 prt_2:completed true");
}
