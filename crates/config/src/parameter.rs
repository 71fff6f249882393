//! Parameters of a tool, as TOML writes them.

use indexmap::IndexMap;
use windlass_protocol::{Examples, Parameter, ParameterType};

use crate::error::ProblemKind;
use crate::expected::ExpectedValue;
use crate::keys;
use crate::node::{Node, Value};
use crate::read::{self, ConfigReader, Table};

/// Reads a table of parameters.
pub(crate) fn read_parameters(
    reader: &mut ConfigReader,
    parent: &Table<'_>,
    key: &str,
) -> Option<IndexMap<String, Parameter>> {
    let table = reader.table(parent, key)?;
    if is_object_schema(&table) {
        let key = table.path.clone();
        reader.problem(table.span, ProblemKind::SchemaParameters { key });
        return None;
    }
    let mut parameters = IndexMap::new();
    for name in table.entries.keys() {
        if let Some(parameter) = read_parameter(reader, &table, name) {
            parameters.insert(name.clone(), parameter);
        }
    }
    Some(parameters)
}

/// Whether the table is a JSON Schema: its `type` is a string, while a
/// parameter of that name would be a table.
fn is_object_schema(table: &Table<'_>) -> bool {
    let is_word = |key: &str| {
        table
            .node(key)
            .is_some_and(|node| matches!(node.value, Value::String(_)))
    };
    let is_list = |key: &str| {
        table
            .node(key)
            .is_some_and(|node| matches!(node.value, Value::Array(_)))
    };
    is_word("type") || is_word("$schema") || is_list("required")
}

fn read_parameter(reader: &mut ConfigReader, parent: &Table<'_>, key: &str) -> Option<Parameter> {
    let table = reader.table(parent, key)?;
    let known = [keys::PARAMETER, keys::PARAMETER_PASSED].concat();
    reader.check_keys(&table, &known);
    let mut rest = serde_json::Map::new();
    for key in keys::PARAMETER_PASSED {
        if let Some(value) = reader.get(&table, key, Node::to_json) {
            rest.insert((*key).to_owned(), value);
        }
    }
    let parameter = Parameter {
        kind: reader.get(&table, "type", parameter_type),
        summary: reader.get(&table, "summary", read::string),
        description: reader.get(&table, "description", read::string),
        examples: reader.get(&table, "examples", examples),
        default: reader.get(&table, "default", Node::to_json),
        required: reader.get(&table, "required", read::boolean),
        options: reader.get(&table, "enum", |node| match &node.value {
            Value::Array(items) => items.iter().map(Node::to_json).collect(),
            _ => Err(ExpectedValue::Values),
        }),
        items: table
            .node("items")
            .and_then(|_| read_parameter(reader, &table, "items"))
            .map(Box::new),
        properties: read_parameters(reader, &table, "properties"),
        rest,
    };
    check_default(reader, &table, &parameter);
    Some(parameter)
}

/// Rejects a default that its own parameter does not accept: every call that
/// relies on it would fail.
fn check_default(reader: &mut ConfigReader, table: &Table<'_>, parameter: &Parameter) {
    let (Some(node), Some(default)) = (table.node("default"), &parameter.default) else {
        return;
    };
    let types = match &parameter.kind {
        Some(ParameterType::One(name)) => std::slice::from_ref(name),
        Some(ParameterType::Many(names)) => names.as_slice(),
        None => &[],
    };
    if !types.is_empty() && !types.iter().any(|name| is_of_type(default, name)) {
        let wanted = ExpectedValue::OfTypes(types.to_vec());
        reader.wrong(node, table.path_of("default"), wanted);
    } else if let Some(options) = &parameter.options
        && !options.contains(default)
    {
        let options = options.iter().map(ToString::to_string).collect();
        reader.wrong(
            node,
            table.path_of("default"),
            ExpectedValue::OptionOf(options),
        );
    }
}

fn is_of_type(value: &serde_json::Value, name: &str) -> bool {
    use serde_json::Value as Json;
    match (name, value) {
        ("string", Json::String(_))
        | ("number", Json::Number(_))
        | ("boolean", Json::Bool(_))
        | ("array", Json::Array(_))
        | ("object", Json::Object(_))
        | ("null", Json::Null) => true,
        ("integer", Json::Number(number)) => {
            number.is_i64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => false,
    }
}

/// Examples are a text, or a list of values.
pub(crate) fn examples(node: &Node) -> Result<Examples, ExpectedValue> {
    match &node.value {
        Value::String(text) => Ok(Examples::Text(text.clone())),
        Value::Array(items) => Ok(Examples::List(
            items.iter().map(Node::to_json).collect::<Result<_, _>>()?,
        )),
        _ => Err(ExpectedValue::StringOrArray),
    }
}

fn parameter_type(node: &Node) -> Result<ParameterType, ExpectedValue> {
    let wanted = || {
        let names = keys::JSON_TYPES.iter().map(|name| (*name).to_owned());
        ExpectedValue::JsonTypes(names.collect())
    };
    let known = |name: &String| keys::JSON_TYPES.contains(&name.as_str());
    if let Ok(name) = read::string(node) {
        return Some(name)
            .filter(known)
            .map(ParameterType::One)
            .ok_or_else(wanted);
    }
    match read::strings(node) {
        Ok(names) if !names.is_empty() && names.iter().all(known) => Ok(ParameterType::Many(names)),
        _ => Err(wanted()),
    }
}
