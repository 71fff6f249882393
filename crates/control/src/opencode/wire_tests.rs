use serde_json::json;

use super::*;

#[test]
fn an_event_has_an_id_a_type_and_properties() {
    let event = OpencodeEvent {
        id: "evt_1".to_owned(),
        update: OpencodeUpdate::Connected {},
    };
    let written = json!({"id": "evt_1", "type": "server.connected", "properties": {}});
    assert_eq!(serde_json::to_value(&event).unwrap(), written);
    let read: OpencodeEvent = serde_json::from_value(written).unwrap();
    assert_eq!(read, event);
}

#[test]
fn what_is_reported_is_read_back_the_same() {
    for told in [
        json!({"id": "evt_2", "type": "session.idle", "properties": {"sessionID": "ses_1"}}),
        json!({"id": "evt_3", "type": "session.status", "properties":
            {"sessionID": "ses_1", "status": {"type": "busy"}}}),
        json!({"id": "evt_4", "type": "permission.replied", "properties":
            {"sessionID": "ses_1", "requestID": "per_1", "reply": "once",
             "permissionID": "per_1", "response": "once"}}),
        json!({"id": "evt_5", "type": "message.part.updated", "properties":
            {"sessionID": "ses_1", "time": 5, "part":
                {"type": "tool", "id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1",
                 "callID": "c", "tool": "shell",
                 "state": {"status": "pending", "input": {}, "raw": "{}"}}}}),
    ] {
        let event: OpencodeEvent = serde_json::from_value(told.clone()).unwrap();
        assert_eq!(serde_json::to_value(&event).unwrap(), told);
    }
}
