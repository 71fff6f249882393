//! One call of a tool: its context beside the arguments.

use std::path::Path;

use serde::de::DeserializeOwned;
use windlass_protocol::{Arguments, Context};

use crate::Error;
use crate::question::{Answer, TypedQuestion};

/// One call of a tool: its folder, session, options and answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub(crate) context: Context,
    pub(crate) tool: windlass_protocol::ToolInvocation,
}

impl Call {
    /// The tool that was called.
    pub fn tool(&self) -> &str {
        &self.tool.name
    }

    /// The project's folder, which is also the current one.
    pub fn root(&self) -> &Path {
        &self.context.root
    }

    /// Names the project, the same across runs.
    pub fn workspace_id(&self) -> Option<&str> {
        self.context.workspace_id.as_deref()
    }

    /// Names the session that calls.
    pub fn conversation_id(&self) -> Option<&str> {
        self.context.conversation_id.as_deref()
    }

    /// The id of the handle; `None` for a one-shot.
    pub fn handle_id(&self) -> Option<&str> {
        self.context.handle_id.as_deref()
    }

    /// The arguments as they came.
    pub fn arguments(&self) -> &Arguments {
        &self.tool.arguments
    }

    /// The value of this key in the tool's `options` in the config, if set.
    pub fn option<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Error> {
        let Some(value) = self.tool.options.get(key) else {
            return Ok(None);
        };
        serde_path_to_error::deserialize(value)
            .map(Some)
            .map_err(|error| Error::new(format_args!("option `{key}`: {error}")))
    }

    /// The answer to a question.
    ///
    /// Where it has not been asked yet, this is an error that ends the run:
    /// pass it on with `?`. The question is then asked and the tool run again
    /// from the top, with all answers so far. So ask before you change
    /// anything.
    pub fn ask<A: Answer>(&self, question: TypedQuestion<A>) -> Result<A, Error> {
        self.answer_to(&question).ok_or_else(|| question.into())
    }

    pub(crate) fn answer_to<A: Answer>(&self, question: &TypedQuestion<A>) -> Option<A> {
        let answer = self.tool.answers.get(&question.wire().id)?;
        question.read(answer.clone())
    }
}
