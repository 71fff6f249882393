use serde_json::json;
use windlass_protocol::{HandleId, Notice, NoticeKind, NoticeLevel};
use windlass_runtime::{Journal, ToolEvent};

use super::*;

fn options(id: &SessionId) -> SessionOptions {
    SessionOptions {
        id: Some(id.clone()),
        front_end: Some("serve".to_owned()),
        trusted: true,
        ..SessionOptions::default()
    }
}

fn notice(text: &str) -> SessionEvent {
    SessionEvent::Noticed(Notice {
        level: NoticeLevel::Info,
        kind: NoticeKind::Content,
        handle: None,
        tool: None,
        text: text.to_owned(),
    })
}

fn wrote(bytes: u64) -> SessionEvent {
    SessionEvent::Tool {
        number: 1,
        handle: Some(HandleId::new("a").unwrap()),
        one_shot: None,
        at: 0,
        event: ToolEvent::Wrote { bytes },
    }
}

/// The events of a session that has kept these, as the next server reads them.
fn read_again(events: &[SessionEvent]) -> Vec<Entry> {
    let folder = tempfile::tempdir().unwrap();
    let id = SessionId::from_suffix("1");
    let logs = EventLogs::open(folder.path()).unwrap();
    let mut kept = options(&id);
    logs.keep(&mut kept, None);
    let journal = Journal::new(100, kept.event_log.take());
    for event in events {
        journal.append(event.clone());
    }
    drop((journal, logs));
    let logs = EventLogs::open(folder.path()).unwrap();
    let past = logs.past(&id).expect("it was kept");
    assert_eq!(past.session.front_end, "serve");
    assert!(past.session.trusted);
    past.events.newest().cloned().collect()
}

#[test]
fn events_are_the_same_to_the_next_server() {
    let handle = || HandleId::new("a").unwrap();
    let events = [
        SessionEvent::Called {
            call: "c1".into(),
            tool: "shell".into(),
            action: None,
            handle: None,
        },
        wrote(8),
        notice("news"),
        SessionEvent::Locked { handle: handle() },
        SessionEvent::Unlocked { handle: handle() },
        SessionEvent::Delivered { notices: vec![3] },
        SessionEvent::TurnEnded,
    ];
    let read: Vec<SessionEvent> = read_again(&events)
        .into_iter()
        .map(|entry| entry.event)
        .collect();
    assert_eq!(read, events);
}

#[test]
fn a_session_that_has_ended_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let id = SessionId::from_suffix("1");
    let logs = EventLogs::open(folder.path()).unwrap();
    let mut kept = options(&id);
    logs.keep(&mut kept, None);
    let journal = Journal::new(100, kept.event_log.take());
    journal.append(notice("news"));
    assert!(logs.folder_of(&id).exists());
    journal.append(SessionEvent::Closed);
    assert!(!logs.folder_of(&id).exists());
}

#[test]
fn logs_that_were_let_go_of_are_another_servers() {
    let folder = tempfile::tempdir().unwrap();
    let id = SessionId::from_suffix("1");
    let logs = EventLogs::open(folder.path()).unwrap();
    let hub = logs.hub();
    let mut kept = options(&id);
    logs.keep(&mut kept, Some(Duration::from_mins(1)));
    let journal = Journal::new(100, kept.event_log.take());
    journal.append(notice("news"));
    let other = EventLogs::open(folder.path()).unwrap();
    assert!(other.past(&id).is_none(), "it belongs to the first");
    logs.let_go();
    drop(hub);
    journal.append(SessionEvent::Closed);
    let past = other.past(&id).expect("it was let go of");
    assert_eq!(past.session.idle_secs, Some(60));
    assert_eq!(past.events.last(), 1);
    other.forget_all_but(&[]);
    assert!(logs.folder_of(&id).exists(), "it is read right now");
    drop(past);
    other.forget_all_but(std::slice::from_ref(&id));
    assert!(logs.folder_of(&id).exists(), "it is wanted");
    other.forget_all_but(&[]);
    assert!(!logs.folder_of(&id).exists());
}

#[test]
fn what_is_open_outlives_a_flood_of_events() {
    let folder = tempfile::tempdir().unwrap();
    let id = SessionId::from_suffix("1");
    let logs = EventLogs::open(folder.path()).unwrap();
    let mut kept = options(&id);
    logs.keep(&mut kept, None);
    let journal = Journal::new(100, kept.event_log.take());
    journal.append(notice("news"));
    for _ in 0..150_000 {
        journal.append(wrote(1));
    }
    drop((journal, logs));
    let files = std::fs::read_dir(folder.path().join("sessions").join(id.as_str())).unwrap();
    let size: u64 = files
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    assert!(size < 20 << 20, "{size}");
    let logs = EventLogs::open(folder.path()).unwrap();
    let past = logs.past(&id).unwrap();
    assert_eq!(past.session.session, id);
    assert_eq!(past.events.last(), 150_001);
    let open: Vec<_> = past.events.loose_ends().collect();
    assert_eq!(open, [&LooseEnd::Notice(1)], "{}", json!(size));
}
