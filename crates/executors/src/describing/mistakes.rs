//! Finds misspelt keys in a program's description.
//!
//! An unknown key has no effect, so that newer descriptions work with older
//! runtimes. An unknown key that is similar to a missing known one is probably
//! a mistake.

use serde_json::{Map, Value};

const TOOL: &[&str] = &[
    "name",
    "summary",
    "description",
    "examples",
    "parameters",
    "spawn",
    "format_arguments",
];

const PARAMETER: &[&str] = &[
    "type",
    "summary",
    "description",
    "examples",
    "default",
    "required",
    "enum",
    "items",
    "properties",
];

/// Keywords of JSON Schema, some of which resemble our keys.
const KEYWORDS: &[&str] = &[
    "$comment",
    "$defs",
    "$id",
    "$ref",
    "$schema",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "definitions",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "else",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "if",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "readOnly",
    "then",
    "title",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
    "writeOnly",
];

/// Common synonyms of our keys.
const SYNONYMS: &[(&str, &str)] = &[
    ("args", "parameters"),
    ("arguments", "parameters"),
    ("inputSchema", "parameters"),
    ("input_schema", "parameters"),
    ("params", "parameters"),
    ("properties", "parameters"),
    ("schema", "parameters"),
    ("choices", "enum"),
    ("options", "enum"),
    ("values", "enum"),
    ("optional", "required"),
];

/// The minimum similarity of a misspelt key.
const LIKE: f64 = 0.7;

/// The mistakes in a tool's entry, one sentence each.
pub(super) fn mistakes(entry: &Value) -> Vec<String> {
    let mut mistakes = Vec::new();
    if let Value::Object(entry) = entry {
        find(entry, "", TOOL, &mut mistakes);
        in_parameters(entry.get("parameters"), "parameters", &mut mistakes);
    }
    mistakes
}

/// Whether the parameters are a JSON Schema, not a table with an entry for
/// each.
pub(super) fn is_object_schema(entry: &Value) -> bool {
    let parameters = &entry["parameters"];
    parameters["type"].is_string()
        || parameters["$schema"].is_string()
        || parameters["required"].is_array()
}

fn in_parameters(parameters: Option<&Value>, path: &str, mistakes: &mut Vec<String>) {
    let parameters = parameters.and_then(Value::as_object);
    for (name, parameter) in parameters.into_iter().flatten() {
        in_parameter(parameter, &format!("{path}.{name}"), mistakes);
    }
}

fn in_parameter(parameter: &Value, path: &str, mistakes: &mut Vec<String>) {
    let Value::Object(parameter) = parameter else {
        return;
    };
    find(parameter, path, PARAMETER, mistakes);
    in_parameters(
        parameter.get("properties"),
        &format!("{path}.properties"),
        mistakes,
    );
    if let Some(items) = parameter.get("items") {
        in_parameter(items, &format!("{path}.items"), mistakes);
    }
}

fn find(object: &Map<String, Value>, path: &str, known: &[&str], mistakes: &mut Vec<String>) {
    for key in object.keys() {
        let key = key.as_str();
        if known.contains(&key) || KEYWORDS.contains(&key) || key.starts_with("x-") {
            continue;
        }
        let synonym = SYNONYMS
            .iter()
            .find(|(word, meant)| *word == key && known.contains(meant))
            .map(|(_, meant)| *meant)
            .filter(|meant| !object.contains_key(*meant));
        let alike = known
            .iter()
            .chain(KEYWORDS.iter().filter(|_| !path.is_empty()))
            .filter(|name| !object.contains_key(**name))
            .map(|name| (strsim::normalized_damerau_levenshtein(key, name), *name))
            .filter(|(likeness, _)| *likeness >= LIKE)
            .max_by(|left, right| left.0.total_cmp(&right.0))
            .map(|(_, meant)| meant);
        if let Some(meant) = synonym.or(alike) {
            let place = if path.is_empty() {
                String::new()
            } else {
                format!(" in `{path}`")
            };
            mistakes.push(format!(
                "its description has the key `{key}`{place}, which has no effect; did you mean `{meant}`?"
            ));
        }
    }
}

#[cfg(test)]
#[path = "mistakes_tests.rs"]
mod tests;
