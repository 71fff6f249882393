//! The dialect of `OpenAI`'s strict mode.
//!
//! Start at [`strict_object`]. Every property is required, so an optional one
//! becomes nullable. Objects accept no further properties, and values without a
//! type are passed as JSON text. Only listed keywords are written, because an
//! unknown one fails the whole request.

use serde_json::{Map, Value, json};

use crate::form::{SchemaForm, form, kinds, required};
use crate::subschema::{copy, json_text};

/// Scalar keywords that strict mode supports unchanged.
const KEPT: [&str; 6] = [
    "description",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
];

/// The formats that strict mode knows.
const FORMATS: [&str; 9] = [
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];

/// An object with these properties; the optional ones are nullable.
pub(crate) fn strict_object<'a>(
    properties: impl IntoIterator<Item = (&'a String, &'a Value)>,
    required: &[&str],
) -> Value {
    let properties: Map<String, Value> = properties
        .into_iter()
        .map(|(name, schema)| {
            let schema = strict(schema);
            let schema = if required.contains(&name.as_str()) {
                schema
            } else {
                nullable(schema)
            };
            (name.clone(), schema)
        })
        .collect();
    let names: Vec<String> = properties.keys().cloned().collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false,
    })
}

fn strict(schema: &Value) -> Value {
    match form(schema) {
        SchemaForm::Object => {
            let required: Vec<&str> = required(schema).collect();
            let properties = schema["properties"].as_object().into_iter().flatten();
            let mut object = strict_object(properties, &required);
            copy(schema, &mut object, &["description"]);
            object
        }
        SchemaForm::List => {
            let mut list = json!({ "type": "array", "items": strict(&schema["items"]) });
            copy(schema, &mut list, &["description", "minItems", "maxItems"]);
            list
        }
        SchemaForm::AnyOf(alternatives) => {
            let alternatives: Vec<Value> = alternatives.iter().map(strict).collect();
            let mut any = json!({ "anyOf": alternatives });
            copy(schema, &mut any, &["description"]);
            any
        }
        SchemaForm::Scalar => scalar(schema),
        SchemaForm::Free => json_text(schema),
    }
}

fn scalar(schema: &Value) -> Value {
    let mut scalar = match kinds(schema).as_slice() {
        [kind] => json!({ "type": kind }),
        kinds => json!({ "type": kinds }),
    };
    if let Some(value) = schema.get("const") {
        scalar["enum"] = json!([value]);
    } else {
        copy(schema, &mut scalar, &["enum"]);
    }
    copy(schema, &mut scalar, &KEPT);
    if schema["format"]
        .as_str()
        .is_some_and(|format| FORMATS.contains(&format))
    {
        copy(schema, &mut scalar, &["format"]);
    }
    // Look-around and other extensions are refused, and all of them open a
    // group like this.
    if schema["pattern"]
        .as_str()
        .is_some_and(|pattern| !pattern.contains("(?"))
    {
        copy(schema, &mut scalar, &["pattern"]);
    }
    scalar
}

/// The strict schema with null admitted too.
fn nullable(mut schema: Value) -> Value {
    let nothing = || json!({ "type": "null" });
    if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") {
        if !alternatives.contains(&nothing()) {
            alternatives.push(nothing());
        }
        return schema;
    }
    if matches!(schema["type"].as_str(), Some("object" | "array")) {
        let description = schema
            .as_object_mut()
            .and_then(|map| map.shift_remove("description"));
        let mut any = json!({ "anyOf": [schema, nothing()] });
        if let Some(description) = description {
            any["description"] = description;
        }
        return any;
    }
    let mut kinds: Vec<Value> = match schema["type"].take() {
        Value::Array(kinds) => kinds,
        kind => vec![kind],
    };
    if !kinds.contains(&json!("null")) {
        kinds.push(json!("null"));
    }
    schema["type"] = Value::Array(kinds);
    if let Some(Value::Array(options)) = schema.get_mut("enum")
        && !options.contains(&Value::Null)
    {
        options.push(Value::Null);
    }
    schema
}

#[cfg(test)]
#[path = "strict_tests.rs"]
mod tests;
