//! A session that another runtime takes up: its events go on, and everything
//! that was open is settled.

use std::time::Duration;

use futures_util::FutureExt;
use insta::assert_snapshot;
use serde_json::json;
use windlass_protocol::{PartState, ToolEvent};
use windlass_runtime::{Entry, LooseEnd, PastEvents, RunPolicy, Session, SessionEvent};
use windlass_testing::text_question;

use crate::support::{Cast, PERSON, Stage};

const WATCHED: Cast = Cast {
    recorder: true,
    ..PERSON
};

/// Everything that the journal of a session holds.
fn journal(session: &Session) -> Vec<Entry> {
    let mut tail = session.journal().tail(0);
    let mut entries = Vec::new();
    while let Some(Some((_, entry))) = tail.next().now_or_never() {
        entries.push(entry);
    }
    entries
}

fn past(entries: &[Entry]) -> PastEvents {
    let mut past = PastEvents::default();
    for entry in entries {
        past.add(entry.clone());
    }
    past
}

/// The session of a stage, as another runtime takes it up.
fn taken_up(stage: &Stage) -> Stage {
    let entries = journal(&stage.session);
    Stage::with(PERSON, |setup| {
        setup.options.id = Some(stage.session.id().clone());
        setup.options.past = past(&entries);
    })
}

/// The events that a runtime has added to those that it was given.
fn added(before: &Stage, after: &Stage) -> Vec<SessionEvent> {
    let last = before.session.journal().last();
    let entries = journal(&after.session).into_iter();
    entries
        .filter(|entry| entry.number > last)
        .map(|entry| entry.event)
        .collect()
}

async fn spawned() -> Stage {
    let stage = Stage::with(WATCHED, |_| {});
    let spawn = json!({"action": "spawn", "id": "a"});
    stage.run([("tool", spawn)]).await;
    stage
}

#[tokio::test]
async fn the_numbers_of_events_and_tools_go_on() {
    let first = spawned().await;
    let before = journal(&first.session);
    let second = taken_up(&first);
    assert_eq!(journal(&second.session), before);
    second.session.recall();
    let spawn = json!({"action": "spawn", "id": "b"});
    second.run([("tool", spawn)]).await;
    let after = journal(&second.session);
    let numbers: Vec<u64> = after.iter().map(|entry| entry.number).collect();
    assert_eq!(numbers, (1..=after.len() as u64).collect::<Vec<_>>());
    let tools = after.iter().filter_map(|entry| match &entry.event {
        SessionEvent::Tool { number, event, .. } if *event == ToolEvent::Started => Some(*number),
        _ => None,
    });
    assert_eq!(tools.collect::<Vec<_>>(), [1, 2]);
}

#[tokio::test]
async fn a_tool_that_nobody_adopted_has_ended() {
    let first = spawned().await;
    let second = taken_up(&first);
    second.session.recall();
    let added = added(&first, &second);
    let [
        SessionEvent::Tool {
            number: 1,
            handle: Some(handle),
            event: ToolEvent::Ended(ending),
            ..
        },
    ] = &added[..]
    else {
        panic!("{added:?}");
    };
    assert_eq!(handle.as_str(), "a");
    assert!(ending.result.is_err());
}

#[tokio::test]
async fn notices_that_were_not_delivered_are_told_once() {
    let first = spawned().await;
    first.tool.job("a").unwrap().fail("it broke");
    let second = taken_up(&first);
    second.session.recall();
    let told = second.notices();
    assert_snapshot!(told, @"notice error failure: `a` stopped: it broke");
    let third = taken_up(&second);
    third.session.recall();
    assert_eq!(third.notices(), "");
}

#[tokio::test]
async fn what_was_open_is_closed() {
    let first = Stage::with(WATCHED, |setup| {
        setup.other.run = RunPolicy::default();
    });
    let spawn = json!({"action": "spawn", "id": "a"});
    first.run([("tool", spawn)]).await;
    first
        .tool
        .job("a")
        .unwrap()
        .ask(text_question("name", "Name?"));
    let handle = first.session.handle("a").unwrap();
    handle.lock(Duration::from_mins(1)).unwrap();
    let _asking = first.go([("other", json!({}))]);
    first
        .seen(|event| matches!(event, SessionEvent::PermissionAsked(_)))
        .await;
    first
        .seen(|event| matches!(event, SessionEvent::QuestionAsked(_)))
        .await;

    let entries = journal(&first.session);
    let second = taken_up(&first);
    second.session.recall();
    let added = added(&first, &second);
    let closed: Vec<LooseEnd> = added.iter().flat_map(LooseEnd::closed_by).collect();
    let mut open = entries.iter().filter_map(LooseEnd::opened_by);
    let was_closed = |end: &LooseEnd| {
        let by = |entry: &Entry| LooseEnd::closed_by(&entry.event).contains(end);
        entries.iter().any(by) || closed.contains(end)
    };
    assert!(
        open.all(|end| was_closed(&end) || matches!(end, LooseEnd::Notice(_))),
        "{added:?}"
    );
    for end in [
        closed.iter().any(|end| matches!(end, LooseEnd::Call(_))),
        closed.iter().any(|end| matches!(end, LooseEnd::Part(_))),
        closed.iter().any(|end| matches!(end, LooseEnd::Tool(_))),
        closed
            .iter()
            .any(|end| matches!(end, LooseEnd::Permission(_))),
        closed
            .iter()
            .any(|end| matches!(end, LooseEnd::Question(_))),
        closed.iter().any(|end| matches!(end, LooseEnd::Lock(_))),
    ] {
        assert!(end, "{closed:?}");
    }
    let interrupted = added.iter().any(|event| match event {
        SessionEvent::Part(part) => matches!(part.state, PartState::Error(_)),
        _ => false,
    });
    assert!(interrupted, "{added:?}");
}

#[tokio::test]
async fn a_reader_of_lost_events_is_told_that_it_missed_some() {
    let stage = Stage::with(PERSON, |setup| {
        setup.options.past = PastEvents::lost_until(1000);
    });
    stage.session.notify(windlass_protocol::Notice {
        level: windlass_protocol::NoticeLevel::Info,
        kind: windlass_protocol::NoticeKind::Content,
        handle: None,
        tool: None,
        text: "news".to_owned(),
    });
    let mut tail = stage.session.journal().tail(17);
    let (missed, entry) = tail.next().await.unwrap();
    assert_eq!((missed, entry.number), (983, 1001));
}

#[tokio::test]
async fn events_that_another_has_told_are_missed() {
    let stage = spawned().await;
    let last = stage.session.journal().last();
    stage.session.journal().skip_to(last + 5);
    let mut tail = stage.session.journal().tail(last);
    assert!(tail.next().now_or_never().is_none(), "there is none yet");
    let spawn = json!({"action": "spawn", "id": "b"});
    stage.run([("tool", spawn)]).await;
    let (missed, entry) = tail.next().await.unwrap();
    assert_eq!((missed, entry.number), (5, last + 6));
}
