//! Commands with `{{tool}}` and `{{context}}` in them, and values that would
//! like to be more than values.

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::support::Project;

/// Values that a shell would take apart, expand or run.
const HOSTILE: &[&str] = &[
    "",
    "two  words",
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned",
    "&& touch pwned #",
    "' ; touch pwned ; '",
    "\" ; touch pwned ; \"",
    "$HOME",
    "*",
    "-n",
    "a\\nb\\",
    "new\nline",
    "{{ tool }}",
    "{% raw %}",
    "é ü 漢字 🦀",
];

fn project(command: &str) -> Project {
    Project::with_config(&format!(
        r#"
        [conversation.tools.it]
        source = "local"
        command = {command}
        options = {{ region = "eu" }}
        parameters.value = {{ type = "string" }}
        "#
    ))
}

#[track_caller]
fn check_hostile(project: &Project, expected: impl Fn(&str) -> String) {
    let mut drive = project.drive();
    for value in HOSTILE {
        let content = drive.content("it", json!({"value": value}));
        assert_eq!(content, json!(expected(value)), "{value:?}");
    }
    assert!(!project.root().join("pwned").exists());
}

#[test]
fn a_value_stays_one_argument() {
    let project = project("'printf <%s> {{tool.arguments.value}} end'");
    check_hostile(&project, |value| format!("<{value}><end>"));
}

#[test]
fn a_value_inside_an_argument_stays_inside() {
    let project = project(
        r#"{ program = "printf", args = ["<%s>", "--value={{ tool.arguments.value }}!"] }"#,
    );
    check_hostile(&project, |value| format!("<--value={value}!>"));
}

#[test]
fn under_a_shell_values_are_quoted() {
    let project = project(
        r#"{ program = "printf '<%s>' {{tool.arguments.value}} end | cat", shell = true }"#,
    );
    check_hostile(&project, |value| format!("<{value}><end>"));
}

#[test]
fn under_a_shell_the_tool_as_a_whole_is_quoted() {
    needs!("python3");
    let project = project(
        r#"{ program = "python3 -c 'import json, sys; sys.stdout.write(json.loads(sys.argv[1])[\"arguments\"][\"value\"])' {{tool}}", shell = true }"#,
    );
    check_hostile(&project, str::to_owned);
}

#[test]
fn a_program_receives_the_tool_and_the_context_as_json() {
    let project = project(r#"{ program = "printf", args = ["%s\n", "{{tool}}", "{{context}}"] }"#);
    let content = project.drive().content("it", json!({"value": "it's"}));
    let lines: Vec<Value> = content
        .as_str()
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        lines[0],
        json!({"name": "it", "arguments": {"value": "it's"}, "answers": {}, "options": {"region": "eu"}})
    );
    assert_eq!(lines[1]["action"], json!("run"));
    assert_eq!(lines[1]["root"], json!(project.root()));
    assert_eq!(lines[1]["workspace_id"].as_str().unwrap().len(), 16);
    assert!(
        lines[1]["conversation_id"]
            .as_str()
            .unwrap()
            .starts_with("ses_")
    );
    assert_eq!(lines[1].get("handle_id"), None);
}

#[test]
fn scalars_render_bare_and_the_rest_as_json() {
    let project = Project::with_config(
        r#"
        [conversation.tools.it]
        source = "local"
        command = { program = "printf", args = ["%s|", "{{tool.name}}", "{{tool.arguments.value}}", "{{tool.options.region}}"] }
        options.region = "eu"
        parameters.value = { type = ["string", "number", "boolean", "array", "object"] }
        "#,
    );
    let mut drive = project.drive();
    for (value, expected) in [
        (json!("text"), "text"),
        (json!(true), "true"),
        (json!(false), "false"),
        (json!(7), "7"),
        (json!(-1.5), "-1.5"),
        (json!(12_345_678_901_234_567_u64), "12345678901234567"),
        (json!([1, "a b", null]), r#"[1,"a b",null]"#),
        (
            json!({"b": 1, "a": {"c": true}}),
            r#"{"b":1,"a":{"c":true}}"#,
        ),
    ] {
        let content = drive.content("it", json!({"value": value}));
        assert_eq!(content, json!(format!("it|{expected}|eu|")));
    }
}

#[test]
fn a_template_that_cannot_be_rendered_is_an_error_of_the_call() {
    let project = project(r#"{ program = "printf", args = ["{{ tool.arguments.value + 1 }}"] }"#);
    let error = project.drive().error("it", json!({"value": "x"}));
    assert_snapshot!(error, @"the command's template `{{ tool.arguments.value + 1 }}` cannot be rendered: invalid operation: tried to use + operator on unsupported types string and number (in <string>:1)");
}

#[test]
fn a_value_that_was_not_given_is_never_empty() {
    let argv = project("'printf <%s> --value={{tool.arguments.value}} end'");
    assert_eq!(argv.drive().content("it", json!({})), json!("<end>"));
    let shell = project(r#"{ program = "echo rm -rf {{tool.arguments.value}}/*", shell = true }"#);
    let error = shell.drive().error("it", json!({}));
    assert_snapshot!(error, @"the tool's command needs `value`, which was not given");
}

#[test]
fn a_command_without_a_template_gets_the_call() {
    for command in [
        r#""printf '%s\\n'""#,
        r#"{ program = "printf '%s\\n'", shell = true }"#,
    ] {
        let content = project(command)
            .drive()
            .content("it", json!({"value": "it's"}));
        let lines: Vec<Value> = content
            .as_str()
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines[0]["action"], "run", "{command}");
        assert_eq!(lines[1]["arguments"], json!({"value": "it's"}), "{command}");
    }
    let none =
        Project::with_config("[conversation.tools.it]\ncommand = 'echo made'\nparameters = {}\n");
    assert_eq!(none.drive().content("it", json!({})), json!("made\n"));
}

#[test]
fn a_default_is_there_before_templates_and_schemas() {
    let project = Project::with_config(
        r#"
        [conversation.tools.it]
        command = "printf %s|%s {{tool.arguments.level}} {{tool.arguments}}"
        parameters.level = { type = "string", enum = ["low", "high"], default = "low", required = true }
        "#,
    );
    let mut drive = project.drive();
    let content = drive.content("it", json!({}));
    assert_eq!(content, json!(r#"low|{"level":"low"}"#));
    let content = drive.content("it", json!({"level": "high"}));
    assert_eq!(content, json!(r#"high|{"level":"high"}"#));
}
