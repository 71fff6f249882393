//! A program's description of its tools.

use serde_json::Value;
use windlass_protocol::{HandleAction, ToolAnswer, ToolDescription, ToolState};

use super::error::{BadEntry, SelfDescriptionError};
use super::mistakes::{is_object_schema, mistakes};

/// A program's answer: a list of tools. Each entry is parsed on demand, so that
/// a bad one does not affect the others.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaAnswer {
    program: String,
    answer: Value,
}

impl SchemaAnswer {
    /// Parses the output of the program with this name.
    pub(super) fn read(program: &str, printed: &[u8]) -> Result<Self, SelfDescriptionError> {
        let program = program.to_owned();
        if printed.trim_ascii().is_empty() {
            return Err(SelfDescriptionError::Nothing { program });
        }
        let answer = match serde_json::from_slice::<Value>(printed) {
            Ok(answer) => answer,
            Err(source) => {
                let text = String::from_utf8_lossy(&printed[..printed.len().min(400)]);
                return Err(SelfDescriptionError::NotJson {
                    program,
                    beginning: beginning(&text),
                    source,
                });
            }
        };
        if let Some(message) = refusal(&answer) {
            return Err(SelfDescriptionError::Refused { program, message });
        }
        Self::from_value(&program, answer)
    }

    /// Restores a cached answer of [`SchemaAnswer::as_value`].
    pub fn from_value(program: &str, answer: Value) -> Result<Self, SelfDescriptionError> {
        let program = program.to_owned();
        if answer["tools"].is_array() {
            return Ok(Self { program, answer });
        }
        Err(SelfDescriptionError::NoTools {
            program,
            beginning: beginning(&answer.to_string()),
        })
    }

    /// The answer as the program printed it.
    pub fn as_value(&self) -> &Value {
        &self.answer
    }

    /// The names of its tools, in the program's order.
    pub fn names(&self) -> Vec<&str> {
        self.entries()
            .filter_map(|entry| entry["name"].as_str())
            .collect()
    }

    pub fn find(&self, name: &str) -> Result<ToolDescription, SelfDescriptionError> {
        let mut entries = self.entries().filter(|entry| entry["name"] == *name);
        let Some(entry) = entries.next() else {
            return Err(self.not_listed(name));
        };
        let more = entries.count();
        if more > 0 {
            return Err(self.bad(name, BadEntry::Twice(more + 1)));
        }
        if is_object_schema(entry) {
            return Err(self.bad(name, BadEntry::SchemaParameters));
        }
        let description: ToolDescription = serde_json::from_value(entry.clone())
            .map_err(|error| self.bad(name, BadEntry::Unreadable(error.to_string())))?;
        let spawn = description.spawn.as_ref();
        let actions = spawn.and_then(|spawn| spawn.actions.as_ref());
        if actions
            .is_some_and(|actions| !actions.is_empty() && !actions.contains(&HandleAction::Spawn))
        {
            return Err(self.bad(name, BadEntry::NoSpawn));
        }
        Ok(description)
    }

    /// Probable mistakes in a tool's description, one sentence each.
    pub fn mistakes(&self, name: &str) -> Vec<String> {
        let mut entries = self.entries().filter(|entry| entry["name"] == *name);
        entries.next().map(mistakes).unwrap_or_default()
    }

    fn entries(&self) -> impl Iterator<Item = &Value> {
        self.answer["tools"].as_array().into_iter().flatten()
    }

    fn bad(&self, name: &str, why: BadEntry) -> SelfDescriptionError {
        SelfDescriptionError::Entry {
            program: self.program.clone(),
            name: name.to_owned(),
            why,
        }
    }

    fn not_listed(&self, name: &str) -> SelfDescriptionError {
        let names = self.names();
        SelfDescriptionError::NotListed {
            program: self.program.clone(),
            name: name.to_owned(),
            nearest: nearest(name, &names).map(str::to_owned),
            listed: names.into_iter().map(str::to_owned).collect(),
        }
    }
}

/// The message of a program that answers with a protocol error.
fn refusal(answer: &Value) -> Option<String> {
    answer.get("type")?;
    match ToolAnswer::read(&answer.to_string())? {
        Ok(ToolAnswer::State(ToolState::Stopped { result })) => {
            Some(result.map_or_else(|error| error.message, |text| beginning(&text)))
        }
        _ => None,
    }
}

/// The name most similar to `name`, if any is similar.
fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let likeness = |other: &str| strsim::normalized_damerau_levenshtein(name, other);
    names
        .iter()
        .map(|other| (likeness(other), *other))
        .filter(|(likeness, _)| *likeness >= 0.5)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, other)| other)
}

/// The first line of a text of any size.
fn beginning(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    match line.char_indices().nth(80) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
