use serde_json::json;
use windlass_protocol::{AnswerType, Arguments, PermissionReply, Question, SessionId};

use super::*;

fn request() -> PermissionRequest {
    PermissionRequest {
        id: PermissionId::from_suffix("1"),
        session_id: SessionId::from_suffix("1"),
        permission: "shell".to_owned(),
        patterns: vec!["ls".to_owned()],
        metadata: Arguments::new(),
        always: Vec::new(),
        tool: None,
    }
}

fn ask(secret: bool) -> Ask {
    Ask {
        ask: "q_1".to_owned(),
        call: None,
        handle: None,
        tool: "t".to_owned(),
        question: Question {
            id: "sure".to_owned(),
            text: "Sure?".to_owned(),
            pre_amble: None,
            answer_type: if secret {
                AnswerType::Text
            } else {
                AnswerType::Boolean
            },
            default: None,
            secret,
        },
    }
}

fn yes() -> PermissionDecision {
    PermissionDecision {
        reply: PermissionReply::Once,
        message: None,
        arguments: None,
    }
}

/// Answers with yes when told to.
struct Told(tokio::sync::Notify);

#[async_trait]
impl Person for Told {
    async fn permit(&self, _: &PermissionRequest) -> Option<PermissionDecision> {
        self.0.notified().await;
        Some(yes())
    }

    async fn answer(&self, _: &Ask) -> Option<Value> {
        self.0.notified().await;
        Some(json!(true))
    }
}

async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_is_asked_lies_on_the_desk_until_somebody_answers() {
    let desk = Desk::before(Arc::new(AtTheDesk));
    let asking = tokio::spawn({
        let desk = Arc::clone(&desk);
        async move { desk.permit(&request()).await }
    });
    until(|| !desk.is_empty()).await;
    assert_eq!(desk.permissions(), [request()]);

    desk.reply(&request().id, yes()).unwrap();

    assert_eq!(asking.await.unwrap(), Some(yes()));
    assert!(desk.is_empty());
    let again = desk.reply(&request().id, yes()).unwrap_err();
    assert_eq!(again, DeskError::NoPermission("per_1".to_owned()));
}

#[tokio::test]
async fn the_persons_own_answer_clears_the_desk() {
    let person = Arc::new(Told(tokio::sync::Notify::new()));
    let desk = Desk::before(Arc::clone(&person) as _);
    let asking = tokio::spawn({
        let desk = Arc::clone(&desk);
        async move { Person::answer(&*desk, &ask(false)).await }
    });
    until(|| !desk.is_empty()).await;

    person.0.notify_one();

    assert_eq!(asking.await.unwrap(), Some(json!(true)));
    assert!(desk.is_empty());
    let late = desk.answer("q_1", json!(false)).unwrap_err();
    assert_eq!(late, DeskError::NoQuestion("q_1".to_owned()));
}

#[tokio::test]
async fn an_answer_that_does_not_fit_leaves_the_question_open() {
    let desk = Desk::before(Arc::new(AtTheDesk));
    let asking = tokio::spawn({
        let desk = Arc::clone(&desk);
        async move { Person::answer(&*desk, &ask(false)).await }
    });
    until(|| !desk.is_empty()).await;

    let unfit = desk.answer("q_1", json!("perhaps")).unwrap_err();

    assert!(matches!(unfit, DeskError::Unfit(_)), "{unfit}");
    assert_eq!(desk.questions(), [ask(false)]);
    desk.answer("q_1", json!("yes")).unwrap();
    assert_eq!(asking.await.unwrap(), Some(json!(true)));
}

#[tokio::test]
async fn an_unfit_secret_is_not_repeated() {
    let desk = Desk::before(Arc::new(AtTheDesk));
    let _asking = tokio::spawn({
        let desk = Arc::clone(&desk);
        async move { Person::answer(&*desk, &ask(true)).await }
    });
    until(|| !desk.is_empty()).await;

    let unfit = desk.answer("q_1", json!(["hunter2"])).unwrap_err();

    assert!(!unfit.to_string().contains("hunter2"), "{unfit}");
    assert_eq!(desk.questions().len(), 1);
}

#[tokio::test]
async fn a_withdrawn_asking_leaves_the_desk() {
    let desk = Desk::before(Arc::new(AtTheDesk));
    let asking = tokio::spawn({
        let desk = Arc::clone(&desk);
        async move { desk.permit(&request()).await }
    });
    until(|| !desk.is_empty()).await;

    asking.abort();
    let _ = asking.await;

    assert!(desk.is_empty());
}
