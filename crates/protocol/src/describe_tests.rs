//! What programs say about their tools, and the JSON Schema made of it.

use insta::assert_snapshot;

use super::*;

/// The parameters of the first tool of a schema answer, as JSON Schema.
fn check(printed: &str) -> String {
    match serde_json::from_str::<ToolDescriptions>(printed) {
        Ok(answer) => Parameters::from_entries(&answer.tools[0].parameters)
            .to_object_schema()
            .to_string(),
        Err(error) => format!("error: {error}"),
    }
}

/// The schema of a tool whose one parameter `p` is this.
fn parameter(entry: &str) -> String {
    check(&format!(
        r#"{{"tools":[{{"name":"t","parameters":{{"p":{entry}}}}}]}}"#
    ))
}

const CARGO_CHECK: &str = r#"{
  "tools": [
    {
      "name": "cargo_check",
      "summary": "Run cargo check for the given package.",
      "description": "Longer description with details...",
      "parameters": {
        "package": {
          "type": "string",
          "summary": "Package to check."
        }
      }
    }
  ]
}"#;

#[test]
fn a_schema_answer_is_read_whole() {
    let answer: ToolDescriptions = serde_json::from_str(CARGO_CHECK).unwrap();
    assert_snapshot!(
        serde_json::to_string(&answer).unwrap(),
        @r#"{"tools":[{"name":"cargo_check","summary":"Run cargo check for the given package.","description":"Longer description with details...","parameters":{"package":{"type":"string","summary":"Package to check."}}}]}"#
    );
}

#[test]
fn a_summary_is_what_the_model_reads() {
    assert_snapshot!(
        check(CARGO_CHECK),
        @r#"{"type":"object","properties":{"package":{"type":"string","description":"Package to check."}},"required":["package"],"additionalProperties":false}"#
    );
}

#[test]
fn a_tool_may_take_nothing() {
    assert_snapshot!(
        check(r#"{"tools":[{"name":"now"}]}"#),
        @r#"{"type":"object","properties":{},"additionalProperties":false}"#
    );
}

#[test]
fn a_parameter_with_a_default_is_not_required() {
    assert_snapshot!(
        parameter(r#"{"type":"integer","default":3}"#),
        @r#"{"type":"object","properties":{"p":{"type":"integer","default":3}},"additionalProperties":false}"#
    );
}

#[test]
fn a_default_of_null_is_a_default() {
    assert_snapshot!(
        parameter(r#"{"type":["string","null"],"default":null}"#),
        @r#"{"type":"object","properties":{"p":{"type":["string","null"],"default":null}},"additionalProperties":false}"#
    );
}

#[test]
fn required_may_be_said_and_then_wins() {
    assert_snapshot!(
        parameter(r#"{"type":"integer","required":false}"#),
        @r#"{"type":"object","properties":{"p":{"type":"integer"}},"additionalProperties":false}"#
    );
    assert_snapshot!(
        parameter(r#"{"type":"integer","default":3,"required":true}"#),
        @r#"{"type":"object","properties":{"p":{"type":"integer","default":3}},"required":["p"],"additionalProperties":false}"#
    );
}

#[test]
fn a_description_stands_in_for_a_missing_summary() {
    assert_snapshot!(
        parameter(r#"{"type":"string","description":"long","required":false}"#),
        @r#"{"type":"object","properties":{"p":{"type":"string","description":"long"}},"additionalProperties":false}"#
    );
}

#[test]
fn nested_parameters_and_further_keywords_are_kept() {
    assert_snapshot!(
        parameter(
            r#"{"type":"object","required":false,"properties":{"tags":{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1}}}"#
        ),
        @r#"{"type":"object","properties":{"p":{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1}},"required":["tags"]}},"additionalProperties":false}"#
    );
}

#[test]
fn a_tool_says_how_it_lasts() {
    let answer: ToolDescriptions = serde_json::from_str(
        r#"{"tools":[{"name":"t","examples":["t 1"],"spawn":{"stateful":true,"actions":["spawn","fetch"],"io":"terminal"}}]}"#,
    )
    .unwrap();
    assert_eq!(
        answer.tools[0].spawn,
        Some(SpawnDescription {
            stateful: true,
            actions: Some(vec![HandleAction::Spawn, HandleAction::Fetch]),
            io: Some(IoMode::Terminal),
        })
    );
    assert_eq!(
        answer.tools[0].examples,
        Some(Examples::List(vec![json!("t 1")]))
    );
}

#[test]
fn what_is_no_description_is_an_error() {
    for printed in [
        "{}",
        r#"{"tools":[{}]}"#,
        r#"{"tools":[{"name":"t","spawn":{"statefull":true}}]}"#,
        r#"{"tools":[{"name":"t","spawn":{"actions":["kill"]}}]}"#,
    ] {
        assert!(check(printed).starts_with("error: "), "{printed}");
    }
}

#[test]
fn the_schema_of_an_mcp_server_comes_back_as_it_was() {
    let closed = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "depth": {"type": "integer"}},
        "required": ["path"],
        "additionalProperties": false,
    });
    let open = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    for schema in [closed, open] {
        let parameters = Parameters::from_object_schema(&schema);
        assert_eq!(parameters.to_object_schema(), schema);
    }
}

#[test]
fn a_schema_that_says_nothing_admits_everything() {
    let parameters = Parameters::from_object_schema(&json!({"type": "object"}));
    assert!(parameters.additional);
    assert!(parameters.properties.is_empty());
    assert!(parameters.required.is_empty());
}

#[test]
fn definitions_at_the_root_reach_the_parameters_that_use_them() {
    let parameters = Parameters::from_object_schema(&json!({
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Tree"}, "plain": {"type": "string"}},
        "$defs": {"Tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}}},
    }));
    assert_eq!(
        parameters.properties["tree"],
        json!({
            "$ref": "#/$defs/Tree",
            "$defs": {"Tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}}},
        })
    );
    assert_eq!(parameters.properties["plain"], json!({"type": "string"}));
    assert_eq!(
        parameters.to_object_schema()["properties"]["tree"]["$id"],
        json!("urn:parameter:0")
    );
}

#[test]
fn a_tool_says_that_it_formats_its_arguments() {
    let printed = r#"{"name":"t","parameters":{},"format_arguments":true}"#;
    let description: ToolDescription = serde_json::from_str(printed).unwrap();
    assert!(description.format_arguments);
    assert_eq!(serde_json::to_string(&description).unwrap(), printed);
}
