//! Copies shared definitions of a schema into each parameter that refers to
//! them.
//!
//! [`own_document`] is the only entry point. In
//! [`Parameters`](crate::Parameters) each parameter's schema is a separate
//! document, while references in an object's schema start at the object's root.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Returns `part` with all definitions of `root` that it refers to, so that it
/// is self-contained. Unresolvable references are left unchanged.
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

/// The location of a definition in the new document.
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

    /// Copies the target of a reference and returns the new reference.
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
    /// Definitions keep their names; any other target, such as another
    /// parameter, is named after its path.
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
