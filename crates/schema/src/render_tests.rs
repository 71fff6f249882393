use serde_json::json;
use windlass_protocol::{ActionSet, Parameters};

use super::*;

fn git() -> ToolShape {
    ToolShape {
        parameters: Parameters::exactly(
            [
                ("command", json!({ "enum": ["stage", "commit", "rebase"] })),
                (
                    "args",
                    json!({ "type": "array", "items": { "type": "string" } }),
                ),
            ],
            &["command"],
        ),
        actions: ActionSet::all(),
        one_shot: false,
        typing: false,
        lines: false,
        keep: false,
    }
}

/// The same with everything that a built-in tool offers.
fn live_git() -> ToolShape {
    ToolShape {
        one_shot: true,
        typing: true,
        lines: false,
        ..git()
    }
}

/// The schema with a line per property or branch.
fn text(shape: &ToolShape, dialect: Dialect) -> String {
    let schema = render(shape, dialect);
    let mut lines = Vec::new();
    for (keyword, value) in schema.as_object().unwrap() {
        match value {
            Value::Object(properties) => {
                lines.push(format!("{keyword}:"));
                lines.extend(
                    properties
                        .iter()
                        .map(|(name, value)| format!("  {name}: {value}")),
                );
            }
            Value::Array(branches) if keyword == "oneOf" => {
                lines.push(format!("{keyword}:"));
                lines.extend(branches.iter().map(|branch| format!("  {branch}")));
            }
            value => lines.push(format!("{keyword}: {value}")),
        }
    }
    lines.join("\n")
}

#[test]
fn the_flat_form_of_git() {
    insta::assert_snapshot!(text(&git(), Dialect::Mcp), @r#"
    type: "object"
    properties:
      action: {"type":"string","enum":["spawn","fetch","apply","abort"],"description":"spawn: needs id, command; fetch: needs id; apply: needs id, input; abort: needs id."}
      id: {"type":"string","description":"Handle ID; spawn: a new one of your choice, 1-64 of A-Za-z0-9_.-"}
      command: {"type":"string","enum":["stage","commit","rebase"],"description":"Only for action: spawn."}
      args: {"type":"array","items":{"type":"string"},"description":"Only for action: spawn."}
      input: {"type":"string","description":"Only for action: apply."}
    required: ["action","id"]
    additionalProperties: false
    "#);
    for dialect in [Dialect::Anthropic, Dialect::OpenAi] {
        assert_eq!(text(&git(), dialect), text(&git(), Dialect::Mcp));
    }
}

#[test]
fn the_flat_form_of_a_git_that_is_typed_into() {
    insta::assert_snapshot!(text(&live_git(), Dialect::Mcp), @r#"
    type: "object"
    properties:
      action: {"type":"string","enum":["run","spawn","fetch","apply","abort"],"description":"spawn: needs id, command; fetch: needs id; apply: needs id, input or keys; abort: needs id. Omit to run once: needs command."}
      id: {"type":"string","description":"Handle ID; spawn: a new one of your choice, 1-64 of A-Za-z0-9_.-"}
      command: {"type":"string","enum":["stage","commit","rebase"]}
      args: {"type":"array","items":{"type":"string"}}
      view: {"type":"string","enum":["new","screen","all"],"description":"Only for action: fetch."}
      input: {"type":"string","description":"Only for action: apply."}
      enter: {"type":"boolean","description":"false: no Enter. Only for action: apply."}
      keys: {"type":"array","items":{"type":"string"},"description":"Pressed after input, e.g. ctrl-c, esc, down. Only for action: apply."}
    additionalProperties: false
    "#);
}

#[test]
fn only_frameworks_have_a_word_for_no_action() {
    let enumerated =
        |shape: &ToolShape, dialect| render(shape, dialect)["properties"]["action"]["enum"].clone();
    let all = ["run", "spawn", "fetch", "apply", "abort"];
    assert_eq!(enumerated(&live_git(), Dialect::Mcp), json!(all));
    assert_eq!(enumerated(&live_git(), Dialect::Anthropic), json!(all[1..]));
    // It cannot run once.
    assert_eq!(enumerated(&git(), Dialect::Mcp), json!(all[1..]));
}

#[test]
fn the_strict_form_of_git() {
    insta::assert_snapshot!(text(&git(), Dialect::OpenAiStrict), @r#"
    type: "object"
    properties:
      action: {"type":"string","enum":["spawn","fetch","apply","abort"],"description":"spawn: needs id, command; fetch: needs id; apply: needs id, input; abort: needs id."}
      id: {"type":"string","description":"Handle ID; spawn: a new one of your choice, 1-64 of A-Za-z0-9_.-"}
      command: {"type":["string","null"],"enum":["stage","commit","rebase",null],"description":"Only for action: spawn."}
      args: {"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}],"description":"Only for action: spawn."}
      input: {"type":["string","null"],"description":"Only for action: apply."}
    required: ["action","id","command","args","input"]
    additionalProperties: false
    "#);
}

#[test]
fn the_legacy_gemini_form_of_git() {
    insta::assert_snapshot!(text(&git(), Dialect::GeminiLegacy), @r#"
    type: "object"
    properties:
      action: {"type":"string","description":"spawn: needs id, command; fetch: needs id; apply: needs id, input; abort: needs id.","enum":["spawn","fetch","apply","abort"]}
      id: {"type":"string","description":"Handle ID; spawn: a new one of your choice, 1-64 of A-Za-z0-9_.-"}
      command: {"type":"string","description":"Only for action: spawn.","enum":["stage","commit","rebase"]}
      args: {"type":"array","items":{"type":"string"},"description":"Only for action: spawn."}
      input: {"type":"string","description":"Only for action: apply."}
    required: ["action","id"]
    "#);
}

#[test]
fn the_canonical_form_of_a_git_that_is_typed_into() {
    insta::assert_snapshot!(text(&live_git(), Dialect::JsonSchema), @r#"
    type: "object"
    oneOf:
      {"properties":{"action":{"const":"spawn"},"id":{"type":"string","description":"Handle ID for this tool instance. Must be unique across active handles.","pattern":"^[A-Za-z0-9_.-]{1,64}$"},"command":{"enum":["stage","commit","rebase"]},"args":{"type":"array","items":{"type":"string"}}},"required":["action","id","command"]}
      {"properties":{"action":{"const":"fetch"},"id":{"type":"string"},"view":{"type":"string","enum":["new","screen","all"]}},"required":["action","id"]}
      {"properties":{"action":{"const":"apply"},"id":{"type":"string"},"input":{},"enter":{"type":"boolean","description":"false: no Enter."},"keys":{"type":"array","items":{"type":"string"},"description":"Pressed after input, e.g. ctrl-c, esc, down."}},"required":["action","id","input"]}
      {"properties":{"action":{"const":"apply"},"id":{"type":"string"},"keys":{"type":"array","items":{"type":"string"},"description":"Pressed after input, e.g. ctrl-c, esc, down.","minItems":1}},"required":["action","id","keys"],"not":{"required":["input"]}}
      {"properties":{"action":{"const":"abort"},"id":{"type":"string"}},"required":["action","id"]}
      {"properties":{"command":{"enum":["stage","commit","rebase"]},"args":{"type":"array","items":{"type":"string"}}},"required":["command"],"not":{"required":["action"]}}
    "#);
}

#[test]
fn gemini_and_ollama_differ_from_the_flat_form_where_they_must() {
    let gemini = render(&git(), Dialect::Mcp);
    assert_eq!(render(&git(), Dialect::Gemini), gemini);
    let mut ollama = render(&git(), Dialect::Mcp);
    ollama
        .as_object_mut()
        .unwrap()
        .shift_remove("additionalProperties");
    assert_eq!(render(&git(), Dialect::Ollama), ollama);
}

#[test]
fn llama_cpp_gets_the_canonical_form_with_every_type_of_input() {
    let mut canonical = render(&git(), Dialect::JsonSchema);
    canonical["oneOf"][2]["properties"]["input"] =
        json!({ "type": ["string", "number", "boolean", "object", "array", "null"] });
    assert_eq!(render(&git(), Dialect::LlamaCpp), canonical);
}

#[test]
fn a_tool_without_actions_is_a_plain_object_in_every_dialect() {
    let shape = ToolShape {
        actions: ActionSet::NONE,
        ..git()
    };
    let plain = shape.parameters.to_object_schema();
    assert_eq!(
        render(&shape, Dialect::JsonSchema).to_string(),
        plain.to_string()
    );
    for dialect in Dialect::ALL {
        let schema = render(&shape, dialect);
        let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["command", "args"], "{dialect}");
        assert!(schema.get("oneOf").is_none(), "{dialect}");
    }
}

#[test]
fn a_parameter_of_a_tool_without_actions_may_be_called_input() {
    let shape = ToolShape {
        parameters: Parameters {
            properties: [("input".to_owned(), json!({ "type": "integer" }))].into(),
            ..Parameters::default()
        },
        ..ToolShape::default()
    };
    let schema = render(&shape, Dialect::GeminiLegacy);
    assert_eq!(schema["properties"]["input"], json!({ "type": "integer" }));
}

#[test]
fn a_tool_that_takes_nothing_has_an_empty_object() {
    let empty = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    assert_eq!(render(&ToolShape::default(), Dialect::Mcp), empty);
}
