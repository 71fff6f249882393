//! The locations of schemas within a schema.
//!
//! Keywords and data look alike in JSON: a property may be called `const`, and
//! a default may contain a `type`. Code that rewrites schemas uses
//! [`map_subschemas`], which knows the difference.

use serde_json::{Map, Value, json};

/// Keywords whose value is a schema, or for `items` a list of them.
const ONE: [&str; 12] = [
    "items",
    "additionalItems",
    "contains",
    "additionalProperties",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];
/// Keywords whose value is a list of schemas.
const LIST: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
/// Keywords whose value has schemas by name.
const NAMED: [&str; 5] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
];

/// Rewrites the schemas directly below this one.
pub(crate) fn map_subschemas(schema: Value, rewrite: &mut dyn FnMut(Value) -> Value) -> Value {
    let Value::Object(map) = schema else {
        return schema;
    };
    let rewritten = map.into_iter().map(|(keyword, value)| {
        let value = match value {
            Value::Object(named) if NAMED.contains(&keyword.as_str()) => Value::Object(
                named
                    .into_iter()
                    .map(|(name, schema)| (name, rewrite(schema)))
                    .collect(),
            ),
            Value::Array(list) if LIST.contains(&keyword.as_str()) || keyword == "items" => {
                list.into_iter().map(&mut *rewrite).collect()
            }
            value if ONE.contains(&keyword.as_str()) => rewrite(value),
            value => value,
        };
        (keyword, value)
    });
    Value::Object(rewritten.collect())
}

/// Adds a sentence to the schema's description.
pub(crate) fn describe(schema: &mut Value, sentence: &str) {
    // `true` is the schema `{}`, which can hold a description.
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    let Value::Object(map) = schema else { return };
    let text = match map.get("description").and_then(Value::as_str) {
        Some(text) if !text.trim().is_empty() => {
            let text = text.trim_end();
            let stop = if text.ends_with(['.', '!', '?', ':', ';']) {
                ""
            } else {
                "."
            };
            format!("{text}{stop} {sentence}")
        }
        _ => sentence.to_owned(),
    };
    map.insert("description".into(), json!(text));
}

/// A value that is passed as JSON text because the dialect requires a type.
pub(crate) fn json_text(schema: &Value) -> Value {
    let mut text = json!({ "type": "string" });
    copy(schema, &mut text, &["description"]);
    describe(&mut text, "As JSON text.");
    text
}

/// Copies those keywords that the schema has.
pub(crate) fn copy(from: &Value, to: &mut Value, keywords: &[&str]) {
    let (Value::Object(from), Value::Object(to)) = (from, to) else {
        return;
    };
    for &keyword in keywords {
        if let Some(value) = from.get(keyword) {
            to.insert(keyword.to_owned(), value.clone());
        }
    }
}

/// Writes `const` as an enum of one value, for dialects without `const`.
pub(crate) fn const_to_enum(map: &mut Map<String, Value>) {
    if let Some(value) = map.get("const").cloned() {
        let renamed = std::mem::take(map)
            .into_iter()
            .filter(|(keyword, _)| keyword != "enum");
        *map = renamed
            .map(|(keyword, kept)| match keyword.as_str() {
                "const" => ("enum".to_owned(), json!([value])),
                _ => (keyword, kept),
            })
            .collect();
    }
}

#[cfg(test)]
#[path = "subschema_tests.rs"]
mod tests;
