//! The flat form: one object with the properties of every branch.
//!
//! Start at [`flatten`]. Most providers reject alternatives at the root of a
//! schema, so the structure of the branches is expressed in descriptions. They
//! are short, because the model pays for each word. The properties that an
//! action needs are not enforced: reading a call names the missing ones.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use windlass_protocol::{HandleAction, RUN, ToolShape};

use crate::branch::Branch;
use crate::subschema::{describe, map_subschemas};

/// An object schema under construction.
pub(crate) struct Flat {
    pub(crate) properties: IndexMap<String, Value>,
    /// The properties that every branch requires.
    pub(crate) required: Vec<String>,
    /// No property beyond those listed may be given.
    pub(crate) closed: bool,
}

/// Merges the branches of a tool.
pub(crate) fn flatten(shape: &ToolShape, branches: &[Branch]) -> Flat {
    let mut flat = Flat {
        properties: IndexMap::new(),
        required: Vec::new(),
        closed: !shape.parameters.additional,
    };
    let has_actions = branches.iter().any(|branch| branch.action.is_some());
    if has_actions {
        flat.properties.insert("action".into(), action(branches));
        flat.properties.insert("id".into(), id(branches));
        if branches.iter().all(|branch| branch.action.is_some()) {
            flat.required.extend(["action".into(), "id".into()]);
        }
    }
    for (name, schema) in branches.iter().flat_map(|branch| &branch.properties) {
        if !flat.properties.contains_key(name) {
            let mut schema = with_enum_types(schema.clone());
            if let Some(note) = only_for(name, branches) {
                describe(&mut schema, &note);
            }
            flat.properties.insert(name.clone(), schema);
        }
    }
    let required_by_all = branches[0]
        .required
        .iter()
        .filter(|name| branches.iter().all(|branch| branch.required.contains(name)));
    flat.required.extend(required_by_all.cloned());
    flat
}

impl Flat {
    /// The whole schema.
    pub(crate) fn into_schema(self) -> Value {
        let properties: Map<String, Value> = self.properties.into_iter().collect();
        let mut schema = json!({ "type": "object", "properties": properties });
        if !self.required.is_empty() {
            schema["required"] = json!(self.required);
        }
        if self.closed {
            schema["additionalProperties"] = json!(false);
        }
        schema
    }

    /// Adds [`RUN`] to the actions of a tool that can run as a one-shot: if a
    /// converter makes every property required, the model has no other way to
    /// express that.
    pub(crate) fn with_run(mut self, shape: &ToolShape) -> Self {
        if !shape.actions.is_empty()
            && shape.one_shot
            && let Some(action) = self.properties.get_mut("action")
            && let Some(Value::Array(names)) = action.get_mut("enum")
        {
            names.insert(0, json!(RUN));
        }
        self
    }

    /// Gives `input` a type, for providers that require one. Text loses
    /// nothing: an answer is converted to its question's type, and a value
    /// typed into a program is written as JSON text anyway.
    pub(crate) fn with_text_input(mut self) -> Self {
        let has_actions = self.properties.contains_key("action");
        if let Some(Value::Object(input)) = self.properties.get_mut("input")
            && has_actions
            && !input.contains_key("type")
        {
            input.shift_insert(0, "type".into(), json!("string"));
        }
        self
    }
}

/// The `action` property: each action with its required properties, and the
/// effect of a call without one.
fn action(branches: &[Branch]) -> Value {
    let actions = actions(branches);
    let mut text = actions
        .iter()
        .flatten()
        .map(|&action| format!("{action}: needs {}", needs(action, branches)))
        .collect::<Vec<_>>()
        .join("; ");
    if let Some(one_shot) = branches.iter().find(|branch| branch.action.is_none()) {
        text.push_str(". Omit to run once");
        if !one_shot.required.is_empty() {
            text.push_str(": needs ");
            text.push_str(&one_shot.required.join(", "));
        }
    }
    text.push('.');
    let names: Vec<&str> = actions
        .iter()
        .flatten()
        .map(|action| action.as_str())
        .collect();
    json!({ "type": "string", "enum": names, "description": text })
}

fn id(branches: &[Branch]) -> Value {
    let spawns = branches
        .iter()
        .any(|branch| branch.action == Some(HandleAction::Spawn));
    let text = if spawns {
        "Handle ID; spawn: a new one of your choice, 1-64 of A-Za-z0-9_.-"
    } else {
        "Handle ID."
    };
    json!({ "type": "string", "description": text })
}

fn needs(action: HandleAction, branches: &[Branch]) -> String {
    let alternatives: Vec<String> = branches
        .iter()
        .filter(|branch| branch.action == Some(action) && !branch.required.is_empty())
        .map(|branch| branch.required.join(", "))
        .collect();
    if alternatives.is_empty() {
        "id".to_owned()
    } else {
        format!("id, {}", alternatives.join(" or "))
    }
}

/// A note if a property belongs to one of several actions.
fn only_for(name: &str, branches: &[Branch]) -> Option<String> {
    let users = actions(
        branches
            .iter()
            .filter(|branch| branch.properties.contains_key(name)),
    );
    match users.as_slice() {
        [user] if actions(branches).len() > 1 => Some(match user {
            Some(action) => format!("Only for action: {action}."),
            None => "Only without action.".to_owned(),
        }),
        _ => None,
    }
}

/// The different actions of these branches, in order.
fn actions<'a>(branches: impl IntoIterator<Item = &'a Branch>) -> Vec<Option<HandleAction>> {
    let mut actions: Vec<_> = branches.into_iter().map(|branch| branch.action).collect();
    actions.dedup();
    actions
}

/// Adds the type to enums of strings, which several providers require.
fn with_enum_types(schema: Value) -> Value {
    let mut schema = map_subschemas(schema, &mut with_enum_types);
    if let Value::Object(map) = &mut schema
        && !map.contains_key("type")
        && let Some(Value::Array(options)) = map.get("enum")
        && !options.is_empty()
        && options.iter().all(Value::is_string)
    {
        map.shift_insert(0, "type".into(), json!("string"));
    }
    schema
}

#[cfg(test)]
#[path = "flat_tests.rs"]
mod tests;
