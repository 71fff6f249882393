//! Messages of front ends that have some.

use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use serde_json::{Value, json};
use windlass_protocol::{
    CallReply, ConversationEvent, MessageId, MessagePart, Millis, ReplyContent, Role,
};
use windlass_runtime::{Archive, Conversations, Page, RunOptions};
use windlass_store::Prune;
use windlass_testing::{ScriptedJob, batch};

use crate::support::{Record, Recorded, session_id};

fn said(message: &str, role: Role, text: Option<&str>) -> ConversationEvent {
    ConversationEvent {
        message: MessageId::new(message).unwrap(),
        role,
        text: text.map(str::to_owned),
        payload: json!({"kind": "anything", "text": text}),
        replies: Vec::new(),
        at: Millis(7),
    }
}

#[tokio::test]
async fn a_conversation_is_read_back_unchanged_with_its_calls_in_its_messages() {
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

/// Runs a call as one of this message, and appends the reply to the
/// conversation.
async fn answered(record: &Record, recorded: &Recorded, arguments: Value) -> Vec<CallReply> {
    let message = MessageId::new("msg_1").unwrap();
    let options = RunOptions {
        message: Some(message),
        ..RunOptions::default()
    };
    let reply = recorded.session.run(batch([("tool", arguments)]), options);
    let replies = reply.await.replies;
    let event = ConversationEvent {
        replies: replies.clone(),
        ..said("msg_1", Role::Assistant, None)
    };
    let id = session_id("ses_1");
    record.store.append(&id, event).await.unwrap();
    replies
}

async fn loaded(record: &Record) -> Vec<CallReply> {
    let events = record.store.load(&session_id("ses_1")).await.unwrap();
    events.into_iter().flat_map(|event| event.replies).collect()
}

/// Everything that the conversation's rows hold.
fn rows(record: &Record) -> String {
    let connection = Connection::open(record.path().join("record.db")).unwrap();
    let sql =
        "SELECT group_concat(payload || coalesce(text, '') || coalesce(replies, '')) FROM said";
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn a_reply_that_its_part_holds_is_stored_once() {
    let record = Record::new();
    let recorded = record.session("ses_1");
    recorded.tool.opening(|job| {
        job.write("printed once");
        job.end();
    });
    let mut replies = answered(&record, &recorded, json!({})).await;
    let spawn = json!({"action": "spawn", "id": "a"});
    replies.extend(answered(&record, &recorded, spawn).await);
    assert!(matches!(replies[0].content, ReplyContent::Text(_)));
    assert!(matches!(replies[1].content, ReplyContent::Handle(_)));
    assert_eq!(loaded(&record).await, replies);
    let rows = rows(&record);
    assert!(!rows.contains("printed once"), "{rows}");
}

#[tokio::test]
async fn a_reply_whose_output_lies_in_a_file_comes_back_whole() {
    let record = Record::new();
    let recorded = record.session("ses_1");
    let large = "x".repeat(100_000);
    recorded.tool.opening(move |job| job.end_saying(&large));
    let replies = answered(&record, &recorded, json!({})).await;
    assert_eq!(replies[0].content.to_text().len(), 100_000);
    assert_eq!(loaded(&record).await, replies);
    assert!(rows(&record).len() < 1000);
}

#[tokio::test]
async fn a_reply_that_no_part_holds_is_stored_whole() {
    let record = Record::new();
    let recorded = record.session("ses_1");
    let mut replies = vec![CallReply::refused("c1", "not run")];
    // Not stored: it is for the front end of the moment.
    replies[0].extras.is_refusal = false;
    let event = ConversationEvent {
        replies: replies.clone(),
        ..said("msg_1", Role::Assistant, None)
    };
    let id = session_id("ses_1");
    record.store.append(&id, event).await.unwrap();
    assert_eq!(loaded(&record).await, replies);
    drop(recorded);
}

#[tokio::test]
async fn a_pruned_output_is_gone_from_the_conversation_too() {
    let record = Record::new();
    let recorded = record.session("ses_1");
    recorded.tool.opening(|job| {
        job.write("printed");
        job.end();
    });
    answered(&record, &recorded, json!({})).await;
    recorded.session.close().await;
    let tomorrow = SystemTime::now() + Duration::from_hours(24);
    record.store.prune(Prune::Outputs, tomorrow).await.unwrap();
    let replies = loaded(&record).await;
    assert_eq!(
        replies[0].content.to_text(),
        "(this output is no longer in the record)"
    );
}
