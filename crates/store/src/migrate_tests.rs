use windlass_protocol::SessionId;
use windlass_runtime::{Archive as _, Conversations as _, Page};

use super::*;
use crate::Store;

fn tables(connection: &Connection) -> Vec<String> {
    connection
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

#[test]
fn an_empty_database_becomes_the_present_one_and_stays_it() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let made = tables(&connection);
    assert_eq!(
        made,
        [
            "message",
            "notice",
            "part",
            "permission",
            "rule",
            "said",
            "session"
        ]
    );
    migrate(&mut connection).unwrap();
    assert_eq!(tables(&connection), made);
}

#[test]
fn every_older_version_becomes_the_present_one_and_keeps_its_rows() {
    for version in 1..=STEPS.len() {
        let mut connection = Connection::open_in_memory().unwrap();
        for step in &STEPS[..version] {
            connection.execute_batch(step).unwrap();
        }
        connection
            .pragma_update(None, "user_version", version.cast_signed())
            .unwrap();
        connection
            .execute_batch(
                "INSERT INTO session (id, project, directory, front_end, runtime, pid, version, created, updated)
                 VALUES ('ses_1', 'p', '/', 'drive', 'r', 1, '0', 1, 1)",
            )
            .unwrap();
        migrate(&mut connection).unwrap();
        assert_eq!(super::version(&connection).unwrap(), STEPS.len());
        let kept: String = connection
            .query_row("SELECT id FROM session", [], |row| row.get(0))
            .unwrap();
        assert_eq!(kept, "ses_1");
    }
}

#[test]
fn a_newer_one_is_left_alone_and_said_so() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.pragma_update(None, "user_version", 999).unwrap();
    let error = migrate(&mut connection).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the record has version 999, and this Windlass supports versions up to {}; update \
             Windlass",
            STEPS.len()
        )
    );
    assert_eq!(tables(&connection), [""; 0]);
}

/// A conversation as version 2 wrote it: the calls in a message of their own,
/// the replies in the payload.
const OLD_CONVERSATION: &str = r#"
INSERT INTO session (id, project, directory, front_end, runtime, pid, version, created, updated, ended)
VALUES ('ses_1', 'p', '/', 'query', 'r', 1, '0', 1, 1, 1);
INSERT INTO message (id, session, role, created) VALUES
    ('msg_1', 'ses_1', 'user', 1), ('msg_2', 'ses_1', 'assistant', 2),
    ('msg_3', 'ses_1', 'assistant', 3), ('msg_4', 'ses_1', 'user', 4);
INSERT INTO part (id, session, message, status, body) VALUES ('prt_1', 'ses_1', 'msg_3', 'completed',
    '{"type":"tool","id":"prt_1","sessionID":"ses_1","messageID":"msg_3","callID":"c1","tool":"shell","state":{"status":"completed","input":{},"output":"out","title":"ls","metadata":{},"time":{"start":1,"end":2}}}');
INSERT INTO said (session, message, text, payload, at) VALUES
    ('ses_1', 'msg_1', 'look', '{"type":"user","text":"look"}', 1),
    ('ses_1', 'msg_2', 'I look.', '{"type":"assistant","said":[{"type":"text","text":"I look."}]}', 2),
    ('ses_1', 'msg_4', NULL, '{"type":"replies","replies":[{"id":"c1","content":"out","is_error":false}]}', 4);
"#;

#[tokio::test]
async fn an_old_conversation_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let old = Connection::open(folder.path().join("record.db")).unwrap();
    for step in &STEPS[..2] {
        old.execute_batch(step).unwrap();
    }
    old.pragma_update(None, "user_version", 2).unwrap();
    old.execute_batch(OLD_CONVERSATION).unwrap();
    drop(old);

    let store = Store::open(folder.path()).unwrap();
    let id = SessionId::new("ses_1").unwrap();
    let events = store.load(&id).await.unwrap();
    let payloads: Vec<String> = events
        .iter()
        .map(|event| event.payload.to_string())
        .collect();
    assert_eq!(
        payloads,
        [
            r#"{"type":"user","text":"look"}"#,
            r#"{"type":"assistant","said":[{"type":"text","text":"I look."}]}"#,
            r#"{"type":"replies","replies":[{"id":"c1","content":"out","is_error":false}]}"#,
        ]
    );
    assert!(events.iter().all(|event| event.replies.is_empty()));
    let messages = store.messages(&id, Page::default()).await.unwrap();
    let parts: Vec<usize> = messages.iter().map(|message| message.parts.len()).collect();
    assert_eq!(parts, [1, 1, 1, 0]);
}
