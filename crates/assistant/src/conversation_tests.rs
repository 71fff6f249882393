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
async fn a_conversation_goes_on_where_it_was() {
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
