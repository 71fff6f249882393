//! A server's listing of its tools, and the tool definition made from it.

use std::fmt;

use rmcp::model::{JsonObject, Tool};
use serde_json::Value;
use windlass_protocol::{ListedTool, Parameters};
use windlass_runtime::ToolDefinition;

/// A tool as its server lists it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolListing {
    /// The server's name for it.
    pub name: String,
    /// The server's description.
    pub description: Option<String>,
    /// The server declares that the tool changes nothing.
    pub only_reads: bool,
    /// All other properties.
    pub details: ListedTool,
}

impl ToolListing {
    /// The tool definition as far as the server determines it. Its description
    /// and summary are both for the model.
    pub fn definition(&self, server: &str) -> ToolDefinition {
        let mut definition = ToolDefinition::new(&self.name);
        definition.summary.clone_from(&self.description);
        definition.shape.parameters = Parameters::from_object_schema(&self.details.input_schema);
        definition.shape.one_shot = true;
        definition.only_reads = self.only_reads;
        definition.origin = format!("MCP server `{server}`");
        definition.listed = Some(Box::new(self.details.clone()));
        definition
    }
}

impl From<Tool> for ToolListing {
    fn from(tool: Tool) -> Self {
        let text = tool.description.map(|text| text.trim().to_owned());
        let hints = tool.annotations.unwrap_or_default();
        let title = tool.title.or(hints.title);
        let object = |schema: &JsonObject| Value::Object(schema.clone());
        Self {
            name: tool.name.into_owned(),
            description: text.filter(|text| !text.is_empty()).or(title.clone()),
            only_reads: hints.read_only_hint == Some(true),
            details: ListedTool {
                title,
                input_schema: object(&tool.input_schema),
                output_schema: tool.output_schema.as_deref().map(object),
                destructive: hints.destructive_hint,
                idempotent: hints.idempotent_hint,
                open_world: hints.open_world_hint,
            },
        }
    }
}

/// The difference between two listings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Change {
    new: Vec<String>,
    gone: Vec<String>,
    changed: Vec<String>,
}

impl Change {
    /// Compares two listings; `None` if they are equal.
    pub(crate) fn between(before: &[ToolListing], now: &[ToolListing]) -> Option<Self> {
        let find = |tools: &[ToolListing], name: &str| {
            let mut same = tools.iter().filter(|tool| tool.name == name);
            same.next().cloned()
        };
        let names = |tools: &[ToolListing], wanted: &dyn Fn(&ToolListing) -> bool| -> Vec<String> {
            let tools = tools.iter().filter(|tool| wanted(tool));
            tools.map(|tool| tool.name.clone()).collect()
        };
        let change = Self {
            new: names(now, &|tool| find(before, &tool.name).is_none()),
            gone: names(before, &|tool| find(now, &tool.name).is_none()),
            changed: names(now, &|tool| {
                find(before, &tool.name).is_some_and(|old| old != *tool)
            }),
        };
        let same = change.new.is_empty() && change.gone.is_empty() && change.changed.is_empty();
        (!same).then_some(change)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("new", &self.new),
            ("gone", &self.gone),
            ("changed", &self.changed),
        ];
        let told = parts.into_iter().filter(|(_, names)| !names.is_empty());
        let told = told.map(|(word, names)| format!("{word}: `{}`", names.join("`, `")));
        formatter.write_str(&told.collect::<Vec<_>>().join("; "))
    }
}

#[cfg(test)]
#[path = "listing_tests.rs"]
mod tests;
