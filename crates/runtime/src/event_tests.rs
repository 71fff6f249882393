//! Every pair of a status and an event.

use std::fmt::Write as _;

use windlass_protocol::{Exit, ToolError};

use super::*;
use windlass_protocol::AnswerType;

fn question(id: &str) -> Question {
    Question {
        id: id.to_owned(),
        text: "Really?".to_owned(),
        pre_amble: None,
        answer_type: AnswerType::Boolean,
        default: None,
        secret: false,
    }
}

fn statuses() -> Vec<(&'static str, Status)> {
    let running = |aborting: Option<&str>| Status::Running {
        aborting: aborting.map(str::to_owned),
    };
    let waiting = |aborting: Option<&str>| Status::Waiting {
        question: question("old"),
        aborting: aborting.map(str::to_owned),
    };
    vec![
        ("pending", Status::Pending),
        ("running", running(None)),
        ("running, aborting", running(Some("first"))),
        ("waiting", waiting(None)),
        ("waiting, aborting", waiting(Some("first"))),
        ("stopped", Status::Stopped(Ending::output())),
    ]
}

fn events() -> Vec<(&'static str, ToolEvent)> {
    let ending = Ending {
        exit: Some(Exit::Code(1)),
        left_running: 2,
        ..Ending::failed("by itself")
    };
    let reason = "second".to_owned();
    vec![
        ("started", ToolEvent::Started),
        ("wrote", ToolEvent::Wrote { bytes: 1 }),
        ("asked", ToolEvent::asked(question("new"))),
        ("answered", ToolEvent::Answered),
        ("aborting", ToolEvent::Aborting { reason }),
        ("ended", ToolEvent::Ended(ending)),
    ]
}

fn name(status: &Status) -> String {
    let aborting = |aborting: &Option<String>| {
        aborting
            .as_ref()
            .map_or_else(String::new, |reason| format!(", aborting as {reason}"))
    };
    match status {
        Status::Pending => "pending".to_owned(),
        Status::Running { aborting: reason } => format!("running{}", aborting(reason)),
        Status::Waiting {
            question,
            aborting: reason,
        } => format!("waiting for {}{}", question.id, aborting(reason)),
        Status::Stopped(Ending {
            result,
            exit,
            left_running,
            ..
        }) => {
            let result = match result {
                Ok(_) => "well".to_owned(),
                Err(error) => format!("with \"{}\"", error.message),
            };
            let exit = exit.as_ref().map_or("", |_| ", exited badly");
            format!("stopped {result}{exit}, {left_running} left")
        }
    }
}

#[test]
fn every_event_in_every_status() {
    let mut table = String::new();
    for (from, status) in statuses() {
        for (happened, event) in events() {
            let next = fold(&status, &event);
            let next = next.map_or_else(|| "-".to_owned(), |next| name(&next));
            writeln!(table, "{from} + {happened}: {next}").unwrap();
        }
    }
    insta::assert_snapshot!(table, @r#"
    pending + started: running
    pending + wrote: -
    pending + asked: waiting for new
    pending + answered: -
    pending + aborting: stopped with "second", 0 left
    pending + ended: stopped with "by itself", exited badly, 2 left
    running + started: -
    running + wrote: -
    running + asked: waiting for new
    running + answered: -
    running + aborting: running, aborting as second
    running + ended: stopped with "by itself", exited badly, 2 left
    running, aborting + started: -
    running, aborting + wrote: -
    running, aborting + asked: -
    running, aborting + answered: -
    running, aborting + aborting: -
    running, aborting + ended: stopped with "first", 2 left
    waiting + started: -
    waiting + wrote: -
    waiting + asked: waiting for new
    waiting + answered: running
    waiting + aborting: waiting for old, aborting as second
    waiting + ended: stopped with "by itself", exited badly, 2 left
    waiting, aborting + started: -
    waiting, aborting + wrote: -
    waiting, aborting + asked: -
    waiting, aborting + answered: running, aborting as first
    waiting, aborting + aborting: -
    waiting, aborting + ended: stopped with "first", 2 left
    stopped + started: -
    stopped + wrote: -
    stopped + asked: -
    stopped + answered: -
    stopped + aborting: -
    stopped + ended: -
    "#);
}

#[test]
fn nothing_follows_stopped() {
    for result in [
        Ok(None),
        Ok(Some("own".to_owned())),
        Err(ToolError::new("no")),
    ] {
        let stopped = Status::Stopped(Ending::with(result));
        for (happened, event) in events() {
            assert_eq!(fold(&stopped, &event), None, "{happened}");
        }
    }
}

#[test]
fn a_status_asks_only_its_own_question() {
    for (name, status) in statuses() {
        assert_eq!(status.asks(&question("old")), name == "waiting");
        assert!(!status.asks(&question("new")));
    }
}

#[test]
fn what_a_tool_reports_while_it_is_ended_is_its_result() {
    for (_, status) in statuses() {
        let ending = Ending::reported(Ok("partial".to_owned()));
        let Some(Status::Stopped(ending)) = fold(&status, &ToolEvent::Ended(ending)) else {
            assert!(status.is_stopped(), "everything else can end");
            continue;
        };
        assert_eq!(ending.result, Ok(Some("partial".to_owned())));
        let aborting = match status {
            Status::Running { aborting } | Status::Waiting { aborting, .. } => aborting,
            _ => None,
        };
        assert_eq!(ending.aborted, aborting);
    }
}
