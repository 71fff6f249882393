use windlass_protocol::{AnswerType, Arguments, HandleAction, Question};

use super::*;
use crate::catalogue::Catalogue;
use crate::journal::Journal;
use crate::subject::Subject;
use crate::wait::Await;

fn session(name: &str) -> SessionId {
    SessionId::from_suffix(name)
}

fn of(name: &str, on_behalf: Option<&OnBehalf>) -> PendingRequests {
    PendingRequests::new(
        session(name),
        on_behalf,
        Attendance::Attended,
        Journal::new(64, None),
        CancellationToken::new(),
    )
}

fn request(name: &str) -> PermissionRequest {
    PermissionRequest {
        id: PermissionId::from_suffix(name),
        session_id: session("top"),
        permission: "shell".to_owned(),
        patterns: vec!["ls".to_owned()],
        metadata: Arguments::new(),
        always: Vec::new(),
        tool: None,
    }
}

fn terms() -> Terms {
    let mut catalogue = Catalogue::new();
    let registered = catalogue.register_builtin(Await::definition(), Arc::new(Await));
    registered.unwrap();
    Terms {
        subject: Subject::new("shell", ["ls"]),
        tool: Arc::clone(catalogue.get(Await::NAME).unwrap()),
        action: None,
        editable: false,
        secret: None,
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
        content: None,
        form: None,
        rendering: None,
    }
}

fn allow(pattern: &str) -> PermissionRule {
    PermissionRule {
        permission: "shell".to_owned(),
        pattern: pattern.to_owned(),
        action: RuleAction::Allow,
    }
}

/// The events of the journal so far, a word each.
async fn told(requests: &PendingRequests) -> Vec<String> {
    let journal = &requests.journal;
    let mut tail = journal.tail(0);
    let mut told = Vec::new();
    for _ in 0..journal.last() {
        let (_, entry) = tail.next().await.unwrap();
        told.push(match entry.event {
            SessionEvent::PermissionAsked(request) => format!("asked {}", request.id),
            SessionEvent::PermissionReplied { id, decision } => format!("{id} {:?}", decision.by),
            SessionEvent::QuestionAsked(ask) => format!("asked {}", ask.ask),
            SessionEvent::QuestionClosed { ask } => format!("closed {ask}"),
            other => format!("{other:?}"),
        });
    }
    told
}

#[tokio::test]
async fn a_request_is_listed_until_somebody_replies_and_no_second_reply_is_taken() {
    let requests = of("top", None);
    let ticket = requests.open_permission(request("1"), terms());
    assert_eq!(requests.permissions()[0].id, request("1").id);
    assert!(requests.knows("per_1") && !requests.knows("per_2"));

    let id = request("1").id;
    requests.reply(&id, PermissionReply::Once.into()).unwrap();
    assert!(requests.is_empty() && requests.knows("per_1"));
    let again = requests.reply(&id, PermissionReply::Reject.into());
    assert_eq!(again, Err(ReplyError::Closed("per_1".to_owned())));
    let outcome = ticket.outcome().await;
    assert!(
        matches!(outcome, PermissionOutcome::Replied(answer) if answer.reply == PermissionReply::Once)
    );
    assert_eq!(told(&requests).await, ["asked per_1", "per_1 Person"]);
}

#[tokio::test]
async fn an_unfit_answer_leaves_the_question_open() {
    let requests = of("top", None);
    let ticket = requests.open_question(ask(false));
    let unfit = requests.answer("q_1", json!("perhaps")).unwrap_err();
    assert!(matches!(unfit, ReplyError::Unfit(_)), "{unfit}");
    assert_eq!(requests.questions()[0].question, ask(false).question);
    requests.answer("q_1", json!("yes")).unwrap();
    assert_eq!(ticket.outcome().await, Answered::With(json!(true)));
    let late = requests.answer("q_1", json!("yes")).unwrap_err();
    assert_eq!(late, ReplyError::Closed("q_1".to_owned()));
}

#[tokio::test]
async fn trust_is_asked_for_beside_everything_else() {
    let requests = of("top", None);
    let (taker, mut answers) = mpsc::unbounded_channel();
    let open = || requests.open_trust(ask(false).question, taker.clone());
    open();
    let asked = requests.questions().remove(0);
    assert!(asked.ask.starts_with("tru_"), "{asked:?}");
    assert!(asked.rendering.is_some());
    let unfit = requests.answer(&asked.ask, json!("perhaps"));
    assert!(matches!(unfit, Err(ReplyError::Unfit(_))));
    requests.answer(&asked.ask, json!("yes")).unwrap();
    assert_eq!(answers.try_recv(), Ok(true));
    let late = requests.answer(&asked.ask, json!("no"));
    assert_eq!(late, Err(ReplyError::Closed(asked.ask)));
    // Whatever else closes it is no answer.
    open();
    requests.withdraw_trust();
    open();
    requests.set_attendance(Attendance::Unattended);
    assert!(requests.is_empty());
    assert!(answers.try_recv().is_err());
}

#[tokio::test]
async fn an_unfit_secret_is_not_repeated() {
    let requests = of("top", None);
    let _ticket = requests.open_question(ask(true));
    let unfit = requests.answer("q_1", json!(["hunter2"])).unwrap_err();
    assert!(!unfit.to_string().contains("hunter2"), "{unfit}");
    assert_eq!(requests.len(), 1);
}

#[tokio::test]
async fn a_request_is_replied_to_by_its_own_kind_of_reply() {
    let requests = of("top", None);
    let mut watch = requests.watch();
    let _permission = requests.open_permission(request("1"), terms());
    let _question = requests.open_question(ask(false));
    assert!(requests.answer("per_1", json!(true)).is_err());
    assert!(watch.next().await.unwrap().answer(json!(true)).is_err());
    assert!(
        watch
            .next()
            .await
            .unwrap()
            .reply(PermissionReply::Once.into())
            .is_err()
    );
    assert_eq!(requests.len(), 2);
}

#[tokio::test]
async fn a_dropped_ticket_withdraws_its_request() {
    let requests = of("top", None);
    let mut watch = requests.watch();
    let ticket = requests.open_permission(request("1"), terms());
    let open = watch.next().await.unwrap();
    assert!(open.is_open());
    drop(ticket);
    open.closed().await;
    assert!(requests.is_empty());
    assert!(open.reply(PermissionReply::Once.into()).is_err());
    assert_eq!(told(&requests).await, ["asked per_1", "per_1 Withdrawn"]);
}

#[tokio::test]
async fn a_rejection_stands_for_every_permission_of_the_session_and_for_no_question() {
    let requests = of("top", None);
    let on_behalf = OnBehalf {
        requests: requests.clone(),
        agent: "helper".to_owned(),
    };
    let of_agent = of("agent", Some(&on_behalf));
    let first = requests.open_permission(request("1"), terms());
    let second = requests.open_permission(request("2"), terms());
    let _question = requests.open_question(ask(false));
    let _agents = of_agent.open_permission(request("3"), terms());
    let id = request("1").id;
    requests.reply(&id, PermissionReply::Reject.into()).unwrap();
    assert!(matches!(
        first.outcome().await,
        PermissionOutcome::Replied(_)
    ));
    assert!(matches!(
        second.outcome().await,
        PermissionOutcome::Settled(PermissionReply::Reject)
    ));
    assert_eq!(requests.len(), 1);
    assert_eq!(of_agent.len(), 1);
}

#[tokio::test]
async fn a_remembered_rule_settles_what_it_covers_unless_a_person_is_to_look_at_it() {
    let requests = of("top", None);
    let covered = requests.open_permission(request("1"), terms());
    let editable = Terms {
        editable: true,
        ..terms()
    };
    let _looked_at = requests.open_permission(request("2"), editable);
    requests.settle_covered(&[allow("cat *")]);
    assert_eq!(requests.len(), 2);
    requests.settle_covered(&[allow("ls *")]);
    assert!(matches!(
        covered.outcome().await,
        PermissionOutcome::Settled(PermissionReply::Always)
    ));
    assert_eq!(requests.permissions()[0].id, request("2").id);
}

#[tokio::test]
async fn a_watcher_is_given_what_was_open_before_it_came() {
    let requests = of("top", None);
    let _first = requests.open_permission(request("1"), terms());
    let mut watch = requests.watch();
    let _second = requests.open_permission(request("2"), terms());
    for id in ["per_1", "per_2"] {
        assert_eq!(watch.next().await.unwrap().request().id(), id);
    }
}

#[tokio::test]
async fn a_watcher_hears_of_the_requests_of_agents_by_the_agents_name() {
    let top = of("top", None);
    let on_behalf = |requests: &PendingRequests, agent: &str| OnBehalf {
        requests: requests.clone(),
        agent: agent.to_owned(),
    };
    let outer = of("outer", Some(&on_behalf(&top, "outer")));
    let inner = of("inner", Some(&on_behalf(&outer, "inner")));
    let (mut from_top, mut from_inner) = (top.watch(), inner.watch());
    let ticket = inner.open_permission(request("1"), terms());
    let _of_top = top.open_permission(request("2"), terms());
    let _question = inner.open_question(ask(false));

    let open = from_top.next().await.unwrap();
    let PersonRequest::Permission(asked) = open.request() else {
        panic!("it is a permission");
    };
    assert_eq!(asked.metadata["agent"], json!("outer"));
    open.reply(PermissionReply::Once.into()).unwrap();
    assert!(matches!(
        ticket.outcome().await,
        PermissionOutcome::Replied(_)
    ));
    assert_eq!(told(&top).await, ["asked per_2"]);

    assert_eq!(from_inner.next().await.unwrap().request().id(), "per_1");
    let open = from_inner.next().await.unwrap();
    let PersonRequest::Question(asked) = open.request() else {
        panic!("what the others ask is not this one's");
    };
    assert_eq!(
        asked.question.pre_amble.as_deref(),
        Some("Agent `outer`, tool `t`:\nAgent `inner`, tool `t`:")
    );
    assert_eq!((top.len(), outer.len(), inner.len()), (1, 0, 1));
}

#[tokio::test]
async fn when_nobody_attends_any_more_what_is_open_is_given_up() {
    let requests = of("top", None);
    let permission = requests.open_permission(request("1"), terms());
    let question = requests.open_question(ask(false));
    requests.set_attendance(Attendance::Unattended);
    assert!(matches!(
        permission.outcome().await,
        PermissionOutcome::Nobody
    ));
    assert_eq!(question.outcome().await, Answered::Nobody);
    assert!(requests.is_empty() && !requests.is_attended());
}

#[tokio::test]
async fn a_watch_ends_with_its_session() {
    let requests = of("top", None);
    let mut watch = requests.watch();
    requests.closing.cancel();
    assert!(watch.next().await.is_none());
}

#[tokio::test]
async fn a_secret_that_was_edited_is_not_told() {
    let requests = of("top", None);
    let secret = Terms {
        action: Some(HandleAction::Apply),
        secret: Some(Arguments::new()),
        ..terms()
    };
    let _ticket = requests.open_permission(request("1"), secret);
    let arguments = json!({"input": "hunter2", "keys": ["h"]});
    let answer = PermissionAnswer {
        arguments: serde_json::from_value(arguments).unwrap(),
        ..PermissionReply::Once.into()
    };
    requests.reply(&request("1").id, answer).unwrap();
    let mut tail = requests.journal.tail(1);
    let told = format!("{:?}", tail.next().await);
    assert!(
        told.contains("(secret)") && !told.contains("hunter2"),
        "{told}"
    );
}

/// However replies, settlements, withdrawals and giving up race, each request
/// is opened and closed once in the journal, in that order.
#[test]
fn each_request_closes_exactly_once_whoever_is_first() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .build()
        .unwrap();
    runtime.block_on(async {
        for _ in 0..100 {
            let requests = of("top", None);
            let mut watch = requests.watch();
            let tickets =
                ["1", "2", "3"].map(|name| requests.open_permission(request(name), terms()));
            let mut racing = tokio::task::JoinSet::new();
            for _ in 0..3 {
                let open = watch.next().await.unwrap();
                let again = open.clone();
                racing.spawn(async move { drop(open.reply(PermissionReply::Reject.into())) });
                racing.spawn(async move { again.give_up() });
            }
            for ticket in tickets {
                racing.spawn(async move { drop(ticket) });
            }
            racing.join_all().await;
            let told = told(&requests).await;
            assert_eq!(told.len(), 6, "{told:?}");
            for name in ["1", "2", "3"] {
                let closed = |line: &&String| line.starts_with(&format!("per_{name} "));
                assert_eq!(told.iter().filter(closed).count(), 1, "{told:?}");
            }
        }
    });
}
