use serde_json::json;
use windlass_protocol::Action;

use super::*;

fn render(template: &str) -> Result<Vec<String>, RenderError> {
    let tool = json!({"name": "it", "arguments": {
        "text": "two words",
        "yes": true,
        "no": false,
        "whole": 7,
        "half": 0.5,
        "list": [1, "a b", null],
        "table": {"b": 1, "a": 2},
        "template": "{{ tool.name }}",
    }});
    let context = Context {
        action: Action::Run,
        root: "/root of all".into(),
        workspace_id: None,
        conversation_id: None,
        handle_id: None,
    };
    WordRenderer::new(&tool, &context, Quoting::Bare).words(template)
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
        ("{{tool.arguments.template}}", "{{ tool.name }}"),
        ("{{tool.name}}-{{context.root}}", "it-/root of all"),
        ("{{context}}", r#"{"action":"run","root":"/root of all"}"#),
        ("a 'b c' $D | e", "a 'b c' $D | e"),
    ] {
        assert_eq!(render(template).unwrap(), [expected], "{template}");
    }
}

#[test]
fn an_error_names_the_template() {
    let error = render("{{ tool | nonsense }}").unwrap_err().to_string();
    assert!(error.contains("`{{ tool | nonsense }}`"), "{error}");
    assert!(render("{{ tool").is_err());
}

#[test]
fn an_endless_loop_runs_out_of_fuel() {
    let endless =
        "{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}";
    assert!(render(endless).is_err());
}
