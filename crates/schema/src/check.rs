//! Checks of a tool's schema, made before it is written.
//!
//! One invalid tool fails a provider's whole request, so a tool is refused when
//! it is registered. The checks concern the structure of a schema, not the
//! values that a keyword allows.

use serde_json::Value;
use windlass_protocol::ToolShape;

use crate::reference::resolve;
use crate::subschema::map_subschemas;

/// A tool that cannot be offered to a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// The tool's name is not accepted by every provider.
    #[error("`{0}` cannot be a tool's name; use a letter or `_`, then up to 47 of A-Z a-z 0-9 _ -")]
    ToolName(String),
    /// A parameter's name is not accepted by every provider.
    #[error("`{0}` cannot be a parameter's name; use 1 to 64 of A-Z a-z 0-9 _ . -")]
    ParameterName(String),
    /// A tool with actions has a parameter with a reserved name.
    #[error(
        "a tool with actions cannot have a parameter `{0}`; {list} are reserved",
        list = ToolShape::RESERVED.join(", ")
    )]
    Reserved(String),
    /// A required parameter is not among the parameters.
    #[error("parameter `{0}` is required but not described")]
    Undescribed(String),
    /// A parameter's schema is not JSON Schema.
    #[error("parameter `{parameter}` has an invalid JSON Schema: {problem}")]
    NotSchema {
        parameter: String,
        /// The problem.
        problem: String,
    },
}

/// Checks a tool's name: a letter or `_`, followed by at most 47 letters,
/// digits, `_` or `-`.
pub fn check_name(name: &str) -> Result<(), SchemaError> {
    let first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let later = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let fits =
        name.len() <= 48 && name.bytes().next().is_some_and(first) && name.bytes().all(later);
    if fits {
        Ok(())
    } else {
        Err(SchemaError::ToolName(shorten(name)))
    }
}

/// Checks that a shape's schema is accepted everywhere and means what it says.
pub fn check(shape: &ToolShape) -> Result<(), SchemaError> {
    let parameters = &shape.parameters;
    for (name, schema) in &parameters.properties {
        if !fits_parameter(name) {
            return Err(SchemaError::ParameterName(shorten(name)));
        }
        let is_keep = shape.keep && name == ToolShape::KEEP;
        if !shape.actions.is_empty() && (is_keep || ToolShape::RESERVED.contains(&name.as_str())) {
            return Err(SchemaError::Reserved(name.clone()));
        }
        if let Some(problem) = problem(schema, schema) {
            return Err(SchemaError::NotSchema {
                parameter: name.clone(),
                problem,
            });
        }
    }
    let undescribed = parameters
        .required
        .iter()
        .find(|name| !parameters.properties.contains_key(*name));
    match undescribed {
        Some(name) => Err(SchemaError::Undescribed(name.clone())),
        None => Ok(()),
    }
}

fn fits_parameter(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

/// The first structural problem of a schema, if any.
fn problem(root: &Value, schema: &Value) -> Option<String> {
    let map = match schema {
        Value::Object(map) => map,
        Value::Bool(_) => return None,
        other => {
            return Some(format!(
                "`{}` is neither an object nor a boolean",
                brief(other)
            ));
        }
    };
    let wrong = map.iter().find_map(|(keyword, value)| {
        keyword_problem(root, keyword, value).map(|expected| (keyword, value, expected))
    });
    if let Some((keyword, value, expected)) = wrong {
        return Some(format!("`{keyword}` is `{}`, not {expected}", brief(value)));
    }
    let mut found = None;
    map_subschemas(schema.clone(), &mut |part| {
        if found.is_none() {
            found = problem(root, &part);
        }
        part
    });
    found
}

/// The expected value of the keyword, if the given one is wrong.
fn keyword_problem(root: &Value, keyword: &str, value: &Value) -> Option<&'static str> {
    const KINDS: [&str; 7] = [
        "string", "number", "integer", "boolean", "object", "array", "null",
    ];
    let is_kind = |kind: &Value| kind.as_str().is_some_and(|kind| KINDS.contains(&kind));
    let (fits, expected) = match keyword {
        "type" => (
            match value {
                Value::Array(kinds) => !kinds.is_empty() && kinds.iter().all(is_kind),
                kind => is_kind(kind),
            },
            "a JSON type or a list of them",
        ),
        "enum" => (
            value.as_array().is_some_and(|options| !options.is_empty()),
            "a list of values",
        ),
        "required" => (
            value
                .as_array()
                .is_some_and(|names| names.iter().all(Value::is_string)),
            "a list of names",
        ),
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => {
            (value.is_object(), "an object")
        }
        "anyOf" | "oneOf" | "allOf" | "prefixItems" => (
            value.as_array().is_some_and(|schemas| !schemas.is_empty()),
            "a list of schemas",
        ),
        "description" | "title" | "pattern" | "format" => (value.is_string(), "a string"),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            (value.is_number(), "a number")
        }
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            (value.is_u64(), "a whole number")
        }
        "$ref" => (
            value
                .as_str()
                .is_some_and(|reference| resolve(root, reference).is_some()),
            "a reference to something inside this parameter's own schema",
        ),
        _ => return None,
    };
    (!fits).then_some(expected)
}

fn brief(value: &Value) -> String {
    shorten(&value.to_string())
}

/// Cuts a text to at most 60 characters.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
