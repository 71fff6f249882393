//! A tool's description of itself, and the parameters derived from it.
//!
//! A program prints [`ToolDescriptions`] if its context's action is `schema`.
//! [`Parameters`] has the same content as JSON Schema, which the rest of
//! Windlass uses.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use crate::HandleAction;
use crate::definitions::own_document;

/// All tools of one program.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ToolDescriptions {
    /// Each of them.
    pub tools: Vec<ToolDescription>,
}

/// One tool, as its program describes it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ToolDescription {
    /// The tool's name.
    pub name: String,
    /// A line for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Details, given only on `describe_tools`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Examples, given only on `describe_tools`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples: Option<Examples>,
    /// The parameters of a call.
    #[serde(default)]
    pub parameters: IndexMap<String, Parameter>,
    /// Set if the tool can run as a handle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spawn: Option<SpawnDescription>,
    /// The program supports the action `format_arguments` for this tool: it
    /// prints a call's arguments in readable form.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub format_arguments: bool,
}

/// Examples as one text or as a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Examples {
    /// Free text.
    Text(String),
    /// One entry each.
    List(Vec<Value>),
}

/// How a tool runs as a handle.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpawnDescription {
    /// The tool can be spawned.
    #[serde(default)]
    pub stateful: bool,
    /// The actions on its handles; default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<Vec<HandleAction>>,
    /// The program's input and output mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io: Option<IoMode>,
}

/// The input and output mode of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IoMode {
    /// Pipes, plain text.
    #[default]
    Text,
    /// A pseudo-terminal.
    Terminal,
    /// Pipes, one JSON value per line in both directions.
    State,
}

/// One parameter, with the keys of the TOML config and of D06.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Parameter {
    /// Its JSON type. An entry without a type overrides one that the program
    /// describes.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ParameterType>,
    /// A line for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// A long description; replaces a missing summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Examples, given only on `describe_tools`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples: Option<Examples>,
    /// The default value; `null` is a valid default.
    #[serde(
        default,
        deserialize_with = "even_null",
        skip_serializing_if = "Option::is_none"
    )]
    pub default: Option<Value>,
    /// Whether it must be given; default: if it has no default value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// The values it may have.
    #[serde(default, rename = "enum", skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<Value>>,
    /// The elements of an array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<Parameter>>,
    /// The properties of an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<IndexMap<String, Parameter>>,
    /// Further JSON Schema keywords, passed on as they are.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Keeps an explicit `null`, which `Option` would read as absent.
fn even_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// One JSON type or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ParameterType {
    /// Such as `"string"`.
    One(String),
    /// Such as `["string", "null"]`.
    Many(Vec<String>),
}

impl Parameter {
    /// A call must give it.
    pub fn is_required(&self) -> bool {
        self.required.unwrap_or(self.default.is_none())
    }

    /// Whether it, or a value nested in it, has a default.
    pub fn has_default(&self) -> bool {
        let mut properties = self.properties.iter().flat_map(IndexMap::values);
        self.default.is_some()
            || self.items.as_ref().is_some_and(|items| items.has_default())
            || properties.any(Self::has_default)
    }

    /// The parameter as JSON Schema.
    pub fn to_schema(&self) -> Value {
        let mut schema = Map::new();
        match &self.kind {
            Some(ParameterType::One(kind)) => {
                schema.insert("type".into(), json!(kind));
            }
            Some(ParameterType::Many(kinds)) => {
                schema.insert("type".into(), json!(kinds));
            }
            None => {}
        }
        if let Some(text) = self.summary.as_ref().or(self.description.as_ref()) {
            schema.insert("description".into(), json!(text));
        }
        if let Some(options) = &self.options {
            schema.insert("enum".into(), json!(options));
        }
        if let Some(default) = &self.default {
            schema.insert("default".into(), default.clone());
        }
        if let Some(items) = &self.items {
            schema.insert("items".into(), items.to_schema());
        }
        if let Some(properties) = &self.properties {
            let nested = Parameters::from_entries(properties);
            schema.insert("properties".into(), json!(nested.properties));
            if !nested.required.is_empty() {
                schema.insert("required".into(), json!(nested.required));
            }
        }
        for (key, value) in &self.rest {
            schema.entry(key).or_insert_with(|| value.clone());
        }
        Value::Object(schema)
    }
}

/// The parameters of a call, as JSON Schema.
///
/// Each parameter's schema is a separate document: `#` is its root, and it
/// contains the definitions that it refers to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Parameters {
    /// The schema of each parameter, in the order the model sees them.
    pub properties: IndexMap<String, Value>,
    /// Those that must be given.
    pub required: Vec<String>,
    /// Arguments that are not listed are passed on too.
    pub additional: bool,
    /// Parameters whose defaults are added to calls that omit them. An MCP
    /// server adds its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filled: Vec<String>,
}

impl Parameters {
    /// Exactly these parameters, with the names of the required ones.
    pub fn exactly<const N: usize>(properties: [(&str, Value); N], required: &[&str]) -> Self {
        Self {
            properties: properties
                .into_iter()
                .map(|(name, schema)| (name.to_owned(), schema))
                .collect(),
            required: required.iter().map(|&name| name.to_owned()).collect(),
            additional: false,
            filled: Vec::new(),
        }
    }

    /// Reads the entries of a description or of the config.
    pub fn from_entries(entries: &IndexMap<String, Parameter>) -> Self {
        Self {
            properties: entries
                .iter()
                .map(|(name, parameter)| (name.clone(), parameter.to_schema()))
                .collect(),
            required: entries
                .iter()
                .filter(|(_, parameter)| parameter.is_required())
                .map(|(name, _)| name.clone())
                .collect(),
            additional: false,
            filled: entries
                .iter()
                .filter(|(_, parameter)| parameter.has_default())
                .map(|(name, _)| name.clone())
                .collect(),
        }
    }

    /// Reads the JSON Schema of an object, as MCP servers send it. Definitions
    /// at its root are copied into each parameter that refers to them.
    pub fn from_object_schema(schema: &Value) -> Self {
        let strings = |value: &Value| -> Vec<String> {
            value
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|item| item.as_str().map(str::to_owned))
                .collect()
        };
        Self {
            properties: schema["properties"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, property)| (name.clone(), own_document(schema, property)))
                .collect(),
            required: strings(&schema["required"]),
            additional: schema["additionalProperties"] != Value::Bool(false),
            filled: Vec::new(),
        }
    }

    /// Writes the JSON Schema of an object with these parameters. A parameter
    /// with definitions gets an `$id`, so that its references resolve within
    /// it.
    pub fn to_object_schema(&self) -> Value {
        let mut schema = json!({ "type": "object", "properties": self.properties });
        let properties = schema["properties"].as_object_mut().into_iter().flatten();
        for (number, (_, property)) in properties.enumerate() {
            if let Value::Object(property) = property
                && (property.contains_key("$defs") || property.contains_key("definitions"))
            {
                property.insert("$id".into(), json!(format!("urn:parameter:{number}")));
            }
        }
        if !self.required.is_empty() {
            schema["required"] = json!(self.required);
        }
        if !self.additional {
            schema["additionalProperties"] = json!(false);
        }
        schema
    }
}

#[cfg(test)]
#[path = "describe_tests.rs"]
mod tests;
