//! The ways to call a tool, and the `oneOf` made from them.
//!
//! Start at [`branches`]. The canonical form here and the flat form of `flat`
//! are both written from the same branches, so they cannot disagree.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use windlass_protocol::{HandleAction, ToolShape};

/// One way to call a tool.
pub(crate) struct Branch {
    /// The action; `None` for the one-shot call. A branch with an action also
    /// requires `action` and `id`.
    pub(crate) action: Option<HandleAction>,
    pub(crate) properties: IndexMap<String, Value>,
    pub(crate) required: Vec<String>,
    /// A forbidden property, so that no call matches two branches.
    excluded: Option<&'static str>,
}

/// All ways to call the tool, in the order of the actions, one-shot last.
pub(crate) fn branches(shape: &ToolShape) -> Vec<Branch> {
    let mut branches: Vec<Branch> = shape
        .actions
        .iter()
        .flat_map(|action| of_action(shape, action))
        .collect();
    if shape.one_shot || branches.is_empty() {
        branches.push(Branch {
            excluded: Some("action"),
            ..with_parameters(shape, None)
        });
    }
    branches
}

/// The canonical schema: one branch per way of calling. A call matches exactly
/// one of them.
pub(crate) fn one_of(branches: &[Branch]) -> Value {
    let branches: Vec<Value> = branches.iter().map(Branch::to_schema).collect();
    json!({ "type": "object", "oneOf": branches })
}

fn of_action(shape: &ToolShape, action: HandleAction) -> Vec<Branch> {
    match action {
        HandleAction::Spawn => {
            let mut spawn = with_parameters(shape, Some(action));
            if shape.keep {
                let keep = json!({
                    "type": "boolean",
                    "description": "Survives a restart of this agent."
                });
                spawn.properties.insert(ToolShape::KEEP.to_owned(), keep);
            }
            vec![spawn]
        }
        HandleAction::Fetch => vec![fetch(shape)],
        HandleAction::Apply if shape.typing => apply_with_typing(),
        HandleAction::Apply => vec![Branch::new(action, [("input", json!({}))], &["input"])],
        HandleAction::Abort => vec![Branch::new(action, [], &[])],
    }
}

fn fetch(shape: &ToolShape) -> Branch {
    let mut branch = Branch::new(HandleAction::Fetch, [], &[]);
    if shape.typing {
        let view = json!({ "type": "string", "enum": ["new", "screen", "all"] });
        branch.properties.insert("view".into(), view);
    }
    if shape.lines {
        let lines = json!({ "type": "string" });
        branch.properties.insert("lines".into(), lines);
    }
    branch
}

/// Input with or without keys, or keys alone. These are two branches rather
/// than one with an inner `anyOf`, because llama.cpp's grammar would apply the
/// inner alternatives to the whole object.
fn apply_with_typing() -> Vec<Branch> {
    let keys = || {
        json!({
            "type": "array",
            "items": { "type": "string" },
            "description": "Pressed after input, e.g. ctrl-c, esc, down."
        })
    };
    let enter = json!({ "type": "boolean", "description": "false: no Enter." });
    let mut some_keys = keys();
    some_keys["minItems"] = json!(1);
    vec![
        Branch::new(
            HandleAction::Apply,
            [("input", json!({})), ("enter", enter), ("keys", keys())],
            &["input"],
        ),
        Branch {
            excluded: Some("input"),
            ..Branch::new(HandleAction::Apply, [("keys", some_keys)], &["keys"])
        },
    ]
}

fn with_parameters(shape: &ToolShape, action: Option<HandleAction>) -> Branch {
    Branch {
        action,
        properties: shape.parameters.properties.clone(),
        required: shape.parameters.required.clone(),
        excluded: None,
    }
}

impl Branch {
    fn new<const N: usize>(
        action: HandleAction,
        properties: [(&str, Value); N],
        required: &[&str],
    ) -> Self {
        Self {
            action: Some(action),
            properties: properties
                .into_iter()
                .map(|(name, schema)| (name.to_owned(), schema))
                .collect(),
            required: required.iter().map(|&name| name.to_owned()).collect(),
            excluded: None,
        }
    }

    fn to_schema(&self) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        if let Some(action) = self.action {
            let id = match action {
                HandleAction::Spawn => json!({
                    "type": "string",
                    "description": "Handle ID for this tool instance. \
                                    Must be unique across active handles.",
                    "pattern": "^[A-Za-z0-9_.-]{1,64}$"
                }),
                _ => json!({ "type": "string" }),
            };
            properties.insert("action".into(), json!({ "const": action.as_str() }));
            properties.insert("id".into(), id);
            required.extend(["action", "id"]);
        }
        properties.extend(self.properties.clone());
        required.extend(self.required.iter().map(String::as_str));
        let mut schema = Map::new();
        schema.insert("properties".into(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".into(), json!(required));
        }
        if let Some(name) = self.excluded {
            schema.insert("not".into(), json!({ "required": [name] }));
        }
        Value::Object(schema)
    }
}

#[cfg(test)]
#[path = "branch_tests.rs"]
mod tests;
