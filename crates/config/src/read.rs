//! Reads values from tables and collects all problems, so that one run reports
//! every mistake.
//!
//! A reading function returns `None` for a missing or wrong value. Required
//! values are checked after the layers are merged, in `resolve`.

use indexmap::IndexMap;

use crate::error::{Problem, ProblemKind};
use crate::expected::ExpectedValue;
use crate::keys;
use crate::node::{Entries, Node, Value};
use crate::place::TextSpan;

/// Collects problems and keys that have no effect.
#[derive(Debug, Default)]
pub(crate) struct ConfigReader {
    pub(crate) problems: Vec<Problem>,
    /// Keys that are accepted and unused, with the name of their text; each
    /// once.
    pub(crate) unused: UnusedKeys,
}

/// Keys without effect, by the name of their text and their own.
pub(crate) type UnusedKeys = IndexMap<(String, String), TextSpan>;

/// A table in progress, and its dotted path.
#[derive(Debug, Clone)]
pub(crate) struct Table<'a> {
    pub(crate) path: String,
    pub(crate) entries: &'a Entries,
    pub(crate) span: &'a TextSpan,
}

impl<'a> Table<'a> {
    /// The node under a key.
    pub(crate) fn node(&self, key: &str) -> Option<&'a Node> {
        self.entries.get(key).map(|entry| &entry.node)
    }

    /// The dotted path of a key of this table.
    pub(crate) fn path_of(&self, key: &str) -> String {
        let bare = !key.is_empty()
            && key
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        let key = if bare {
            key.to_owned()
        } else {
            format!("\"{key}\"")
        };
        if self.path.is_empty() {
            key
        } else {
            format!("{}.{key}", self.path)
        }
    }
}

impl ConfigReader {
    /// A problem at a span.
    pub(crate) fn problem(&mut self, span: &TextSpan, kind: ProblemKind) {
        self.problems.push(Problem::at(span, kind));
    }

    /// The node as a table, at the given path.
    pub(crate) fn as_table<'a>(&mut self, node: &'a Node, path: String) -> Option<Table<'a>> {
        if let Value::Table(entries) = &node.value {
            Some(Table {
                path,
                entries,
                span: &node.span,
            })
        } else {
            self.wrong(node, path, ExpectedValue::Table);
            None
        }
    }

    /// The table under a key.
    pub(crate) fn table<'a>(&mut self, table: &Table<'a>, key: &str) -> Option<Table<'a>> {
        self.as_table(table.node(key)?, table.path_of(key))
    }

    /// Reports every unknown key of the table.
    pub(crate) fn check_keys(&mut self, table: &Table<'_>, known: &[&str]) {
        for (key, entry) in table.entries {
            if !known.contains(&key.as_str()) {
                let hint = keys::hint(key, known);
                self.unknown(&entry.key, key, table, hint);
            }
        }
    }

    /// Reports one key that is not known.
    pub(crate) fn unknown(&mut self, span: &TextSpan, key: &str, table: &Table<'_>, hint: String) {
        self.problem(
            span,
            ProblemKind::UnknownKey {
                key: key.to_owned(),
                table: table.path.clone(),
                hint,
            },
        );
    }

    /// Records the keys of the table that are accepted without effect.
    pub(crate) fn note_unused(&mut self, table: &Table<'_>, unused: &[&str]) {
        for key in unused {
            if let Some(entry) = table.entries.get(*key) {
                self.unused
                    .entry((entry.key.text.name.clone(), (*key).to_owned()))
                    .or_insert_with(|| entry.key.clone());
            }
        }
    }

    /// Reads the value of a key with `read`, whose error names the valid
    /// values.
    pub(crate) fn get<T>(
        &mut self,
        table: &Table<'_>,
        key: &str,
        read: impl FnOnce(&Node) -> Result<T, ExpectedValue>,
    ) -> Option<T> {
        let node = table.node(key)?;
        match read(node) {
            Ok(value) => Some(value),
            Err(wanted) => {
                self.wrong(node, table.path_of(key), wanted);
                None
            }
        }
    }

    pub(crate) fn wrong(&mut self, node: &Node, key: String, wanted: ExpectedValue) {
        let is_text = matches!(node.value, Value::String(_));
        let is_secret = is_text && wanted.may_be_secret();
        let got = if is_secret {
            String::from("a text that may contain a secret (not shown)")
        } else {
            node.brief()
        };
        let kind = ProblemKind::WrongValue { key, wanted, got };
        let mut problem = Problem::at(&node.span, kind);
        if let Some(place) = problem.place.as_mut().filter(|_| is_secret) {
            place.hide();
        }
        self.problems.push(problem);
    }
}

/// A string.
pub(crate) fn string(node: &Node) -> Result<String, ExpectedValue> {
    match &node.value {
        Value::String(text) => Ok(text.clone()),
        _ => Err(ExpectedValue::String),
    }
}

/// True or false.
/// A whole number from 0 on.
pub(crate) fn count(node: &Node) -> Result<usize, ExpectedValue> {
    match node.value {
        Value::Integer(count) => usize::try_from(count).ok(),
        _ => None,
    }
    .ok_or(ExpectedValue::Count)
}

pub(crate) fn boolean(node: &Node) -> Result<bool, ExpectedValue> {
    match node.value {
        Value::Boolean(value) => Ok(value),
        _ => Err(ExpectedValue::Boolean),
    }
}

/// A list of strings.
pub(crate) fn strings(node: &Node) -> Result<Vec<String>, ExpectedValue> {
    match &node.value {
        Value::Array(items) => items
            .iter()
            .map(|item| string(item).map_err(|_| ExpectedValue::Strings))
            .collect(),
        _ => Err(ExpectedValue::Strings),
    }
}

/// A table of strings.
pub(crate) fn string_map(node: &Node) -> Result<IndexMap<String, String>, ExpectedValue> {
    match &node.value {
        Value::Table(entries) => entries
            .iter()
            .map(|(key, entry)| {
                let value = string(&entry.node).map_err(|_| ExpectedValue::StringMap)?;
                Ok((key.clone(), value))
            })
            .collect(),
        _ => Err(ExpectedValue::StringMap),
    }
}

/// Reads one of several strings.
pub(crate) fn word<T: Copy>(node: &Node, words: &[(&str, T)]) -> Result<T, ExpectedValue> {
    let found = match &node.value {
        Value::String(text) => words.iter().find(|(word, _)| word == text),
        _ => None,
    };
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words = words.iter().map(|(word, _)| (*word).to_owned());
        ExpectedValue::OneOf(words.collect())
    })
}
