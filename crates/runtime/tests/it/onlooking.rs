//! A person who looks on: what they see, what they take over, and what the
//! assistant is told of it.

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::json;
use windlass_protocol::{
    HandleKind, HandleState, PartState, PermissionAnswer, PermissionReply, Question, Typing,
};
use windlass_runtime::{Keyboard, RunPolicy, SessionEvent};
use windlass_testing::text_question;

use crate::support::{PERSON, Stage};

const LEASE: Duration = Duration::from_mins(5);

async fn spawned() -> Stage {
    let stage = Stage::new();
    let spawned = stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    assert_eq!(spawned, r#"c1 {"id":"a","state":"running"}"#);
    stage
}

fn typed(text: &str) -> Keyboard {
    Keyboard::Typing(Typing::input(text))
}

#[tokio::test]
async fn an_onlooker_does_not_move_the_assistants_cursor() {
    let stage = spawned().await;
    let job = stage.tool.job("a").unwrap();
    job.write("one\ntwo\n");
    let handle = stage.session.handle("a").unwrap();

    let info = handle.info();
    assert_eq!(info.state, HandleState::Running);
    assert_eq!(info.last_line.as_deref(), Some("two"));
    assert_eq!(info.written, 8);
    assert_eq!(handle.log(4..7), b"two");
    assert_eq!(handle.log(6..u64::MAX), b"o\n");
    assert!(handle.log(9..20).is_empty());
    assert!(handle.screen(None).is_none());

    let fetched = stage
        .run([("tool", json!({"action": "fetch", "id": "a"}))])
        .await;
    assert_eq!(
        fetched,
        r#"c1 {"id":"a","state":"running","content":"one\ntwo\n"}"#
    );
}

#[tokio::test]
async fn while_a_person_types_the_assistant_is_refused_and_then_told() {
    let stage = spawned().await;
    let job = stage.tool.job("a").unwrap();
    let handle = stage.session.handle("a").unwrap();
    let lock = handle.lock(LEASE).unwrap();
    assert!(handle.info().locked);

    let applied = stage
        .run([("tool", json!({"action": "apply", "id": "a", "input": "x"}))])
        .await;
    assert_snapshot!(
        applied,
        @"c1 ! a person has taken over handle `a` and is typing; fetch shows its output, and a notice is sent when they hand it back"
    );

    handle.type_in(typed("ls"), Some(&lock)).await.unwrap();
    assert_eq!(job.inputs(), [Typing::input("ls")]);
    job.write("a file\n");
    handle.unlock(&lock).unwrap();

    assert_snapshot!(
        stage.notices(),
        @"notice info content: a person typed into `a` and has handed it back; it wrote 7 bytes meanwhile, the last line `a file`; fetch it to see what changed"
    );
    let applied = stage
        .run([("tool", json!({"action": "apply", "id": "a", "input": "x"}))])
        .await;
    assert_eq!(
        applied,
        r#"c1 {"id":"a","state":"running","content":"a file\n"}"#
    );
}

#[tokio::test]
async fn only_whoever_has_taken_a_handle_over_may_type() {
    let stage = spawned().await;
    let handle = stage.session.handle("a").unwrap();
    // No client has locked it, so any client may type.
    handle.type_in(typed("x"), None).await.unwrap();
    let lock = handle.lock(LEASE).unwrap();
    let mut refusals = Vec::new();
    for other in [None, Some("lck_other")] {
        let refused = handle.type_in(typed("x"), other).await.unwrap_err();
        refusals.push(refused.to_string());
    }
    assert_snapshot!(refusals.join("\n"), @"
    another client has taken over handle `a`; wait until it is handed back
    another client has taken over handle `a`; wait until it is handed back
    ");
    assert!(handle.lock(LEASE).is_err());
    assert!(handle.unlock("lck_other").is_err());
    handle.unlock(&lock).unwrap();
    assert!(handle.unlock(&lock).is_err());
}

#[tokio::test(start_paused = true)]
async fn whoever_goes_away_has_handed_back() {
    let stage = spawned().await;
    let handle = stage.session.handle("a").unwrap();
    handle.lock(Duration::from_mins(1)).unwrap();
    stage
        .seen(|event| matches!(event, SessionEvent::Unlocked { .. }))
        .await;
    assert!(!handle.info().locked);
    assert_snapshot!(
        stage.notices(),
        @"notice info content: a person had taken over `a` and has handed it back; it wrote nothing meanwhile"
    );
}

#[tokio::test]
async fn a_secret_that_is_typed_answers_the_question_and_is_kept_nowhere() {
    let stage = Stage::with(
        crate::support::Cast {
            recorder: true,
            ..PERSON
        },
        |setup| setup.options.trusted = true,
    );
    stage.tool.opening(|job| {
        job.ask(Question {
            secret: true,
            ..text_question("secret", "Password:")
        });
    });
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let handle = stage.session.handle("a").unwrap();
    let lock = handle.lock(LEASE).unwrap();
    stage
        .seen(|event| matches!(event, SessionEvent::QuestionAsked(_)))
        .await;
    let bytes = |text: &str| Keyboard::Bytes(text.as_bytes().to_vec());

    handle.type_in(bytes("ses"), Some(&lock)).await.unwrap();
    assert_eq!(handle.info().state, HandleState::Waiting);
    handle.type_in(bytes("ame\r"), Some(&lock)).await.unwrap();

    assert_eq!(handle.info().state, HandleState::Running);
    stage
        .seen(|event| matches!(event, SessionEvent::QuestionClosed { .. }))
        .await;
    assert!(stage.session.requests().is_empty());
    let told = format!("{:?}", stage.recording.told());
    assert!(!told.contains("ame"), "{told}");
}

#[tokio::test]
async fn an_end_by_the_user_is_told_to_the_assistant() {
    let stage = spawned().await;
    let handle = stage.session.handle("a").unwrap();
    assert_eq!(handle.abort().await.unwrap().ended, 1);
    assert_eq!(
        stage.notices(),
        "notice error failure: `a` stopped: aborted by the user"
    );
    let info = handle.info();
    assert!(info.failed);
    assert_eq!(info.result.as_deref(), Some("aborted by the user"));
    assert!(handle.lock(LEASE).is_err());
    assert!(handle.type_in(typed("x"), None).await.is_err());
}

#[tokio::test]
async fn a_permission_is_answered_by_its_id() {
    let stage = Stage::with(PERSON, |setup| setup.tool.run = RunPolicy::default());
    let going = stage.go([("tool", json!({"action": "spawn", "id": "a"}))]);
    stage
        .seen(|event| matches!(event, SessionEvent::PermissionAsked(_)))
        .await;
    let requests = stage.session.requests();
    // A client that gets the event finds the handle.
    let request = requests.permissions().remove(0);
    let decision = PermissionAnswer {
        reply: PermissionReply::Reject,
        message: Some("not now".to_owned()),
        arguments: None,
    };
    requests.reply(&request.id, decision).unwrap();
    assert_eq!(
        going.await.unwrap(),
        "c1 ! the user rejected `tool`: not now"
    );
    assert!(requests.is_empty());
}

#[tokio::test]
async fn sessions_are_listed_until_they_end() {
    let runtime = windlass_runtime::Runtime::new(windlass_runtime::Catalogue::new());
    let sessions = runtime.sessions();
    let mut changes = sessions.changes();
    let closed = runtime.session(windlass_runtime::SessionOptions::default());
    let dropped = runtime.session(windlass_runtime::SessionOptions::default());
    changes.changed().await.unwrap();
    assert_eq!(sessions.list().len(), 2);
    assert!(sessions.get(closed.id().as_str()).is_some());

    closed.close().await;
    assert_eq!(sessions.list().len(), 1);
    assert!(sessions.get(closed.id().as_str()).is_none());
    let id = dropped.id().clone();
    drop(dropped);
    assert!(sessions.get(id.as_str()).is_none());
    assert!(sessions.get("../etc/passwd").is_none());
    changes.changed().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_one_shot_is_seen_while_it_runs_and_can_be_ended() {
    let stage = Stage::new();
    let running = stage.go([("tool", json!({"path": "a"}))]);
    let job = stage.tool.next().await;
    job.write("first\nsecond\n");
    let infos = stage.session.handle_infos();
    assert_eq!(infos.len(), 1);
    let info = &infos[0];
    assert_eq!(info.id.as_str(), "tool-1");
    assert_eq!(info.kind, HandleKind::OneShot);
    assert_eq!(info.state, HandleState::Running);
    assert_eq!(info.command.as_deref(), Some("tool"));
    assert_eq!(info.last_line.as_deref(), Some("second"));
    assert!(stage.session.handles().is_empty(), "it is not a handle");

    let one_shot = stage.session.handle("tool-1").unwrap();
    assert_eq!(one_shot.log(0..5), b"first");
    one_shot.abort().await.unwrap();
    assert_eq!(
        running.await.unwrap(),
        "c1 ! first\nsecond\naborted by the user"
    );
    assert!(stage.session.handle_infos().is_empty());
    // An earlier observer can still see how it ended.
    let ended = stage.session.handle("tool-1").unwrap().info();
    assert_eq!(ended.state, HandleState::Stopped);
    assert!(stage.session.handle("tool-2").is_err());
}

#[tokio::test(start_paused = true)]
async fn a_one_shot_that_asks_can_be_ended_by_a_person() {
    let stage = Stage::with(PERSON, |_| {});
    let running = stage.go([("tool", json!({}))]);
    let job = stage.tool.next().await;
    job.ask(text_question("q", "Which?"));
    let prompt = stage.person.next_question().await;
    stage
        .session
        .handle("tool-1")
        .unwrap()
        .abort()
        .await
        .unwrap();
    assert_eq!(running.await.unwrap(), "c1 ! aborted by the user");
    prompt.withdrawn().await;
}

#[tokio::test(start_paused = true)]
async fn aborting_a_waiting_handle_withdraws_its_question_and_asks_nothing_again() {
    let stage = Stage::with(PERSON, |_| {});
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let job = stage.tool.job("a").unwrap();
    job.ask(text_question("q", "Which?"));
    let prompt = stage.person.next_question().await;
    job.hold_on();
    let aborting = stage.go([("tool", json!({"action": "abort", "id": "a"}))]);
    job.aborted(1).await;
    prompt.withdrawn().await;
    job.ask(text_question("another", "And now?"));
    job.let_go();
    aborting.await.unwrap();
    let asked = stage.events().await.into_iter();
    let asked = asked.filter(|event| matches!(event, SessionEvent::QuestionAsked(_)));
    assert_eq!(asked.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_part_of_a_running_one_shot_has_a_growing_preview() {
    let stage = Stage::new();
    let running = stage.go([("tool", json!({}))]);
    let job = stage.tool.next().await;
    let shows = |wanted: &'static str| {
        move |event: &SessionEvent| match event {
            SessionEvent::Part(part) => match &part.state {
                PartState::Running(running) => running
                    .metadata
                    .as_ref()
                    .and_then(|metadata| metadata.get("output"))
                    .is_some_and(|output| output == wanted),
                _ => false,
            },
            _ => false,
        }
    };
    job.write("one\n");
    stage.seen(shows("one\n")).await;
    job.write("two\n");
    stage.seen(shows("one\ntwo\n")).await;
    job.write(&"x".repeat(100_000));
    job.write("\nlast\n");
    let is_short_end = |event: &SessionEvent| match event {
        SessionEvent::Part(part) => match &part.state {
            PartState::Running(running) => running
                .metadata
                .as_ref()
                .and_then(|metadata| metadata.get("output")?.as_str())
                .is_some_and(|output| output.ends_with("last\n") && output.len() < 5000),
            _ => false,
        },
        _ => false,
    };
    stage.seen(is_short_end).await;
    job.end();
    running.await.unwrap();
}

#[tokio::test]
async fn a_handle_that_somebody_has_is_taken_anyway() {
    let stage = spawned().await;
    let handle = stage.session.handle("a").unwrap();
    let first = handle.lock(LEASE).unwrap();
    let second = handle.lock_anyway(LEASE).unwrap();
    assert!(handle.type_in(typed("x"), Some(&first)).await.is_err());
    assert!(handle.unlock(&first).is_err());
    handle.type_in(typed("x"), Some(&second)).await.unwrap();
    // A person still types, so the assistant gets no notice yet.
    assert_eq!(stage.notices(), "");
    handle.unlock(&second).unwrap();
    assert_snapshot!(stage.notices(), @"notice info content: a person had taken over `a` and has handed it back; it wrote nothing meanwhile");
    // A handle without a lock can be taken too.
    let third = handle.lock_anyway(LEASE).unwrap();
    handle.unlock(&third).unwrap();
}
