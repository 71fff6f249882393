//! What becomes of handles when the turn ends.

use std::collections::BTreeMap;
use std::time::Duration;

use insta::assert_snapshot;
use serde_json::json;
use tokio::time::Instant;
use windlass_protocol::{HandleId, HandleState, ToolError, TurnEndDecision, TurnEndHandle};
use windlass_runtime::{Ending, Lifecycle, OnTurnEnd, SessionEvent};
use windlass_testing::question;

use crate::support::{Cast, INQUIRER, NOBODY, Stage};

/// Handles `a` and `b` of a tool with this policy run.
async fn running(cast: Cast, on_turn_end: OnTurnEnd) -> Stage {
    let stage = Stage::with(cast, |setup| {
        setup.tool.lifecycle = Lifecycle {
            on_turn_end,
            timeout: Duration::from_secs(30),
            ..Lifecycle::default()
        };
    });
    for id in ["a", "b"] {
        stage
            .run([("tool", json!({"action": "spawn", "id": id}))])
            .await;
    }
    stage
}

impl Stage {
    async fn end_turn(&self) -> String {
        serde_json::to_string(&self.session.end_turn().await).unwrap()
    }
}

#[tokio::test]
async fn inquire_is_the_policy_unless_said_and_waits_five_minutes() {
    let lifecycle = Lifecycle::default();
    assert_eq!(lifecycle.on_turn_end, OnTurnEnd::Inquire);
    assert_eq!(lifecycle.timeout.as_secs(), 300);
}

#[tokio::test]
async fn a_turn_without_handles_just_ends() {
    let stage = Stage::with(INQUIRER, |_| {});
    assert_eq!(stage.end_turn().await, r#"{"ended":[],"awaited":[]}"#);
    assert_eq!(stage.events().await, [SessionEvent::TurnEnded]);
}

#[tokio::test]
async fn abort_ends_them_and_the_next_turn_is_told() {
    let stage = running(NOBODY, OnTurnEnd::Abort).await;
    assert_eq!(
        stage.end_turn().await,
        r#"{"ended":["a","b"],"awaited":[]}"#
    );
    assert!(
        stage
            .tool
            .started()
            .iter()
            .all(|job| job.aborts().len() == 1)
    );
    assert!(stage.session.handles().is_empty());
    assert_snapshot!(stage.notices(), @"
    notice error failure: `a` stopped: aborted at the turn's end
    notice error failure: `b` stopped: aborted at the turn's end
    ");
}

#[tokio::test]
async fn what_stopped_unread_is_told_with_its_result_since_nobody_can_read_it_after() {
    let stage = running(NOBODY, OnTurnEnd::Abort).await;
    let job = stage.tool.job("a").unwrap();
    job.write("42 passed\n");
    job.end();
    stage.end_turn().await;
    assert_snapshot!(stage.notices(), @"
    notice info success: `a` stopped: 42 passed

    notice error failure: `b` stopped: aborted at the turn's end
    ");
}

#[tokio::test]
async fn inquire_is_abort_where_nobody_can_be_asked() {
    let stage = running(NOBODY, OnTurnEnd::Inquire).await;
    assert_eq!(
        stage.end_turn().await,
        r#"{"ended":["a","b"],"awaited":[]}"#
    );
    let stage = running(INQUIRER, OnTurnEnd::Inquire).await;
    let session = stage.session.clone();
    let ending = tokio::spawn(async move { session.end_turn().await });
    stage.inquirer.next_inquiry().await.decline();
    assert_eq!(ending.await.unwrap().ended.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn await_waits_and_gives_the_results_as_notices() {
    let stage = running(NOBODY, OnTurnEnd::Await).await;
    let session = stage.session.clone();
    let ending = tokio::spawn(async move { session.end_turn().await });
    // The clock moves on only when everyone waits.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let a = stage.tool.job("a").unwrap();
    let b = stage.tool.job("b").unwrap();
    a.write("all of it");
    a.end();
    b.write("half of it");
    b.fail("broke");
    let report = ending.await.unwrap();
    assert_eq!(json!(report), json!({"ended": [], "awaited": ["a", "b"]}));
    assert_snapshot!(stage.notices(), @"
    notice info success: `a` stopped: all of it
    notice error failure: `b` stopped: broke
    half of it
    ");
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_with_the_timeout() {
    let stage = running(NOBODY, OnTurnEnd::Await).await;
    let began = Instant::now();
    stage.tool.job("b").unwrap().end_saying("in time");
    assert_eq!(stage.end_turn().await, r#"{"ended":["a"],"awaited":[]}"#);
    assert_eq!(began.elapsed().as_secs(), 30);
    let notices = stage.notices();
    assert_snapshot!(notices, @"
    notice info success: `b` stopped: in time
    notice error failure: `a` stopped: aborted: did not stop after the turn's end
    ");
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_an_answer_that_cannot_come() {
    let stage = running(NOBODY, OnTurnEnd::Await).await;
    stage.tool.job("a").unwrap().ask(question("q", "Really?"));
    stage.tool.job("b").unwrap().end();
    let began = Instant::now();
    assert_eq!(stage.end_turn().await, r#"{"ended":["a"],"awaited":[]}"#);
    assert_eq!(began.elapsed().as_secs(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_assistant_decides_handle_by_handle() {
    let stage = running(INQUIRER, OnTurnEnd::Inquire).await;
    let a = stage.tool.job("a").unwrap();
    a.write(&"x".repeat(500));
    a.write("the end");
    stage.tool.job("b").unwrap().ask(question("q", "Really?"));
    tokio::time::advance(Duration::from_millis(2540)).await;
    let session = stage.session.clone();
    let ending = tokio::spawn(async move { session.end_turn().await });
    let inquiry = stage.inquirer.next_inquiry().await;
    let expected = [
        TurnEndHandle {
            id: HandleId::new("a").unwrap(),
            tool: "tool".into(),
            state: HandleState::Running,
            elapsed_secs: 2.5,
            output_preview: format!("{}the end", "x".repeat(393)),
            question: None,
        },
        TurnEndHandle {
            id: HandleId::new("b").unwrap(),
            tool: "tool".into(),
            state: HandleState::Waiting,
            elapsed_secs: 2.5,
            output_preview: String::new(),
            question: Some(question("q", "Really?")),
        },
    ];
    assert_eq!(inquiry.asked, expected);
    inquiry.reply(BTreeMap::from([
        ("a".to_owned(), TurnEndDecision::Wait),
        ("b".to_owned(), TurnEndDecision::Abort),
    ]));
    stage.tool.job("b").unwrap().ended().await;
    a.end_saying("worth it");
    let report = ending.await.unwrap();
    assert_eq!(json!(report.ended), json!(["b"]));
    assert_eq!(json!(report.awaited), json!(["a"]));
    assert_eq!(report.results.len(), 1);
    assert_eq!(report.results[0].result.as_deref(), Some("worth it"));
    assert_eq!(stage.notices(), "", "everything is known to the assistant");
}

#[tokio::test]
async fn a_handle_without_a_decision_is_ended_and_told() {
    let stage = running(INQUIRER, OnTurnEnd::Inquire).await;
    let session = stage.session.clone();
    let ending = tokio::spawn(async move { session.end_turn().await });
    let inquiry = stage.inquirer.next_inquiry().await;
    inquiry.reply(BTreeMap::from([("a".to_owned(), TurnEndDecision::Abort)]));
    let report = ending.await.unwrap();
    assert_eq!(json!(report.ended), json!(["a", "b"]));
    assert_eq!(json!(report.undecided), json!(["b"]));
    assert_eq!(
        stage.notices(),
        "notice error failure: `b` stopped: aborted at the turn's end"
    );
}

#[tokio::test]
async fn stopped_handles_can_no_longer_be_read() {
    let stage = running(NOBODY, OnTurnEnd::Abort).await;
    stage.tool.job("a").unwrap().end();
    stage
        .run([("tool", json!({"action": "fetch", "id": "a"}))])
        .await;
    stage.end_turn().await;
    stage.session.take_notices();
    assert_eq!(
        stage
            .run([("tool", json!({"action": "fetch", "id": "a"}))])
            .await,
        "c1 ! Handle `a` not found"
    );
    assert!(
        stage
            .tool
            .started()
            .iter()
            .all(windlass_testing::ScriptedJob::is_dropped)
    );
}

#[tokio::test]
async fn a_result_that_was_never_read_outlives_the_turn() {
    let stage = running(NOBODY, OnTurnEnd::Abort).await;
    stage.tool.job("a").unwrap().end_saying("42");
    assert_snapshot!(
        stage.notices(),
        @"notice info success: `a` finished successfully; fetch it to read its result"
    );
    stage.end_turn().await;
    stage.session.take_notices();
    let fetch = [("tool", json!({"action": "fetch", "id": "a"}))];
    assert_eq!(
        stage.run(fetch.clone()).await,
        r#"c1 {"id":"a","state":"stopped","result":"42"}"#
    );
    stage.end_turn().await;
    assert_eq!(stage.run(fetch).await, "c1 ! Handle `a` not found");
}

#[tokio::test]
async fn an_inquiry_that_fails_is_in_the_report() {
    let stage = running(INQUIRER, OnTurnEnd::Inquire).await;
    let session = stage.session.clone();
    let ending = tokio::spawn(async move { session.end_turn().await });
    stage.inquirer.next_inquiry().await.decline();
    let report = json!(ending.await.unwrap());
    assert_eq!(
        report,
        json!({"ended": ["a", "b"], "awaited": [], "undecided": ["a", "b"]})
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_for_the_assistant_goes_into_the_inquiry() {
    for policy in [OnTurnEnd::Inquire, OnTurnEnd::Await] {
        let stage = Stage::with(INQUIRER, |setup| {
            setup.tool.lifecycle.on_turn_end = policy;
        });
        stage
            .run([("tool", json!({"action": "spawn", "id": "a"}))])
            .await;
        let job = stage.tool.job("a").unwrap();
        job.on_answer(|job, answer| job.end_saying(&format!("answered {answer}")));
        job.ask(question("q", "Really?"));
        let session = stage.session.clone();
        let ending = tokio::spawn(async move { session.end_turn().await });
        if policy == OnTurnEnd::Inquire {
            let inquiry = stage.inquirer.next_inquiry().await;
            let wait = BTreeMap::from([("a".to_owned(), TurnEndDecision::Wait)]);
            inquiry.reply(wait);
        }
        let asked = stage.inquirer.next_question().await;
        assert_eq!(asked.asked.handle.as_ref().unwrap().as_str(), "a");
        asked.reply(json!(true));
        let report = ending.await.unwrap();
        assert_eq!(json!(report.awaited), json!(["a"]), "{policy:?}");
    }
}

#[tokio::test]
async fn many_long_results_do_not_flood_the_next_turn() {
    let stage = Stage::with(NOBODY, |setup| {
        setup.tool.lifecycle.on_turn_end = OnTurnEnd::Await;
    });
    for number in 0..60 {
        let id = format!("h{number}");
        stage
            .run([("tool", json!({"action": "spawn", "id": id}))])
            .await;
    }
    for number in 0..60 {
        let job = stage.tool.job(&format!("h{number}")).unwrap();
        job.write(&format!("{}end of {number}\n", "line\n".repeat(6000)));
        job.end();
    }
    stage.end_turn().await;
    let told = stage.notices();
    assert!(told.len() < 100_000, "{} bytes", told.len());
    for number in 0..60 {
        let end = format!("end of {number}");
        assert!(told.lines().any(|line| line == end), "{number}");
    }
    // One was told whole; the others can be read.
    assert_eq!(stage.session.handles().len(), 59);
    let fetch = |id: &str| [("tool", json!({"action": "fetch", "id": id}))];
    let fetched = stage.run(fetch("h59")).await;
    assert!(fetched.len() > 30_000, "{} bytes", fetched.len());
    stage.end_turn().await;
    let fetched = stage.run(fetch("h59")).await;
    assert!(fetched.contains("not found"), "{fetched}");
}

#[tokio::test(start_paused = true)]
async fn the_last_word_of_what_the_turns_end_ended_is_told() {
    let failed = ToolError::new("stopped at row 17");
    for (last_word, told_as) in [
        (Ok("17 rows".to_owned()), "17 rows"),
        (Err(failed), "stopped at row 17"),
    ] {
        for (policy, reason) in [
            (OnTurnEnd::Abort, "aborted at the turn's end"),
            (
                OnTurnEnd::Await,
                "aborted: did not stop after the turn's end",
            ),
        ] {
            let stage = running(NOBODY, policy).await;
            let a = stage.tool.job("a").unwrap();
            a.hold_on();
            let session = stage.session.clone();
            let ending = tokio::spawn(async move { session.end_turn().await });
            a.aborted(1).await;
            a.end_with(Ending::reported(last_word.clone()));
            a.let_go();
            ending.await.unwrap();
            let told = stage.notices();
            let expected = format!("`a` stopped: {reason}; it reported: {told_as}");
            assert!(told.contains(&expected), "{told}");
        }
    }
}
