//! Descriptions as programs print them, and the definitions made of them.

use crate::HandleAction;
use serde_json::{Value, json};

use super::*;

fn described(description: Value) -> ToolDefinition {
    ToolDefinition::described(&serde_json::from_value(description).unwrap())
}

fn actions_of(spawn: &Value) -> Vec<HandleAction> {
    let tool = described(json!({"name": "t", "spawn": spawn}));
    assert_eq!(tool.shape.one_shot, tool.shape.actions.is_empty());
    tool.shape.actions.iter().collect()
}

#[test]
fn a_description_becomes_a_definition() {
    let tool = described(json!({
        "name": "cargo_check",
        "summary": "Run cargo check.",
        "description": "Longer.",
        "examples": "cargo_check {}",
        "parameters": {"package": {"type": "string"}, "jobs": {"type": "integer", "default": 2}},
    }));
    assert_eq!(tool.name, "cargo_check");
    assert_eq!(tool.summary.as_deref(), Some("Run cargo check."));
    assert_eq!(tool.description.as_deref(), Some("Longer."));
    assert!(tool.examples.is_some());
    assert_eq!(tool.shape.parameters.required, ["package"]);
    assert!(tool.shape.one_shot && !tool.shape.parameters.additional);
}

#[test]
fn a_tool_lasts_as_it_says() {
    use HandleAction::{Abort, Apply, Fetch, Spawn};
    assert_eq!(actions_of(&json!({})), []);
    assert_eq!(actions_of(&json!({"stateful": false})), []);
    assert_eq!(
        actions_of(&json!({"stateful": true})),
        [Spawn, Fetch, Apply, Abort]
    );
    let listed = json!({"stateful": true, "actions": ["spawn", "fetch"]});
    assert_eq!(actions_of(&listed), [Spawn, Fetch]);
    assert_eq!(actions_of(&json!({"actions": ["spawn"]})), [Spawn]);
}

#[test]
fn only_a_lasting_tool_on_a_terminal_is_typed_into() {
    let typing = |spawn: Value| described(json!({"name": "t", "spawn": spawn})).shape.typing;
    assert!(typing(json!({"stateful": true, "io": "terminal"})));
    assert!(!typing(json!({"stateful": true, "io": "state"})));
    assert!(!typing(json!({"io": "terminal"})));
}
