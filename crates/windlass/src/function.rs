//! A function of this program as a tool.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use windlass_executors::Function;
use windlass_runtime::protocol::{
    ActionSet, Arguments, HandleAction, Parameters, ToolError, ToolShape,
};
use windlass_runtime::{Executor, RunMode, RunPolicy, ToolDefinition};
use windlass_schema::derive_arguments;

use crate::build::BuildError;

/// An async function that assistants can call.
///
/// Register it with [`Builder::function`](crate::Builder::function), or take
/// [`into_parts`](Self::into_parts) to a
/// [`Catalogue`](windlass_runtime::Catalogue). A person is asked before each
/// call unless the tool is [`unattended`](Self::unattended), the session is
/// trusted or the configuration says otherwise.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use windlass::FunctionTool;
///
/// /// Adds two numbers.
/// #[derive(Deserialize, JsonSchema)]
/// struct Add {
///     left: i64,
///     right: i64,
/// }
///
/// let tool = FunctionTool::new("add", |add: Add| async move { Ok(add.left + add.right) });
/// ```
pub struct FunctionTool {
    definition: ToolDefinition,
    function: Function,
    /// Whether the arguments are a struct, or their schema was given.
    has_parameters: bool,
}

impl FunctionTool {
    /// A function of typed arguments. The parameters come from the struct `A`,
    /// and what the model reads from its doc comments. A result that is not
    /// text is given as JSON.
    ///
    /// `A` must be a struct with named fields; if not, building fails with
    /// [`BuildError::NotStruct`].
    pub fn new<A, T, F, R>(name: impl Into<String>, function: F) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        T: Serialize,
        F: Fn(A) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, ToolError>> + Send + 'static,
    {
        let derived = derive_arguments::<A>();
        let has_parameters = derived.is_some();
        let derived = derived.unwrap_or_default();
        let parameters = Parameters::from_entries(&derived.parameters);
        let function = Function::new(move |call| {
            let called = serde_json::from_value(Value::Object(call.args)).map(&function);
            async move {
                let called = called.map_err(|error| {
                    ToolError::new(format!("the arguments are invalid: {error}"))
                })?;
                text_of(&called.await?)
            }
        });
        let mut tool = Self::with_parameters(name.into(), parameters, function);
        tool.definition.summary = derived.summary;
        tool.definition.description = derived.description;
        tool.has_parameters = has_parameters;
        tool
    }

    /// A function of JSON arguments that match this JSON Schema of an object.
    pub fn with_schema<T, F, R>(name: impl Into<String>, schema: &Value, function: F) -> Self
    where
        T: Serialize,
        F: Fn(Arguments) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, ToolError>> + Send + 'static,
    {
        let function = Function::new(move |call| {
            let called = function(call.args);
            async move { text_of(&called.await?) }
        });
        Self::with_parameters(
            name.into(),
            Parameters::from_object_schema(schema),
            function,
        )
    }

    fn with_parameters(name: String, parameters: Parameters, function: Function) -> Self {
        Self {
            definition: ToolDefinition {
                shape: ToolShape {
                    parameters,
                    one_shot: true,
                    ..ToolShape::default()
                },
                origin: "function".to_owned(),
                ..ToolDefinition::new(name)
            },
            function,
            has_parameters: true,
        }
    }

    /// Sets the summary for the model, replacing the struct's doc comment.
    pub fn summary(mut self, text: impl Into<String>) -> Self {
        self.definition.summary = Some(text.into());
        self
    }

    /// Lets it run without asking a person.
    pub fn unattended(mut self) -> Self {
        self.definition.run = RunPolicy::starting(RunMode::Unattended);
        self
    }

    /// Allows it to run in the background too, as a handle.
    pub fn in_background(mut self) -> Self {
        let actions = [
            HandleAction::Spawn,
            HandleAction::Fetch,
            HandleAction::Abort,
        ];
        self.definition.shape.actions = actions.into_iter().collect::<ActionSet>();
        self
    }

    /// The definition and the executor, for registration in a catalogue.
    pub fn into_parts(self) -> Result<(ToolDefinition, Arc<dyn Executor>), BuildError> {
        if self.has_parameters {
            Ok((self.definition, Arc::new(self.function)))
        } else {
            let tool = self.definition.name;
            Err(BuildError::NotStruct { tool })
        }
    }
}

/// Text unchanged, anything else as JSON.
fn text_of(result: &impl Serialize) -> Result<String, ToolError> {
    match serde_json::to_value(result) {
        Ok(Value::String(text)) => Ok(text),
        Ok(Value::Null) => Ok(String::new()),
        Ok(other) => Ok(other.to_string()),
        Err(error) => Err(ToolError::new(format!("the result is not JSON: {error}"))),
    }
}

#[cfg(test)]
#[path = "function_tests.rs"]
mod tests;
