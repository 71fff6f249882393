use insta::assert_snapshot;
use serde_json::json;
use windlass_protocol::{ActionSet, Parameters};

use super::*;

fn tool(name: &str, schema: Value) -> ToolShape {
    ToolShape {
        parameters: Parameters {
            properties: [(name.to_owned(), schema)].into(),
            ..Parameters::default()
        },
        ..ToolShape::default()
    }
}

#[track_caller]
fn refused(shape: &ToolShape, expected: &str) {
    assert_eq!(check(shape).unwrap_err().to_string(), expected);
}

#[test]
fn names_are_short_and_begin_with_a_letter() {
    for name in ["git", "_x", "cargo_check", "a-b", &"a".repeat(48)] {
        assert_eq!(check_name(name), Ok(()), "{name}");
    }
    for name in ["", "1a", "-a", "a.b", "a b", "ä", &"a".repeat(49)] {
        assert!(check_name(name).is_err(), "{name}");
    }
    assert_snapshot!(
        check_name("a.b").unwrap_err().to_string(),
        @"`a.b` cannot be a tool's name; use a letter or `_`, then up to 47 of A-Z a-z 0-9 _ -"
    );
}

#[test]
fn the_words_of_actions_are_reserved_for_tools_that_have_some() {
    for name in ToolShape::RESERVED {
        let mut shape = tool(name, json!({ "type": "string" }));
        assert_eq!(check(&shape), Ok(()));
        shape.actions = ActionSet::all();
        refused(
            &shape,
            &format!(
                "a tool with actions cannot have a parameter `{name}`; action, id, input, view, \
                 keys, enter are reserved"
            ),
        );
    }
}

#[test]
fn a_parameter_has_a_name_that_every_provider_takes() {
    let fine = tool("max-depth.x", json!({}));
    assert_eq!(check(&fine), Ok(()));
    refused(
        &tool("filter[id]", json!({})),
        "`filter[id]` cannot be a parameter's name; use 1 to 64 of A-Z a-z 0-9 _ . -",
    );
}

#[test]
fn what_is_required_is_described() {
    let mut shape = tool("path", json!({}));
    shape.parameters.required = vec!["path".into(), "mode".into()];
    refused(&shape, "parameter `mode` is required but not described");
}

#[test]
fn a_schema_that_is_none_is_refused_with_what_is_wrong() {
    for (schema, problem) in [
        (
            json!("string"),
            "`\"string\"` is neither an object nor a boolean",
        ),
        (
            json!({ "type": "text" }),
            "`type` is `\"text\"`, not a JSON type or a list of them",
        ),
        (
            json!({ "enum": [] }),
            "`enum` is `[]`, not a list of values",
        ),
        (
            json!({ "type": "array", "items": { "properties": { "a": 1 } } }),
            "`1` is neither an object nor a boolean",
        ),
        (
            json!({ "anyOf": [{ "required": "a" }] }),
            "`required` is `\"a\"`, not a list of names",
        ),
        (
            json!({ "$ref": "#/$defs/X" }),
            "`$ref` is `\"#/$defs/X\"`, \
             not a reference to something inside this parameter's own schema",
        ),
    ] {
        refused(
            &tool("p", schema),
            &format!("parameter `p` has an invalid JSON Schema: {problem}"),
        );
    }
}

#[test]
fn what_is_refused_here_is_no_json_schema_either() {
    for schema in [
        json!({ "type": "text" }),
        json!({ "type": [] }),
        json!({ "required": [1] }),
        json!({ "properties": [] }),
        json!({ "anyOf": [] }),
        json!({ "description": 1 }),
        json!({ "minimum": "1" }),
        json!({ "minLength": -1 }),
        json!({ "items": "string" }),
    ] {
        assert!(!jsonschema::meta::is_valid(&schema), "{schema}");
        assert!(check(&tool("p", schema.clone())).is_err(), "{schema}");
    }
}

#[test]
fn a_property_may_be_called_like_a_keyword_and_data_may_be_anything() {
    let schema = json!({
        "type": "object",
        "properties": { "type": { "type": "string" }, "enum": {}, "$ref": true },
        "default": { "type": 5 },
        "examples": [{ "enum": 1 }]
    });
    assert_eq!(check(&tool("p", schema)), Ok(()));
}
