//! Entries that override parameters of a tool, at any depth.
//!
//! An entry contains only the differences; everything else stays as the tool's
//! source defines it.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use windlass_protocol::{Parameter, Parameters};

/// Changes the parameters that the entries name.
pub(crate) fn override_parameters(
    parameters: &mut Parameters,
    entries: &IndexMap<String, Parameter>,
) {
    for (name, entry) in entries {
        if let Some(schema) = parameters.properties.get_mut(name) {
            change(schema, entry);
            require(&mut parameters.required, name, entry);
            if entry.has_default() && !parameters.filled.contains(name) {
                parameters.filled.push(name.clone());
            }
        }
    }
}

/// The entries that name nothing, by their dotted names.
pub(crate) fn unknown(
    parameters: &Parameters,
    entries: &IndexMap<String, Parameter>,
) -> Vec<String> {
    let find = |name: &str| parameters.properties.get(name);
    unknown_in(&find, entries)
}

fn unknown_in<'a>(
    find: &dyn Fn(&str) -> Option<&'a Value>,
    entries: &IndexMap<String, Parameter>,
) -> Vec<String> {
    let mut unknown = Vec::new();
    for (name, entry) in entries {
        let Some(schema) = find(name) else {
            unknown.push(name.clone());
            continue;
        };
        let inside = match &entry.properties {
            Some(nested) => unknown_in(&|name| schema["properties"].get(name), nested),
            None => Vec::new(),
        };
        unknown.extend(inside.iter().map(|inside| format!("{name}.{inside}")));
    }
    unknown
}

fn change(schema: &mut Value, entry: &Parameter) {
    if !schema.is_object() {
        *schema = Value::Object(Map::new());
    }
    let Value::Object(schema) = schema else {
        return;
    };
    let shallow = Parameter {
        items: None,
        properties: None,
        ..entry.clone()
    };
    if let Value::Object(changes) = shallow.to_schema() {
        schema.extend(changes);
    }
    if let Some(items) = &entry.items {
        change(schema.entry("items").or_insert(Value::Null), items);
    }
    if let Some(entries) = &entry.properties {
        change_properties(schema, entries);
    }
}

fn change_properties(schema: &mut Map<String, Value>, entries: &IndexMap<String, Parameter>) {
    let listed = schema.get("required").and_then(Value::as_array);
    let mut required: Vec<String> = listed
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    for (name, entry) in entries {
        if let Some(property) = properties.get_mut(name) {
            change(property, entry);
            require(&mut required, name, entry);
        }
    }
    if required.is_empty() {
        schema.shift_remove("required");
    } else {
        schema.insert("required".to_owned(), json!(required));
    }
}

/// A default makes a parameter optional, unless it is declared required.
fn require(required: &mut Vec<String>, name: &str, entry: &Parameter) {
    let optional = entry.default.is_some().then_some(false);
    match entry.required.or(optional) {
        Some(true) if !required.iter().any(|known| known == name) => {
            required.push(name.to_owned());
        }
        Some(false) => required.retain(|known| known != name),
        _ => {}
    }
}

#[cfg(test)]
#[path = "override_parameters_tests.rs"]
mod tests;
