use std::path::PathBuf;

use serde_json::json;
use windlass_protocol::{Action, Tool};

use super::*;

fn render(quoting: Quoting, template: &str) -> Result<String, TemplateError> {
    let arguments = json!({
        "text": "two words",
        "hostile": "'; touch pwned; $(touch pwned) `x` \" \\",
        "yes": true,
        "no": false,
        "whole": 7,
        "half": 0.5,
        "list": [1, "a b", null],
        "table": {"b": 1, "a": 2},
        "nothing": null,
    });
    let tool = Tool {
        name: "it".to_owned(),
        arguments: serde_json::from_value(arguments).unwrap(),
        ..Tool::default()
    };
    let context = Context {
        action: Action::Run,
        root: PathBuf::from("/root of all"),
        workspace_id: None,
        conversation_id: None,
        handle_id: None,
    };
    Renderer::new(&tool, &context, quoting).render(template)
}

#[track_caller]
fn check(quoting: Quoting, template: &str, expected: &str) {
    assert_eq!(render(quoting, template).unwrap(), expected);
}

#[test]
fn scalars_are_bare_and_the_rest_is_json() {
    for (template, expected) in [
        ("{{tool.arguments.text}}", "two words"),
        ("{{tool.arguments.yes}}", "true"),
        ("{{tool.arguments.no}}", "false"),
        ("{{tool.arguments.whole}}", "7"),
        ("{{tool.arguments.half}}", "0.5"),
        ("{{tool.arguments.list}}", r#"[1,"a b",null]"#),
        ("{{tool.arguments.table}}", r#"{"b":1,"a":2}"#),
        ("{{tool.arguments.nothing}}", ""),
        ("{{tool.arguments.missing.deeper}}", ""),
        ("{{tool.name}}-{{context.root}}", "it-/root of all"),
        ("{{context}}", r#"{"action":"run","root":"/root of all"}"#),
    ] {
        check(Quoting::Bare, template, expected);
    }
}

#[test]
fn without_a_shell_nothing_is_quoted() {
    let hostile = "'; touch pwned; $(touch pwned) `x` \" \\";
    check(Quoting::Bare, "{{tool.arguments.hostile}}", hostile);
}

#[test]
fn for_a_shell_a_value_is_one_word() {
    for name in ["text", "hostile", "list", "table", "nothing"] {
        let bare = render(Quoting::Bare, &format!("{{{{tool.arguments.{name}}}}}")).unwrap();
        let line = render(
            Quoting::Shell,
            &format!("program {{{{tool.arguments.{name}}}}} end"),
        )
        .unwrap();
        let words = shlex::split(&line).unwrap();
        assert_eq!(words, ["program", &bare, "end"], "{line}");
    }
}

#[test]
fn what_is_no_template_is_left_alone() {
    check(Quoting::Shell, "a 'b c' $D | e", "a 'b c' $D | e");
}

#[test]
fn a_value_is_not_read_as_a_template() {
    let mut tool = Tool::default();
    let value = json!("{{ tool.name }}");
    tool.arguments.insert("value".to_owned(), value);
    let context = Context {
        action: Action::Run,
        root: PathBuf::new(),
        workspace_id: None,
        conversation_id: None,
        handle_id: None,
    };
    let renderer = Renderer::new(&tool, &context, Quoting::Bare);
    let text = renderer.render("{{tool.arguments.value}}").unwrap();
    assert_eq!(text, "{{ tool.name }}");
}

#[test]
fn an_error_names_the_template() {
    let error = render(Quoting::Bare, "{{ tool | nonsense }}");
    let error = error.unwrap_err().to_string();
    assert!(error.contains("`{{ tool | nonsense }}`"), "{error}");
    assert!(render(Quoting::Bare, "{{ tool").is_err());
}

#[test]
fn an_endless_loop_runs_out_of_fuel() {
    let endless =
        "{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}";
    assert!(render(Quoting::Bare, endless).is_err());
}
