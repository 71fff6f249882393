use windlass_protocol::{ActionSet, Parameters};

use super::*;

fn tool(
    properties: &[(&str, Value)],
    required: &[&str],
    actions: impl IntoIterator<Item = HandleAction>,
) -> ToolShape {
    ToolShape {
        parameters: Parameters {
            properties: properties
                .iter()
                .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
                .collect(),
            required: required.iter().map(|&name| name.to_owned()).collect(),
            ..Parameters::default()
        },
        actions: actions.into_iter().collect::<ActionSet>(),
        one_shot: false,
        typing: false,
        lines: false,
        keep: false,
    }
}

/// The schema has this content in this order.
#[track_caller]
fn check(shape: &ToolShape, expected: &str) {
    let schema = one_of(&branches(shape));
    let value: Value = serde_json::from_str(expected).unwrap();
    assert_eq!(schema, value);
    assert_eq!(serde_json::to_string_pretty(&schema).unwrap(), expected);
}

#[test]
fn git_has_the_schema_of_the_first_example() {
    let git = tool(
        &[
            ("command", json!({ "enum": ["stage", "commit", "rebase"] })),
            (
                "args",
                json!({ "type": "array", "items": { "type": "string" } }),
            ),
        ],
        &["command"],
        HandleAction::ALL,
    );
    check(
        &git,
        r#"{
  "type": "object",
  "oneOf": [
    {
      "properties": {
        "action": {
          "const": "spawn"
        },
        "id": {
          "type": "string",
          "description": "Handle ID for this tool instance. Must be unique across active handles.",
          "pattern": "^[A-Za-z0-9_.-]{1,64}$"
        },
        "command": {
          "enum": [
            "stage",
            "commit",
            "rebase"
          ]
        },
        "args": {
          "type": "array",
          "items": {
            "type": "string"
          }
        }
      },
      "required": [
        "action",
        "id",
        "command"
      ]
    },
    {
      "properties": {
        "action": {
          "const": "fetch"
        },
        "id": {
          "type": "string"
        }
      },
      "required": [
        "action",
        "id"
      ]
    },
    {
      "properties": {
        "action": {
          "const": "apply"
        },
        "id": {
          "type": "string"
        },
        "input": {}
      },
      "required": [
        "action",
        "id",
        "input"
      ]
    },
    {
      "properties": {
        "action": {
          "const": "abort"
        },
        "id": {
          "type": "string"
        }
      },
      "required": [
        "action",
        "id"
      ]
    }
  ]
}"#,
    );
}

#[test]
fn cargo_check_has_the_schema_of_the_second_example() {
    let cargo_check = tool(
        &[("package", json!({ "type": "string" }))],
        &[],
        [
            HandleAction::Spawn,
            HandleAction::Fetch,
            HandleAction::Abort,
        ],
    );
    check(
        &cargo_check,
        r#"{
  "type": "object",
  "oneOf": [
    {
      "properties": {
        "action": {
          "const": "spawn"
        },
        "id": {
          "type": "string",
          "description": "Handle ID for this tool instance. Must be unique across active handles.",
          "pattern": "^[A-Za-z0-9_.-]{1,64}$"
        },
        "package": {
          "type": "string"
        }
      },
      "required": [
        "action",
        "id"
      ]
    },
    {
      "properties": {
        "action": {
          "const": "fetch"
        },
        "id": {
          "type": "string"
        }
      },
      "required": [
        "action",
        "id"
      ]
    },
    {
      "properties": {
        "action": {
          "const": "abort"
        },
        "id": {
          "type": "string"
        }
      },
      "required": [
        "action",
        "id"
      ]
    }
  ]
}"#,
    );
}

#[test]
fn a_one_shot_call_has_a_branch_without_action() {
    let shape = ToolShape {
        one_shot: true,
        ..tool(
            &[("path", json!({ "type": "string" }))],
            &["path"],
            [HandleAction::Abort],
        )
    };
    let schema = one_of(&branches(&shape));
    assert_eq!(
        schema["oneOf"][1],
        json!({
            "properties": { "path": { "type": "string" } },
            "required": ["path"],
            "not": { "required": ["action"] }
        })
    );
}

#[test]
fn typing_offers_view_enter_and_keys() {
    let shape = ToolShape {
        typing: true,
        lines: false,
        ..tool(&[], &[], [HandleAction::Fetch, HandleAction::Apply])
    };
    let schema = one_of(&branches(&shape));
    let keywords = |branch: usize| -> Vec<&String> {
        let properties = schema["oneOf"][branch]["properties"].as_object().unwrap();
        properties.keys().collect()
    };
    assert_eq!(keywords(0), ["action", "id", "view"]);
    assert_eq!(keywords(1), ["action", "id", "input", "enter", "keys"]);
    assert_eq!(keywords(2), ["action", "id", "keys"]);
}

#[test]
fn keys_alone_and_keys_with_input_fit_one_branch_and_neither_fits_none() {
    let shape = ToolShape {
        typing: true,
        lines: false,
        ..tool(&[], &[], [HandleAction::Apply])
    };
    let schema = jsonschema::validator_for(&one_of(&branches(&shape))).unwrap();
    let fits = |rest: Value| {
        let mut call = json!({ "action": "apply", "id": "x" });
        call.as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        schema.is_valid(&call)
    };
    assert!(fits(json!({ "keys": ["esc"] })));
    assert!(fits(json!({ "input": "q", "keys": ["esc"] })));
    assert!(fits(json!({ "input": true })));
    assert!(!fits(json!({})));
    assert!(!fits(json!({ "keys": [] })));
    assert!(!fits(json!({ "enter": false })));
}

#[test]
fn keep_is_offered_to_spawns_alone() {
    let mut shape = tool(
        &[("command", json!({"type": "string"}))],
        &["command"],
        HandleAction::ALL,
    );
    shape.one_shot = true;
    let with_keep = |shape: &ToolShape| {
        let branches = branches(shape);
        let with = branches
            .iter()
            .filter(|branch| branch.properties.contains_key("keep"));
        with.map(|branch| branch.action).collect::<Vec<_>>()
    };
    assert_eq!(with_keep(&shape), []);
    shape.keep = true;
    assert_eq!(with_keep(&shape), [Some(HandleAction::Spawn)]);
}
