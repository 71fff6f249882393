//! The entries that a recorder receives, and when.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_protocol::{Arguments, MessageId, PartState, ToolPart};
use windlass_runtime::{Attachment, Ending, Entry, RunOptions, SessionEvent, ToolEvent};
use windlass_testing::{Recorded, ScriptedJob, TerminalEcho, batch};

use crate::support::{Cast, NOBODY, Stage};

const RECORDER: Cast = Cast {
    recorder: true,
    ..NOBODY
};

fn names(told: &[Recorded]) -> Vec<String> {
    told.iter()
        .map(|told| match told {
            Recorded::Durable => "durable".into(),
            Recorded::Happened(entry) => match &entry.event {
                SessionEvent::Called { call, .. } => format!("called {call}"),
                SessionEvent::Replied { call, .. } => format!("replied {call}"),
                SessionEvent::Part(part) => format!("{} {}", status(part), part.call_id),
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

fn status(part: &ToolPart) -> String {
    let state = serde_json::to_value(&part.state).unwrap();
    state["status"].as_str().unwrap().to_owned()
}

/// The parts told so far, without what differs from run to run.
fn parts(stage: &Stage) -> Vec<Value> {
    let told = stage.recording.told().into_iter();
    told.filter_map(|told| match told {
        Recorded::Happened(Entry {
            event: SessionEvent::Part(part),
            ..
        }) => {
            let mut part = serde_json::to_value(&*part).unwrap();
            for key in ["id", "sessionID", "messageID"] {
                part.as_object_mut().unwrap().remove(key);
            }
            part["state"].as_object_mut().unwrap().remove("time");
            Some(part)
        }
        _ => None,
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
            "pending c1",
            "running c1",
            "started",
            "wrote 5",
            "ended",
            "completed c1",
            "replied c1",
            "durable",
        ]
    );
    let numbers: Vec<u64> = told
        .iter()
        .filter_map(|told| match told {
            Recorded::Happened(entry) => Some(entry.number),
            Recorded::Durable => None,
        })
        .collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[tokio::test]
async fn a_part_says_what_came_what_it_is_and_what_became_of_it() {
    let stage = Stage::with(RECORDER, |_| {});
    stage.tool.opening(|job| {
        job.write("hello");
        job.end();
    });
    stage.run([("tool", json!({"path": "x"}))]).await;
    let base = |state| json!({"type": "tool", "callID": "c1", "tool": "tool", "state": state});
    assert_eq!(
        parts(&stage),
        [
            base(json!({"status": "pending", "input": {"path": "x"}, "raw": r#"{"path":"x"}"#})),
            base(
                json!({"status": "running", "input": {"path": "x"}, "title": "tool", "metadata": {}})
            ),
            base(json!({
                "status": "completed", "input": {"path": "x"}, "output": "hello",
                "title": "tool", "metadata": {},
            })),
        ]
    );
}

#[tokio::test]
async fn a_part_names_its_handle_and_action() {
    let stage = Stage::with(RECORDER, |_| {});
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    stage
        .run([("tool", json!({"action": "fetch", "id": "a"}))])
        .await;
    let parts = parts(&stage);
    let metadata = |action| json!({"handle": "a", "action": action});
    for part in &parts[..3] {
        assert_eq!(part["metadata"], metadata("spawn"));
    }
    assert_eq!(parts[2]["state"]["metadata"], metadata("spawn"));
    assert_eq!(parts[5]["state"]["title"], "fetch a");
    assert_eq!(parts[5]["state"]["metadata"], metadata("fetch"));
    assert_eq!(
        parts[5]["state"]["output"],
        r#"{"id":"a","state":"running"}"#
    );
}

#[tokio::test]
async fn the_parts_of_a_batch_share_a_message_and_a_front_end_may_name_it() {
    let stage = Stage::with(RECORDER, |_| {});
    stage.tool.opening(ScriptedJob::end);
    let calls = || batch([("tool", json!({})), ("tool", json!({}))]);
    stage.session.run(calls(), RunOptions::default()).await;
    let message = MessageId::new("msg_mine").unwrap();
    let options = RunOptions {
        message: Some(message),
        ..RunOptions::default()
    };
    stage.session.run(calls(), options).await;
    let messages: Vec<String> = stage
        .recording
        .told()
        .into_iter()
        .filter_map(|told| match told {
            Recorded::Happened(Entry {
                event: SessionEvent::Part(part),
                ..
            }) => Some(part.message_id.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(messages.len(), 12);
    assert!(messages[..6].iter().all(|id| *id == messages[0]));
    assert!(messages[6..].iter().all(|id| id == "msg_mine"));
}

#[tokio::test]
async fn a_call_whose_caller_goes_away_does_not_stay_running() {
    let stage = Stage::with(RECORDER, |_| {});
    let running = stage.go([("tool", json!({}))]);
    let _job = stage.tool.next().await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    let parts = parts(&stage);
    assert_eq!(
        parts.last().unwrap()["state"]["error"],
        "cancelled: no client waits for the reply any more"
    );
}

#[tokio::test]
async fn a_batch_is_answered_only_when_its_record_is_durable() {
    let stage = Stage::with(RECORDER, |_| {});
    stage.tool.opening(ScriptedJob::end);
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
        .filter(|told| told.starts_with("pending") || told.starts_with("error"))
        .collect();
    assert_eq!(
        calls,
        [
            "pending c1",
            "error c1",
            "pending c2",
            "error c2",
            "pending c1",
            "error c1"
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

const APPLY: fn() -> Value = || json!({"action": "apply", "id": "a", "input": "hunter2"});

#[tokio::test]
async fn what_is_typed_on_a_terminal_is_told_once_it_was_to_be_seen() {
    let stage = Stage::with(RECORDER, |_| {});
    stage
        .tool
        .opening(|job| job.on_terminal(TerminalEcho::Shown));
    let spawn = json!({"action": "spawn", "id": "a"});
    stage.run([("tool", spawn), ("tool", APPLY())]).await;
    let parts = parts(&stage);
    let inputs: Vec<&Value> = parts[3..]
        .iter()
        .map(|part| &part["state"]["input"])
        .collect();
    let without = json!({"action": "apply", "id": "a"});
    assert_eq!(inputs, [&without, &without, &APPLY()]);
    assert_eq!(parts[3]["state"]["raw"], r#"{"action":"apply","id":"a"}"#);
}

#[tokio::test]
async fn what_a_terminal_hides_is_never_told() {
    let before: fn(&ScriptedJob) = |job| job.on_terminal(TerminalEcho::Hidden);
    let meanwhile: fn(&ScriptedJob) = |job| {
        job.on_terminal(TerminalEcho::Shown);
        job.on_input(|job, _| job.on_terminal(TerminalEcho::Hidden));
    };
    for hide in [before, meanwhile] {
        let stage = Stage::with(RECORDER, |_| {});
        stage.tool.opening(hide);
        let spawn = json!({"action": "spawn", "id": "a"});
        stage.run([("tool", spawn), ("tool", APPLY())]).await;
        let told = format!("{:?}", stage.recording.told());
        assert!(!told.contains("hunter2"), "{told}");
        let parts = parts(&stage);
        let last = &parts.last().unwrap()["state"];
        assert_eq!(last["status"], "completed");
        assert_eq!(last["input"]["input"], "(secret)");
    }
}

#[tokio::test]
async fn what_came_with_the_output_is_attached_to_every_call_that_tells_the_end() {
    let stage = Stage::with(RECORDER, |_| {});
    stage.tool.opening(|job| {
        job.end_with(Ending {
            attachments: vec![Attachment::file("/tmp/a b.png".as_ref(), "image/png")],
            ..Ending::output()
        });
    });
    stage
        .run([
            ("tool", json!({})),
            ("tool", json!({"action": "spawn", "id": "a"})),
        ])
        .await;
    stage.run([("await", json!({"all": ["a"]}))]).await;
    stage
        .run([("tool", json!({"action": "fetch", "id": "a"}))])
        .await;
    let parts = parts(&stage);
    let completed = parts
        .iter()
        .filter(|part| part["state"]["status"] == "completed");
    let attached: Vec<Value> = completed
        .map(|part| {
            let mut file = part["state"]["attachments"][0].clone();
            for key in ["id", "sessionID", "messageID"] {
                file.as_object_mut().unwrap().remove(key);
            }
            file
        })
        .collect();
    let file = json!({
        "type": "file",
        "mime": "image/png",
        "filename": "a b.png",
        "url": "file:///tmp/a%20b.png",
    });
    assert_eq!(attached, vec![file; 4]);
}

fn input(part: &ToolPart) -> &Arc<Arguments> {
    match &part.state {
        PartState::Pending(state) => &state.input,
        PartState::Running(state) => &state.input,
        PartState::Completed(state) => &state.input,
        PartState::Error(state) => &state.input,
    }
}

#[tokio::test]
async fn the_states_of_a_call_share_their_arguments() {
    let stage = Stage::with(RECORDER, |_| {});
    stage.tool.opening(ScriptedJob::end);
    stage.run([("tool", json!({"path": "x"}))]).await;
    let spawn = json!({"action": "spawn", "id": "a", "path": "y"});
    stage.run([("tool", spawn)]).await;
    let inputs: Vec<Arc<Arguments>> = stage
        .recording
        .told()
        .into_iter()
        .filter_map(|told| match told {
            Recorded::Happened(Entry {
                event: SessionEvent::Part(part),
                ..
            }) => Some(Arc::clone(input(&part))),
            _ => None,
        })
        .collect();
    assert_eq!(inputs.len(), 6);
    for call in inputs.chunks(3) {
        assert!(Arc::ptr_eq(&call[0], &call[1]), "{call:?}");
        assert!(Arc::ptr_eq(&call[0], &call[2]), "{call:?}");
    }
}
