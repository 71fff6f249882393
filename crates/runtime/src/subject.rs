//! The subject of a permission request: a description of a call that rules are
//! matched against.
//!
//! Start at `RegisteredTool::subject`. An executor describes the calls that
//! start its tools.

use std::path::Path;

use serde_json::Value;
use windlass_protocol::{Arguments, HandleAction};

use crate::arguments::conceal;
use crate::catalogue::{RegisteredTool, Runs};
use crate::pattern::is_literal;

/// Represents text in a pattern that is unknown before the call runs, such as
/// the value of a variable. It is a noncharacter, which no text contains.
pub const UNKNOWN: char = '\u{10ffff}';

/// The subject of a permission request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The kind of operation.
    pub permission: String,
    /// All operations of the call.
    pub patterns: Vec<SubjectPattern>,
    /// The patterns that "always" would remember.
    pub always: Vec<String>,
}

impl Subject {
    /// A subject without patterns to remember.
    pub fn new<P: Into<SubjectPattern>>(
        permission: impl Into<String>,
        patterns: impl IntoIterator<Item = P>,
    ) -> Self {
        Self {
            permission: permission.into(),
            patterns: patterns.into_iter().map(Into::into).collect(),
            always: Vec::new(),
        }
    }

    /// Sets the patterns that "always" remembers.
    pub fn remembering<P: Into<String>>(mut self, always: impl IntoIterator<Item = P>) -> Self {
        self.always = always.into_iter().map(Into::into).collect();
        self
    }

    /// The patterns as a person reads them.
    pub fn texts(&self) -> Vec<String> {
        let texts = self.patterns.iter().map(|pattern| pattern.text.clone());
        texts.collect()
    }
}

/// One operation of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectPattern {
    /// The text shown to a person. A rule with exactly this text always
    /// applies.
    pub text: String,
    /// The text that an allowing rule must match, with [`UNKNOWN`] for unknown
    /// parts.
    pub known: String,
    /// Alternative texts for the operation or its parts. A deny or ask rule
    /// that matches one of them applies; one that may match, depending on
    /// unknown text, leads to a question.
    pub forms: Vec<String>,
    /// The text does not cover everything the operation does, so that only a
    /// rule with exactly this text, or one that allows everything, allows it.
    pub exact: bool,
}

impl From<String> for SubjectPattern {
    fn from(text: String) -> Self {
        Self {
            known: text.clone(),
            text,
            forms: Vec::new(),
            exact: false,
        }
    }
}

impl From<&str> for SubjectPattern {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl SubjectPattern {
    /// Every text that deny and ask rules are matched against.
    pub(crate) fn all_forms(&self) -> impl Iterator<Item = &str> {
        let forms = self.forms.iter().map(String::as_str);
        [self.text.as_str(), self.known.as_str()]
            .into_iter()
            .chain(forms)
    }
}

impl RegisteredTool {
    /// The subject of a call in the project at `root`: described by the executor
    /// for a start, otherwise the text to be typed or the tool. A secret that
    /// would be typed is concealed, and never remembered.
    pub(crate) fn subject(
        &self,
        action: Option<HandleAction>,
        args: &Arguments,
        root: &Path,
        secret: bool,
    ) -> Subject {
        let name = &self.definition.name;
        match (&self.runs, action) {
            (Runs::Executor(executor), None | Some(HandleAction::Spawn)) => {
                executor.subject(&self.definition, args, root)
            }
            (_, Some(HandleAction::Apply)) => {
                let mut shown = args.clone();
                if secret {
                    conceal(&mut shown);
                }
                let typed = typed_text(&shown);
                // A remembered `*` would stand for more than was typed.
                let always = Some(typed.clone()).filter(|typed| !secret && is_literal(typed));
                Subject::new(format!("{name}.apply"), [typed]).remembering(always)
            }
            (_, Some(action)) => {
                Subject::new(format!("{name}.{action}"), [name.as_str()]).remembering([name])
            }
            (_, None) => Subject::new(name, [name.as_str()]).remembering([name]),
        }
    }
}

/// The text to be typed, followed by keys in angle brackets.
fn typed_text(args: &Arguments) -> String {
    let mut text = match args.get("input") {
        None => String::new(),
        Some(Value::String(text)) => text.trim_end_matches(['\r', '\n']).to_owned(),
        Some(other) => other.to_string(),
    };
    let keys = args.get("keys").and_then(Value::as_array);
    for key in keys.into_iter().flatten().filter_map(Value::as_str) {
        text.push('<');
        text.push_str(key);
        text.push('>');
    }
    text
}
