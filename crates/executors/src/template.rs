//! Commands with `{{tool}}` and `{{context}}` in them.
//!
//! Each argument is rendered by itself, so a value stays one argument
//! whatever it holds. Scalars render bare, everything else as JSON. Only
//! under a shell are values quoted, because only there would they be read
//! again.

use std::cell::OnceCell;

use minijinja::value::{Serde, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Output, UndefinedBehavior, Value};
use serde::Serialize;
use windlass_protocol::Context;

/// A command that cannot be rendered.
#[derive(Debug, thiserror::Error)]
#[error("the command's template `{template}` cannot be rendered: {source}")]
pub struct TemplateError {
    template: String,
    #[source]
    source: Error,
}

/// Renders the parts of one command.
pub(crate) struct Renderer<'a, T> {
    environment: Environment<'static>,
    tool: &'a T,
    context: &'a Context,
    /// Made for the first template: most commands have none, and arguments may
    /// be large.
    variables: OnceCell<Value>,
}

/// How values are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// As they are: the result is one argument.
    Bare,
    /// As one word for a shell.
    Shell,
}

impl<'a, T: Serialize> Renderer<'a, T> {
    /// `{{tool}}` holds the call, or nothing where a program is asked what it
    /// is.
    pub(crate) fn new(tool: &'a T, context: &'a Context, quoting: Quoting) -> Self {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Chainable);
        // A template of a config file is no place for long loops.
        environment.set_fuel(Some(100_000));
        match quoting {
            Quoting::Bare => environment.set_formatter(|output, _, value| {
                let text = text(value)?;
                write(output, &text)
            }),
            Quoting::Shell => environment.set_formatter(|output, _, value| {
                let text = text(value)?;
                let quoted = shlex::try_quote(&text)
                    .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
                write(output, &quoted)
            }),
        }
        Self {
            environment,
            tool,
            context,
            variables: OnceCell::new(),
        }
    }

    pub(crate) fn render(&self, template: &str) -> Result<String, TemplateError> {
        if !template.contains("{{") && !template.contains("{%") {
            return Ok(template.to_owned());
        }
        let variables = self.variables.get_or_init(|| {
            Value::from_pairs([
                ("tool", Value::from(Serde(self.tool))),
                ("context", Value::from(Serde(self.context))),
            ])
        });
        self.environment
            .render_str(template, variables.clone())
            .map_err(|source| TemplateError {
                template: template.to_owned(),
                source,
            })
    }
}

fn text(value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => Ok(String::new()),
        // Their own way of writing them is Python's.
        ValueKind::Bool => Ok(value.is_true().to_string()),
        ValueKind::Number | ValueKind::String => Ok(value.to_string()),
        _ => serde_json::to_string(value).map_err(|error| {
            Error::new(ErrorKind::BadSerialization, "not JSON").with_source(error)
        }),
    }
}

fn write(output: &mut Output, text: &str) -> Result<(), Error> {
    std::fmt::Write::write_str(output, text)
        .map_err(|_| Error::new(ErrorKind::WriteFailure, "out of memory"))
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
