//! The two dialects of Gemini.
//!
//! [`modern`] writes for `parametersJsonSchema`, which is JSON Schema with a
//! few gaps. [`legacy`] writes for `parameters`, which has its own list of
//! keywords, one type per schema, and enums of strings only; an unknown keyword
//! fails the whole request. Both require a type everywhere: values without one
//! are passed as JSON text.

use serde_json::{Map, Value, json};

use crate::form::{SchemaForm, form, kinds, required, rewrite_untyped};
use crate::subschema::{const_to_enum, copy, describe, json_text, map_subschemas};

/// A parameter for `parametersJsonSchema`.
pub(crate) fn modern(schema: &Value) -> Value {
    rewrite_untyped(without_const(schema.clone()), json_text)
}

fn without_const(schema: Value) -> Value {
    let mut schema = map_subschemas(schema, &mut without_const);
    if let Value::Object(map) = &mut schema {
        let kinds: Vec<String> = kinds_of_const(map);
        const_to_enum(map);
        if let [kind] = kinds.as_slice() {
            map.shift_insert(0, "type".into(), json!(kind));
        }
    }
    schema
}

/// The type of a `const` without a `type`.
fn kinds_of_const(map: &Map<String, Value>) -> Vec<String> {
    if map.contains_key("type") || !map.contains_key("const") {
        return Vec::new();
    }
    let schema = Value::Object(map.clone());
    kinds(&schema).into_iter().map(str::to_owned).collect()
}

/// A parameter for `parameters`.
pub(crate) fn legacy(schema: &Value) -> Value {
    match form(schema) {
        SchemaForm::Object => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            let names = required(schema).filter(|&name| !schema["properties"][name].is_null());
            let mut object = legacy_object(properties, &names.collect::<Vec<_>>());
            copy(schema, &mut object, &["description"]);
            object
        }
        SchemaForm::List => {
            let mut list = json!({ "type": "array", "items": legacy(&schema["items"]) });
            copy(schema, &mut list, &["description", "minItems", "maxItems"]);
            list
        }
        SchemaForm::AnyOf(alternatives) => legacy_any_of(schema, &alternatives),
        SchemaForm::Scalar => legacy_scalar(schema),
        SchemaForm::Free => json_text(schema),
    }
}

/// An object with these properties.
pub(crate) fn legacy_object<'a>(
    properties: impl IntoIterator<Item = (&'a String, &'a Value)>,
    required: &[&str],
) -> Value {
    let properties: Map<String, Value> = properties
        .into_iter()
        .map(|(name, schema)| (name.clone(), legacy(schema)))
        .collect();
    let mut object = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

/// Moves the siblings of `anyOf`, which are not allowed here, into its
/// alternatives.
fn legacy_any_of(schema: &Value, alternatives: &[Value]) -> Value {
    let is_null = |alternative: &Value| kinds(alternative) == ["null"];
    let nullable = alternatives.iter().any(is_null);
    let mut rest: Vec<Value> = alternatives
        .iter()
        .filter(|alternative| !is_null(alternative))
        .map(legacy)
        .collect();
    if let Some(first) = rest.first_mut()
        && first.get("description").is_none()
        && first.get("anyOf").is_none()
    {
        copy(schema, first, &["description"]);
    }
    if nullable {
        for alternative in rest.iter_mut().filter(|rest| rest.get("anyOf").is_none()) {
            alternative["nullable"] = json!(true);
        }
    }
    match rest.len() {
        0 => json_text(schema),
        1 => rest.remove(0),
        _ => json!({ "anyOf": rest }),
    }
}

fn legacy_scalar(schema: &Value) -> Value {
    let all = kinds(schema);
    let kinds: Vec<&str> = all.iter().copied().filter(|kind| *kind != "null").collect();
    let [kind] = kinds.as_slice() else {
        let alternatives: Vec<Value> = all.iter().map(|kind| json!({ "type": kind })).collect();
        return legacy_any_of(schema, &alternatives);
    };
    let mut scalar = json!({ "type": kind });
    if all.len() > 1 {
        scalar["nullable"] = json!(true);
    }
    copy(
        schema,
        &mut scalar,
        &[
            "description",
            "minimum",
            "maximum",
            "minLength",
            "maxLength",
            "pattern",
        ],
    );
    let known_format = match *kind {
        "string" => schema["format"] == "date-time",
        "integer" => matches!(schema["format"].as_str(), Some("int32" | "int64")),
        "number" => matches!(schema["format"].as_str(), Some("float" | "double")),
        _ => false,
    };
    if known_format {
        copy(schema, &mut scalar, &["format"]);
    }
    let options: Vec<&Value> = match schema.get("const") {
        Some(value) => vec![value],
        None => schema["enum"].as_array().into_iter().flatten().collect(),
    };
    legacy_enum(&mut scalar, options);
    scalar
}

/// Writes an enum. Only non-empty strings are allowed; other values are listed
/// in the description.
fn legacy_enum(scalar: &mut Value, mut options: Vec<&Value>) {
    options.retain(|option| !option.is_null());
    if options.is_empty() {
        return;
    }
    let listable = |option: &&Value| option.as_str().is_some_and(|text| !text.is_empty());
    if options.iter().all(listable) {
        scalar["enum"] = json!(options);
    } else {
        let listed: Vec<String> = options.iter().map(ToString::to_string).collect();
        describe(scalar, &format!("One of {}.", listed.join(", ")));
    }
}

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;
