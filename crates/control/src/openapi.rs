//! The description of the interface, in `OpenAPI` 3.1.
//!
//! Start at [`openapi`]. What there is stands in `operations.rs`; what bodies
//! look like is made from the protocol's types. Tests hold the table and the
//! router together, and the repository's `openapi.json` to both.

mod operation;
mod operations;

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use miniz_oxide::inflate::decompress_to_vec;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use operations::operations;

/// The description, as it is served at `/openapi.json`.
pub fn openapi() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for operation in operations() {
        let described = operation.describe(&mut generator);
        let path = paths.entry(operation.path).or_default();
        path.insert(operation.method.to_owned(), described);
    }
    let responses = operation::refusals(&mut generator);
    let token = "The token that the server makes at its first start. A control socket needs none.";
    let mut description = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Windlass",
            "description": "A stateful tool runtime for AI assistants.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "http://127.0.0.1:8413", "description": "`windlass serve` on this machine." }],
        "tags": tags(),
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "responses": responses,
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer", "description": token },
            },
        },
    });
    plain(&mut description);
    let mut references = HashMap::new();
    count_references(&description, &mut references);
    if let Some(Value::Object(schemas)) = description.pointer_mut("/components/schemas") {
        name_parts(schemas);
        merge_tags(schemas, &references);
    }
    description
}

fn tags() -> Value {
    let mut tags =
        vec![json!({ "name": "windlass", "description": "Sessions, handles and what they ask." })];
    if cfg!(feature = "opencode") {
        tags.push(json!({ "name": "opencode", "description": "What clients of opencode ask." }));
    }
    tags.into()
}

/// Puts the tag of an alternative, which stands beside a reference, into the
/// schema that is referred to: generators do not read what stands beside one. A
/// schema that is referred to elsewhere too stays as it is, and the alternative
/// becomes a copy of it.
fn merge_tags(schemas: &mut Map<String, Value>, references: &HashMap<String, usize>) {
    let mut merged = Map::new();
    let known = schemas.clone();
    for schema in schemas.values_mut() {
        let Some(Value::Array(alternatives)) = schema.get_mut("oneOf") else {
            continue;
        };
        for alternative in alternatives {
            let Some(path) = alternative["$ref"].as_str().map(str::to_owned) else {
                continue;
            };
            let name = path.rsplit('/').next().unwrap_or_default();
            let Some(tag) = alternative.get("properties") else {
                continue;
            };
            let mut whole = known[name].clone();
            let properties = [tag, &whole["properties"]];
            let properties = properties
                .into_iter()
                .filter_map(Value::as_object)
                .flatten();
            let properties: Map<_, _> = properties
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            let required = [&alternative["required"], &whole["required"]];
            let required = required.into_iter().filter_map(Value::as_array).flatten();
            let required: Vec<Value> = required.cloned().collect();
            whole["properties"] = Value::Object(properties);
            whole["required"] = Value::Array(required);
            if references.get(&path) == Some(&1) {
                merged.insert(name.to_owned(), whole);
                *alternative = json!({ "$ref": path });
            } else {
                *alternative = whole;
            }
        }
    }
    schemas.extend(merged);
}

/// How often each schema is referred to.
fn count_references(value: &Value, counts: &mut HashMap<String, usize>) {
    match value {
        Value::Object(object) => {
            if let Some(Value::String(path)) = object.get("$ref") {
                *counts.entry(path.clone()).or_default() += 1;
            }
            for value in object.values() {
                count_references(value, counts);
            }
        }
        Value::Array(values) => {
            for value in values {
                count_references(value, counts);
            }
        }
        _ => {}
    }
}

/// Gives each object within an alternative a name of its own: generators make
/// a class of every one, and would make those without a name twice.
fn name_parts(schemas: &mut Map<String, Value>) {
    let mut named = Map::new();
    for (name, schema) in schemas.iter_mut() {
        let Some(Value::Array(alternatives)) = schema.get_mut("oneOf") else {
            continue;
        };
        for (place, alternative) in alternatives.iter_mut().enumerate() {
            let Some(Value::Object(properties)) = alternative.get_mut("properties") else {
                continue;
            };
            for (property, part) in properties.iter_mut() {
                if part.get("type") == Some(&json!("object")) {
                    let mut word = property.clone();
                    if let Some(first) = word.get_mut(0..1) {
                        first.make_ascii_uppercase();
                    }
                    let part_name = format!("{name}{place}{word}");
                    let reference = json!({ "$ref": format!("#/components/schemas/{part_name}") });
                    named.insert(part_name, std::mem::replace(part, reference));
                }
            }
        }
    }
    schemas.extend(named);
}

/// Writes schemas in the words that every generator of clients knows: an object
/// for a schema that admits anything, and `items` for every array.
fn plain(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for key in ["schema", "items"] {
                if map.get(key) == Some(&Value::Bool(true)) {
                    map.insert(key.to_owned(), json!({}));
                }
            }
            if let Some(Value::Object(properties)) = map.get_mut("properties") {
                for property in properties.values_mut() {
                    if *property == Value::Bool(true) {
                        *property = json!({});
                    }
                }
            }
            if let Some(Value::Array(places)) = map.get("prefixItems")
                && !map.contains_key("items")
            {
                let first = places.first().cloned().unwrap_or_else(|| json!({}));
                let alike = places.iter().all(|place| *place == first);
                map.insert("items".to_owned(), if alike { first } else { json!({}) });
            }
            map.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

/// `openapi.json` of the repository, compressed by the build script.
fn committed() -> Value {
    let packed = include_bytes!(concat!(env!("OUT_DIR"), "/openapi.deflate"));
    let text = decompress_to_vec(packed).expect("the build script has written it");
    serde_json::from_slice(&text).expect("a test compares it")
}

/// Answers with the description. With all features it is the repository's, so
/// that the program does not contain the code that describes every type.
pub(crate) async fn show() -> Response {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = TEXT.get_or_init(|| {
        let description = if cfg!(feature = "opencode") {
            committed()
        } else {
            openapi()
        };
        description.to_string()
    });
    ([(CONTENT_TYPE, "application/json")], text.as_str()).into_response()
}

#[cfg(test)]
#[path = "openapi_tests.rs"]
mod tests;
