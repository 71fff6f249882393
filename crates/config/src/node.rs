//! TOML values with their source locations, and the merge of layers.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Number;
use toml::de::{DeTable, DeValue};

use crate::config::ConfigValue;
use crate::error::{Problem, ProblemKind};
use crate::expected::ExpectedValue;
use crate::place::{SourceText, TextSpan};

/// One value.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) span: TextSpan,
    pub(crate) value: Value,
}

/// A TOML value.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Datetime(String),
    Array(Vec<Node>),
    Table(Entries),
}

/// The keys of a table in the order of writing.
pub(crate) type Entries = IndexMap<String, NodeEntry>;

/// One key and its value.
#[derive(Debug, Clone)]
pub(crate) struct NodeEntry {
    pub(crate) key: TextSpan,
    pub(crate) node: Node,
}

impl Node {
    /// Parses a whole text and reports every syntax error, not only the first.
    pub(crate) fn parse(text: &Arc<SourceText>) -> Result<Self, Vec<Problem>> {
        let (table, errors) = DeTable::parse_recoverable(&text.body);
        if !errors.is_empty() {
            return Err(errors.iter().map(|error| syntax(text, 0, error)).collect());
        }
        let root = TextSpan::new(text, 0..0);
        let entries = entries(text, 0, table.get_ref()).map_err(|problem| vec![problem])?;
        Ok(Self {
            span: root,
            value: Value::Table(entries),
        })
    }

    /// Parses one value, which spans the text after `offset`.
    pub(crate) fn parse_value(text: &Arc<SourceText>, offset: usize) -> Result<Self, Problem> {
        let written = text.body[offset..].trim_start();
        let offset = text.body.len() - written.len();
        let value =
            DeValue::parse(written.trim_end()).map_err(|error| syntax(text, offset, &error))?;
        node(text, offset, value.span(), value.get_ref())
    }

    /// Merges `upper` over this: tables merge key by key, other values are
    /// replaced.
    pub(crate) fn merge(&mut self, upper: Self) {
        match (&mut self.value, upper.value) {
            (Value::Table(lower), Value::Table(upper)) => {
                for (key, entry) in upper {
                    match lower.get_mut(&key) {
                        Some(known) => known.node.merge(entry.node),
                        None => {
                            lower.insert(key, entry);
                        }
                    }
                }
            }
            (_, value) => {
                self.value = value;
                self.span = upper.span;
            }
        }
    }

    /// The value of a key, if this is a table that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Table(entries) => entries.get(key).map(|entry| &entry.node),
            _ => None,
        }
    }

    /// Converts the value to JSON; dates become strings. Numbers that JSON does
    /// not support are an error.
    pub(crate) fn to_json(&self) -> Result<serde_json::Value, ExpectedValue> {
        Ok(match &self.value {
            Value::String(text) | Value::Datetime(text) => text.clone().into(),
            Value::Integer(number) => (*number).into(),
            Value::Float(number) => Number::from_f64(*number).ok_or(ExpectedValue::Json)?.into(),
            Value::Boolean(value) => (*value).into(),
            Value::Array(items) => items
                .iter()
                .map(Self::to_json)
                .collect::<Result<Vec<_>, _>>()?
                .into(),
            Value::Table(entries) => entries
                .iter()
                .map(|(key, entry)| Ok((key.clone(), entry.node.to_json()?)))
                .collect::<Result<serde_json::Map<_, _>, ExpectedValue>>()?
                .into(),
        })
    }

    /// Adds every nested value with its key and origin.
    pub(crate) fn values(&self, path: &mut Vec<String>, into: &mut Vec<ConfigValue>) {
        match &self.value {
            Value::Table(entries) => {
                for (key, entry) in entries {
                    path.push(key.clone());
                    entry.node.values(path, into);
                    path.pop();
                }
            }
            _ => into.push(ConfigValue {
                key: dotted(path),
                value: self.to_json().unwrap_or_else(|_| self.brief().into()),
                origin: self.span.place(),
            }),
        }
    }

    /// A short form of the value, for an error message.
    pub(crate) fn brief(&self) -> String {
        match &self.value {
            Value::String(text) => format!("\"{}\"", shorten(text)),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Boolean(value) => value.to_string(),
            Value::Datetime(text) => format!("the date {text}"),
            Value::Array(_) => "an array".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }
}

/// The key in the syntax of `--set`.
fn dotted(path: &[String]) -> String {
    let bare = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '*');
    let parts = path.iter().map(|part| {
        if !part.is_empty() && part.chars().all(bare) {
            part.clone()
        } else {
            toml::Value::from(part.as_str()).to_string()
        }
    });
    parts.collect::<Vec<_>>().join(".")
}

/// At most 40 characters, on one line.
fn shorten(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(40) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None if line.len() < text.len() => format!("{line}…"),
        None => line.to_owned(),
    }
}

fn syntax(text: &Arc<SourceText>, offset: usize, error: &toml::de::Error) -> Problem {
    let range = error.span().unwrap_or(0..0);
    Problem::at(
        &TextSpan::new(text, range.start + offset..range.end + offset),
        ProblemKind::Syntax {
            message: error.message().to_owned(),
        },
    )
}

fn entries(text: &Arc<SourceText>, offset: usize, table: &DeTable<'_>) -> Result<Entries, Problem> {
    // The parser sorts its keys by name. Parameters are shown to models in the
    // order in which they were written, so that order is restored.
    let mut pairs: Vec<_> = table.iter().collect();
    pairs.sort_by_key(|(key, _)| key.span().start);
    pairs
        .into_iter()
        .map(|(key, value)| {
            let range = key.span();
            let entry = NodeEntry {
                key: TextSpan::new(text, range.start + offset..range.end + offset),
                node: node(text, offset, value.span(), value.get_ref())?,
            };
            Ok((key.get_ref().to_string(), entry))
        })
        .collect()
}

fn node(
    text: &Arc<SourceText>,
    offset: usize,
    range: std::ops::Range<usize>,
    value: &DeValue<'_>,
) -> Result<Node, Problem> {
    let span = TextSpan::new(text, range.start + offset..range.end + offset);
    let too_large = |wanted: ExpectedValue, got: &str| {
        Problem::at(
            &span,
            ProblemKind::WrongValue {
                key: got.to_owned(),
                wanted,
                got: "a larger one".to_owned(),
            },
        )
    };
    let value = match value {
        DeValue::String(string) => Value::String(string.to_string()),
        DeValue::Integer(number) => Value::Integer(
            i64::from_str_radix(number.as_str(), number.radix())
                .map_err(|_| too_large(ExpectedValue::Integer, number.as_str()))?,
        ),
        DeValue::Float(number) => Value::Float(
            number
                .as_str()
                .parse()
                .map_err(|_| too_large(ExpectedValue::Float, number.as_str()))?,
        ),
        DeValue::Boolean(value) => Value::Boolean(*value),
        DeValue::Datetime(date) => Value::Datetime(date.to_string()),
        DeValue::Array(items) => Value::Array(
            items
                .iter()
                .map(|item| node(text, offset, item.span(), item.get_ref()))
                .collect::<Result<_, _>>()?,
        ),
        DeValue::Table(table) => Value::Table(entries(text, offset, table)?),
    };
    Ok(Node { span, value })
}

#[cfg(test)]
#[path = "node_tests.rs"]
mod tests;
