//! Questions for a secret: who may answer, and what is kept of it.

use insta::assert_snapshot;
use serde_json::json;
use windlass_protocol::{PermissionAnswer, PermissionReply, Question};
use windlass_testing::text_question;

use crate::support::{Cast, NOBODY, PERSON, Setup, Stage};

/// A session in which the handle `a` asks for a secret and ends with the
/// length of the answer.
async fn asking(cast: Cast, change: impl FnOnce(&mut Setup)) -> Stage {
    let cast = Cast {
        recorder: true,
        ..cast
    };
    let stage = Stage::with(cast, change);
    stage.tool.opening(|job| {
        job.on_answer(|job, answer| {
            let length = answer.as_str().map_or(0, str::len);
            job.end_saying(&format!("{length} letters"));
        });
        job.ask(Question {
            secret: true,
            ..text_question("secret", "Password:")
        });
    });
    let spawned = stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let asks = r#"c1 {"id":"a","state":"waiting","question":{"id":"secret","text":"Password:","answer_type":"Text","secret":true}"#;
    assert!(spawned.starts_with(asks), "{spawned}");
    let by_person = spawned.contains("waiting for the user: they answer with `windlass answer q_");
    assert_eq!(by_person, cast.person, "{spawned}");
    stage
}

/// Answers with `apply`; returns the reply.
async fn apply(stage: &Stage, secret: &str) -> String {
    let arguments = json!({"action": "apply", "id": "a", "input": secret});
    stage.run([("tool", arguments)]).await
}

/// Nothing of it is in the record or in the journal.
#[track_caller]
fn assert_not_kept(stage: &Stage, secret: &str) {
    let told = format!("{:?}", stage.recording.told());
    assert!(!told.contains(secret), "{told}");
}

#[tokio::test]
async fn nobody_to_ask_refuses_and_says_what_would_work() {
    let stage = asking(NOBODY, |_| {}).await;
    assert_snapshot!(
        apply(&stage, "sesame").await,
        @r#"c1 ! handle `a` asks for a secret ("Password:"), which only the user can give, and no user can be asked; abort it, and tell the user"#
    );
    assert_not_kept(&stage, "sesame");
    // The question stays.
    let fetched = stage
        .run([("tool", json!({"action": "fetch", "id": "a"}))])
        .await;
    assert_snapshot!(fetched, @r#"c1 {"id":"a","state":"waiting","question":{"id":"secret","text":"Password:","answer_type":"Text","secret":true}}"#);
}

#[tokio::test]
async fn only_the_person_answers_where_there_is_one() {
    let stage = asking(PERSON, |_| {}).await;
    let prompt = stage.person.next_question().await;
    assert!(prompt.asked.question.secret);
    let told = apply(&stage, "a guess").await;
    assert_snapshot!(told.replace(&*prompt.asked.ask, "[ask]"), @r#"c1 ! handle `a` asks for a secret ("Password:"), which only the user can give with `windlass answer [ask]`; tell them, and await it"#);
    let waiting = stage.go([("await", json!({"all": ["a"]}))]);
    prompt.reply(json!("sesame"));
    assert_snapshot!(
        waiting.await.unwrap(),
        @r#"c1 {"completed":[{"id":"a","state":"stopped","result":"6 letters"}],"pending":[]}"#
    );
    assert_not_kept(&stage, "sesame");
    assert_not_kept(&stage, "a guess");
}

#[tokio::test]
async fn who_is_trusted_answers_unrecorded() {
    let stage = asking(NOBODY, |setup| setup.options.trusted = true).await;
    assert_eq!(
        apply(&stage, "sesame").await,
        r#"c1 {"id":"a","state":"stopped","result":"6 letters"}"#
    );
    assert_not_kept(&stage, "sesame");
}

#[tokio::test]
async fn the_assistant_answers_where_its_tool_says_so() {
    let stage = asking(PERSON, |setup| setup.tool.secrets_to_assistant = true).await;
    assert_eq!(
        apply(&stage, "sesame").await,
        r#"c1 {"id":"a","state":"stopped","result":"6 letters"}"#
    );
    assert_not_kept(&stage, "sesame");
}

#[tokio::test]
async fn a_secret_of_another_type_is_refused_without_being_said() {
    let stage = asking(NOBODY, |setup| setup.options.trusted = true).await;
    let arguments = json!({"action": "apply", "id": "a", "input": {"word": "sesame"}});
    let refused = stage.run([("tool", arguments)]).await;
    assert_eq!(refused, "c1 ! question `secret` needs a string");
    assert_not_kept(&stage, "sesame");
}

#[tokio::test]
async fn a_secret_that_needs_permission_is_not_shown_to_whoever_permits_it() {
    let stage = asking(PERSON, |setup| {
        setup.tool.secrets_to_assistant = true;
        setup.tool.run.apply = windlass_runtime::RunMode::Ask;
    })
    .await;
    let arguments = json!({"action": "apply", "id": "a", "input": "sesame"});
    let running = stage.go([("tool", arguments)]);
    let prompt = stage.person.next_permission().await;
    let asked = format!("{:?}", prompt.asked);
    assert!(!asked.contains("sesame"), "{asked}");
    prompt.once();
    assert_snapshot!(running.await.unwrap(), @r#"c1 {"id":"a","state":"stopped","result":"6 letters"}"#);
    assert_not_kept(&stage, "sesame");
}

#[tokio::test]
async fn a_secret_that_an_edit_leaves_alone_is_typed_as_it_was() {
    for (edit, told) in [
        (json!({"input": "(secret)"}), "6 letters"),
        (json!({"input": "other"}), "5 letters"),
    ] {
        let stage = asking(PERSON, |setup| {
            setup.tool.secrets_to_assistant = true;
            setup.tool.run.apply = windlass_runtime::RunMode::Edit;
        })
        .await;
        let arguments = json!({"action": "apply", "id": "a", "input": "sesame"});
        let running = stage.go([("tool", arguments)]);
        let prompt = stage.person.next_permission().await;
        prompt.reply(PermissionAnswer {
            arguments: serde_json::from_value(edit).unwrap(),
            ..PermissionReply::Always.into()
        });
        let answered = running.await.unwrap();
        assert!(answered.contains(told), "{answered}");
        for secret in ["sesame", "other"] {
            assert_not_kept(&stage, secret);
        }
    }
}
