//! Defaults of parameters, put where a call gave nothing.

use serde_json::{Map, Value};

use crate::command::admits_null;
use crate::{Arguments, Parameters};

/// Adds the defaults of the [`filled`](Parameters::filled) parameters,
/// including those inside given objects and arrays.
pub(crate) fn fill_defaults(parameters: &Parameters, arguments: &mut Arguments) {
    for name in &parameters.filled {
        let Some(schema) = parameters.properties.get(name) else {
            continue;
        };
        if !arguments.contains_key(name)
            && let Some(default) = default_of(schema)
        {
            arguments.insert(name.clone(), default.clone());
        }
        if let Some(value) = arguments.get_mut(name) {
            fill_inside(schema, value);
        }
    }
}

fn fill_inside(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(fields) => fill_fields(schema, fields),
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for item in items {
                    fill_inside(schema, item);
                }
            }
        }
        _ => {}
    }
}

fn fill_fields(schema: &Value, fields: &mut Map<String, Value>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        if !fields.contains_key(name)
            && let Some(default) = default_of(schema)
        {
            fields.insert(name.clone(), default.clone());
        }
        if let Some(value) = fields.get_mut(name) {
            fill_inside(schema, value);
        }
    }
}

/// Ignores a `null` default that the schema itself forbids: some tools write it
/// for "no default".
fn default_of(schema: &Value) -> Option<&Value> {
    let default = schema.get("default")?;
    (!default.is_null() || admits_null(schema)).then_some(default)
}

#[cfg(test)]
#[path = "defaults_tests.rs"]
mod tests;
