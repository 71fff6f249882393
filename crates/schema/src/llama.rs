//! The dialect of llama.cpp, which makes a grammar from the canonical form.
//!
//! Its converter reads `{}` as an object and fails on unanchored patterns, so
//! types are written out and such patterns omitted.

use serde_json::{Value, json};

use crate::form::rewrite_untyped;
use crate::subschema::map_subschemas;

/// A parameter with the same meaning for the grammar as for a validator.
pub(crate) fn spelled_out(schema: Value) -> Value {
    rewrite_untyped(without_loose_patterns(schema), with_all_types)
}

/// The schema of any value, with all types listed.
pub(crate) fn with_all_types(schema: &Value) -> Value {
    let mut schema = match schema {
        Value::Object(map) => map.clone(),
        _ => serde_json::Map::new(),
    };
    let kinds = json!(["string", "number", "boolean", "object", "array", "null"]);
    schema.shift_insert(0, "type".into(), kinds);
    Value::Object(schema)
}

fn without_loose_patterns(schema: Value) -> Value {
    let mut schema = map_subschemas(schema, &mut without_loose_patterns);
    if let Value::Object(map) = &mut schema {
        let loose = map
            .get("pattern")
            .and_then(Value::as_str)
            .is_some_and(|pattern| {
                !pattern.starts_with('^') || !pattern.ends_with('$') || pattern.contains("(?")
            });
        if loose {
            map.shift_remove("pattern");
        }
    }
    schema
}

#[cfg(test)]
#[path = "llama_tests.rs"]
mod tests;
