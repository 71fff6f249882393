use serde_json::json;
use windlass_protocol::{PartState, StateRunning};

use super::*;

fn known() -> KnownSession {
    let info = serde_json::from_value(json!({
        "id": "ses_1", "front_end": "serve", "pid": 1, "root": "/project",
        "created": 1, "active": 0, "pending": 0, "last_event": 0,
    }));
    KnownSession::new(&info.unwrap())
}

fn part(id: &str, message: &str, status: &str) -> ToolPart {
    let state = match status {
        "pending" => json!({"status": status, "input": {}, "raw": "{}"}),
        "running" => json!({"status": status, "input": {}, "time": {"start": 1}}),
        _ => {
            json!({"status": status, "input": {}, "output": "", "title": "", "time": {"start": 1, "end": 2}})
        }
    };
    let part = json!({
        "type": "tool", "id": id, "sessionID": "ses_1", "messageID": message,
        "callID": "1", "tool": "t", "state": state,
    });
    serde_json::from_value(part).unwrap()
}

/// What is told of a part: the types, by comma.
fn told(known: &mut KnownSession, id: &str, message: &str, status: &str) -> String {
    let updates = known.part(part(id, message, status), Millis(5));
    let names = updates.iter().map(|update| {
        let update = serde_json::to_value(update).unwrap();
        update["type"].as_str().unwrap().to_owned()
    });
    names.collect::<Vec<_>>().join(", ")
}

#[test]
fn a_part_never_goes_back() {
    let mut known = known();
    told(&mut known, "prt_1", "msg_1", "running");
    assert_eq!(told(&mut known, "prt_1", "msg_1", "pending"), "");
    told(&mut known, "prt_1", "msg_1", "completed");
    for status in ["pending", "running", "completed"] {
        assert_eq!(told(&mut known, "prt_1", "msg_1", status), "", "{status}");
    }
}

#[test]
fn a_message_is_finished_when_its_last_call_is() {
    let mut known = known();
    assert_eq!(
        told(&mut known, "prt_1", "msg_1", "pending"),
        "session.status, message.updated, message.part.updated"
    );
    assert_eq!(
        told(&mut known, "prt_2", "msg_1", "pending"),
        "message.part.updated"
    );
    assert_eq!(
        told(&mut known, "prt_1", "msg_1", "completed"),
        "message.part.updated"
    );
    assert_eq!(
        told(&mut known, "prt_2", "msg_1", "completed"),
        "message.part.updated, message.updated, session.status, session.idle"
    );
}

#[test]
fn a_session_is_idle_when_no_message_has_an_open_call() {
    let mut known = known();
    told(&mut known, "prt_1", "msg_1", "pending");
    assert_eq!(
        told(&mut known, "prt_2", "msg_2", "pending"),
        "message.updated, message.part.updated"
    );
    assert_eq!(
        told(&mut known, "prt_2", "msg_2", "completed"),
        "message.part.updated, message.updated"
    );
    assert_eq!(
        told(&mut known, "prt_1", "msg_1", "completed"),
        "message.part.updated, message.updated, session.status, session.idle"
    );
}

#[test]
fn only_what_is_under_way_is_remembered() {
    let mut known = known();
    for number in 0..100 {
        let (part, message) = (format!("prt_{number}"), format!("msg_{number}"));
        told(&mut known, &part, &message, "pending");
        told(&mut known, &part, &message, "completed");
    }
    assert_eq!(known.messages.len(), 1);
}

#[test]
fn a_part_that_runs_is_told_whole() {
    let mut known = known();
    let running = part("prt_1", "msg_1", "running");
    let updates = known.part(running.clone(), Millis(5));
    let told = updates.into_iter().find_map(|update| match update {
        OpencodeUpdate::PartUpdated { part, time, .. } => Some((*part, time)),
        _ => None,
    });
    assert_eq!(told, Some((running.clone(), Millis(5))));
    assert!(matches!(
        running.state,
        PartState::Running(StateRunning { .. })
    ));
}
