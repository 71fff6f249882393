use async_trait::async_trait;
use windlass_protocol::{Arguments, ToolCall};

use super::*;

/// A record in memory.
#[derive(Default)]
struct Memory(Mutex<Vec<ConversationEvent>>);

#[async_trait]
impl Conversations for Memory {
    async fn append(&self, _: &SessionId, event: ConversationEvent) -> Result<(), ArchiveError> {
        self.0.lock().push(event);
        Ok(())
    }

    async fn load(&self, _: &SessionId) -> Result<Vec<ConversationEvent>, ArchiveError> {
        Ok(self.0.lock().clone())
    }

    async fn newest(&self, _: &str) -> Result<Option<SessionId>, ArchiveError> {
        Ok(None)
    }
}

fn user(text: &str) -> TurnEvent {
    TurnEvent::User {
        text: text.to_owned(),
        notices: Vec::new(),
    }
}

fn calling(id: &str) -> TurnEvent {
    let call = ToolCall {
        id: id.to_owned(),
        tool: "shell".to_owned(),
        arguments: Arguments::new(),
    };
    TurnEvent::Assistant {
        model: "p/m".to_owned(),
        said: vec![Said::Call { call, seal: None }],
        interrupted: false,
    }
}

#[tokio::test]
async fn a_conversation_continues_where_it_was() {
    let record = Arc::new(Memory::default());
    let session = SessionId::from_suffix("1");
    let first = Conversation::kept(record.clone(), session.clone());
    first.append(user("hello")).await.unwrap();
    first.append(TurnEvent::TurnEnded).await.unwrap();
    let second = Conversation::load(record, session).await.unwrap();
    assert_eq!(second.events(), first.events());
}

#[tokio::test]
async fn calls_that_nobody_answered_are_answered_once() {
    let record = Arc::new(Memory::default());
    let session = SessionId::from_suffix("1");
    let died = Conversation::kept(record.clone(), session.clone());
    died.append(user("hello")).await.unwrap();
    died.append(calling("c1")).await.unwrap();
    for _ in 0..2 {
        let loaded = Conversation::load(record.clone(), session.clone());
        let events = loaded.await.unwrap().events();
        assert_eq!(events.len(), 3);
        let TurnEvent::Replies { replies, .. } = &*events[2] else {
            panic!("no replies: {events:?}");
        };
        assert_eq!(replies, &[CallReply::refused("c1", LOST)]);
    }
    assert_eq!(record.0.lock().len(), 3);
}

#[tokio::test]
async fn what_cannot_be_read_is_left_out() {
    let record = Arc::new(Memory::default());
    let session = SessionId::from_suffix("1");
    let conversation = Conversation::kept(record.clone(), session.clone());
    conversation.append(user("hello")).await.unwrap();
    record.0.lock()[0].payload = json!({"type": "of_the_future"});
    conversation.append(user("again")).await.unwrap();
    let loaded = Conversation::load(record, session).await.unwrap();
    assert_eq!(loaded.events().len(), 1);
}

fn replies(id: &str) -> TurnEvent {
    TurnEvent::Replies {
        replies: vec![CallReply::refused(id, "no")],
        notices: Vec::new(),
    }
}

#[tokio::test]
async fn replies_and_the_end_of_a_turn_belong_to_the_message_before_them() {
    let record = Arc::new(Memory::default());
    let conversation = Conversation::kept(record.clone(), SessionId::from_suffix("1"));
    let mut messages = Vec::new();
    for event in [
        user("hello"),
        calling("c1"),
        replies("c1"),
        calling("c2"),
        TurnEvent::TurnEnded,
    ] {
        messages.push(conversation.append(event).await.unwrap());
    }
    assert_eq!(messages[1], messages[2]);
    assert_eq!(messages[3], messages[4]);
    assert_ne!(messages[0], messages[1]);
    assert_ne!(messages[2], messages[3]);
    let recorded: Vec<MessageId> = record
        .0
        .lock()
        .iter()
        .map(|event| event.message.clone())
        .collect();
    assert_eq!(recorded, messages);
}

#[tokio::test]
async fn replies_are_recorded_beside_the_payload_and_read_in_either_place() {
    let record = Arc::new(Memory::default());
    let session = SessionId::from_suffix("1");
    let conversation = Conversation::kept(record.clone(), session.clone());
    conversation.append(calling("c1")).await.unwrap();
    conversation.append(replies("c1")).await.unwrap();
    {
        let recorded = record.0.lock();
        assert_eq!(
            recorded[1].payload,
            json!({"type": "replies", "replies": []})
        );
        assert_eq!(recorded[1].replies, [CallReply::refused("c1", "no")]);
    }
    let loaded = Conversation::load(record.clone(), session.clone())
        .await
        .unwrap();
    assert_eq!(loaded.events(), conversation.events());
    // As an older version wrote it.
    record.0.lock()[1].payload = json!(replies("c1"));
    record.0.lock()[1].replies.clear();
    let loaded = Conversation::load(record, session).await.unwrap();
    // Details beside the content do not cross a wire.
    let as_read: TurnEvent = serde_json::from_value(json!(replies("c1"))).unwrap();
    assert_eq!(*loaded.events()[1], as_read);
}
