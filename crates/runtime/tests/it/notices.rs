//! Notices to the assistant: each change is reported once.

use insta::assert_snapshot;
use serde_json::json;
use windlass_protocol::{Notice, NoticeKind, NoticeLevel};
use windlass_runtime::{Notifications, SessionOptions};
use windlass_testing::{ScriptedJob, question};

use crate::support::{NOBODY, PERSON, Stage};

/// A handle `a` of `tool` runs, whose tool has these switches.
async fn running(flags: Notifications) -> (Stage, ScriptedJob) {
    let stage = Stage::with(NOBODY, |setup| setup.tool.notifications = flags);
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let job = stage.tool.next().await;
    (stage, job)
}

const SILENT: Notifications = Notifications {
    on_success: false,
    on_failure: false,
    on_waiting: false,
    on_content: false,
};

async fn check(flags: Notifications, act: impl Fn(&ScriptedJob), expected: &str) {
    let (stage, job) = running(flags).await;
    act(&job);
    assert_eq!(stage.notices(), expected);
    assert_eq!(stage.notices(), "", "exactly once");
    let (stage, job) = running(SILENT).await;
    act(&job);
    assert_eq!(stage.notices(), "", "only when it is wanted");
}

#[tokio::test]
async fn each_switch_has_its_notice() {
    check(
        Notifications {
            on_success: true,
            ..SILENT
        },
        ScriptedJob::end,
        "notice info success: `a` finished successfully; fetch it to read its result",
    )
    .await;
    check(
        Notifications {
            on_failure: true,
            ..SILENT
        },
        |job| job.fail("out of luck"),
        "notice error failure: `a` stopped: out of luck",
    )
    .await;
    check(
        Notifications {
            on_waiting: true,
            ..SILENT
        },
        |job| job.ask(question("q", "Really?")),
        "notice warning waiting: `a` waits for an answer: Really?",
    )
    .await;
    check(
        Notifications {
            on_content: true,
            ..SILENT
        },
        |job| job.write("news"),
        "notice info content: `a` has new output",
    )
    .await;
}

#[tokio::test]
async fn content_is_not_told_unless_said() {
    let (stage, job) = running(Notifications::default()).await;
    job.write("noise");
    assert_eq!(stage.notices(), "");
}

#[tokio::test]
async fn much_content_is_one_notice() {
    let (stage, job) = running(Notifications {
        on_content: true,
        ..SILENT
    })
    .await;
    for _ in 0..50 {
        job.write("news\n");
    }
    assert_eq!(stage.notices(), "notice info content: `a` has new output");
    job.write("more");
    assert_eq!(stage.notices(), "notice info content: `a` has new output");
}

#[tokio::test]
async fn they_ride_on_the_next_reply_of_any_tool() {
    let (stage, job) = running(Notifications::default()).await;
    job.end();
    stage.other.opening(ScriptedJob::end);
    assert_snapshot!(stage.run([("other", json!({}))]).await, @"
    c1 
    notice info success: `a` finished successfully; fetch it to read its result
    ");
    assert_eq!(stage.run([("other", json!({}))]).await, "c1");
}

#[tokio::test]
async fn a_reply_that_tells_the_change_silences_its_notice() {
    let mut told = Vec::new();
    for tells in [
        ("tool", json!({"action": "fetch", "id": "a"})),
        ("tool", json!({"action": "abort", "id": "a"})),
        ("await", json!({"all": ["a"]})),
    ] {
        let (stage, job) = running(Notifications::default()).await;
        job.fail("broke");
        told.push(stage.run([tells]).await);
    }
    assert_snapshot!(told.join("\n"), @r#"
    c1 {"id":"a","state":"stopped","result":"broke","error":{"transient":false}}
    c1 {"id":"a","state":"stopped","result":"broke","error":{"transient":false},"ended":0}
    c1 {"completed":[{"id":"a","state":"stopped","result":"broke","error":{"transient":false}}],"pending":[]}
    "#);
}

#[tokio::test]
async fn a_pending_entry_of_await_silences_the_question_it_tells() {
    let (stage, job) = running(Notifications::default()).await;
    job.ask(question("q", "Really?"));
    let told = stage.run([("await", json!({"all": ["a"]}))]).await;
    assert_snapshot!(told, @r#"c1 {"completed":[],"pending":[{"id":"a","state":"waiting","question":{"id":"q","text":"Really?","answer_type":"Boolean"}}],"needs_answer":["a"]}"#);
}

#[tokio::test]
async fn an_earlier_fetch_does_not_silence_later_changes() {
    let (stage, job) = running(Notifications::default()).await;
    stage
        .run([("tool", json!({"action": "fetch", "id": "a"}))])
        .await;
    job.ask(question("q", "Really?"));
    stage
        .run([("tool", json!({"action": "fetch", "id": "a"}))])
        .await;
    job.fail("broke");
    assert_eq!(stage.notices(), "notice error failure: `a` stopped: broke");
}

#[tokio::test]
async fn how_a_handle_stands_now_replaces_how_it_stood() {
    let (stage, job) = running(Notifications {
        on_content: true,
        ..Notifications::default()
    })
    .await;
    job.write("news");
    job.ask(question("q", "Really?"));
    job.end();
    assert_snapshot!(
        stage.notices(),
        @"notice info success: `a` finished successfully; fetch it to read its result"
    );
}

#[tokio::test]
async fn an_answered_question_is_no_longer_told_but_new_output_is() {
    let stage = Stage::with(PERSON, |setup| {
        setup.tool.notifications = Notifications {
            on_content: true,
            ..Notifications::default()
        };
    });
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let job = stage.tool.next().await;
    job.ask(question("q", "Really?"));
    job.write("news");
    stage.person.next_question().await.reply(json!(true));
    job.answered(1).await;
    assert_eq!(stage.notices(), "notice info content: `a` has new output");
}

#[tokio::test]
async fn what_a_handle_left_running_is_told_even_when_its_end_is() {
    let (stage, job) = running(Notifications::default()).await;
    job.leave_running(1);
    job.end();
    assert_snapshot!(
        stage
            .run([("tool", json!({"action": "fetch", "id": "a"}))])
            .await,
        @r#"
    c1 {"id":"a","state":"stopped","result":""}
    notice warning left_running: `a` left 1 process running; abort it to end them
    "#
    );
}

#[tokio::test]
async fn one_handles_reply_does_not_silence_anothers_notice() {
    let (stage, job) = running(Notifications::default()).await;
    stage
        .run([("tool", json!({"action": "spawn", "id": "b"}))])
        .await;
    job.end();
    stage.tool.next().await.end();
    assert_snapshot!(
        stage
            .run([("tool", json!({"action": "fetch", "id": "b"}))])
            .await,
        @r#"
    c1 {"id":"b","state":"stopped","result":""}
    notice info success: `a` finished successfully; fetch it to read its result
    "#
    );
}

#[tokio::test]
async fn a_new_handles_reply_does_not_silence_what_its_id_stood_for() {
    let (stage, job) = running(Notifications::default()).await;
    job.fail("broke");
    assert_snapshot!(
        stage
            .run([("tool", json!({"action": "spawn", "id": "a"}))])
            .await,
        @r#"
    c1 {"id":"a","state":"running"}
    notice error failure: `a` stopped: broke
    "#
    );
}

#[tokio::test]
async fn a_front_end_can_give_notice_too() {
    let stage = Stage::new();
    stage.session.notify(Notice {
        level: NoticeLevel::Critical,
        kind: NoticeKind::Server,
        handle: None,
        tool: None,
        text: "the server is gone".into(),
    });
    stage.tool.opening(ScriptedJob::end);
    assert_eq!(
        stage.run([("tool", json!({}))]).await,
        "c1 \nnotice critical server: the server is gone"
    );
}

fn kept(text: &str) -> Notice {
    Notice {
        level: NoticeLevel::Warning,
        kind: NoticeKind::Kept,
        handle: None,
        tool: None,
        text: text.to_owned(),
    }
}

#[tokio::test]
async fn notices_of_a_front_end_do_not_replace_each_other() {
    let stage = Stage::new();
    stage.session.notify(kept("`a` does not reply"));
    stage.session.notify_then(kept("`b` is lost"), || {});
    stage.session.notify(kept("`c` does not reply"));
    assert_eq!(
        stage.notices(),
        "notice warning kept: `a` does not reply\n\
         notice warning kept: `b` is lost\n\
         notice warning kept: `c` does not reply"
    );
}

#[tokio::test]
async fn a_front_end_can_withdraw_a_notice_that_was_not_delivered() {
    let stage = Stage::new();
    let withdrawn = stage.session.notify(kept("`a` does not reply"));
    let delivered = stage.session.notify(kept("`b` does not reply"));
    stage.session.withdraw(withdrawn);
    assert_eq!(stage.notices(), "notice warning kept: `b` does not reply");
    stage.session.notify(kept("`b` still runs"));
    stage.session.withdraw(delivered);
    assert_eq!(stage.notices(), "notice warning kept: `b` still runs");
}

#[tokio::test]
async fn an_announcement_reaches_every_open_session_once() {
    let catalogue = windlass_runtime::Catalogue::new();
    let announcer = catalogue.announcer().clone();
    let runtime = windlass_runtime::Runtime::new(catalogue);
    let [first, second, closed] = [(); 3].map(|()| runtime.session(SessionOptions::default()));
    closed.close().await;
    drop(runtime.session(SessionOptions::default()));
    let notice = Notice {
        level: NoticeLevel::Warning,
        kind: NoticeKind::Server,
        handle: None,
        tool: None,
        text: "gone".to_owned(),
    };
    announcer.announce(&notice);
    let later = runtime.session(SessionOptions::default());
    for session in [first, second] {
        assert_eq!(session.take_notices(), std::slice::from_ref(&notice));
        assert_eq!(session.take_notices(), []);
    }
    assert_eq!(closed.take_notices(), []);
    assert_eq!(later.take_notices(), []);
}

#[tokio::test]
async fn many_at_once_are_told_briefly() {
    let stage = Stage::with(NOBODY, |_| {});
    let spawn = |number| json!({"action": "spawn", "id": format!("h{number}")});
    let spawns: [_; 60] = std::array::from_fn(|number| ("tool", spawn(number)));
    stage.run(spawns).await;
    for _ in 0..60 {
        stage.tool.next().await.fail(&"broke ".repeat(1000));
    }
    let told = stage.notices();
    for number in 0..60 {
        assert!(told.contains(&format!("`h{number}` stopped: broke")));
    }
    assert!(told.len() < 32 * 1024, "{}", told.len());
}
