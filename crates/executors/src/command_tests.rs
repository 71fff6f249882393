use std::path::PathBuf;

use serde_json::json;
use windlass_protocol::Action;

use super::*;

fn command(line: &[&str], shell: bool) -> LocalCommand {
    LocalCommand {
        program: line[0].to_owned(),
        args: line[1..].iter().map(|&word| word.to_owned()).collect(),
        shell,
    }
}

fn words(command: &LocalCommand, trailing: Trailing) -> Vec<String> {
    let context = Context {
        action: Action::Schema,
        root: PathBuf::from("/it's"),
        workspace_id: None,
        conversation_id: None,
        handle_id: None,
    };
    command.words(&json!({}), &context, trailing).unwrap()
}

const CONTEXT: &str = r#"{"action":"schema","root":"/it's"}"#;

#[test]
fn a_program_that_is_asked_gets_no_tool() {
    let asked = command(&["my-tools", "{{context}}", "{{tool}}"], false);
    let expected = ["my-tools", CONTEXT, "{}"];
    assert_eq!(words(&asked, Trailing::ContextAndTool), expected);
    let named = command(&["my-tools", "{{context}}", "{{tool.name}}"], false);
    let expected = ["my-tools", CONTEXT];
    assert_eq!(words(&named, Trailing::ContextAndTool), expected);
}

#[test]
fn a_command_without_a_template_gets_both_last() {
    let plain = command(&["my-tool", "-v"], false);
    let expected = ["my-tool", "-v", CONTEXT, "{}"];
    assert_eq!(words(&plain, Trailing::ContextAndTool), expected);
    assert_eq!(words(&plain, Trailing::Nothing), ["my-tool", "-v"]);
    let shell = command(&["cd x && ./my-tool"], true);
    assert_eq!(
        words(&shell, Trailing::ContextAndTool)[2],
        r#"cd x && ./my-tool "{\"action\":\"schema\",\"root\":\"/it's\"}" '{}'"#
    );
}

#[test]
fn a_program_receives_the_context_or_cannot_be_asked() {
    let tells = |line: &[&str], trailing| command(line, false).tells_context(trailing);
    assert!(tells(&["x"], Trailing::ContextAndTool));
    assert!(!tells(&["x"], Trailing::Nothing));
    assert!(!tells(&["context"], Trailing::Nothing));
    assert!(!tells(
        &["x", "{{tool.arguments.y}}"],
        Trailing::ContextAndTool
    ));
    assert!(tells(&["x", "{{context}}"], Trailing::Nothing));
    assert!(tells(&["x", "{{ context.action }}"], Trailing::Nothing));
}
