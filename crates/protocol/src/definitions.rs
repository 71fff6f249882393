//! Definitions that a schema shares between its parameters, given to each.
//!
//! [`own_document`] is all. In [`Parameters`](crate::Parameters) the schema of
//! a parameter is a document of its own, while in the schema of an object its
//! references lead to the object's root.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// A part of `root` with everything inside it that its references lead to, so
/// that it can stand alone. References that lead nowhere stay as they are.
pub(crate) fn own_document(root: &Value, part: &Value) -> Value {
    let mut gathering = Gathering {
        root,
        found: IndexMap::new(),
    };
    let mut part = gathering.moved(part.clone());
    if let Value::Object(map) = &mut part {
        for (home, definition) in gathering.found {
            let section = map
                .entry(home.section)
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(section) = section {
                section.entry(home.name).or_insert(definition);
            }
        }
    }
    part
}

/// Where a definition stands in the new document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Home {
    section: &'static str,
    name: String,
}

struct Gathering<'a> {
    root: &'a Value,
    found: IndexMap<Home, Value>,
}

impl Gathering<'_> {
    fn moved(&mut self, value: Value) -> Value {
        match value {
            Value::Array(items) => items.into_iter().map(|item| self.moved(item)).collect(),
            Value::Object(map) => map
                .into_iter()
                .map(|(key, value)| match value {
                    Value::String(reference) if key == "$ref" => {
                        (key, Value::String(self.reference(reference)))
                    }
                    value => (key, self.moved(value)),
                })
                .collect(),
            scalar => scalar,
        }
    }

    /// Gathers what a reference leads to, and says where it leads now.
    fn reference(&mut self, reference: String) -> String {
        let Some(target) = reference
            .strip_prefix('#')
            .and_then(|pointer| self.root.pointer(pointer))
        else {
            return reference;
        };
        let home = Home::of(&reference[1..]);
        if !self.found.contains_key(&home) {
            // Its place is taken first: it may contain itself.
            self.found.insert(home.clone(), json!({}));
            let definition = self.moved(target.clone());
            self.found.insert(home.clone(), definition);
        }
        format!("#/{}/{}", home.section, escaped(&home.name))
    }
}

impl Home {
    /// Definitions keep their names; anything else, such as another
    /// parameter, is named after the way to it.
    fn of(pointer: &str) -> Self {
        let steps: Vec<&str> = pointer.split('/').skip(1).collect();
        let (section, name) = match steps[..] {
            ["$defs", name] => ("$defs", unescaped(name)),
            ["definitions", name] => ("definitions", unescaped(name)),
            [] => ("$defs", "root".to_owned()),
            _ => ("$defs", steps.join(".")),
        };
        Self { section, name }
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn unescaped(name: &str) -> String {
    name.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
#[path = "definitions_tests.rs"]
mod tests;
