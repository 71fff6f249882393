//! What is in the record of a session, and when.

use serde_json::json;
use windlass_protocol::{Decider, PermissionReply};
use windlass_runtime::{Archive, Page, RunMode, RunOptions};
use windlass_store::Store;
use windlass_testing::batch;

use crate::support::{Record, parts, record, session_id, state};

#[tokio::test]
async fn what_was_answered_can_be_read_by_another_at_once() {
    let record = Record::new();
    let other = Store::open(record.path()).unwrap();
    let recorded = record.session("ses_1");
    recorded.tool.opening(|job| {
        job.write("hello");
        job.end();
    });
    for round in 1..=3 {
        recorded
            .session
            .run(
                batch([("tool", json!({"n": 1})), ("nothing", json!({}))]),
                RunOptions::default(),
            )
            .await;
        let parts = parts(&other, "ses_1").await;
        assert_eq!(parts.len(), round * 2);
        let [.., done, refused] = &parts[..] else {
            panic!("{parts:?}");
        };
        assert_eq!(state(done)["output"], "hello");
        assert_eq!(state(done)["input"], json!({"n": 1}));
        assert_eq!(state(refused)["status"], "error");
    }
    let messages = other.messages(&session_id("ses_1"), Page::default()).await;
    assert_eq!(messages.unwrap().len(), 3);
}

#[tokio::test]
async fn a_session_says_what_it_is_and_when_it_ended() {
    let record = Record::new();
    let recorded = record.session("ses_1");
    let read = || async {
        let session = record.store.session(&session_id("ses_1")).await.unwrap();
        session.unwrap()
    };
    assert_eq!(read().await.time.ended, None);
    recorded.tool.opening(windlass_testing::ScriptedJob::end);
    recorded
        .session
        .run(batch([("tool", json!({}))]), RunOptions::default())
        .await;
    recorded.session.close().await;
    let session = read().await;
    assert_eq!(session.project_id, "p1");
    assert_eq!(session.directory, "/project");
    assert_eq!(session.front_end, "test");
    assert_eq!(session.title, "tool");
    assert_eq!(session.runtime.pid, std::process::id());
    assert!(session.time.ended.is_some());
    assert_eq!(
        record.store.session(&session_id("ses_2")).await.unwrap(),
        None
    );
}

#[tokio::test]
async fn lists_are_read_page_by_page() {
    let record = Record::new();
    for number in 1..=5 {
        record.session(&format!("ses_{number}"));
    }
    let mut page = Page {
        before: None,
        limit: 2,
    };
    let mut seen = Vec::new();
    loop {
        let sessions = record.store.sessions(page.clone()).await.unwrap();
        let Some(last) = sessions.last() else { break };
        page.before = Some(last.id.to_string());
        seen.extend(sessions.iter().map(|session| session.id.to_string()));
    }
    assert_eq!(seen, ["ses_5", "ses_4", "ses_3", "ses_2", "ses_1"]);

    let recorded = record.session("ses_1");
    recorded.tool.opening(windlass_testing::ScriptedJob::end);
    for _ in 0..5 {
        recorded
            .session
            .run(batch([("tool", json!({}))]), RunOptions::default())
            .await;
    }
    let page = |before, limit| Page { before, limit };
    let id = session_id("ses_1");
    let newest = record.store.messages(&id, page(None, 2)).await.unwrap();
    let mark = newest[0].info.id.to_string();
    let older = record
        .store
        .messages(&id, page(Some(mark), 10))
        .await
        .unwrap();
    assert_eq!((newest.len(), older.len()), (2, 3));
    assert!(older[2].info.time.completed.is_some());
}

#[tokio::test]
async fn a_large_output_lies_in_a_file() {
    let record = Record::new();
    let recorded = record.session("ses_1");
    let large = "line\n".repeat(40_000);
    let said = large.clone();
    recorded.tool.opening(move |job| job.end_saying(&said));
    recorded
        .session
        .run(batch([("tool", json!({}))]), RunOptions::default())
        .await;
    let parts = record.parts("ses_1").await;
    let kept = state(&parts[0])["output"].as_str().unwrap().to_owned();
    assert!(kept.len() < 8 << 10, "{}", kept.len());
    let file = record.store.output(&parts[0].id).await.unwrap().unwrap();
    assert_eq!(file.bytes, large.len() as u64);
    assert!(kept.contains(file.path.to_str().unwrap()), "{kept}");
    assert_eq!(std::fs::read_to_string(&file.path).unwrap(), large);
    assert!(file.path.starts_with(record.path()));
}

#[tokio::test]
async fn nobody_else_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let record = Record::new();
    let recorded = record.session("ses_1");
    recorded.session.close().await;
    for name in ["record.db", "record.db-wal"] {
        let mode = std::fs::metadata(record.path().join(name)).unwrap();
        assert_eq!(mode.permissions().mode() & 0o077, 0, "{name}");
    }
}

#[tokio::test]
async fn every_decision_is_kept_with_who_made_it() {
    let store = Record::new();
    let recorded = record(&store.store, "ses_1", RunMode::Ask);
    recorded.tool.opening(windlass_testing::ScriptedJob::end);
    for round in 0..3 {
        let session = recorded.session.clone();
        let running = tokio::spawn(async move {
            session
                .run(batch([("tool", json!({}))]), RunOptions::default())
                .await
        });
        if round < 2 {
            let prompt = recorded.person.next_permission().await;
            if round == 0 {
                prompt.reject(Some("not now"));
            } else {
                prompt.always();
            }
        }
        running.await.unwrap();
    }
    let permissions = store.store.permissions(&session_id("ses_1")).await.unwrap();
    let decisions: Vec<_> = permissions
        .iter()
        .map(|permission| permission.decision.as_ref().unwrap())
        .collect();
    assert_eq!(decisions.len(), 3);
    assert_eq!(decisions[0].reply, Some(PermissionReply::Reject));
    assert_eq!(decisions[0].message.as_deref(), Some("not now"));
    assert_eq!(decisions[1].reply, Some(PermissionReply::Always));
    assert_eq!(decisions[1].by, Decider::Person);
    assert_eq!(decisions[2].by, Decider::Rule);
    assert_eq!(decisions[2].rule.as_ref().unwrap().pattern, "tool");
}

#[tokio::test]
async fn notices_are_kept_with_their_delivery() {
    let record = Record::new();
    let recorded = record.session("ses_1");
    let spawn = json!({"action": "spawn", "id": "a"});
    recorded
        .session
        .run(batch([("tool", spawn)]), RunOptions::default())
        .await;
    recorded.tool.next().await.end();
    let id = session_id("ses_1");
    let notices = record.store.notices(&id).await.unwrap();
    assert_eq!(notices.len(), 1);
    assert_eq!(notices[0].delivered, None);
    assert_eq!(recorded.session.take_notices().len(), 1);
    let notices = record.store.notices(&id).await.unwrap();
    assert!(notices[0].delivered.is_some());
}
