//! Questions of tools: who is asked, what counts, and who wins.

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_protocol::Question;
use windlass_runtime::{QuestionPolicy, QuestionTarget, SessionEvent};
use windlass_testing::{question, text_question};

use crate::support::{Cast, INQUIRER, NOBODY, PERSON, Stage};

/// Asks as it starts and ends with its answer.
fn asks(stage: &Stage, question: Question) {
    stage.tool.opening(move |job| {
        job.on_answer(|job, answer| job.end_saying(&format!("heard {answer}")));
        job.ask(question.clone());
    });
}

fn preset(answer: Value) -> QuestionPolicy {
    QuestionPolicy {
        target: QuestionTarget::User,
        answer: Some(answer),
    }
}

fn for_assistant() -> QuestionPolicy {
    QuestionPolicy {
        target: QuestionTarget::Assistant,
        answer: None,
    }
}

#[tokio::test]
async fn a_preset_answer_wins_over_everyone() {
    let cast = Cast {
        person: true,
        inquirer: true,
        recorder: false,
    };
    let stage = Stage::with(cast, |setup| {
        setup
            .tool
            .questions
            .insert("q".into(), preset(json!("yes")));
    });
    asks(&stage, question("q", "Really?"));
    assert_eq!(stage.run([("tool", json!({}))]).await, "c1 heard true");
}

#[tokio::test]
async fn a_preset_answer_reaches_a_live_handle_too() {
    let stage = Stage::with(NOBODY, |setup| {
        setup.tool.questions.insert("q".into(), preset(json!(true)));
    });
    asks(&stage, question("q", "Really?"));
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    stage.tool.next().await.ended().await;
    assert_snapshot!(
        stage.run([("await", json!({"all": ["a"]}))]).await,
        @r#"c1 {"completed":[{"id":"a","state":"stopped","result":"heard true"}],"pending":[]}"#
    );
}

#[tokio::test]
async fn the_person_is_asked_unless_the_policy_says_otherwise() {
    let stage = Stage::with(PERSON, |_| {});
    asks(&stage, question("q", "Really?"));
    let running = stage.go([("tool", json!({}))]);
    let prompt = stage.person.next_question().await;
    assert_eq!(prompt.asked.tool, "tool");
    assert_eq!(prompt.asked.call.as_deref(), Some("c1"));
    assert_eq!(prompt.asked.handle, None);
    assert_eq!(prompt.asked.question.text, "Really?");
    prompt.reply(json!(false));
    assert_eq!(running.await.unwrap(), "c1 heard false");
    let events = stage.events().await;
    let asked = events.iter().find_map(|event| match event {
        SessionEvent::QuestionAsked(ask) => Some(ask.ask.clone()),
        _ => None,
    });
    let closed = SessionEvent::QuestionClosed {
        ask: asked.unwrap(),
    };
    assert!(events.contains(&closed));
}

#[tokio::test]
async fn the_inquirer_is_asked_where_the_policy_says_so() {
    let cast = Cast {
        person: true,
        inquirer: true,
        recorder: false,
    };
    let stage = Stage::with(cast, |setup| {
        setup.tool.questions.insert("q".into(), for_assistant());
    });
    asks(&stage, text_question("q", "Which?"));
    let running = stage.go([("tool", json!({}))]);
    stage.inquirer.next_question().await.reply(json!("this"));
    assert_eq!(running.await.unwrap(), r#"c1 heard "this""#);
}

#[tokio::test]
async fn a_one_shot_takes_the_default_when_nobody_can_be_asked() {
    let stage = Stage::new();
    let question = Question {
        default: Some(json!(true)),
        ..question("q", "Really?")
    };
    asks(&stage, question);
    assert_eq!(stage.run([("tool", json!({}))]).await, "c1 heard true");
}

#[tokio::test]
async fn a_one_shot_takes_the_default_when_the_person_does_not_answer() {
    let stage = Stage::with(PERSON, |_| {});
    let question = Question {
        default: Some(json!(false)),
        ..question("q", "Really?")
    };
    asks(&stage, question);
    let running = stage.go([("tool", json!({}))]);
    stage.person.next_question().await.decline();
    assert_eq!(running.await.unwrap(), "c1 heard false");
}

#[tokio::test]
async fn a_one_shot_that_nobody_answers_fails_and_says_what_was_asked() {
    let stage = Stage::new();
    asks(&stage, question("q", "Really?"));
    assert_snapshot!(
        stage.run([("tool", json!({}))]).await,
        @r#"c1 ! the tool asked "Really?" and no one could answer; ask the user, or do without it"#
    );
    assert_eq!(stage.tool.next().await.aborts().len(), 1);
}

/// The tool asks again whatever it is answered.
fn asks_for_ever(stage: &Stage, question: Question) {
    stage.tool.opening(move |job| {
        let again = question.clone();
        job.on_answer(move |job, _| job.ask(again.clone()));
        job.ask(question.clone());
    });
}

#[tokio::test]
async fn a_tool_that_takes_no_default_is_stopped() {
    let stage = Stage::new();
    let question = Question {
        default: Some(json!(false)),
        ..question("q", "Really?")
    };
    asks_for_ever(&stage, question);
    assert_snapshot!(
        stage.run([("tool", json!({}))]).await,
        @"c1 ! the tool repeated question `q` and accepted none of 16 answers; only the user can answer it"
    );
    assert_eq!(stage.tool.next().await.answers().len(), 16);
}

#[tokio::test]
async fn a_handle_that_takes_no_preset_answer_waits_for_its_assistant() {
    let stage = Stage::with(NOBODY, |setup| {
        setup.tool.questions = [("q".to_owned(), preset(json!(true)))].into();
    });
    asks_for_ever(&stage, question("q", "Really?"));
    let spawn = ("tool", json!({"action": "spawn", "id": "a"}));
    let told = stage.run([spawn, ("await", json!({"all": ["a"]}))]).await;
    assert_snapshot!(told, @r#"
    c1 {"id":"a","state":"waiting","question":{"id":"q","text":"Really?","answer_type":"Boolean"}}
    c2 {"completed":[],"pending":[{"id":"a","state":"waiting","question":{"id":"q","text":"Really?","answer_type":"Boolean"}}],"needs_answer":["a"]}
    "#);
    assert_eq!(stage.tool.job("a").unwrap().answers().len(), 16);
}

#[tokio::test]
async fn a_question_takes_no_more_of_a_reply_than_there_is() {
    let stage = Stage::new();
    let long = Question {
        pre_amble: Some("diff\n".repeat(100_000)),
        ..question("q", &format!("{}really?", "very ".repeat(100_000)))
    };
    asks(&stage, long.clone());
    let told = stage.run([("tool", json!({}))]).await;
    assert!(told.len() < 1000, "{} bytes", told.len());
    asks(&stage, long);
    let spawn = ("tool", json!({"action": "spawn", "id": "a"}));
    let told = stage.run([spawn, ("await", json!({"all": ["a"]}))]).await;
    assert!(told.len() < 2 * 34_000, "{} bytes", told.len());
    assert!(told.contains("bytes omitted"), "{told}");
    assert!(told.contains("really?"), "the end of it is there: {told}");
}

#[tokio::test]
async fn a_wrong_answer_is_asked_for_again_three_times_at_most() {
    let stage = Stage::with(PERSON, |_| {});
    asks(&stage, question("q", "Really?"));
    let running = stage.go([("tool", json!({}))]);
    stage.person.next_question().await.reply(json!("perhaps"));
    stage.person.next_question().await.reply(json!(7));
    stage.person.next_question().await.reply(json!("y"));
    assert_eq!(running.await.unwrap(), "c1 heard true");

    let running = stage.go([("tool", json!({}))]);
    for _ in 0..3 {
        stage.person.next_question().await.reply(json!("perhaps"));
    }
    let answered = running.await.unwrap();
    assert_snapshot!(answered, @r#"c1 ! the tool asked "Really?" and no one could answer; ask the user, or do without it"#);
}

#[tokio::test]
async fn a_one_shot_may_ask_several_things_one_after_the_other() {
    let stage = Stage::with(PERSON, |_| {});
    stage.tool.opening(|job| {
        job.on_answer(|job, _| match job.answers().len() {
            1 => job.ask(text_question("name", "Name?")),
            _ => job.end(),
        });
        job.ask(question("q", "Really?"));
    });
    let running = stage.go([("tool", json!({}))]);
    stage.person.next_question().await.reply(json!(true));
    stage.person.next_question().await.reply(json!("Jo"));
    assert_eq!(running.await.unwrap(), "c1");
    let answers = stage.tool.next().await.answers();
    let expected = [("q", json!(true)), ("name", json!("Jo"))];
    assert_eq!(
        answers,
        expected.map(|(id, answer)| (id.to_owned(), answer))
    );
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_does_not_run_while_a_question_is_open() {
    let stage = Stage::with(PERSON, |setup| {
        setup.tool.limits.timeout = Duration::from_secs(10);
    });
    let running = stage.go([("tool", json!({}))]);
    let job = stage.tool.next().await;
    tokio::time::sleep(Duration::from_secs(6)).await;
    job.ask(question("q", "Really?"));
    let prompt = stage.person.next_question().await;
    tokio::time::sleep(Duration::from_hours(1)).await;
    let answered = tokio::time::Instant::now();
    prompt.reply(json!(true));
    assert_eq!(running.await.unwrap(), "c1 ! timed out after 10 s");
    assert_eq!(answered.elapsed().as_secs(), 4, "6 of the 10 were used up");
}

#[tokio::test]
async fn a_live_handles_question_is_shown_and_apply_answers_it() {
    let stage = Stage::new();
    asks(&stage, question("q", "Really?"));
    let asked = r#""question":{"id":"q","text":"Really?","answer_type":"Boolean"}"#;
    assert_eq!(
        stage
            .run([("tool", json!({"action": "spawn", "id": "a"}))])
            .await,
        format!(r#"c1 {{"id":"a","state":"waiting",{asked}}}"#)
    );
    assert_eq!(
        stage
            .run([(
                "tool",
                json!({"action": "apply", "id": "a", "input": "maybe"})
            )])
            .await,
        r#"c1 ! question `q` needs true or false, not "maybe""#
    );
    assert_eq!(
        stage
            .run([("tool", json!({"action": "fetch", "id": "a"}))])
            .await,
        format!(r#"c1 {{"id":"a","state":"waiting",{asked}}}"#),
        "a wrong answer leaves the question open"
    );
    assert_eq!(
        stage
            .run([("tool", json!({"action": "apply", "id": "a", "keys": ["y"]}))])
            .await,
        "c1 ! handle `a` waits for an answer; give it as `input`"
    );
    assert_eq!(
        stage
            .run([("tool", json!({"action": "apply", "id": "a", "input": true}))])
            .await,
        r#"c1 {"id":"a","state":"stopped","result":"heard true"}"#
    );
    assert!(stage.tool.next().await.inputs().is_empty());
}

#[tokio::test]
async fn a_live_handles_question_stays_open_even_with_a_default() {
    let stage = Stage::new();
    let question = Question {
        default: Some(json!(true)),
        ..question("q", "Really?")
    };
    asks(&stage, question);
    let spawned = stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    assert_snapshot!(spawned, @r#"c1 {"id":"a","state":"waiting","question":{"id":"q","text":"Really?","answer_type":"Boolean","default":true}}"#);
    assert!(stage.tool.next().await.answers().is_empty());
}

#[tokio::test]
async fn the_person_can_answer_a_live_handle() {
    let stage = Stage::with(PERSON, |_| {});
    asks(&stage, question("q", "Really?"));
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let prompt = stage.person.next_question().await;
    assert_eq!(prompt.asked.call, None);
    assert_eq!(prompt.asked.handle.as_ref().unwrap().as_str(), "a");
    prompt.reply(json!(true));
    stage.tool.next().await.ended().await;
    assert_eq!(
        stage
            .run([("tool", json!({"action": "fetch", "id": "a"}))])
            .await,
        r#"c1 {"id":"a","state":"stopped","result":"heard true"}"#
    );
}

#[tokio::test]
async fn an_apply_that_is_first_withdraws_what_the_person_was_asked() {
    let stage = Stage::with(PERSON, |_| {});
    asks(&stage, question("q", "Really?"));
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let prompt = stage.person.next_question().await;
    assert_eq!(
        stage
            .run([(
                "tool",
                json!({"action": "apply", "id": "a", "input": false})
            )])
            .await,
        r#"c1 {"id":"a","state":"stopped","result":"heard false"}"#
    );
    prompt.withdrawn().await;
    stage
        .seen(|event| matches!(event, SessionEvent::QuestionClosed { .. }))
        .await;
    assert_eq!(stage.tool.next().await.answers().len(), 1);
}

#[tokio::test]
async fn a_person_who_is_first_makes_a_late_apply_ordinary_input() {
    let stage = Stage::with(PERSON, |_| {});
    stage.tool.opening(|job| job.ask(question("q", "Really?")));
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    stage.person.next_question().await.reply(json!(true));
    let job = stage.tool.next().await;
    job.answered(1).await;
    assert_eq!(
        stage
            .run([("tool", json!({"action": "apply", "id": "a", "input": "n"}))])
            .await,
        r#"c1 {"id":"a","state":"running"}"#
    );
    assert_eq!(job.answers().len(), 1);
    assert_eq!(job.inputs().len(), 1);
}

#[tokio::test]
async fn an_abort_withdraws_a_live_handles_question() {
    let stage = Stage::with(INQUIRER, |setup| {
        setup.tool.questions.insert("q".into(), for_assistant());
    });
    asks(&stage, question("q", "Really?"));
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let prompt = stage.inquirer.next_question().await;
    assert_snapshot!(
        stage
            .run([("tool", json!({"action": "abort", "id": "a"}))])
            .await,
        @r#"c1 {"id":"a","state":"stopped","result":"aborted by the assistant","error":{"transient":false},"ended":1}"#
    );
    prompt.withdrawn().await;
}

#[tokio::test]
async fn several_questions_can_be_open_and_none_blocks_another_tool() {
    let stage = Stage::with(PERSON, |_| {});
    asks(&stage, question("q", "Really?"));
    stage.other.opening(|job| job.end_saying("went on"));
    let running = stage.go([
        ("tool", json!({"n": 1})),
        ("tool", json!({"n": 2})),
        ("other", json!({})),
    ]);
    let first = stage.person.next_question().await;
    let second = stage.person.next_question().await;
    stage
        .seen(|event| matches!(event, SessionEvent::Replied { call, .. } if &**call == "c3"))
        .await;
    second.reply(json!(false));
    first.reply(json!(true));
    let answered = running.await.unwrap();
    assert!(answered.ends_with("\nc3 went on"), "{answered}");
}
