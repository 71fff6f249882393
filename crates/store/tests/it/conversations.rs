//! Messages of front ends that have some.

use serde_json::json;
use windlass_protocol::{ConversationEvent, MessageId, MessagePart, Millis, Role};
use windlass_runtime::{Archive, Conversations, Page, RunOptions};
use windlass_testing::{ScriptedJob, batch};

use crate::support::{Record, session_id};

fn said(message: &str, role: Role, text: Option<&str>) -> ConversationEvent {
    ConversationEvent {
        message: MessageId::new(message).unwrap(),
        role,
        text: text.map(str::to_owned),
        payload: json!({"kind": "anything", "text": text}),
        at: Millis(7),
    }
}

#[tokio::test]
async fn a_conversation_comes_back_as_it_was_and_its_calls_stand_in_its_messages() {
    let record = Record::new();
    let recorded = record.session("ses_1");
    recorded.tool.opening(ScriptedJob::end);
    let id = session_id("ses_1");
    let events = [
        said("msg_1", Role::User, Some("What is here?")),
        said("msg_2", Role::Assistant, Some("Let me look.")),
        said("msg_2", Role::Assistant, None),
    ];
    for event in &events {
        record.store.append(&id, event.clone()).await.unwrap();
    }
    let message = MessageId::new("msg_2").unwrap();
    let calls = batch([("tool", json!({}))]);
    let options = RunOptions {
        message: Some(message),
        ..RunOptions::default()
    };
    recorded.session.run(calls, options).await;

    assert_eq!(record.store.load(&id).await.unwrap(), events);
    assert_eq!(record.store.newest("p1").await.unwrap(), Some(id.clone()));
    assert_eq!(record.store.newest("p2").await.unwrap(), None);
    let messages = record.store.messages(&id, Page::default()).await.unwrap();
    let shown: Vec<(Role, Vec<&str>)> = messages
        .iter()
        .map(|message| {
            let parts = message.parts.iter().map(|part| match part {
                MessagePart::Text(part) => part.text.as_str(),
                MessagePart::Tool(part) => part.tool.as_str(),
            });
            (message.info.role, parts.collect())
        })
        .collect();
    assert_eq!(
        shown,
        [
            (Role::User, vec!["What is here?"]),
            (Role::Assistant, vec!["Let me look.", "tool"])
        ]
    );
    let session = record.store.session(&id).await.unwrap().unwrap();
    assert_eq!(session.title, "What is here?");
}
