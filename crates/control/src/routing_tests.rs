use serde_json::json;
use windlass_protocol::{Ask, Millis, PermissionId, SessionId};
use windlass_testing::question;

use super::*;

fn peer(pid: u32) -> Peer {
    Peer {
        front_end: "drive".to_owned(),
        pid,
        path: format!("/run/drive-{pid}.sock").into(),
    }
}

fn update(update: SessionUpdate) -> EventContent {
    let event = StreamedEvent {
        session: SessionId::new("ses_1").unwrap(),
        number: 1,
        at: Millis(0),
        update,
    };
    EventContent::read("update", &json!(event).to_string())
}

#[test]
fn what_one_runtime_denies_another_may_have_by_now() {
    let routes = RouteTable::default();
    routes.learn("a", &peer(1));
    routes.learn("a", &peer(2));
    routes.forget("a", &peer(1));
    assert_eq!(routes.find("a"), Some(peer(2)));
    routes.forget("a", &peer(2));
    assert_eq!(routes.find("a"), None);
}

#[test]
fn nothing_is_left_of_a_runtime_that_is_gone() {
    let routes = RouteTable::default();
    routes.learn("a", &peer(1));
    routes.learn("b", &peer(2));
    routes.forget_peer(&peer(1));
    assert_eq!((routes.find("a"), routes.find("b")), (None, Some(peer(2))));
}

#[test]
fn the_table_is_bounded() {
    let routes = RouteTable::default();
    for number in 0..=MOST {
        routes.learn(&number.to_string(), &peer(1));
    }
    assert!(routes.0.lock().len() <= MOST);
    assert_eq!(routes.find(&MOST.to_string()), Some(peer(1)));
}

#[test]
fn requests_and_questions_are_known_while_they_are_open() {
    let routes = RouteTable::default();
    let learn = |said| routes.learn_event(&peer(1), &update(said));
    learn(SessionUpdate::Question(Ask {
        ask: "q_1".to_owned(),
        call: None,
        handle: None,
        tool: "t".to_owned(),
        question: question("sure", "Sure?"),
        content: None,
        form: None,
        rendering: None,
    }));
    assert_eq!(routes.find("q_1"), Some(peer(1)));
    learn(SessionUpdate::QuestionClosed {
        ask: "q_1".to_owned(),
    });
    assert_eq!(routes.find("q_1"), None);

    routes.learn("per_1", &peer(1));
    learn(SessionUpdate::PermissionReplied {
        permission: PermissionId::new("per_1").unwrap(),
        reply: None,
    });
    routes.learn("ses_1", &peer(1));
    learn(SessionUpdate::Closed);
    assert_eq!((routes.find("per_1"), routes.find("ses_1")), (None, None));
}
