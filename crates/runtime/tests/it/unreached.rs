//! Ending tools whose host is unreachable: nobody waits for it for long, and
//! the end is delivered when it is back.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use insta::assert_snapshot;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::Instant;
use windlass_runtime::{JobHost, OnTurnEnd, RefusalKind, SessionEvent, ToolEvent};
use windlass_testing::ScriptedJob;

use crate::support::{NOBODY, Stage};

/// How long an end waits for a host.
const PATIENCE: Duration = Duration::from_secs(10);

struct DistantHost {
    is_away: watch::Sender<bool>,
}

impl JobHost for DistantHost {
    fn port_open(&self, _port: u16) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    fn unreachable(&self) -> Option<String> {
        let is_away = *self.is_away.borrow();
        is_away.then(|| "host `there` is away".to_owned())
    }

    fn unreachable_for(&self, time: Duration) -> BoxFuture<'static, ()> {
        let mut is_away = self.is_away.subscribe();
        Box::pin(async move {
            loop {
                is_away.wait_for(|it| *it).await.unwrap();
                let back = is_away.wait_for(|it| !*it);
                if tokio::time::timeout(time, back).await.is_err() {
                    return;
                }
            }
        })
    }
}

/// Puts a job on a host that is away.
fn strand(job: &ScriptedJob) -> Arc<DistantHost> {
    let host = Arc::new(DistantHost {
        is_away: watch::Sender::new(true),
    });
    job.on_host(host.clone());
    job.hold_on();
    host
}

/// A stage with a stranded handle `a`.
async fn stranded() -> (Stage, ScriptedJob, Arc<DistantHost>) {
    let stage = Stage::with(NOBODY, |setup| {
        setup.tool.lifecycle.on_turn_end = OnTurnEnd::Abort;
    });
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let job = stage.tool.next().await;
    let host = strand(&job);
    (stage, job, host)
}

/// Runs `it`, which takes about as long as a host is waited for.
async fn patiently<T>(it: impl Future<Output = T>) -> T {
    let since = Instant::now();
    let done = it.await;
    let took = since.elapsed();
    assert!(took >= PATIENCE && took < PATIENCE * 2, "{took:?}");
    done
}

#[tokio::test(start_paused = true)]
async fn an_abort_is_answered_and_carried_out_later() {
    let (stage, job, host) = stranded().await;
    let abort = stage.run([("tool", json!({"action": "abort", "id": "a"}))]);
    assert_snapshot!(
        patiently(abort).await,
        @r#"c1 {"id":"a","state":"running","note":"host `there` is away"}"#
    );
    assert!(!job.is_dropped(), "the order waits");
    host.is_away.send_replace(false);
    job.let_go();
    let over = stage.run([("await", json!({"all": ["a"]}))]).await;
    assert_snapshot!(over, @r#"c1 {"completed":[{"id":"a","state":"stopped","result":"aborted by the assistant","error":{"transient":false}}],"pending":[]}"#);
    assert_eq!(job.aborts().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_comes_back_is_waited_for() {
    let (stage, job, host) = stranded().await;
    let abort = stage.go([("tool", json!({"action": "abort", "id": "a"}))]);
    tokio::time::sleep(PATIENCE / 2).await;
    host.is_away.send_replace(false);
    tokio::time::sleep(PATIENCE * 3).await;
    assert!(!abort.is_finished());
    job.let_go();
    let reply = abort.await.unwrap();
    assert_snapshot!(reply, @r#"c1 {"id":"a","state":"stopped","result":"aborted by the assistant","error":{"transient":false},"ended":1}"#);
}

#[tokio::test(start_paused = true)]
async fn a_person_is_told_that_the_host_is_unreachable() {
    let (stage, job, _) = stranded().await;
    let handle = stage.session.handle("a").unwrap();
    let refusal = patiently(handle.abort()).await.unwrap_err();
    assert_eq!(refusal.kind(), RefusalKind::Unavailable);
    assert_snapshot!(
        refusal.to_string(),
        @"the host of handle `a` is unreachable; the tool is ended when the host is reachable again, or after the host's lease"
    );
    job.let_go();
    handle.stopped().await;
}

#[tokio::test(start_paused = true)]
async fn a_one_shot_replies_at_its_time_limit() {
    let stage = Stage::new();
    stage.tool.set_timeout(Duration::from_secs(5));
    let call = stage.go([("tool", json!({}))]);
    let job = stage.tool.next().await;
    strand(&job);
    let reply = call.await.unwrap();
    assert_snapshot!(reply, @"
    c1 ! its host is unreachable, and ends the tool by itself
    timed out after 5 s
    ");
}

#[tokio::test(start_paused = true)]
async fn a_turn_ends_without_the_host() {
    let (stage, job, _) = stranded().await;
    patiently(stage.session.end_turn()).await;
    job.let_go();
    job.ended().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_closes_without_the_host() {
    let (stage, job, _) = stranded().await;
    let call = stage.go([("other", json!({}))]);
    let one_shot = stage.other.next().await;
    strand(&one_shot);
    // What it has left running is there too.
    stage
        .run([("tool", json!({"action": "spawn", "id": "b"}))])
        .await;
    let left = stage.tool.next().await;
    strand(&left);
    left.leave_running(2);
    left.end();
    let aborted = stage.go([("tool", json!({"action": "abort", "id": "a"}))]);
    job.aborted(1).await;
    let since = Instant::now();
    stage.session.close().await;
    assert!(since.elapsed() < PATIENCE * 3, "{:?}", since.elapsed());
    call.await.unwrap();
    aborted.await.unwrap();
    for job in [job, one_shot, left] {
        assert!(!job.aborts().is_empty());
        assert!(job.is_dropped(), "its end is left to the host");
    }
    let ended = stage
        .seen(|event| {
            matches!(event, SessionEvent::Tool { handle: Some(id), event: ToolEvent::Ended(_), .. } if id.as_str() == "a")
        })
        .await;
    let SessionEvent::Tool {
        event: ToolEvent::Ended(ending),
        ..
    } = ended
    else {
        unreachable!("the event was chosen by its kind");
    };
    assert_snapshot!(ending.result.unwrap_err(), @"its host is unreachable, and ends the tool by itself");
}
