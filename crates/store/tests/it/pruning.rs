//! Taking old things out of the record.

use std::time::{Duration, SystemTime};

use serde_json::json;
use windlass_runtime::{Archive, Page, RunOptions};
use windlass_store::{Prune, Pruned};
use windlass_testing::batch;

use crate::support::{Record, session_id, state};

/// Later than anything that happens in a test.
fn tomorrow() -> SystemTime {
    SystemTime::now() + Duration::from_hours(24)
}

async fn with_an_output(record: &Record, id: &str) -> std::path::PathBuf {
    let recorded = record.session(id);
    let large = "x".repeat(100_000);
    recorded.tool.opening(move |job| job.end_saying(&large));
    recorded
        .session
        .run(batch([("tool", json!({}))]), RunOptions::default())
        .await;
    recorded.session.close().await;
    let part = &record.parts(id).await[0];
    let output = record.store.output(&part.id).await.unwrap();
    output.unwrap().path
}

#[tokio::test]
async fn an_old_session_goes_with_its_outputs_and_one_that_runs_stays() {
    let record = Record::new();
    let output = with_an_output(&record, "ses_1").await;
    let running = record.session("ses_2");
    let pruned = record.store.prune(Prune::Sessions, tomorrow()).await;
    assert_eq!(
        pruned.unwrap(),
        Pruned {
            sessions: 1,
            parts: 1
        }
    );
    assert!(!output.exists());
    let left = record.store.sessions(Page::default()).await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].id, session_id("ses_2"));
    assert!(record.parts("ses_1").await.is_empty());
    drop(running);
}

#[tokio::test]
async fn what_is_not_old_stays() {
    let record = Record::new();
    let output = with_an_output(&record, "ses_1").await;
    let yesterday = SystemTime::now() - Duration::from_hours(24);
    let pruned = record.store.prune(Prune::Sessions, yesterday).await;
    assert_eq!(pruned.unwrap(), Pruned::default());
    assert!(output.exists());
}

#[tokio::test]
async fn outputs_alone_can_go_and_the_parts_say_when() {
    let record = Record::new();
    let output = with_an_output(&record, "ses_1").await;
    let prune = || record.store.prune(Prune::Outputs, tomorrow());
    assert_eq!(prune().await.unwrap().parts, 1);
    assert!(!output.exists());
    let state = state(&record.parts("ses_1").await[0]);
    assert_eq!(state["output"], "");
    assert!(state["time"]["compacted"].is_number());
    assert_eq!(prune().await.unwrap().parts, 0, "once is enough");
}
