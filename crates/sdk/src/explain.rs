//! Error messages for invalid arguments: the argument, the expected value and
//! the given value.
//!
//! Start at [`read`]. Serde decides which values are valid, so that a lenient
//! field stays lenient; the tool's own description provides the text of the
//! message.

use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use windlass_protocol::{Arguments, Parameter, ParameterType};

use crate::Error;

type Entries = IndexMap<String, Parameter>;

/// Reads arguments as their struct.
pub(crate) fn read<A: DeserializeOwned>(
    arguments: Arguments,
    parameters: impl FnOnce() -> Entries,
) -> Result<A, Error> {
    // An argument of `null` is one that was left out.
    let given = Value::Object(
        arguments
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .collect(),
    );
    serde_path_to_error::deserialize(&given).map_err(|error| {
        let object = given.as_object().expect("it was made of one");
        let words = wrong_in(object, &parameters(), "");
        Error::new(words.unwrap_or_else(|| in_serdes_words(&error)))
    })
}

/// The error for arguments that are known to be invalid.
pub(crate) fn wrong_arguments(arguments: &Arguments, entries: &Entries) -> Error {
    let words = wrong_in(arguments, entries, "");
    Error::new(words.unwrap_or_else(|| "the arguments are invalid".to_owned()))
}

fn in_serdes_words(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let path = error.path().to_string();
    if path == "." {
        return format!("the arguments are invalid: {}", error.inner());
    }
    format!("argument `{path}`: {}", error.inner())
}

fn wrong_in(object: &Map<String, Value>, entries: &Entries, path: &str) -> Option<String> {
    entries.iter().find_map(|(name, parameter)| {
        let path = match path {
            "" => name.clone(),
            path => format!("{path}.{name}"),
        };
        match object.get(name) {
            None if parameter.is_required() => Some(format!(
                "argument `{path}` is missing; expected {}",
                expected(parameter)
            )),
            None => None,
            // In a nested object, an optional field may be null.
            Some(Value::Null) if !parameter.is_required() => None,
            Some(value) => wrong(value, parameter, &path),
        }
    })
}

fn wrong(value: &Value, parameter: &Parameter, path: &str) -> Option<String> {
    if !fits(value, parameter) {
        return Some(format!(
            "argument `{path}`: expected {}, got {}",
            expected(parameter),
            brief(value)
        ));
    }
    match (value, &parameter.properties, &parameter.items) {
        (Value::Object(object), Some(properties), _) => wrong_in(object, properties, path),
        (Value::Array(values), _, Some(items)) => values
            .iter()
            .enumerate()
            .find_map(|(place, value)| wrong(value, items, &format!("{path}[{place}]"))),
        _ => None,
    }
}

fn fits(value: &Value, parameter: &Parameter) -> bool {
    let known = parameter
        .options
        .as_ref()
        .is_none_or(|options| options.contains(value));
    let limit = |keyword: &str| parameter.rest.get(keyword).and_then(Value::as_f64);
    let within = value.as_f64().is_none_or(|number| {
        limit("minimum").is_none_or(|least| number >= least)
            && limit("maximum").is_none_or(|most| number <= most)
    });
    let kind = match &parameter.kind {
        None => true,
        Some(ParameterType::One(kind)) => is_a(value, kind),
        Some(ParameterType::Many(kinds)) => kinds.iter().any(|kind| is_a(value, kind)),
    };
    known && within && kind
}

fn is_a(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn expected(parameter: &Parameter) -> String {
    if let Some(options) = &parameter.options {
        let options: Vec<String> = options.iter().map(Value::to_string).collect();
        return format!("one of {}", options.join(", "));
    }
    let kinds: Vec<&str> = match &parameter.kind {
        None => vec!["a value"],
        Some(ParameterType::One(kind)) => vec![in_words(kind)],
        Some(ParameterType::Many(kinds)) => kinds.iter().map(|kind| in_words(kind)).collect(),
    };
    let limit = |keyword: &str| parameter.rest.get(keyword);
    let limits = match (limit("minimum"), limit("maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" of at least {least}"),
        (None, Some(most)) => format!(" of at most {most}"),
        (None, None) => String::new(),
    };
    format!("{}{limits}", kinds.join(" or "))
}

fn in_words(kind: &str) -> &str {
    match kind {
        "string" => "a string",
        "integer" => "an integer",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        other => other,
    }
}

/// A value in at most 60 characters.
fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

#[cfg(test)]
#[path = "explain_tests.rs"]
mod tests;
