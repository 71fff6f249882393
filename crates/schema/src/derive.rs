//! Derives the parameters of a tool from a Rust struct of arguments.
//!
//! Start at [`derive_arguments`]. The schema that schemars derives is
//! simplified: doc comments become summaries and descriptions, an `Option`
//! becomes an optional parameter, and details of Rust (the width of an integer)
//! are removed.

use indexmap::IndexMap;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use windlass_protocol::{Parameter, ParameterType};

/// The description of a tool, derived from the struct of its arguments.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DerivedArguments {
    /// The first paragraph of the struct's doc comment.
    pub summary: Option<String>,
    /// The rest of the struct's doc comment.
    pub description: Option<String>,
    /// Its fields, in order.
    pub parameters: IndexMap<String, Parameter>,
}

/// Derives a tool's parameters from a struct with named fields. `None` if the
/// type is anything else.
pub fn derive_arguments<A: JsonSchema>() -> Option<DerivedArguments> {
    let settings = SchemaSettings::draft2020_12()
        .for_deserialize()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
    let schema = settings.into_generator().into_root_schema_for::<A>();
    let Value::Object(mut schema) = cleaned(schema.to_value()) else {
        return None;
    };
    let combined = |keyword: &&str| schema.contains_key(*keyword);
    if schema.get("type") != Some(&json!("object"))
        || ["oneOf", "anyOf", "allOf"].iter().any(combined)
    {
        return None;
    }
    let (summary, description) = split(schema.shift_remove("description"));
    Some(DerivedArguments {
        summary,
        description,
        parameters: entries(&mut schema),
    })
}

/// The parameters that an object's schema lists.
fn entries(schema: &mut Map<String, Value>) -> IndexMap<String, Parameter> {
    let required = match schema.shift_remove("required") {
        Some(Value::Array(required)) => required,
        _ => Vec::new(),
    };
    let Some(Value::Object(properties)) = schema.shift_remove("properties") else {
        return IndexMap::new();
    };
    let entry = |(name, schema): (String, Value)| {
        let mut parameter = parameter(schema);
        if !required.iter().any(|required| *required == *name) && parameter.default.is_none() {
            parameter.required = Some(false);
        }
        (name, parameter)
    };
    properties.into_iter().map(entry).collect()
}

fn parameter(schema: Value) -> Parameter {
    let Value::Object(schema) = schema else {
        // `true` admits everything.
        return Parameter::default();
    };
    let mut schema = without_null(schema);
    let variants = take_variants(&mut schema);
    let (summary, mut description) = split(schema.shift_remove("description"));
    let mut options = match schema.shift_remove("enum") {
        Some(Value::Array(options)) => Some(options),
        _ => None,
    };
    if let Some(variants) = variants {
        options = Some(variants.iter().map(|(value, _)| value.clone()).collect());
        description = with_variants(description, &variants);
        schema.entry("type").or_insert_with(|| json!("string"));
    }
    let kind = match schema.shift_remove("type") {
        Some(Value::String(kind)) => Some(ParameterType::One(kind)),
        Some(Value::Array(kinds)) => Some(ParameterType::Many(
            kinds
                .iter()
                .filter_map(|kind| kind.as_str().map(str::to_owned))
                .collect(),
        )),
        _ => None,
    };
    let items = schema
        .shift_remove("items")
        .map(|items| Box::new(parameter(items)));
    let default = schema
        .shift_remove("default")
        .filter(|default| !default.is_null());
    let properties = schema
        .contains_key("properties")
        .then(|| entries(&mut schema));
    Parameter {
        kind,
        summary,
        description,
        examples: None,
        default,
        required: None,
        options,
        items,
        properties,
        rest: schema,
    }
}

/// Removes the `null` of an `Option`: an omitted parameter means the same, and
/// every provider supports that.
fn without_null(mut schema: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            schema["type"] = only.clone();
        }
    }
    if let Some(Value::Array(options)) = schema.get_mut("enum") {
        options.retain(|option| !option.is_null());
    }
    let Some(Value::Array(choices)) = schema.get("anyOf") else {
        return schema;
    };
    let some: Vec<&Value> = choices
        .iter()
        .filter(|choice| choice["type"] != "null")
        .collect();
    if let ([Value::Object(only)], true) = (some.as_slice(), some.len() < choices.len()) {
        let mut only = only.clone();
        schema.shift_remove("anyOf");
        // Keywords beside the choice apply to this field only.
        only.extend(schema);
        return without_null(only);
    }
    schema
}

/// The variants of an enum without data, each with its doc comment.
fn take_variants(schema: &mut Map<String, Value>) -> Option<Vec<(Value, Option<String>)>> {
    let choices = schema.get("oneOf")?.as_array()?;
    let mut variants = Vec::new();
    for choice in choices {
        if choice["type"] != "string" {
            return None;
        }
        let text = choice["description"].as_str().map(str::to_owned);
        match (choice.get("const"), choice.get("enum")) {
            (Some(value), _) => variants.push((value.clone(), text)),
            (None, Some(Value::Array(values))) => {
                variants.extend(values.iter().map(|value| (value.clone(), None)));
            }
            _ => return None,
        }
    }
    schema.shift_remove("oneOf");
    Some(variants)
}

/// Adds the meaning of each variant to the details.
fn with_variants(
    description: Option<String>,
    variants: &[(Value, Option<String>)],
) -> Option<String> {
    let meaning = variants.iter().filter_map(|(value, text)| {
        let text = text.as_ref()?.replace('\n', " ");
        Some(format!("- {}: {text}", value.as_str()?))
    });
    let lines: Vec<String> = description.into_iter().chain(meaning).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The first paragraph of a doc comment, and the rest.
fn split(text: Option<Value>) -> (Option<String>, Option<String>) {
    let Some(Value::String(text)) = text else {
        return (None, None);
    };
    let (summary, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
    let some = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    (some(&summary.replace('\n', " ")), some(rest))
}

/// Removes details that no model needs: titles, formats of Rust, and
/// references. Only a recursive type leaves a reference behind; the inner
/// occurrence is described as an object.
fn cleaned(schema: Value) -> Value {
    match schema {
        Value::Object(map) if map.contains_key("$ref") => {
            let mut object = json!({ "type": "object" });
            if let Some(description) = map.get("description") {
                object["description"] = description.clone();
            }
            object
        }
        Value::Object(map) => map
            .into_iter()
            .filter(|(keyword, value)| match (keyword.as_str(), value) {
                ("title" | "format", Value::String(text)) => {
                    keyword == "format" && is_known_format(text)
                }
                ("$schema" | "$defs", _) => false,
                _ => true,
            })
            .map(|(keyword, value)| match keyword.as_str() {
                // These hold values, not schemas.
                "default" | "enum" | "const" | "examples" => (keyword, value),
                _ => (keyword, cleaned(value)),
            })
            .collect(),
        Value::Array(parts) => parts.into_iter().map(cleaned).collect(),
        other => other,
    }
}

fn is_known_format(format: &str) -> bool {
    matches!(
        format,
        "date-time"
            | "date"
            | "time"
            | "duration"
            | "email"
            | "hostname"
            | "ipv4"
            | "ipv6"
            | "uri"
            | "uuid"
            | "regex"
    )
}

#[cfg(test)]
#[path = "derive_tests.rs"]
mod tests;
