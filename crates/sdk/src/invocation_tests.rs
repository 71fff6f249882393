use std::io::{Cursor, Read};

use insta::assert_snapshot;
use serde_json::json;

use super::*;

const CONTEXT: &str = r#"{"action":"run","root":"/project","handle_id":"h"}"#;
const TOOL: &str = r#"{"name":"greet","arguments":{"name":"you"}}"#;

fn from(args: &[&str], stdin: &str) -> Result<Invocation, InvocationError> {
    let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
    read(&args, Cursor::new(stdin.to_owned()))
}

fn check(invocation: &Invocation) {
    assert_eq!(invocation.context.action, Action::Run);
    assert_eq!(invocation.context.root.to_str(), Some("/project"));
    assert_eq!(invocation.context.handle_id.as_deref(), Some("h"));
    assert_eq!(invocation.tool.name, "greet");
    assert_eq!(invocation.tool.arguments["name"], json!("you"));
}

#[test]
fn the_last_two_arguments_say_what_to_do() {
    check(&from(&[CONTEXT, TOOL], "").unwrap());
    check(&from(&["--verbose", "{}", CONTEXT, TOOL], "").unwrap());
}

#[test]
fn stdin_says_it_where_the_arguments_do_not() {
    let object = format!(r#"{{"context":{CONTEXT},"tool":{TOOL}}}"#);
    check(&from(&[], &object).unwrap());
    check(&from(&["--verbose"], &format!("\n {object}\n")).unwrap());
}

#[test]
fn what_follows_on_stdin_is_left_there() {
    let mut stdin = Cursor::new(format!(
        "{{\"context\":{CONTEXT},\n\"tool\":{TOOL}}}\n{{\"type\":\"abort\"}}\n"
    ));
    check(&read(&[], &mut stdin).unwrap());
    let mut rest = String::new();
    stdin.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "\n{\"type\":\"abort\"}\n");
}

#[test]
fn a_schema_needs_no_tool() {
    for args in [
        &[r#"{"action":"schema","root":"/"}"#, "{}"][..],
        &[r#"{"action":"schema"}"#],
    ] {
        let invocation = from(args, "").unwrap();
        assert_eq!(invocation.context.action, Action::Schema);
        assert_eq!(invocation.tool, ToolInvocation::default());
    }
}

#[test]
fn what_is_not_understood_is_said() {
    let said = |args: &[&str], stdin: &str| from(args, stdin).unwrap_err().to_string();
    assert_snapshot!(
        said(&[], ""),
        @"there is no invocation; pass `context` and `tool` as arguments, or on stdin"
    );
    assert_snapshot!(
        said(&["--help"], ""),
        @"there is no invocation; pass `context` and `tool` as arguments, or on stdin"
    );
    let inputs = ["[]", "nonsense", r#"{"context":1}"#, r#"{"tool":{}}"#];
    assert_snapshot!(inputs.map(|stdin| said(&[], stdin)).join("\n"), @"
    stdin does not begin with one JSON object that has `context` and `tool`
    stdin does not begin with one JSON object that has `context` and `tool`
    stdin does not begin with one JSON object that has `context` and `tool`
    stdin does not begin with one JSON object that has `context` and `tool`
    ");
    assert_eq!(
        said(&[r#"{"action":"dance"}"#, TOOL], ""),
        "the context is invalid"
    );
    assert_eq!(said(&[CONTEXT, "{}"], ""), "the tool is invalid");
}
