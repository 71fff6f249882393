//! The kind of value that a schema describes, as far as narrow dialects can
//! express it.
//!
//! Start at [`form`]. Writing a schema and reading arguments back both use it,
//! so that values converted to text are converted back.

use serde_json::{Value, json};

/// The form of a schema in a narrow dialect.
#[derive(Debug, PartialEq)]
pub(crate) enum SchemaForm {
    /// An object with listed properties.
    Object,
    /// An array whose items have one schema.
    List,
    /// Strings, numbers, booleans and null.
    Scalar,
    /// One of several.
    AnyOf(Vec<Value>),
    /// Not expressible in a narrow dialect.
    Free,
}

/// The form of a schema without references.
pub(crate) fn form(schema: &Value) -> SchemaForm {
    let kinds = kinds(schema);
    match kinds.as_slice() {
        [] => match alternatives(schema) {
            Some(alternatives) if !alternatives.is_empty() => {
                SchemaForm::AnyOf(alternatives.clone())
            }
            _ => SchemaForm::Free,
        },
        ["object"] => match schema["properties"].as_object() {
            Some(properties) if !properties.is_empty() => SchemaForm::Object,
            _ => SchemaForm::Free,
        },
        ["array"] if schema["items"].is_object() => SchemaForm::List,
        ["array"] => SchemaForm::Free,
        kinds
            if kinds
                .iter()
                .all(|kind| !matches!(*kind, "object" | "array")) =>
        {
            SchemaForm::Scalar
        }
        kinds => SchemaForm::AnyOf(kinds.iter().map(|kind| narrow(schema, kind)).collect()),
    }
}

/// The JSON types that the schema names, or that its values have.
pub(crate) fn kinds(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(kind) => return vec![kind],
        Value::Array(kinds) => return kinds.iter().filter_map(Value::as_str).collect(),
        _ => {}
    }
    let mut kinds: Vec<&str> = if let Some(value) = schema.get("const") {
        vec![kind_of(value)]
    } else if let Some(options) = schema["enum"].as_array() {
        options.iter().map(kind_of).collect()
    } else if schema["properties"].is_object() {
        vec!["object"]
    } else if schema["items"].is_object() {
        vec!["array"]
    } else {
        Vec::new()
    };
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// Whether the schema does not restrict the type of its values.
pub(crate) fn is_untyped(schema: &Value) -> bool {
    kinds(schema).is_empty() && form(schema) == SchemaForm::Free
}

/// Rewrites untyped schemas of values. The alternatives of a typed schema are
/// left unchanged: they may be mere conditions.
pub(crate) fn rewrite_untyped(schema: Value, rewrite: fn(&Value) -> Value) -> Value {
    if is_untyped(&schema) {
        return rewrite(&schema);
    }
    let has_kind = !kinds(&schema).is_empty();
    let Value::Object(mut map) = schema else {
        return schema;
    };
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        for property in properties.values_mut() {
            *property = rewrite_untyped(property.take(), rewrite);
        }
    }
    if let Some(items) = map.get_mut("items")
        && items.is_object()
    {
        *items = rewrite_untyped(items.take(), rewrite);
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(alternatives)) = map.get_mut(keyword)
            && !has_kind
        {
            for alternative in alternatives {
                *alternative = rewrite_untyped(alternative.take(), rewrite);
            }
        }
    }
    Value::Object(map)
}

/// Null fits the schema.
pub(crate) fn admits_null(schema: &Value) -> bool {
    let listed = schema["enum"].as_array();
    kinds(schema).contains(&"null") && listed.is_none_or(|options| options.contains(&Value::Null))
        || kinds(schema).is_empty()
            && alternatives(schema).is_none_or(|alternatives| alternatives.iter().any(admits_null))
}

/// The properties that an object schema requires.
pub(crate) fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn alternatives(schema: &Value) -> Option<&Vec<Value>> {
    ["anyOf", "oneOf"]
        .iter()
        .find_map(|&keyword| schema[keyword].as_array())
}

/// The JSON Schema type of a value.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The part of the schema for one type. The description stays with the whole.
fn narrow(schema: &Value, kind: &str) -> Value {
    let mut part = schema.clone();
    if let Value::Object(map) = &mut part {
        map.shift_remove("description");
        if let Some(Value::Array(options)) = map.get_mut("enum") {
            options.retain(|option| kind_of(option) == kind);
            if options.is_empty() {
                map.shift_remove("enum");
            }
        }
    }
    part["type"] = json!(kind);
    part
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
