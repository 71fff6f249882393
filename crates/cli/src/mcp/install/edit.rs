//! Edits a config's text: adds or removes Windlass and preserves comments,
//! order, indentation, and a person's additions to the entry.

use anyhow::{Context as _, bail};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item, Table, TableLike};

use super::client::{ConfigFormat, Setting};

/// The server's name.
const NAME: &str = "windlass";
const NO_JSON: &str = "it is not valid JSON";
/// Keys that only the entry of a remote server has.
const REMOTE: [&str; 3] = ["url", "httpUrl", "serverUrl"];

/// Adds the entry that starts `windlass` to `text`; unchanged if it has that
/// entry.
pub(super) fn edited(text: &str, setting: &Setting, windlass: &str) -> anyhow::Result<String> {
    let entry = setting.entry(windlass);
    match setting.format {
        ConfigFormat::Toml => edited_toml(text, setting.table, &entry),
        ConfigFormat::Json => {
            if !text.trim().is_empty() {
                serde_json::from_str::<Value>(text).context(NO_JSON)?;
            }
            edited_json(text, setting.table, &entry)
        }
        ConfigFormat::Jsonc => edited_json(text, setting.table, &entry),
    }
}

/// Removes the entry of Windlass from `text`; unchanged if it has none.
pub(super) fn removed(text: &str, setting: &Setting) -> anyhow::Result<String> {
    match setting.format {
        ConfigFormat::Toml => {
            let mut document: DocumentMut = text.parse().context("it is not valid TOML")?;
            let servers = document.get_mut(setting.table);
            if let Some(servers) = servers.and_then(Item::as_table_like_mut) {
                servers.remove(NAME);
            }
            Ok(document.to_string())
        }
        ConfigFormat::Json | ConfigFormat::Jsonc => {
            if text.trim().is_empty() {
                return Ok(text.to_owned());
            }
            let root = CstRootNode::parse(text, &options()).context(NO_JSON)?;
            let servers = root
                .object_value()
                .and_then(|all| all.object_value(setting.table));
            if let Some(entry) = servers.and_then(|servers| servers.get(NAME)) {
                entry.remove();
            }
            Ok(root.to_string())
        }
    }
}

/// Whether the config has an entry for Windlass; false if it cannot be parsed.
pub(super) fn has_entry(text: &str, setting: &Setting) -> bool {
    match setting.format {
        ConfigFormat::Toml => {
            let document = text.parse::<DocumentMut>().ok();
            document
                .as_ref()
                .and_then(|document| document.get(setting.table)?.get(NAME))
                .is_some()
        }
        ConfigFormat::Json | ConfigFormat::Jsonc => {
            let root = CstRootNode::parse(text, &options()).ok();
            let servers = root.and_then(|root| root.object_value()?.object_value(setting.table));
            servers.is_some_and(|servers| servers.get(NAME).is_some())
        }
    }
}

/// JSON with comments, but no other extensions.
fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn edited_json(text: &str, table: &str, entry: &Map<String, Value>) -> anyhow::Result<String> {
    let root = CstRootNode::parse(text, &options()).context(NO_JSON)?;
    let all = root.object_value_or_create();
    let all = all.context("it is JSON, but not an object")?;
    let servers = all.object_value_or_create(table);
    let servers = servers.with_context(|| format!("its `{table}` is not an object"))?;
    match servers.get(NAME) {
        None => {
            let entry = entry.iter().map(|(key, value)| (key.clone(), input(value)));
            servers.append(NAME, CstInputValue::Object(entry.collect()));
        }
        Some(property) => {
            let object = property.object_value();
            let object = object.with_context(|| format!("its server `{NAME}` is not an object"))?;
            mend_json(&object, entry)?;
        }
    }
    Ok(root.to_string())
}

fn mend_json(object: &CstObject, entry: &Map<String, Value>) -> anyhow::Result<()> {
    let known = |key: &str| object.get(key)?.value()?.to_serde_value();
    must_be_local(|key| object.get(key).is_some())?;
    for (key, wanted) in entry {
        let Some(value) = mended(known(key).as_ref(), wanted) else {
            continue;
        };
        match object.get(key) {
            Some(property) => property.set_value(input(&value)),
            None => drop(object.append(key, input(&value))),
        }
    }
    Ok(())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(bool) => CstInputValue::Bool(*bool),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(object) => {
            let entries = object
                .iter()
                .map(|(key, value)| (key.clone(), input(value)));
            CstInputValue::Object(entries.collect())
        }
    }
}

fn edited_toml(text: &str, table: &str, entry: &Map<String, Value>) -> anyhow::Result<String> {
    let mut document: DocumentMut = text.parse().context("it is not valid TOML")?;
    let servers = document.entry(table).or_insert_with(|| {
        // Omit an empty `[mcp_servers]` header.
        let mut servers = Table::new();
        servers.set_implicit(true);
        Item::Table(servers)
    });
    let inline = servers.is_inline_table();
    let servers = servers.as_table_like_mut();
    let servers = servers.with_context(|| format!("its `{table}` is not a table"))?;
    match servers.get_mut(NAME) {
        None => {
            let mut new = Table::new();
            for (key, value) in entry {
                new.insert(key, Item::Value(toml_value(value)));
            }
            let new = if inline {
                Item::Value(new.into_inline_table().into())
            } else {
                Item::Table(new)
            };
            servers.insert(NAME, new);
        }
        Some(item) => {
            let item = item.as_table_like_mut();
            let item = item.with_context(|| format!("its server `{NAME}` is not a table"))?;
            mend_toml(item, entry)?;
        }
    }
    Ok(document.to_string())
}

fn mend_toml(item: &mut dyn TableLike, entry: &Map<String, Value>) -> anyhow::Result<()> {
    must_be_local(|key| item.contains_key(key))?;
    for (key, wanted) in entry {
        let known = item.get(key).and_then(Item::as_value).and_then(json_value);
        let Some(value) = mended(known.as_ref(), wanted) else {
            continue;
        };
        let mut value = toml_value(&value);
        if let Some(old) = item.get(key).and_then(Item::as_value) {
            // Keep a comment after it.
            *value.decor_mut() = old.decor().clone();
        }
        item.insert(key, Item::Value(value));
    }
    Ok(())
}

fn toml_value(value: &Value) -> toml_edit::Value {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => {
            let items = items.iter().map(toml_value);
            toml_edit::Value::Array(items.collect())
        }
        other => unreachable!("an entry holds strings and lists of them, not {other}"),
    }
}

/// The value of an entry, if it is a string or a list of strings.
fn json_value(value: &toml_edit::Value) -> Option<Value> {
    match value {
        toml_edit::Value::String(text) => Some(Value::from(text.value().as_str())),
        toml_edit::Value::Array(items) => items.iter().map(json_value).collect(),
        _ => None,
    }
}

fn must_be_local(has: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    if let Some(key) = REMOTE.into_iter().find(|key| has(key)) {
        bail!("its server `{NAME}` is another server, with a `{key}`; remove or rename it");
    }
    Ok(())
}

/// The replacement for `known`; `None` if it is correct. Arguments after `mcp`
/// are the user's and are kept.
fn mended(known: Option<&Value>, wanted: &Value) -> Option<Value> {
    let (Some(Value::Array(known)), Value::Array(wanted_items)) = (known, wanted) else {
        return (known != Some(wanted)).then(|| wanted.clone());
    };
    let mut items = wanted_items.clone();
    if known.get(..items.len()).map(|head| head.last()) == Some(items.last()) {
        items.extend_from_slice(&known[items.len()..]);
    }
    (*known != items).then_some(Value::Array(items))
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
