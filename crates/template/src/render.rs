//! Renders templates with the values of one call.
//!
//! Each word is rendered separately, so a value stays one argument whatever it
//! contains. Scalars render bare, everything else as JSON. Values are quoted
//! only under a shell, because only a shell parses them again. A missing value
//! is an error, never an empty text.

use std::cell::OnceCell;
use std::fmt;
use std::sync::{Arc, LazyLock};

use minijinja::value::{Object, ObjectRepr, Rest, Serde, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Output, UndefinedBehavior, Value, context};
use serde::Serialize;
use serde_json::Value as Json;
use windlass_protocol::Context;

use crate::error::RenderError;
use crate::split::WORD_BREAK;
use crate::syntax::{NameUse, ParsedTemplate, PathStep, UseKind, is_template, shown};

/// Marks an empty value, to distinguish it from a missing one.
const EMPTY_VALUE: &str = "\0e";

/// Renders the words of one command.
pub(crate) struct WordRenderer<'a, T> {
    tool: &'a T,
    context: &'a Context,
    quoting: Quoting,
    /// Created for the first template: most commands have none, and arguments
    /// may be large.
    call: OnceCell<CallValues>,
}

/// The values of one call, and the template engine.
struct CallValues {
    variables: Json,
    environment: Environment<'static>,
}

/// Whether a mark in a value can only come from this crate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marks {
    /// No value of the call holds a zero byte.
    Ours,
    /// A value of the call may contain text that looks like a mark.
    Forgeable,
}

/// The quoting of values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// As they are: the result is one argument.
    Bare,
    /// As one word for a shell.
    Shell,
}

impl<'a, T: Serialize> WordRenderer<'a, T> {
    /// `{{tool}}` contains the call; it is empty when a program is asked to
    /// describe itself.
    pub(crate) fn new(tool: &'a T, context: &'a Context, quoting: Quoting) -> Self {
        Self {
            tool,
            context,
            quoting,
            call: OnceCell::new(),
        }
    }

    fn call(&self) -> &CallValues {
        self.call.get_or_init(|| {
            let variables = serde_json::json!({ "tool": self.tool, "context": self.context });
            let marks = if holds_zero_byte(&variables) {
                Marks::Forgeable
            } else {
                Marks::Ours
            };
            CallValues {
                environment: environment(self.quoting, marks),
                variables,
            }
        })
    }

    /// The words that one word of the command becomes. A block that renders to
    /// nothing gives no word.
    pub(crate) fn words(&self, word: &str) -> Result<Vec<String>, RenderError> {
        if !is_template(word) {
            return Ok(vec![word.to_owned()]);
        }
        let failed = |source| RenderError::Failed {
            template: shown(word),
            source,
        };
        let uses = ParsedTemplate::parse(word).map_or_else(|_| Vec::new(), |it| it.uses().names);
        let CallValues {
            variables,
            environment,
        } = self.call();
        let mut certain = uses.iter().filter(|used| !used.conditional);
        if let Some(missing) = certain.find(|used| is_missing(variables, used)) {
            let name = missing.name();
            return Err(RenderError::NotGiven { name });
        }
        let prepared = prepare(variables, &uses);
        let values = Value::from(Serde(prepared.as_ref().unwrap_or(variables)));
        let text = match environment.render_str(word, values) {
            Ok(text) => text,
            Err(error) if is_undefined(&error) => {
                let missing = uses.iter().find(|used| is_missing(variables, used));
                let name = missing.map_or_else(|| shown(word), NameUse::name);
                return Err(RenderError::NotGiven { name });
            }
            Err(error) => return Err(failed(error)),
        };
        if self.quoting == Quoting::Shell {
            return Ok(vec![text]);
        }
        let words = text.split(WORD_BREAK).filter(|word| !word.is_empty());
        Ok(words.map(|word| word.replace(EMPTY_VALUE, "")).collect())
    }
}

/// Filters of the engine that treat a missing value as empty.
const FORGIVING: [&str; 20] = [
    "attr", "batch", "chain", "count", "dictsort", "first", "items", "join", "last", "length",
    "lines", "list", "max", "min", "reverse", "slice", "sort", "string", "sum", "unique",
];

/// Applies a filter of the engine after checking that no value is missing.
fn strictly(name: &str, values: &[Value]) -> Result<Value, Error> {
    static ENGINE: LazyLock<Environment<'static>> = LazyLock::new(Environment::new);
    if values
        .iter()
        .any(|value| value.is_undefined() || value.is_none())
    {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    ENGINE.empty_state().apply_filter(name, values)
}

fn environment(quoting: Quoting, marks: Marks) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    // A template of a config file is no place for long loops.
    environment.set_fuel(Some(100_000));
    for name in FORGIVING {
        environment.add_filter(name, move |values: Rest<Value>| strictly(name, &values));
    }
    environment.add_filter("raw", move |value: &Value| raw(value, marks));
    environment.add_filter("default", default_value);
    environment.add_filter("d", default_value);
    match quoting {
        Quoting::Bare => environment.set_formatter(move |output, _, value| {
            let text = text(value, marks)?;
            write(
                output,
                if text.is_empty() && is_given(value) {
                    EMPTY_VALUE
                } else {
                    &text
                },
            )
        }),
        Quoting::Shell => environment.set_formatter(move |output, _, value| {
            let text = text(value, marks)?;
            if !is_given(value) || value.downcast_object_ref::<RawText>().is_some() {
                return write(output, &text);
            }
            let quoted = shlex::try_quote(&text)
                .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
            write(output, &quoted)
        }),
    }
    environment
}

/// A value that is not quoted, at its author's request.
#[derive(Debug)]
struct RawText(String);

impl Object for RawText {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn raw(value: &Value, marks: Marks) -> Result<Value, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    Ok(Value::from_object(RawText(text(value, marks)?)))
}

/// Jinja's `default`, which also replaces `null`.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the engine hands further arguments over by value"
)]
fn default_value(value: &Value, others: Rest<Value>) -> Result<Value, Error> {
    if others.len() > 2 {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    let is_lax = others.get(1).is_some_and(Value::is_true);
    if value.is_undefined() || value.is_none() || (is_lax && !value.is_true()) {
        return Ok(others.first().cloned().unwrap_or_else(|| Value::from("")));
    }
    Ok(value.clone())
}

/// Whether the value is given. An `if` without `else` is empty on purpose.
fn is_given(value: &Value) -> bool {
    !value.is_undefined()
}

fn text(value: &Value, marks: Marks) -> Result<String, Error> {
    let text = match value.kind() {
        ValueKind::Undefined => String::new(),
        ValueKind::None => return Err(Error::from(ErrorKind::UndefinedError)),
        // Their own way of writing them is Python's.
        ValueKind::Bool => value.is_true().to_string(),
        ValueKind::Number | ValueKind::String => value.to_string(),
        _ => match value.downcast_object_ref::<RawText>() {
            Some(raw) => raw.0.clone(),
            None => serde_json::to_string(value).map_err(|error| {
                Error::new(ErrorKind::BadSerialization, "not JSON").with_source(error)
            })?,
        },
    };
    // Captured blocks hold marks of ours.
    let text = match marks {
        Marks::Ours => text.replace(EMPTY_VALUE, "").replace(WORD_BREAK, " "),
        Marks::Forgeable => text,
    };
    if text.contains('\0') {
        let message = "a value with a NUL byte cannot be an argument";
        return Err(Error::new(ErrorKind::BadSerialization, message));
    }
    Ok(text)
}

fn holds_zero_byte(value: &Json) -> bool {
    match value {
        Json::String(text) => text.contains('\0'),
        Json::Array(items) => items.iter().any(holds_zero_byte),
        Json::Object(fields) => fields
            .iter()
            .any(|(name, value)| name.contains('\0') || holds_zero_byte(value)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

fn write(output: &mut Output, text: &str) -> Result<(), Error> {
    fmt::Write::write_str(output, text)
        .map_err(|_| Error::new(ErrorKind::WriteFailure, "out of memory"))
}

fn is_undefined(error: &Error) -> bool {
    error.kind() == ErrorKind::UndefinedError
}

/// The variables adapted to a template, if needed: a `null` counts as missing,
/// and a missing object counts as empty if the template only reads its fields,
/// so that `{% if a.b %}` and `{{ a.b | default("x") }}` work without `a`.
fn prepare(variables: &Json, uses: &[NameUse]) -> Option<Json> {
    let whole = |path: &[PathStep]| {
        let counts = |used: &&NameUse| used.kind != UseKind::Tested && path.starts_with(&used.path);
        uses.iter().find(counts).is_some()
    };
    let mut prepared: Option<Json> = None;
    for used in uses {
        for length in 2..=used.path.len() {
            let path = &used.path[..length];
            let Some((PathStep::Key(last), parents)) = path.split_last() else {
                break;
            };
            let current = prepared.as_ref().unwrap_or(variables);
            let Some(Json::Object(fields)) = find(current, parents) else {
                break;
            };
            let is_inner = length < used.path.len();
            let change = match fields.get(last) {
                Some(Json::Null) if !whole(parents) => true,
                None => is_inner && !whole(path),
                _ => false,
            };
            if !change {
                continue;
            }
            let copy = prepared.get_or_insert_with(|| variables.clone());
            if let Some(Json::Object(fields)) = find_mut(copy, parents) {
                fields.remove(last);
                if is_inner && !whole(path) {
                    fields.insert(last.clone(), Json::Object(serde_json::Map::new()));
                }
            }
        }
    }
    prepared
}

fn find<'v>(value: &'v Json, path: &[PathStep]) -> Option<&'v Json> {
    path.iter().try_fold(value, |value, step| match step {
        PathStep::Key(key) => value.get(key),
        PathStep::Item => None,
    })
}

fn find_mut<'v>(value: &'v mut Json, path: &[PathStep]) -> Option<&'v mut Json> {
    path.iter().try_fold(value, |value, step| match step {
        PathStep::Key(key) => value.get_mut(key),
        PathStep::Item => None,
    })
}

fn is_missing(variables: &Json, used: &NameUse) -> bool {
    used.kind == UseKind::Needed
        && !used.path.contains(&PathStep::Item)
        && find(variables, &used.path).is_none_or(Json::is_null)
}

/// Whether the engine or this crate has a filter of that name.
pub(crate) fn knows_filter(name: &str) -> bool {
    knows("name is filter", name)
}

/// The engine has a test of that name.
pub(crate) fn knows_test(name: &str) -> bool {
    knows("name is test", name)
}

fn knows(question: &str, name: &str) -> bool {
    let environment = environment(Quoting::Bare, Marks::Ours);
    let expression = environment.compile_expression(question);
    expression
        .and_then(|expression| expression.eval(context! { name }))
        .is_ok_and(|answer| answer.is_true())
}

/// The engine has a function of that name.
pub(crate) fn knows_function(name: &str) -> bool {
    ["range", "dict", "namespace"].contains(&name)
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
