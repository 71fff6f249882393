//! What a local tool's stdout is taken for, and the lines it reads.

use insta::assert_snapshot;
use serde_json::json;

use super::*;

/// How stdout is understood.
fn check(stdout: &str) -> String {
    match ToolAnswer::read(stdout) {
        None => "text".to_owned(),
        Some(Ok(ToolAnswer::State(state))) => serde_json::to_string(&state).unwrap(),
        Some(Ok(ToolAnswer::Exec(exec))) => {
            format!("exec {}", serde_json::to_string(&exec).unwrap())
        }
        Some(Err(error)) => format!("error: {error}"),
    }
}

#[test]
fn one_object_of_our_types_is_protocol() {
    for (stdout, read) in [
        (r#"{"type":"running"}"#, r#"{"type":"running"}"#),
        (r#"{"type":"spawned"}"#, r#"{"type":"running"}"#),
        (
            r#"{"type":"success","content":"x"}"#,
            r#"{"type":"stopped","result":{"Ok":"x"}}"#,
        ),
        (
            " \n{\"type\":\"stopped\",\"result\":{\"ok\":\"x\"}}\n\n",
            r#"{"type":"stopped","result":{"Ok":"x"}}"#,
        ),
        (
            r#"{"type":"needs_input","question":{"id":"q","text":"?","answer_type":"Text"}}"#,
            r#"{"type":"waiting","question":{"id":"q","text":"?","answer_type":"Text"}}"#,
        ),
    ] {
        assert_eq!(check(stdout), read);
    }
}

#[test]
fn everything_else_is_plain_text() {
    for stdout in [
        "",
        "ok, 0 warnings",
        "{",
        "{}",
        "[]",
        r#""running""#,
        r#"{"type":"pending"}"#,
        r#"{"type":"tool_result","content":"x"}"#,
        r#"{"type":1}"#,
        r#"{"kind":"running"}"#,
        r#"[{"type":"running"}]"#,
        "{\"type\":\"running\"}\n{\"type\":\"running\"}",
        "note: {\"type\":\"running\"}",
    ] {
        assert_eq!(check(stdout), "text", "{stdout}");
    }
}

#[test]
fn protocol_that_lacks_what_its_type_needs_is_an_error() {
    assert_eq!(
        check(r#"{"type":"stopped"}"#),
        "error: missing field `result`"
    );
    assert_eq!(
        check(r#"{"type":"waiting"}"#),
        "error: missing field `question`"
    );
    assert!(check(r#"{"type":"exec"}"#).starts_with("error: missing field `program`"));
}

#[test]
fn a_slip_in_a_type_or_a_field_is_reported() {
    for (stdout, error) in [
        (
            r#"{"type":"sucess"}"#,
            "error: its `type` is `sucess`; did you mean `success`?",
        ),
        (
            r#"{"type":"Success","content":"x"}"#,
            "error: its `type` is `Success`; did you mean `success`?",
        ),
        (
            r#"{"type":"runing","contnet":"x"}"#,
            "error: its `type` is `runing`; did you mean `running`?",
        ),
        (
            r#"{"type":"needs-input","question":{}}"#,
            "error: its `type` is `needs-input`; did you mean `needs_input`?",
        ),
        (
            r#"{"type":"success","contents":"x"}"#,
            "error: it has a field `contents`; did you mean `content`?",
        ),
        (
            r#"{"type":"error","message":"x","transiant":true}"#,
            "error: it has a field `transiant`; did you mean `transient`?",
        ),
        (
            r#"{"type":"waiting","question":{"id":"q","text":"?","anwser_type":"Text"}}"#,
            "error: it has a field `anwser_type`; did you mean `answer_type`?",
        ),
        (
            r#"{"type":"stopped","result":{"Error":{"message":"x"}}}"#,
            "error: unknown variant `Error`, expected one of `Ok`, `ok`, `Err`, `err`",
        ),
        (
            r#"{"type":"stopped","result":{"Err":{"mesage":"x"}}}"#,
            "error: it has a field `mesage`; did you mean `message`?",
        ),
    ] {
        let got = check(stdout);
        assert!(got.starts_with(error), "{stdout}: {got}");
    }
}

#[test]
fn an_object_of_another_kind_is_no_slip() {
    for stdout in [
        r#"{"type":"errors","errors":[]}"#,
        r#"{"type":"successor","of":"x"}"#,
        r#"{"type":"warning","message":"x"}"#,
        r#"{"type":"process","program":"x"}"#,
    ] {
        assert_eq!(check(stdout), "text", "{stdout}");
    }
    let more = r#"{"type":"success","content":"x","contents":"y","extra":1}"#;
    assert!(!check(more).starts_with("error"));
}

#[test]
fn a_mebibyte_is_looked_at_and_no_more() {
    let frame = r#"{"type":"success","content":""}"#;
    let stdout = |bytes: usize| {
        let content = "x".repeat(bytes - frame.len());
        format!(r#"{{"type":"success","content":"{content}"}}"#)
    };
    assert_eq!(stdout(ToolAnswer::MAX_BYTES).len(), 1 << 20);
    assert!(matches!(
        ToolAnswer::read(&stdout(ToolAnswer::MAX_BYTES)),
        Some(Ok(ToolAnswer::State(_)))
    ));
    assert_eq!(check(&stdout(ToolAnswer::MAX_BYTES + 1)), "text");
}

#[test]
fn nesting_without_end_is_plain_text() {
    let stdout = format!(r#"{{"type":"running","x":{}"#, "[".repeat(10_000));
    assert_eq!(check(&stdout), "text");
}

#[test]
fn exec_names_a_program_to_run_instead() {
    assert_snapshot!(
        check(r#"{"type":"exec","program":"git","args":["add","--patch"],"io":"terminal"}"#),
        @r#"exec {"program":"git","args":["add","--patch"],"io":"terminal"}"#
    );
    assert_snapshot!(
        check(r#"{"type":"exec","program":"ls","cwd":"/tmp","env":{"B":"1","A":"2"}}"#),
        @r#"exec {"program":"ls","args":[],"io":"text","cwd":"/tmp","env":{"B":"1","A":"2"}}"#
    );
}

#[test]
fn a_state_tool_reads_one_object_a_line() {
    for (input, line) in [
        (
            StateInput::Apply { input: json!("y") },
            r#"{"type":"apply","input":"y"}"#,
        ),
        (
            StateInput::Answer {
                question: "q".to_owned(),
                answer: json!(true),
            },
            r#"{"type":"answer","question":"q","answer":true}"#,
        ),
        (StateInput::Abort, r#"{"type":"abort"}"#),
    ] {
        assert_eq!(serde_json::to_string(&input).unwrap(), line);
        assert_eq!(serde_json::from_str::<StateInput>(line).unwrap(), input);
    }
}

#[test]
fn an_answer_is_read_as_it_was_written() {
    let answers = [
        ToolAnswer::State(ToolState::Running {
            content: Some("one".to_owned()),
        }),
        ToolAnswer::Exec(ExecAnswer {
            program: "git".to_owned(),
            args: vec!["log".to_owned()],
            io: IoMode::Terminal,
            cwd: Some(PathBuf::from("sub")),
            env: [("A".to_owned(), "b".to_owned())].into(),
        }),
    ];
    for answer in answers {
        let json = answer.to_json();
        assert!(!json.contains('\n'), "{json}");
        assert_eq!(ToolAnswer::read(&json).unwrap().unwrap(), answer);
    }
}
