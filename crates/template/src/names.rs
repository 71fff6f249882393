//! The names that are available in a command's templates.

use serde_json::Value;
use windlass_protocol::{Arguments, Parameters};

use crate::error::TemplateFault;
use crate::similar::{listed, nearest};
use crate::syntax::{NameUse, PathStep, dotted};

const ROOTS: [&str; 2] = ["tool", "context"];
const TOOL: [&str; 4] = ["name", "arguments", "answers", "options"];
const CONTEXT: [&str; 5] = [
    "action",
    "root",
    "workspace_id",
    "conversation_id",
    "handle_id",
];

/// The names that are known of a tool.
#[derive(Debug, Clone, Copy)]
pub struct KnownNames<'a> {
    /// The tool's parameters; `None` if its program has not described them yet.
    pub parameters: Option<&'a Parameters>,
    /// The options that the configuration sets.
    pub options: &'a Arguments,
}

impl KnownNames<'_> {
    /// Checks that a call can have a value of this name.
    pub(crate) fn check(&self, used: &NameUse) -> Result<(), TemplateFault> {
        let keys: Vec<Option<&str>> = used.path.iter().map(key).collect();
        match keys.as_slice() {
            [Some("tool" | "context")] => Ok(()),
            [Some("tool"), Some("name"), _, ..] => Err(no_fields(used, 2, "a string")),
            [Some("tool"), Some("arguments"), Some(name), ..] => self.check_argument(used, name),
            [Some("tool"), Some("options"), Some(name), ..] => self.check_option(used, name),
            [Some("tool"), Some(name), ..] if TOOL.contains(name) => Ok(()),
            [Some("tool"), Some(name), ..] => {
                let hint = self.suggestion(name, "tool", &TOOL);
                Err(unknown(used, 2, hint))
            }
            [Some("context"), Some(name), rest @ ..] if CONTEXT.contains(name) => {
                if rest.is_empty() {
                    Ok(())
                } else {
                    Err(no_fields(used, 2, "a string"))
                }
            }
            [Some("context"), Some(name), ..] => {
                let hint = self.suggestion(name, "context", &CONTEXT);
                Err(unknown(used, 2, hint))
            }
            [Some(name), ..] if !ROOTS.contains(name) => {
                Err(unknown(used, 1, self.root_suggestion(name)))
            }
            _ => Ok(()),
        }
    }

    /// Whether a valid call may lack the value.
    pub(crate) fn is_optional(&self, used: &NameUse) -> bool {
        let keys: Vec<Option<&str>> = used.path.iter().map(key).collect();
        match keys.as_slice() {
            [Some("tool"), Some("arguments"), Some(name), ..] => {
                let Some(parameters) = self.parameters else {
                    return false;
                };
                let required = parameters.required.iter().any(|required| required == name);
                let defaulted = parameters
                    .properties
                    .get(*name)
                    .is_some_and(|schema| schema.get("default").is_some());
                !required && !defaulted
            }
            [Some("tool"), Some("answers"), Some(_), ..] => true,
            _ => false,
        }
    }

    fn check_argument(&self, used: &NameUse, name: &str) -> Result<(), TemplateFault> {
        let Some(parameters) = self.parameters else {
            return Ok(());
        };
        match parameters.properties.get(name) {
            Some(schema) => descend(used, 3, schema),
            None if parameters.additional => Ok(()),
            None => {
                let known = parameters.properties.keys().map(String::as_str);
                Err(unknown(used, 3, hint("tool.arguments", name, known)))
            }
        }
    }

    /// A template may test for an option that is not set, but cannot use its
    /// value.
    fn check_option(&self, used: &NameUse, name: &str) -> Result<(), TemplateFault> {
        if self.options.contains_key(name) || !used.is_needed() {
            return Ok(());
        }
        let known = self.options.keys().map(String::as_str);
        let hint = match nearest(name, known) {
            Some(near) => format!("did you mean `tool.options.{near}`?"),
            None => format!("set it with `options.{name} = …`"),
        };
        Err(unknown(used, 3, hint))
    }

    fn parameter_names(&self) -> impl Iterator<Item = &str> {
        let properties = self.parameters.map(|parameters| &parameters.properties);
        properties
            .into_iter()
            .flat_map(|properties| properties.keys().map(String::as_str))
    }

    fn suggestion(&self, name: &str, parent: &str, known: &[&str]) -> String {
        if self.parameter_names().any(|parameter| parameter == name) {
            return format!("did you mean `tool.arguments.{name}`?");
        }
        hint(parent, name, known.iter().copied())
    }

    fn root_suggestion(&self, name: &str) -> String {
        let fields = |root: &'static str, known: &'static [&'static str]| {
            known
                .iter()
                .map(move |field| (*field, format!("{root}.{field}")))
        };
        let mut known: Vec<(&str, String)> = self
            .parameter_names()
            .map(|parameter| (parameter, format!("tool.arguments.{parameter}")))
            .collect();
        known.extend(ROOTS.iter().map(|root| (*root, (*root).to_owned())));
        known.extend(fields("tool", &TOOL));
        known.extend(fields("context", &CONTEXT));
        let near = nearest(name, known.iter().map(|(word, _)| *word));
        let meant = near.and_then(|near| known.iter().find(|(word, _)| *word == near));
        match meant {
            Some((_, meant)) => format!("did you mean `{meant}`?"),
            None => "templates can use `tool` and `context`; a parameter is `tool.arguments.NAME`"
                .to_owned(),
        }
    }
}

fn key(step: &PathStep) -> Option<&str> {
    match step {
        PathStep::Key(key) => Some(key),
        PathStep::Item => None,
    }
}

fn hint<'a>(parent: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(name, known.clone()) {
        Some(near) => format!("did you mean `{parent}.{near}`?"),
        None => match listed(known) {
            none if none.is_empty() => "the tool has no parameters".to_owned(),
            known => format!("`{parent}` has {known}"),
        },
    }
}

fn unknown(used: &NameUse, steps: usize, hint: String) -> TemplateFault {
    TemplateFault::UnknownName {
        name: dotted(&used.path[..steps]),
        hint,
    }
}

fn no_fields(used: &NameUse, steps: usize, kind: &str) -> TemplateFault {
    TemplateFault::NoFields {
        name: used.name(),
        parent: dotted(&used.path[..steps]),
        kind: kind.to_owned(),
    }
}

/// Follows the rest of a path into a parameter's schema, as far as the schema
/// is known.
fn descend(used: &NameUse, done: usize, schema: &Value) -> Result<(), TemplateFault> {
    let Some(step) = used.path.get(done) else {
        return Ok(());
    };
    let open = ["$ref", "anyOf", "oneOf", "allOf", "patternProperties"];
    if open.iter().any(|keyword| schema.get(keyword).is_some()) {
        return Ok(());
    }
    match (schema["type"].as_str(), step) {
        (Some("object"), PathStep::Key(name)) => {
            let additional = schema.get("additionalProperties");
            let is_closed = additional.is_none_or(|additional| additional == &Value::Bool(false));
            match schema["properties"].as_object() {
                Some(properties) => match properties.get(name) {
                    Some(schema) => descend(used, done + 1, schema),
                    None if is_closed => {
                        let parent = dotted(&used.path[..done]);
                        let known = properties.keys().map(String::as_str);
                        Err(unknown(used, done + 1, hint(&parent, name, known)))
                    }
                    None => Ok(()),
                },
                None => Ok(()),
            }
        }
        (Some("array"), PathStep::Item) => match schema.get("items") {
            Some(items) => descend(used, done + 1, items),
            None => Ok(()),
        },
        (Some("array"), PathStep::Key(_)) => Err(no_fields(used, done, "an array")),
        (Some("string"), PathStep::Key(_)) => Err(no_fields(used, done, "a string")),
        (Some("integer"), PathStep::Key(_)) => Err(no_fields(used, done, "an integer")),
        (Some("number"), PathStep::Key(_)) => Err(no_fields(used, done, "a number")),
        (Some("boolean"), PathStep::Key(_)) => Err(no_fields(used, done, "a boolean")),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
