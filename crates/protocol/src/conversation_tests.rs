use serde_json::json;

use super::*;
use crate::{NoticeKind, NoticeLevel, ReplyContent};

#[test]
fn what_is_written_is_read_again() {
    let notice = Notice {
        level: NoticeLevel::Info,
        kind: NoticeKind::Success,
        handle: None,
        tool: None,
        text: "it stopped".to_owned(),
    };
    let call = ToolCall {
        id: "c1".to_owned(),
        tool: "shell".to_owned(),
        arguments: json!({"command": "ls"}).as_object().unwrap().clone(),
    };
    let events = [
        TurnEvent::User {
            text: "hello".to_owned(),
            notices: vec![notice.clone()],
        },
        TurnEvent::Assistant {
            model: "p/m".to_owned(),
            said: vec![
                Said::Reasoning {
                    text: "hm".to_owned(),
                    seal: Some(json!({"signature": "s"})),
                },
                Said::Text {
                    text: "I look".to_owned(),
                },
                Said::Call { call, seal: None },
            ],
            interrupted: true,
        },
        TurnEvent::Replies {
            replies: vec![CallReply {
                id: "c1".to_owned(),
                content: ReplyContent::Text("a\n".to_owned()),
                is_error: false,
                error: None,
                extras: crate::ReplyExtras::default(),
            }],
            notices: Vec::new(),
        },
        TurnEvent::Notices {
            notices: vec![notice],
        },
        TurnEvent::TurnEnded,
    ];
    for event in events {
        let text = serde_json::to_string(&event).unwrap();
        let read: TurnEvent = serde_json::from_str(&text).unwrap();
        assert_eq!(read, event);
    }
}

#[test]
fn what_is_absent_is_left_out() {
    let event = TurnEvent::User {
        text: "hello".to_owned(),
        notices: Vec::new(),
    };
    assert_eq!(json!(event), json!({"type": "user", "text": "hello"}));
}
