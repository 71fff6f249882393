//! The tools as a client is shown them.

use std::sync::Arc;

use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use windlass_protocol::{AwaitReply, HandleAction, HandleView, Notice, Parameters};
use windlass_runtime::{Await, Catalogue, ToolDefinition};
use windlass_schema::{Dialect, render};

use crate::wording::{OF_LASTING_TOOL, of_await};

/// Every tool that is offered, in the catalogue's order.
pub fn offered(catalogue: &Catalogue) -> Vec<Tool> {
    catalogue
        .offered()
        .map(|tool| show(tool.definition()))
        .collect()
}

fn show(definition: &ToolDefinition) -> Tool {
    let summary = definition
        .summary
        .as_ref()
        .or(definition.description.as_ref());
    // Clients expect every tool to say something of itself.
    let unnamed = || format!("{}.", title(&definition.name));
    let mut text = summary.cloned().unwrap_or_else(unnamed);
    if let Some(note) = note(definition) {
        if !text.is_empty() {
            text.push_str(if text.ends_with('.') { " " } else { ". " });
        }
        text.push_str(&note);
    }
    let mut tool = Tool::new(
        definition.name.clone(),
        text,
        Arc::new(input_schema(definition)),
    );
    let listed = definition.listed.as_ref();
    let given = listed.and_then(|listed| listed.title.clone());
    tool.title = Some(given.unwrap_or_else(|| title(&definition.name)));
    tool.output_schema = output_schema(definition).map(|schema| Arc::new(object(schema)));
    tool.annotations = Some(annotations(definition));
    tool.meta = always_loaded();
    tool
}

/// The schema of a tool's arguments. A server's schema that parameters cannot
/// express is shown unchanged, unless the configuration has changed the tool.
fn input_schema(definition: &ToolDefinition) -> JsonObject {
    let listed = definition.listed.as_ref();
    let written = listed.and_then(|listed| listed.input_schema.as_object());
    let shape = &definition.shape;
    if let Some(written) = written
        && shape.actions.is_empty()
        && written
            .keys()
            .any(|key| !PARAMETERS.contains(&key.as_str()))
        && shape.parameters == Parameters::from_object_schema(&Value::Object(written.clone()))
    {
        return written.clone();
    }
    object(render(shape, Dialect::Mcp))
}

/// The keywords of an object's schema that parameters can express.
const PARAMETERS: [&str; 6] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "title",
    "description",
];

/// Instructions on handles that a model needs to use the tool.
fn note(definition: &ToolDefinition) -> Option<String> {
    if definition.name == Await::NAME {
        return Some(of_await());
    }
    let spawns = definition.shape.actions.contains(HandleAction::Spawn);
    spawns.then(|| OF_LASTING_TOOL.to_owned())
}

/// Asks clients that defer tools behind a search not to do so: a model must see
/// `await` together with the tools it waits for.
fn always_loaded() -> Option<MetaObject> {
    serde_json::from_value(json!({"anthropic/alwaysLoad": true})).ok()
}

/// A name as a person would write it.
fn title(name: &str) -> String {
    let mut words = name.replace(['_', '-'], " ");
    if let Some(first) = words.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    words
}

/// Hints about the effects of a call. For another MCP server's tool they are
/// its server's, unless configured otherwise.
fn annotations(definition: &ToolDefinition) -> ToolAnnotations {
    let mut annotations = ToolAnnotations::default();
    let actions = definition.shape.actions;
    let only_reads = definition.only_reads
        || !definition.shape.one_shot && actions.iter().all(|action| action == HandleAction::Fetch);
    let listed = definition.listed.as_deref();
    annotations.read_only_hint = Some(only_reads);
    if !only_reads {
        let destructive = listed.and_then(|listed| listed.destructive);
        annotations.destructive_hint = Some(destructive.unwrap_or(true));
        annotations.idempotent_hint = listed.and_then(|listed| listed.idempotent);
    }
    annotations.open_world_hint = Some(match listed {
        Some(listed) => listed.open_world.unwrap_or(true),
        None => !only_reads,
    });
    annotations
}

/// The schema of structured content. Plain one-shots reply with text only,
/// unless their server declares a schema.
fn output_schema(definition: &ToolDefinition) -> Option<Value> {
    let mut schema = if definition.name == Await::NAME {
        schema_of::<AwaitReply>()
    } else if definition.shape.actions.is_empty() {
        return definition.listed.as_ref()?.output_schema.clone();
    } else {
        let mut schema = schema_of::<HandleView>();
        // A call without `action` has no handle.
        schema.remove("required");
        property(&mut schema, "output", json!({"type": "string"}));
        schema
    };
    // A handle's fields may grow.
    schema.remove("additionalProperties");
    let mut notice = schema_of::<Notice>();
    if let Some(Value::Object(definitions)) = notice.remove("$defs") {
        let all = schema.entry("$defs").or_insert_with(|| json!({}));
        if let Value::Object(all) = all {
            all.extend(definitions);
        }
    }
    property(
        &mut schema,
        "notices",
        json!({"type": "array", "items": notice}),
    );
    Some(Value::Object(schema))
}

fn schema_of<T: schemars::JsonSchema>() -> JsonObject {
    let mut schema = object(schemars::schema_for!(T).to_value());
    schema.remove("$schema");
    terse(&mut schema);
    schema
}

/// Removes parts that are only for readers of the documentation, and unknown
/// formats.
fn terse(schema: &mut JsonObject) {
    for key in ["title", "description", "format"] {
        // A property may have that name.
        if schema.get(key).is_some_and(Value::is_string) {
            schema.remove(key);
        }
    }
    for value in schema.values_mut() {
        match value {
            Value::Object(schema) => terse(schema),
            Value::Array(items) => {
                for item in items {
                    if let Value::Object(schema) = item {
                        terse(schema);
                    }
                }
            }
            _ => {}
        }
    }
}

fn property(schema: &mut JsonObject, name: &str, property: Value) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert(name.to_owned(), property);
    }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        other => unreachable!("a tool's schema is an object, not {other}"),
    }
}

#[cfg(test)]
#[path = "offer_tests.rs"]
mod tests;
