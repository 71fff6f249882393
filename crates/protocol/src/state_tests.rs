//! What tools print, in either wire format, and the state that is made of it.

use insta::assert_snapshot;

use super::*;
use crate::AnswerType;

/// Parses the output of a tool and writes it again.
fn check(printed: &str) -> String {
    match serde_json::from_str::<ToolState>(printed) {
        Ok(state) => serde_json::to_string(&state).unwrap(),
        Err(error) => format!("error: {error}"),
    }
}

fn question() -> Question {
    Question {
        id: "overwrite".to_owned(),
        text: "Overwrite?".to_owned(),
        pre_amble: None,
        answer_type: AnswerType::Boolean,
        default: None,
        secret: false,
    }
}

#[test]
fn running_is_read_with_and_without_content() {
    assert_eq!(check(r#"{"type":"running"}"#), r#"{"type":"running"}"#);
    assert_eq!(
        check(r#"{"type":"running","content":null}"#),
        r#"{"type":"running"}"#
    );
    assert_eq!(
        check(r#"{"type":"running","content":"diff --git a/..."}"#),
        r#"{"type":"running","content":"diff --git a/..."}"#
    );
}

#[test]
fn spawned_is_running() {
    assert_eq!(
        check(r#"{"type":"spawned","content":"$ "}"#),
        r#"{"type":"running","content":"$ "}"#
    );
    assert_eq!(check(r#"{"type":"spawned"}"#), r#"{"type":"running"}"#);
}

#[test]
fn waiting_carries_its_question() {
    assert_snapshot!(
        check(
            r#"{"type":"waiting","content":"2 files","question":{"id":"q","text":"Go on?","answer_type":"Boolean"}}"#
        ),
        @r#"{"type":"waiting","content":"2 files","question":{"id":"q","text":"Go on?","answer_type":"Boolean"}}"#
    );
}

#[test]
fn waiting_for_nothing_is_an_error() {
    assert_eq!(
        check(r#"{"type":"waiting","content":"2 files"}"#),
        "error: missing field `question`"
    );
}

#[test]
fn a_result_is_read_in_either_case_and_written_in_one() {
    let well = r#"{"type":"stopped","result":{"Ok":"Staged 3 hunks."}}"#;
    assert_eq!(check(well), well);
    assert_eq!(check(&well.replace("Ok", "ok")), well);

    let badly = r#"{"type":"stopped","result":{"Err":{"message":"no network","trace":["dns"],"transient":true}}}"#;
    assert_eq!(check(badly), badly);
    assert_eq!(check(&badly.replace("Err", "err")), badly);
}

#[test]
fn trace_and_transient_may_be_missing() {
    let whole =
        r#"{"type":"stopped","result":{"Err":{"message":"no","trace":[],"transient":false}}}"#;
    assert_eq!(
        check(r#"{"type":"stopped","result":{"Err":{"message":"no"}}}"#),
        whole
    );
    assert_eq!(check(r#"{"type":"error","message":"no"}"#), whole);
}

#[test]
fn the_older_success_is_stopped_well() {
    assert_eq!(
        check(r#"{"type":"success","content":"ok, 0 warnings"}"#),
        r#"{"type":"stopped","result":{"Ok":"ok, 0 warnings"}}"#
    );
}

#[test]
fn the_older_error_is_stopped_badly() {
    assert_snapshot!(
        check(r#"{"type":"error","message":"timed out","trace":["a","b"],"transient":true}"#),
        @r#"{"type":"stopped","result":{"Err":{"message":"timed out","trace":["a","b"],"transient":true}}}"#
    );
}

#[test]
fn the_older_needs_input_is_waiting_without_content() {
    assert_snapshot!(
        check(
            r#"{"type":"needs_input","question":{"id":"overwrite","text":"Overwrite?","answer_type":"Boolean"}}"#
        ),
        @r#"{"type":"waiting","question":{"id":"overwrite","text":"Overwrite?","answer_type":"Boolean"}}"#
    );
}

#[test]
fn an_unknown_type_is_an_error() {
    assert!(check(r#"{"type":"pending"}"#).starts_with("error: unknown variant `pending`"));
    assert!(check(r#"{"content":"x"}"#).starts_with("error: missing field `type`"));
}

#[test]
fn a_stopped_with_content_and_error_beside_it_is_not_the_protocol() {
    assert_eq!(
        check(r#"{"type":"stopped","content":"x","error":null}"#),
        "error: missing field `result`"
    );
}

#[test]
fn every_outcome_has_its_state() {
    let table = [
        (
            Outcome::Success {
                content: "fine".to_owned(),
            },
            ToolState::Stopped {
                result: Ok("fine".to_owned()),
            },
        ),
        (
            Outcome::Error {
                message: "no".to_owned(),
                trace: vec!["why".to_owned()],
                transient: true,
            },
            ToolState::Stopped {
                result: Err(ToolError {
                    message: "no".to_owned(),
                    trace: vec!["why".to_owned()],
                    transient: true,
                }),
            },
        ),
        (
            Outcome::NeedsInput {
                question: question(),
            },
            ToolState::Waiting {
                content: None,
                question: question(),
            },
        ),
    ];
    for (outcome, state) in table {
        // What is converted and what is read from the same text agree.
        let printed = serde_json::to_string(&outcome).unwrap();
        assert_eq!(serde_json::from_str::<ToolState>(&printed).unwrap(), state);
        assert_eq!(ToolState::from(outcome), state);
    }
}

#[test]
fn only_stopped_is_final() {
    let running = ToolState::Running { content: None };
    let waiting = ToolState::Waiting {
        content: None,
        question: question(),
    };
    let stopped = ToolState::Stopped {
        result: Err(ToolError::new("no")),
    };
    assert!(!running.is_stopped());
    assert!(!waiting.is_stopped());
    assert!(stopped.is_stopped());
}

#[test]
fn an_error_reads_as_its_message() {
    assert_eq!(ToolError::new("no network").to_string(), "no network");
}
