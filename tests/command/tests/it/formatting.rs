//! Arguments as the tool itself would show them to the person who permits.

use serde_json::{Value, json};

use crate::support::{Project, call};

/// What the person sees of a call, and the reply to it once it is permitted.
fn asked(declares: bool, formatting: &str) -> (Project, Value, Value) {
    let project = Project::with_config("[conversation.tools.send]\ncommand = \"sh tools.sh\"\n");
    let answer = json!({"tools": [{
        "name": "send",
        "parameters": {"to": {"type": "string"}},
        "format_arguments": declares,
    }]});
    project.write(
        "tools.sh",
        &format!(
            "case \"$1\" in\n*'\"schema\"'*) echo '{answer}' ;;\n*'\"format_arguments\"'*) echo x >> formatted; {formatting} ;;\n*) echo sent ;;\nesac\n"
        ),
    );
    let mut drive = project.drive_asking();
    drive.send(&json!([call("send", json!({"to": "ada"}))]));
    let request = drive.next()["request"].clone();
    drive.send(&json!({"permission": request["id"], "reply": "once"}));
    let reply = drive.next()["replies"][0].clone();
    (project, request, reply)
}

#[track_caller]
fn check(formatting: &str, display: Value) {
    let (_, request, reply) = asked(true, formatting);
    let mut metadata = json!({"tool": "send", "arguments": {"to": "ada"}});
    let mut rendering = json!({
        "title": "Run `send`?",
        "body": [r#"{"to":"ada"}"#],
        "always": ["*"],
    });
    if !display.is_null() {
        rendering["lead"] = json!([display]);
        metadata["display"] = display;
    }
    metadata["rendering"] = rendering;
    assert_eq!(request["metadata"], metadata);
    assert_eq!(reply["content"], json!("sent\n"));
}

#[test]
fn a_person_is_shown_what_the_tool_says() {
    check(
        "printf '%s\\n' \"To $2\"",
        json!(r#"To {"name":"send","arguments":{"to":"ada"},"answers":{},"options":{}}"#),
    );
    check("printf 'To \\033[1mada\\033[0m\\n'", json!("To ada"));
    check(
        r#"echo '{"type":"success","content":"To ada"}'"#,
        json!("To ada"),
    );
}

#[test]
fn a_tool_that_fails_to_is_shown_plainly() {
    check("exit 1", Value::Null);
    check(":", Value::Null);
    check(
        r#"echo '{"type":"error","message":"no","trace":[],"transient":false}'"#,
        Value::Null,
    );
    check("exec sleep 1000", Value::Null);
}

#[test]
fn a_tool_that_does_not_say_that_it_can_is_not_asked_to() {
    let (project, request, _) = asked(false, "echo shown");
    assert_eq!(request["metadata"].get("display"), None);
    assert!(!project.root().join("formatted").exists());
}
