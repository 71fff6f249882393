use insta::assert_snapshot;
use windlass_protocol::{ActionSet, Parameters};

use super::*;
use crate::branch::branches;

/// A tool with one required and one optional parameter.
fn tool(actions: &[HandleAction], one_shot: bool, typing: bool) -> ToolShape {
    ToolShape {
        parameters: Parameters::exactly(
            [
                ("command", json!({ "type": "string" })),
                ("cwd", json!({ "type": "string", "description": "Where" })),
            ],
            &["command"],
        ),
        actions: actions.iter().copied().collect::<ActionSet>(),
        one_shot,
        typing,
        lines: false,
        keep: false,
    }
}

fn schema(shape: &ToolShape) -> Value {
    flatten(shape, &branches(shape)).into_schema()
}

#[test]
fn a_tool_without_actions_is_a_plain_object() {
    let shape = tool(&[], true, true);
    assert_eq!(schema(&shape), shape.parameters.to_object_schema());
}

#[test]
fn what_every_action_requires_is_required() {
    let only_spawn = tool(&[HandleAction::Spawn], false, false);
    assert_eq!(
        schema(&only_spawn)["required"],
        json!(["action", "id", "command"])
    );
    let more = tool(&[HandleAction::Spawn, HandleAction::Fetch], false, false);
    assert_eq!(schema(&more)["required"], json!(["action", "id"]));
}

#[test]
fn a_one_shot_makes_action_and_id_optional_and_says_what_omitting_does() {
    let schema = schema(&tool(
        &[HandleAction::Spawn, HandleAction::Abort],
        true,
        false,
    ));
    assert!(schema.get("required").is_none());
    assert_snapshot!(
        schema["properties"]["action"]["description"].as_str().unwrap(),
        @"spawn: needs id, command; abort: needs id. Omit to run once: needs command."
    );
}

#[test]
fn a_parameter_of_one_action_says_so_after_its_own_description() {
    let schema = schema(&tool(
        &[HandleAction::Spawn, HandleAction::Abort],
        false,
        false,
    ));
    let description = |name: &str| schema["properties"][name]["description"].clone();
    assert_eq!(description("command"), "Only for action: spawn.");
    assert_eq!(description("cwd"), "Where. Only for action: spawn.");
}

#[test]
fn a_parameter_of_spawn_and_one_shot_is_left_unchanged() {
    let shape = tool(&[HandleAction::Spawn, HandleAction::Abort], true, false);
    let schema = schema(&shape);
    for (name, parameter) in &shape.parameters.properties {
        assert_eq!(&schema["properties"][name], parameter);
    }
}

#[test]
fn without_spawn_a_parameter_belongs_to_the_one_shot() {
    let schema = schema(&tool(&[HandleAction::Fetch], true, false));
    assert_eq!(
        schema["properties"]["command"]["description"],
        "Only without action."
    );
    assert_eq!(schema["properties"]["id"]["description"], "Handle ID.");
}

#[test]
fn arguments_that_are_not_listed_are_refused_unless_the_tool_takes_them() {
    let mut shape = tool(&[HandleAction::Spawn], false, false);
    assert_eq!(schema(&shape)["additionalProperties"], json!(false));
    shape.parameters.additional = true;
    assert!(schema(&shape).get("additionalProperties").is_none());
}

#[test]
fn strings_get_a_type_and_a_property_called_enum_does_not() {
    let nested = json!({ "type": "object", "properties": { "enum": { "enum": ["a"] } } });
    assert_eq!(
        with_enum_types(nested),
        json!({
            "type": "object",
            "properties": { "enum": { "type": "string", "enum": ["a"] } }
        })
    );
    let mixed = json!({ "enum": ["a", 1] });
    assert_eq!(with_enum_types(mixed.clone()), mixed);
}

#[test]
fn the_fixed_text_of_four_actions_with_typing_is_short() {
    let shape = tool(&HandleAction::ALL, true, true);
    let schema = schema(&shape);
    let text: usize = schema["properties"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| !shape.parameters.properties.contains_key(*name))
        .filter_map(|(_, property)| property["description"].as_str())
        .map(str::len)
        .sum();
    assert!(text < 350, "{text} bytes of descriptions");
    let overhead = schema.to_string().len() - shape.parameters.to_object_schema().to_string().len();
    assert!(
        overhead < 700,
        "{overhead} bytes more than the parameters alone"
    );
}
