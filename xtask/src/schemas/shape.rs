//! Adjusts the valid output of schemars for readers and code generators.
//!
//! Each function except [`finish`] and [`tag`] changes one schema. They are
//! applied to all schemas, outermost first.

use std::collections::HashMap;

use schemars::Schema;
use serde_json::{Map, Value, json};

/// Moves a tagged union's tags into its members, and sorts the keywords for
/// readers.
pub(super) fn finish(name: &str, mut schema: Schema) -> Value {
    let object = schema.ensure_object();
    let mut uses = HashMap::new();
    count_references(&Value::Object(object.clone()), &mut uses);
    let tags = take_tags(object, &uses);
    let mut finished = Map::new();
    finished.extend(object.shift_remove_entry("$schema"));
    finished.insert("title".into(), json!(name));
    object.shift_remove("title");
    finished.extend(object.shift_remove_entry("description"));
    let definitions = object.shift_remove("$defs");
    finished.append(object);
    if let Some(Value::Object(mut definitions)) = definitions {
        for (definition, property, tag_schema) in tags {
            if let Some(Value::Object(member)) = definitions.get_mut(&definition) {
                tag(member, &property, &tag_schema);
            }
        }
        finished.insert("$defs".into(), Value::Object(definitions));
    }
    Value::Object(finished)
}

/// Makes `property` the first of an object's required properties.
pub(super) fn tag(object: &mut Map<String, Value>, property: &str, schema: &Value) {
    let mut properties = Map::new();
    properties.insert(property.into(), schema.clone());
    if let Some(Value::Object(others)) = object.get("properties") {
        properties.extend(others.clone());
    }
    let mut required = vec![json!(property)];
    if let Some(Value::Array(others)) = object.get("required") {
        required.extend(others.iter().cloned());
    }
    object.insert("properties".into(), Value::Object(properties));
    object.insert("required".into(), Value::Array(required));
}

/// A definition, the property to add to it, and that property's schema.
type Tag = (String, String, Value);

/// Counts the references to each definition.
fn count_references(value: &Value, uses: &mut HashMap<String, usize>) {
    match value {
        Value::Object(object) => {
            if let Some(definition) = referred(object) {
                *uses.entry(definition.to_owned()).or_default() += 1;
            }
            object
                .values()
                .for_each(|inner| count_references(inner, uses));
        }
        Value::Array(items) => items.iter().for_each(|inner| count_references(inner, uses)),
        _ => {}
    }
}

/// The definition that an object refers to.
fn referred(object: &Map<String, Value>) -> Option<&str> {
    object.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

/// Removes the tags from every union of `{"$ref", "properties": {tag}}`, so
/// that its members are plain references. If a definition is also referred to
/// elsewhere, without a tag, the union is unchanged.
fn take_tags(object: &mut Map<String, Value>, uses: &HashMap<String, usize>) -> Vec<Tag> {
    let mut tags = Vec::new();
    for (keyword, value) in object.iter_mut() {
        match value {
            Value::Array(members) if keyword == "oneOf" => {
                let taken = members
                    .iter_mut()
                    .filter_map(|member| take_tag(member, uses));
                tags.extend(taken);
            }
            Value::Object(inner) => tags.extend(take_tags(inner, uses)),
            _ => {}
        }
    }
    tags
}

fn take_tag(member: &mut Value, uses: &HashMap<String, usize>) -> Option<Tag> {
    let member = member.as_object_mut()?;
    let definition = referred(member).filter(|definition| uses.get(*definition) == Some(&1))?;
    let (property, schema) = member.get("properties")?.as_object()?.iter().next()?;
    let tag = (definition.to_owned(), property.clone(), schema.clone());
    member.retain(|keyword, _| keyword == "$ref");
    Some(tag)
}

/// Reduces a description to its first paragraph; the rest is for readers of the
/// Rust documentation.
pub(super) fn first_paragraph(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        let paragraph = description.split("\n\n").next().unwrap_or_default();
        *description = paragraph.replace('\n', " ");
    }
}

/// Removes the formats of numbers, which are not part of JSON Schema: strict
/// validators refuse them.
pub(super) fn without_number_format(schema: &mut Schema) {
    let kind = schema.get("type").cloned().unwrap_or_default();
    let is_number = |kind: &Value| kind == "integer" || kind == "number";
    let is_number = is_number(&kind)
        || kind
            .as_array()
            .is_some_and(|kinds| kinds.iter().any(is_number));
    if is_number {
        schema.remove("format");
    }
}

/// Turns a choice of strings into an `enum`, with the values explained in the
/// description.
pub(super) fn plain_enum(schema: &mut Schema) {
    let Some(choices) = schema.get("oneOf").and_then(Value::as_array) else {
        return;
    };
    let words: Option<Vec<&str>> = choices
        .iter()
        .map(|choice| choice.get("const")?.as_str())
        .collect();
    let Some(words) = words else {
        return;
    };
    let explained = choices.iter().zip(&words).filter_map(|(choice, word)| {
        let says = choice.get("description")?.as_str()?;
        Some(format!("`{word}`: {says}"))
    });
    let summary = schema.get("description").and_then(Value::as_str);
    let description: Vec<String> = summary
        .map(str::to_owned)
        .into_iter()
        .chain(explained)
        .collect();
    let description = description.join("\n");
    let words = json!(words);
    let object = schema.ensure_object();
    object.shift_remove("oneOf");
    object.insert("type".into(), json!("string"));
    object.insert("enum".into(), words);
    object.insert("description".into(), json!(description));
}

/// Removes `null` from optional fields: they are absent instead.
pub(super) fn without_null(schema: &mut Schema) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|one| one != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".into(), only);
        }
    }
    let Some(Value::Array(choices)) = schema.get_mut("anyOf") else {
        return;
    };
    choices.retain(|choice| choice != &json!({ "type": "null" }));
    if let [Value::Object(only)] = choices.as_slice() {
        let only = only.clone();
        let object = schema.ensure_object();
        object.shift_remove("anyOf");
        for (keyword, value) in only {
            object.entry(keyword).or_insert(value);
        }
    }
}
