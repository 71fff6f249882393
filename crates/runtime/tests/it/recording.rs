//! What a recorder is told, and when.

use serde_json::json;
use windlass_runtime::{SessionEvent, ToolEvent};
use windlass_testing::Recorded;

use crate::support::{Cast, NOBODY, Stage};

const RECORDER: Cast = Cast {
    recorder: true,
    ..NOBODY
};

fn names(told: &[Recorded]) -> Vec<String> {
    told.iter()
        .map(|told| match told {
            Recorded::Called(call) => format!("called {}", call.id),
            Recorded::Replied(reply) => format!("replied {}", reply.id),
            Recorded::Durable => "durable".into(),
            Recorded::Happened(event) => match event {
                SessionEvent::Called { call, .. } => format!("journal called {call}"),
                SessionEvent::Replied { call, .. } => format!("journal replied {call}"),
                SessionEvent::Tool { event, .. } => match event {
                    ToolEvent::Started => "started".into(),
                    ToolEvent::Wrote { bytes } => format!("wrote {bytes}"),
                    ToolEvent::Ended(_) => "ended".into(),
                    other => format!("{other:?}"),
                },
                other => format!("{other:?}"),
            },
        })
        .collect()
}

#[tokio::test]
async fn it_is_told_in_order_and_everything_is_durable_before_the_reply() {
    let stage = Stage::with(RECORDER, |_| {});
    stage.tool.opening(|job| {
        job.write("hello");
        job.end();
    });
    stage.run([("tool", json!({"path": "x"}))]).await;
    let told = stage.recording.told();
    assert_eq!(
        names(&told),
        [
            "called c1",
            "journal called c1",
            "started",
            "wrote 5",
            "ended",
            "replied c1",
            "journal replied c1",
            "durable",
        ]
    );
    let Recorded::Called(call) = &told[0] else {
        panic!("{told:?}");
    };
    assert_eq!(json!(call.arguments), json!({"path": "x"}), "as it came");
}

#[tokio::test]
async fn a_batch_is_answered_only_when_its_record_is_durable() {
    let stage = Stage::with(RECORDER, |_| {});
    stage.tool.opening(windlass_testing::ScriptedJob::end);
    stage.recording.hold();
    let running = stage.go([("tool", json!({}))]);
    stage
        .seen(|event| matches!(event, SessionEvent::Replied { .. }))
        .await;
    tokio::task::yield_now().await;
    assert!(!running.is_finished());
    stage.recording.release();
    assert_eq!(running.await.unwrap(), "c1");
}

#[tokio::test]
async fn refused_calls_are_recorded_too() {
    let stage = Stage::with(RECORDER, |_| {});
    stage
        .run([
            ("tool", json!({"action": "spawn", "id": "a"})),
            ("tool", json!({"action": "spawn", "id": "a"})),
        ])
        .await;
    stage.run([("nothing", json!({}))]).await;
    let told = names(&stage.recording.told());
    let calls: Vec<_> = told
        .iter()
        .filter(|told| told.starts_with("called") || told.starts_with("replied"))
        .collect();
    assert_eq!(
        calls,
        [
            "called c1",
            "replied c1",
            "called c2",
            "replied c2",
            "called c1",
            "replied c1"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_last_words_before_a_silence_are_journalled_too() {
    let stage = Stage::new();
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let job = stage.tool.next().await;
    job.write("one");
    job.write("three");
    let wrote = |bytes| move |event: &SessionEvent| matches!(event, SessionEvent::Tool { event: ToolEvent::Wrote { bytes: told }, .. } if *told == bytes);
    stage.seen(wrote(3)).await;
    stage.seen(wrote(5)).await;
}

#[tokio::test(start_paused = true)]
async fn steady_output_is_journalled_now_and_then_and_no_byte_is_lost() {
    let stage = Stage::new();
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let job = stage.tool.next().await;
    for _ in 0..100 {
        job.write("0123456789");
        tokio::time::advance(std::time::Duration::from_millis(10)).await;
    }
    job.end();
    let wrote: Vec<u64> = stage
        .tool_events()
        .await
        .into_iter()
        .filter_map(|event| match event {
            ToolEvent::Wrote { bytes } => Some(bytes),
            _ => None,
        })
        .collect();
    assert!(wrote.len() <= 11, "{wrote:?}");
    assert_eq!(wrote.iter().sum::<u64>(), 1000, "{wrote:?}");
}
