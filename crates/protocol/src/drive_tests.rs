//! The lines of `windlass drive`, in and out.

use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::{AwaitReply, CallReply, Notice, NoticeKind, NoticeLevel, ReplyContent};

/// How line 7 of the input is understood.
fn check(line: &str) -> String {
    match DriveInput::read(line, 7) {
        Ok(input) => shown(input),
        Err(error) => format!("error: {error}"),
    }
}

fn shown(input: DriveInput) -> String {
    match input {
        DriveInput::Batch { batch, concurrent } => {
            let beside = if concurrent { "concurrent " } else { "" };
            format!("{beside}{}", serde_json::to_string(&batch).unwrap())
        }
        DriveInput::Cancel(batch) => format!("cancel {batch}"),
        DriveInput::TurnEnd => "turn end".to_owned(),
        DriveInput::Permission { permission, answer } => {
            let answer = serde_json::to_string(&answer).unwrap();
            format!("permission {permission} {answer}")
        }
        DriveInput::Answer { ask, value } => format!("answer {ask} {value}"),
        DriveInput::Decline { ask, why } => format!("decline {ask}: {why}"),
        DriveInput::Request { id, request } => {
            format!("request {id} {}", serde_json::to_string(&request).unwrap())
        }
        DriveInput::Report { run, report } => {
            format!("report {run} {}", serde_json::to_string(&report).unwrap())
        }
        DriveInput::Inquire { ask, decisions } => {
            format!(
                "inquire {ask} {}",
                serde_json::to_string(&decisions).unwrap()
            )
        }
    }
}

/// A line that we write is read as `output` and written as it was.
fn written(output: &DriveOutput, line: &str) {
    assert_eq!(serde_json::to_string(output).unwrap(), line);
    let mut read = output.clone();
    if let DriveOutput::Replies(reply) = &mut read {
        // Not written: it is for the front end of the moment.
        let replies = reply.replies.iter_mut();
        replies.for_each(|reply| reply.extras.is_refusal = false);
    }
    assert_eq!(serde_json::from_str::<DriveOutput>(line).unwrap(), read);
}

#[test]
fn a_batch_has_a_name_and_calls() {
    let line =
        r#"{"batch":"b1","calls":[{"id":"c1","tool":"shell","arguments":{"command":"ls"}}]}"#;
    assert_eq!(check(line), line);
    assert_eq!(
        check(r#"{"batch":"b1","calls":[]}"#),
        r#"{"batch":"b1","calls":[]}"#
    );
}

#[test]
fn what_has_no_name_is_called_by_its_place() {
    assert_snapshot!(
        check(
            r#"[{"tool":"shell","arguments":{"command":"ls"}},{"id":"c","tool":"await"},{"tool":"git","arguments":null}]"#
        ),
        @r#"{"batch":"7","calls":[{"id":"1","tool":"shell","arguments":{"command":"ls"}},{"id":"c","tool":"await","arguments":{}},{"id":"3","tool":"git","arguments":{}}]}"#
    );
    assert_eq!(check(r#"{"calls":[]}"#), r#"{"batch":"7","calls":[]}"#);
    assert_snapshot!(
        check(r#"{"batch":null,"calls":[{"id":null,"tool":"git","arguments":null}]}"#),
        @r#"{"batch":"7","calls":[{"id":"1","tool":"git","arguments":{}}]}"#
    );
}

#[test]
fn arguments_keep_their_order() {
    let line = r#"{"batch":"b","calls":[{"id":"c","tool":"t","arguments":{"z":1,"a":2,"m":3}}]}"#;
    assert_eq!(check(line), line);
}

#[test]
fn the_other_lines_are_read() {
    for (line, read) in [
        (r#"{"cancel":"b1"}"#, "cancel b1"),
        (r#"{"turn_end":true}"#, "turn end"),
        (
            r#"{"permission":"per_1","reply":"once"}"#,
            r#"permission per_1 {"reply":"once"}"#,
        ),
        (
            r#"{"permission":"per_1","reply":"always","arguments":{"command":"ls"}}"#,
            r#"permission per_1 {"reply":"always","arguments":{"command":"ls"}}"#,
        ),
        (
            r#"{"permission":"per_1","reply":"reject","message":"not here"}"#,
            r#"permission per_1 {"reply":"reject","message":"not here"}"#,
        ),
        (r#"{"answer":"q_1","value":true}"#, "answer q_1 true"),
        (
            r#"{"inquire":"q_1","decisions":{"a":"wait","b":"abort"}}"#,
            r#"inquire q_1 {"a":"wait","b":"abort"}"#,
        ),
    ] {
        assert_eq!(check(line), read);
    }
}

#[test]
fn where_only_a_batch_will_do_nothing_else_is_named() {
    let calls = r#"[{"tool":"t"}]"#;
    let named = format!(r#"{{"batch":"b","calls":{calls}}}"#);
    assert_eq!(Batch::read(calls, 7).unwrap().id, "7");
    assert_eq!(Batch::read(&named, 7).unwrap().id, "b");
    let wanted = r#"a batch is a list of calls, or an object with `calls`; for example [{"tool":"shell","arguments":{"command":"ls"}}]"#;
    for other in ["3", "{}", r#"{"cancel":"b"}"#, r#"{"turn_end":true}"#] {
        assert_eq!(
            Batch::read(other, 7).unwrap_err().to_string(),
            wanted,
            "{other}"
        );
    }
    assert_eq!(
        Batch::read("x", 7).unwrap_err().to_string(),
        "not JSON: expected value at line 1 column 1"
    );
}

#[test]
fn what_is_not_understood_is_reported() {
    for (line, told) in [
        ("", "not JSON: EOF while parsing a value at line 1 column 0"),
        (
            "3",
            r#"a line must be a list of calls or an object; for example [{"tool":"shell","arguments":{"command":"ls"}}]"#,
        ),
        (
            "{}",
            "an object must have one of `calls`, `cancel`, `turn_end`, `permission`, `answer`, `inquire`, `request` and `run`",
        ),
        (r#"{"turn_end":false}"#, "`turn_end` must be true"),
        (r#"{"turn_end":1}"#, "`turn_end` must be true"),
        (r#"{"cancel":1}"#, "`cancel` must be the name of a batch"),
        (r#"{"cancel":"b","x":1}"#, "unknown key `x` beside `cancel`"),
        (r#"{"batch":1,"calls":[]}"#, "`batch` must be a string"),
        (r#"{"calls":{}}"#, "`calls` must be a list of calls"),
        (
            r#"{"calls":[],"turn_end":true}"#,
            "unknown key `turn_end` beside `calls`; a batch has `batch` and `calls`",
        ),
        (
            "[1]",
            "call 1 must be an object with `tool` and `arguments`",
        ),
        (
            r#"[{"tool":"a"},{"id":"1","tool":"b"}]"#,
            "calls 1 and 2 have the same id `1`",
        ),
    ] {
        assert_eq!(check(line), format!("error: {told}"));
    }
}

#[test]
fn a_misspelt_key_is_reported_by_name() {
    for (line, key) in [
        (r#"[{"tool":"a","args":{}}]"#, "args"),
        (
            r#"{"permission":"per_1","reply":"once","note":"x"}"#,
            "note",
        ),
        (r#"{"answer":"q","value":1,"note":"x"}"#, "note"),
        (r#"{"inquire":"q","decisions":{},"note":"x"}"#, "note"),
    ] {
        assert!(
            check(line).contains(&format!("unknown field `{key}`")),
            "{}",
            check(line)
        );
    }
}

#[test]
fn a_permission_is_named_by_an_id_of_its_kind() {
    assert_snapshot!(
        check(r#"{"permission":"ses_1","reply":"once"}"#),
        @"error: the reply to a permission is invalid: `ses_1` is not an ID of this kind; it must begin with `per`"
    );
}

#[test]
fn an_error_is_one_line_whatever_is_in_the_key() {
    assert_eq!(
        check(r#"{"cancel":"b","x\n\r\u001b[2Jy":1}"#),
        "error: unknown key `x   [2Jy` beside `cancel`"
    );
}

#[test]
fn replies_are_written_in_call_order_and_notices_only_when_there_are_any() {
    let mut reply = BatchReply {
        batch: "b1".to_owned(),
        replies: vec![
            CallReply {
                id: "c1".to_owned(),
                content: ReplyContent::Text("hi\n".to_owned()),
                is_error: false,
                error: None,
                extras: crate::ReplyExtras::default(),
            },
            CallReply {
                id: "c2".to_owned(),
                content: ReplyContent::Handle(Box::new(HandleView::new(
                    HandleId::new("server").unwrap(),
                    HandleState::Running,
                ))),
                is_error: false,
                error: None,
                extras: crate::ReplyExtras::default(),
            },
            CallReply {
                id: "c3".to_owned(),
                content: ReplyContent::Await(AwaitReply::default()),
                is_error: false,
                error: None,
                extras: crate::ReplyExtras::default(),
            },
            CallReply::refused("c4", "action `fetch` needs an `id`"),
        ],
        notices: Vec::new(),
    };
    let replies = concat!(
        r#"{"id":"c1","content":"hi\n","is_error":false},"#,
        r#"{"id":"c2","content":{"id":"server","state":"running"},"is_error":false},"#,
        r#"{"id":"c3","content":{"completed":[],"pending":[]},"is_error":false},"#,
        r#"{"id":"c4","content":"action `fetch` needs an `id`","is_error":true}"#
    );
    written(
        &DriveOutput::Replies(reply.clone()),
        &format!(r#"{{"batch":"b1","replies":[{replies}]}}"#),
    );
    reply.notices.push(Notice {
        level: NoticeLevel::Info,
        kind: NoticeKind::Success,
        handle: Some(HandleId::new("build").unwrap()),
        tool: None,
        text: "`build` has stopped.".to_owned(),
    });
    written(
        &DriveOutput::Replies(reply),
        &format!(
            r#"{{"batch":"b1","replies":[{replies}],"notices":[{{"level":"info","kind":"success","handle":"build","text":"`build` has stopped."}}]}}"#
        ),
    );
}

#[test]
fn content_is_one_string_for_a_model() {
    let text = ReplyContent::Text("hi\n".to_owned());
    assert_eq!(text.to_text(), "hi\n");
    let value = ReplyContent::Value(json!([1, 2]));
    assert_eq!(value.to_text(), "[1,2]");
    let reply = ReplyContent::Await(AwaitReply::default());
    assert_eq!(reply.to_text(), r#"{"completed":[],"pending":[]}"#);
}

#[test]
fn a_list_is_neither_a_handle_nor_a_reply_of_await() {
    for list in [json!([[], []]), json!(["x", "running"])] {
        assert_eq!(
            serde_json::from_value::<ReplyContent>(list.clone()).unwrap(),
            ReplyContent::Value(list)
        );
    }
}

#[test]
fn the_turns_end_is_reported() {
    written(
        &DriveOutput::TurnEnd {
            turn_end: TurnEndReport {
                ended: vec![HandleId::new("server").unwrap()],
                awaited: vec![HandleId::new("check").unwrap()],
                undecided: Vec::new(),
                kept: Vec::new(),
                results: Vec::new(),
            },
        },
        r#"{"turn_end":{"ended":["server"],"awaited":["check"]}}"#,
    );
}

#[test]
fn a_line_that_was_not_understood_is_reported() {
    written(
        &DriveOutput::Error {
            error: "not JSON".to_owned(),
        },
        r#"{"error":"not JSON"}"#,
    );
}

#[test]
fn events_ask_the_driver() {
    let event = |line: &str| {
        let output: DriveOutput = serde_json::from_str(line).unwrap();
        assert!(matches!(output, DriveOutput::Event(_)), "{output:?}");
        assert_eq!(serde_json::to_string(&output).unwrap(), line);
    };
    event(concat!(
        r#"{"event":"permission","request":{"id":"per_1","sessionID":"ses_1","permission":"shell","#,
        r#""patterns":["git status"],"metadata":{"command":"git status"},"always":["git status *"],"#,
        r#""tool":{"messageID":"msg_1","callID":"c1"}}}"#
    ));
    event(concat!(
        r#"{"event":"question","ask":"q_1","call":"c1","handle":"x","tool":"git","#,
        r#""question":{"id":"go","text":"Go on?","answer_type":"Boolean"}}"#
    ));
    event(
        r#"{"event":"question","ask":"q_1","tool":"git","question":{"id":"go","text":"Go on?","answer_type":"Boolean"}}"#,
    );
    event(concat!(
        r#"{"event":"inquire","ask":"q_1","handles":[{"id":"check","tool":"cargo_check","state":"running","#,
        r#""elapsed_secs":3.2,"output_preview":"Compiling jp_cli v0.1.0..."}]}"#
    ));
}

#[test]
fn a_batch_of_too_many_calls_is_refused() {
    let calls = vec![serde_json::json!({"tool": "shell"}); Batch::MOST_CALLS + 1];
    let line = Value::from(calls).to_string();
    let error = DriveInput::read(&line, 1).unwrap_err().to_string();
    assert_snapshot!(
        error,
        @"a batch has at most 1024 calls, and this one has 1025; send several batches"
    );
}

#[test]
fn a_batch_may_run_beside_others() {
    assert_eq!(
        check(r#"{"batch":"b","calls":[],"concurrent":true}"#),
        r#"concurrent {"batch":"b","calls":[]}"#
    );
    assert_eq!(
        check(r#"{"calls":[],"concurrent":1}"#),
        "error: `concurrent` must be true or false"
    );
}

#[test]
fn requests_and_reports_carry_the_id_that_they_are_about() {
    assert_eq!(
        check(r#"{"request":"r1","op":"session"}"#),
        r#"request r1 {"op":"session"}"#
    );
    assert_snapshot!(
        check(r#"{"request":"r2","op":"output","handle":"build","wait":true}"#),
        @r#"request r2 {"op":"output","handle":"build","from":0,"wait":true}"#
    );
    assert_snapshot!(
        check(r#"{"request":"r3","op":"add_tool","name":"add","parameters":{"type":"object"}}"#),
        @r#"request r3 {"op":"add_tool","name":"add","parameters":{"type":"object"}}"#
    );
    assert_eq!(
        check(r#"{"run":"run_1","report":"result","text":"3"}"#),
        r#"report run_1 {"report":"result","text":"3"}"#
    );
    assert_eq!(
        check(r#"{"answer":"q_1","decline":"nobody is there"}"#),
        "decline q_1: nobody is there"
    );
}

#[test]
fn a_request_that_is_not_understood_is_named() {
    let error = DriveInput::read(r#"{"request":"r1","op":"fly"}"#, 1).unwrap_err();
    assert!(matches!(&error, LineError::Request { request, .. } if request == "r1"));
    assert!(
        error
            .to_string()
            .starts_with("request `r1` is invalid: unknown variant `fly`")
    );
    let error = DriveInput::read(r#"{"run":"x","report":"output"}"#, 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the report on run `x` is invalid: missing field `text`"
    );
}
