//! Command templates that cannot work are reported when they are loaded.

use insta::assert_snapshot;

use crate::support::{error_of, load_text};

#[test]
fn an_unknown_name_is_reported_with_the_nearest_one() {
    assert_snapshot!(error_of(r#"
[conversation.tools.clean]
command = { program = "echo rm -rf {{tool.arguments.dri}}/*", shell = true }
parameters.dir.type = "string"
"#), @r#"
    .windlass/config.toml:3:11: `conversation.tools.clean.command` uses `tool.arguments.dri`, which is unknown; did you mean `tool.arguments.dir`?
    3 | command = { program = "echo rm -rf {{tool.arguments.dri}}/*", shell = true }
      |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    "#);
}

#[test]
fn a_template_in_quotes_is_reported() {
    assert_snapshot!(error_of(r#"
[conversation.tools.greet]
command = { program = "echo '{{tool.arguments.name}}'", shell = true }
parameters.name.type = "string"
"#), @r#"
    .windlass/config.toml:3:11: `conversation.tools.greet.command` has the template `{{tool.arguments.name}}` inside single quotes; values are quoted automatically, so write it outside the quotes
    3 | command = { program = "echo '{{tool.arguments.name}}'", shell = true }
      |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    "#);
}

#[test]
fn every_fault_of_a_command_is_reported() {
    assert_snapshot!(error_of(r#"
[conversation.tools.x]
command = "x {{tool.argument.a}} {{ context.roots }} {{ tool.arguments.b | uper }} {{ c d }}"
parameters.a.type = "string"
"#), @r#"
    .windlass/config.toml:3:11: `conversation.tools.x.command` uses `tool.argument`, which is unknown; did you mean `tool.arguments`?
    3 | command = "x {{tool.argument.a}} {{ context.roots }} {{ tool.arguments.b | uper }} {{ c d }}"
      |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    .windlass/config.toml:3:11: `conversation.tools.x.command` uses `context.roots`, which is unknown; did you mean `context.root`?
    3 | command = "x {{tool.argument.a}} {{ context.roots }} {{ tool.arguments.b | uper }} {{ c d }}"
      |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    .windlass/config.toml:3:11: `conversation.tools.x.command` uses `tool.arguments.b`, which is unknown; `tool.arguments` has `a`
    3 | command = "x {{tool.argument.a}} {{ context.roots }} {{ tool.arguments.b | uper }} {{ c d }}"
      |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    .windlass/config.toml:3:11: `conversation.tools.x.command` uses the filter `uper`, which is unknown; did you mean `upper`?
    3 | command = "x {{tool.argument.a}} {{ context.roots }} {{ tool.arguments.b | uper }} {{ c d }}"
      |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    .windlass/config.toml:3:11: `conversation.tools.x.command` has an invalid template, `{{ c d }}`: unexpected identifier, expected end of variable block
    3 | command = "x {{tool.argument.a}} {{ context.roots }} {{ tool.arguments.b | uper }} {{ c d }}"
      |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    "#);
}

#[test]
fn the_names_of_a_program_that_must_be_asked_are_not_known_yet() {
    let config = load_text(
        "[conversation.tools.x]\ncommand = 'x {{context.action}} {{tool.arguments.a}}'\n",
    );
    assert!(config.tool("x").unwrap().asks_program);
    let error = error_of("[conversation.tools.x]\ncommand = 'x {{context.act}} {{tool.args.a}}'\n");
    assert!(error.contains("did you mean `context.action`?"), "{error}");
    assert!(error.contains("`tool.args`, which is unknown"), "{error}");
}

#[test]
fn arguments_cannot_follow_a_line_that_ends_in_a_comment() {
    assert_snapshot!(error_of(r#"
[conversation.tools.x]
command = { program = "./x # does it", shell = true }
parameters.a.type = "string"
"#), @r#"
    .windlass/config.toml:3:11: `conversation.tools.x.command` has parameters and no template, and its line ends in a comment, where arguments cannot follow; write {{context}} and {{tool}} where they belong
    3 | command = { program = "./x # does it", shell = true }
      |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    "#);
}

#[test]
fn a_json_schema_is_no_table_of_parameters() {
    assert_snapshot!(error_of(r#"
[conversation.tools.x]
command = "x {{tool}}"
[conversation.tools.x.parameters]
type = "object"
required = ["a"]
properties.a.type = "string"
"#), @"
    .windlass/config.toml:4:1: `conversation.tools.x.parameters` is a JSON Schema, but must be a table for each parameter; write its `properties` as `conversation.tools.x.parameters.NAME = { type = … }`, with `required = true` in the required ones
    4 | [conversation.tools.x.parameters]
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    ");
}

#[test]
fn parameters_may_have_the_names_of_schema_keywords() {
    let config = load_text(
        "[conversation.tools.x]\ncommand = 'x {{tool}}'\nparameters.type.type = 'string'\nparameters.required.type = 'boolean'\n",
    );
    let tool = config.tool("x").unwrap();
    assert_eq!(tool.definition.shape.parameters.properties.len(), 2);
}

#[test]
fn a_default_must_be_a_value_of_its_parameter() {
    let with = |parameter: &str| {
        format!("[conversation.tools.x]\ncommand = 'x {{{{tool}}}}'\nparameters.a = {parameter}\n")
    };
    let error = error_of(&with("{ type = 'string', default = 5 }"));
    assert!(
        error.contains("`conversation.tools.x.parameters.a.default` must be of the parameter's type, \"string\", not 5"),
        "{error}"
    );
    let error = error_of(&with(
        "{ type = 'string', enum = ['a', 'b'], default = 'c' }",
    ));
    assert!(
        error.contains("must be one of the values of `enum`, \"a\", \"b\""),
        "{error}"
    );
    for right in [
        "{ type = ['string', 'integer'], default = 5 }",
        "{ type = 'number', default = 5 }",
        "{ type = 'integer', default = 5.0 }",
        "{ type = 'array', default = [] }",
        "{ type = 'object', default = { b = 1 } }",
        "{ type = 'boolean', default = false }",
    ] {
        load_text(&with(right));
    }
}
