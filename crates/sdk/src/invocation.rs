//! Reads the action, context and call for which a program is run.
//!
//! The last two arguments are the context and the tool as JSON objects; a
//! `schema` needs the context only. Without such arguments one object
//! `{"context": …, "tool": …}` is read from stdin, and the rest of stdin is for
//! the tool.

use std::io::BufRead;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use windlass_protocol::{Action, Context, ToolInvocation};

/// The action, context and call of a program run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Invocation {
    pub(crate) context: Context,
    pub(crate) tool: ToolInvocation,
}

/// The action cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InvocationError {
    /// There is nothing to read.
    #[error("there is no invocation; pass `context` and `tool` as arguments, or on stdin")]
    Nothing,
    /// Stdin holds something else.
    #[error("stdin does not begin with one JSON object that has `context` and `tool`")]
    Stdin(#[source] Option<serde_json::Error>),
    /// The context is not one.
    #[error("the context is invalid")]
    Context(#[source] serde_json::Error),
    /// The tool is not one.
    #[error("the tool is invalid")]
    Tool(#[source] serde_json::Error),
}

/// Reads the arguments of a program, or else its stdin.
pub(crate) fn read(args: &[String], stdin: impl BufRead) -> Result<Invocation, InvocationError> {
    if let Some((context, tool)) = from_args(args) {
        return understand(context, tool);
    }
    let first = serde_json::Deserializer::from_reader(stdin)
        .into_iter::<Value>()
        .next();
    let mut object = match first {
        None => return Err(InvocationError::Nothing),
        Some(Err(error)) => return Err(InvocationError::Stdin(Some(error))),
        Some(Ok(Value::Object(object))) => object,
        Some(Ok(_)) => return Err(InvocationError::Stdin(None)),
    };
    let Some(Value::Object(context)) = object.shift_remove("context") else {
        return Err(InvocationError::Stdin(None));
    };
    match object.shift_remove("tool") {
        Some(Value::Object(tool)) => understand(context, tool),
        None => understand(context, Map::new()),
        Some(_) => Err(InvocationError::Stdin(None)),
    }
}

/// The last two arguments that are objects; a lone one is a context.
fn from_args(args: &[String]) -> Option<(Map<String, Value>, Map<String, Value>)> {
    let object = |arg: &String| serde_json::from_str::<Map<String, Value>>(arg).ok();
    let is_context = |object: &Map<String, Value>| object.contains_key("action");
    match args {
        [.., context, tool] if object(context).as_ref().is_some_and(is_context) => {
            Some((object(context)?, object(tool)?))
        }
        [.., context] => object(context)
            .filter(is_context)
            .map(|context| (context, Map::new())),
        [] => None,
    }
}

fn understand(
    mut context: Map<String, Value>,
    tool: Map<String, Value>,
) -> Result<Invocation, InvocationError> {
    // By hand, one would leave it out.
    if !context.contains_key("root") {
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        context.insert("root".to_owned(), here.to_string_lossy().into());
    }
    let context: Context = typed(context).map_err(InvocationError::Context)?;
    let tool = match context.action {
        // The action covers all tools of the program, so none is named.
        Action::Schema => ToolInvocation::default(),
        Action::Run | Action::FormatArguments => typed(tool).map_err(InvocationError::Tool)?,
    };
    Ok(Invocation { context, tool })
}

fn typed<T: DeserializeOwned>(object: Map<String, Value>) -> Result<T, serde_json::Error> {
    serde_json::from_value(Value::Object(object))
}

#[cfg(test)]
#[path = "invocation_tests.rs"]
mod tests;
