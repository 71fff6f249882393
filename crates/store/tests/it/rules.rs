//! Remembered rules, across processes and restarts.

use std::path::Path;

use serde_json::json;
use windlass_runtime::{Archive, RunMode, RunOptions};
use windlass_store::Store;
use windlass_testing::{ScriptedJob, batch};

use crate::support::{Record, record};

#[tokio::test]
async fn always_holds_for_the_project_in_other_processes_and_until_forgotten() {
    let first = Record::new();
    let asking = record(&first.store, "ses_1", RunMode::Ask);
    asking.tool.opening(ScriptedJob::end);
    let session = asking.session.clone();
    let running = tokio::spawn(async move {
        session
            .run(batch([("tool", json!({}))]), RunOptions::default())
            .await
    });
    asking.person.next_permission().await.always();
    running.await.unwrap();

    let other = Store::open(first.path()).unwrap();
    let there = record(&other, "ses_2", RunMode::Ask);
    there.tool.opening(ScriptedJob::end);
    let reply = there
        .session
        .run(batch([("tool", json!({}))]), RunOptions::default())
        .await;
    assert!(!reply.replies[0].is_error, "{reply:?}");
    let elsewhere = other.rules("p2", Path::new("/other")).remembered().await;
    assert_eq!(elsewhere, []);

    let rules = Archive::rules(&other).await.unwrap();
    assert_eq!(rules.len(), 1);
    assert_eq!(rules[0].rule.pattern, "tool");
    assert_eq!(rules[0].directory, "/project");
    assert!(first.store.forget_rule(rules[0].id).await.unwrap());
    assert!(!first.store.forget_rule(rules[0].id).await.unwrap());
    let session = there.session.clone();
    let running = tokio::spawn(async move {
        session
            .run(batch([("tool", json!({}))]), RunOptions::default())
            .await
    });
    there.person.next_permission().await.once();
    running.await.unwrap();
}
