//! Resolves references inside a parameter's schema.
//!
//! Start at [`inline`]. A parameter's schema is a separate document: `#` is its
//! root, and it contains its `$defs`. Inside a tool's schema its pointers would
//! be wrong, so every dialect gets a schema without references. A recursive
//! schema allows any value at the second level.

use serde_json::{Map, Value, json};
use windlass_protocol::Parameters;

use crate::subschema::map_subschemas;

/// The maximum number of references that one parameter may follow. Otherwise a
/// few definitions that use each other twice could grow without bounds.
const MOST: usize = 500;

/// Keywords that are valid only at the root of a document.
const ROOT_ONLY: [&str; 5] = ["$schema", "$id", "id", "$defs", "definitions"];

/// The parameters without any reference.
pub(crate) fn inline_all(parameters: &Parameters) -> Parameters {
    Parameters {
        properties: parameters
            .properties
            .iter()
            .map(|(name, schema)| (name.clone(), inline(schema)))
            .collect(),
        required: parameters.required.clone(),
        additional: parameters.additional,
        filled: parameters.filled.clone(),
    }
}

/// The schema without any reference.
pub(crate) fn inline(schema: &Value) -> Value {
    let mut inliner = Inliner {
        root: schema,
        open: Vec::new(),
        left: MOST,
    };
    let mut schema = inliner.put_in_place(schema.clone());
    if let Value::Object(map) = &mut schema {
        map.retain(|keyword, _| !ROOT_ONLY.contains(&keyword.as_str()));
    }
    schema
}

/// The target of a reference, if it is inside this document.
pub(crate) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    root.pointer(pointer)
        .filter(|target| target.is_object() || target.is_boolean())
}

struct Inliner<'a> {
    root: &'a Value,
    /// The references that are being followed.
    open: Vec<String>,
    left: usize,
}

impl Inliner<'_> {
    fn put_in_place(&mut self, schema: Value) -> Value {
        let schema = unwrap_all_of(schema);
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else {
            return map_subschemas(without_definitions(schema), &mut |part| {
                self.put_in_place(part)
            });
        };
        let reference = reference.to_owned();
        let target = match resolve(self.root, &reference) {
            Some(target) if self.left > 0 && !self.open.contains(&reference) => target.clone(),
            _ => json!({}),
        };
        self.left = self.left.saturating_sub(1);
        self.open.push(reference);
        let in_place = self.put_in_place(merge(target, schema));
        self.open.pop();
        in_place
    }
}

/// Merges the siblings of a reference over its target.
fn merge(target: Value, beside: Value) -> Value {
    match (target, beside) {
        (Value::Object(mut target), Value::Object(mut beside)) => {
            beside.shift_remove("$ref");
            target.extend(beside);
            Value::Object(target)
        }
        (target, _) => target,
    }
}

/// Unwraps `{"allOf": [{"$ref": …}], "description": …}`, which generators write
/// for a single schema with a description.
fn unwrap_all_of(schema: Value) -> Value {
    let Value::Object(mut map) = schema else {
        return schema;
    };
    let only = match map
        .get("allOf")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
    {
        Some([Value::Object(only)]) if no_clash(only, &map) => only.clone(),
        _ => return Value::Object(map),
    };
    map.shift_remove("allOf");
    let mut merged = only;
    merged.extend(map);
    Value::Object(merged)
}

fn no_clash(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    one.keys()
        .all(|keyword| keyword == "description" || !other.contains_key(keyword))
}

fn without_definitions(schema: Value) -> Value {
    match schema {
        Value::Object(mut map) => {
            map.retain(|keyword, _| !matches!(keyword.as_str(), "$defs" | "definitions"));
            Value::Object(map)
        }
        schema => schema,
    }
}

#[cfg(test)]
#[path = "reference_tests.rs"]
mod tests;
