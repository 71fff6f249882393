use serde_json::json;

use super::*;

#[test]
fn the_beginnings_of_long_texts_are_left() {
    let long = "ä".repeat(10_000);
    let mut message: MessageRecord = serde_json::from_value(json!({
        "info": {"id": "msg_1", "sessionID": "ses_1", "role": "assistant", "time": {"created": 1}},
        "parts": [{
            "type": "tool", "id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1",
            "callID": "c", "tool": "shell",
            "state": {
                "status": "completed", "title": "t", "metadata": {}, "time": {"start": 1, "end": 2},
                "output": long, "input": {"command": long, "env": {"A": long}, "rows": 3}
            }
        }]
    }))
    .unwrap();
    shorten(&mut message);
    let shown = serde_json::to_value(&message).unwrap();
    let state = &shown["parts"][0]["state"];
    for text in [
        &state["output"],
        &state["input"]["command"],
        &state["input"]["env"],
    ] {
        assert_eq!(text.as_str().unwrap().chars().count(), BRIEF + 1);
        assert!(text.as_str().unwrap().ends_with('…'));
    }
    assert_eq!(state["input"]["rows"], json!(3));
}
