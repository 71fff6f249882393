//! One tool: its name, description and function.

use futures_lite::future::block_on;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use windlass_protocol::{
    ActionSet, Examples, HandleAction, IoMode, Parameter, ParameterType, Parameters,
    SpawnDescription, ToolDescription, ToolShape,
};
use windlass_schema::{DerivedArguments, derive_arguments};

use crate::{Call, DescribeError, Error, Exec, InteractiveCommand, Stateful, ToolHandle, explain};

/// The parameter that chooses an interactive tool's command.
const COMMAND: &str = "command";

/// A tool: a name, a struct of arguments, and a function.
///
/// The model reads the struct's doc comment: its first paragraph is the
/// summary, and the rest is the description, which the model gets on request.
/// The doc comments of the fields describe the parameters in the same way.
pub struct Tool {
    pub(crate) name: String,
    pub(crate) work: ToolBody,
    pub(crate) format: Option<OfCall<String>>,
    arguments: fn() -> Option<DerivedArguments>,
    commands: Vec<(String, String, bool)>,
    summary: Option<String>,
    description: Option<String>,
    examples: Option<Examples>,
    spawn: Option<SpawnDescription>,
}

/// The implementation of a tool.
pub(crate) enum ToolBody {
    /// A result.
    OneShot(OfCall<String>),
    /// A result, after any output through the handle.
    Stateful(Box<dyn Fn(ToolHandle) -> Result<String, Error>>),
    /// A program to run instead.
    Interactive(OfCall<Exec>),
}

/// A function of a call.
type OfCall<T> = Box<dyn Fn(&Call) -> Result<T, Error>>;

impl Tool {
    /// A tool that runs and answers.
    ///
    /// The result may be text or anything else that serialises; the latter is
    /// given as JSON. To ask something first, see [`Call::ask`].
    pub fn new<A, T>(
        name: impl Into<String>,
        run: impl Fn(A, &Call) -> Result<T, Error> + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + 'static,
        T: Serialize,
    {
        let work = move |call: &Call| to_text(&run(read::<A>(call)?, call)?);
        Self::with::<A>(name.into(), ToolBody::OneShot(Box::new(work)))
    }

    /// A tool that runs as a handle, with every action. It also works as a
    /// one-shot.
    pub fn stateful<A: Stateful + 'static>(name: impl Into<String>) -> Self {
        let work = |handle: ToolHandle| {
            let arguments = read::<A>(handle.call())?;
            block_on(arguments.run(handle))
        };
        let mut tool = Self::with::<A>(name.into(), ToolBody::Stateful(Box::new(work)));
        tool.spawn = Some(SpawnDescription {
            stateful: true,
            actions: None,
            io: Some(IoMode::State),
        });
        tool
    }

    /// A tool with commands; the answer to each is a program to run.
    ///
    /// The model chooses with a parameter `command`; `A` has all other
    /// parameters, for every command alike. `apply` is one of the actions if a
    /// command reads input.
    pub fn interactive<A: DeserializeOwned + JsonSchema + 'static>(
        name: impl Into<String>,
        commands: impl IntoIterator<Item = InteractiveCommand<A>>,
    ) -> Self {
        let commands: IndexMap<String, InteractiveCommand<A>> = commands
            .into_iter()
            .map(|command| (command.name.clone(), command))
            .collect();
        let listed: Vec<(String, String, bool)> = commands
            .values()
            .map(|command| {
                (
                    command.name.clone(),
                    command.summary.clone(),
                    command.takes_input,
                )
            })
            .collect();
        let chooses = choice(&listed);
        let work = move |call: &Call| {
            let wanted = call.arguments().get(COMMAND);
            let command = wanted
                .and_then(Value::as_str)
                .and_then(|name| commands.get(name));
            let Some(command) = command else {
                let entries = [(COMMAND.to_owned(), chooses.clone())].into();
                return Err(explain::wrong_arguments(call.arguments(), &entries));
            };
            (command.exec)(read::<A>(call)?, call)
        };
        let input = listed.iter().any(|(_, _, takes_input)| *takes_input);
        let mut tool = Self::with::<A>(name.into(), ToolBody::Interactive(Box::new(work)));
        tool.commands = listed;
        tool.spawn = Some(SpawnDescription {
            stateful: true,
            actions: (!input).then(|| {
                vec![
                    HandleAction::Spawn,
                    HandleAction::Fetch,
                    HandleAction::Abort,
                ]
            }),
            io: Some(IoMode::Text),
        });
        tool
    }

    fn with<A: JsonSchema>(name: String, work: ToolBody) -> Self {
        Self {
            name,
            work,
            format: None,
            arguments: derive_arguments::<A>,
            commands: Vec::new(),
            summary: None,
            description: None,
            examples: None,
            spawn: None,
        }
    }

    /// The summary for the model, replacing the doc comment's first paragraph.
    pub fn summary(mut self, text: impl Into<String>) -> Self {
        self.summary = Some(text.into());
        self
    }

    /// The description, replacing the rest of the doc comment.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// Examples, which the model gets with the description.
    pub fn examples<E: Into<Value>>(mut self, examples: impl IntoIterator<Item = E>) -> Self {
        let examples = examples.into_iter().map(Into::into).collect();
        self.examples = Some(Examples::List(examples));
        self
    }

    /// Restricts the actions on the tool's handles. `spawn` must be included.
    /// On a tool made by [`Tool::new`] this lets it run in the background.
    pub fn actions(mut self, actions: impl IntoIterator<Item = HandleAction>) -> Self {
        let actions: ActionSet = actions.into_iter().collect();
        let spawn = self.spawn.get_or_insert_default();
        spawn.stateful = !actions.is_empty();
        spawn.actions = Some(actions.iter().collect());
        self
    }

    /// Sets how arguments are shown to a person who is asked for permission.
    pub fn format_arguments<A: DeserializeOwned + JsonSchema + 'static>(
        mut self,
        format: impl Fn(A) -> String + 'static,
    ) -> Self {
        self.format = Some(Box::new(move |call| Ok(format(read::<A>(call)?))));
        self
    }

    /// The tool as it describes itself.
    pub(crate) fn describe(&self) -> Result<ToolDescription, DescribeError> {
        let tool = || self.name.clone();
        let mut described =
            (self.arguments)().ok_or_else(|| DescribeError::NotStruct { tool: tool() })?;
        if !self.commands.is_empty() {
            if described.parameters.contains_key(COMMAND) {
                return Err(DescribeError::CommandTaken { tool: tool() });
            }
            let chooses = choice(&self.commands);
            described
                .parameters
                .shift_insert(0, COMMAND.to_owned(), chooses);
        }
        let shape = ToolShape {
            parameters: Parameters::from_entries(&described.parameters),
            actions: self.action_set(),
            one_shot: false,
            typing: false,
            lines: false,
            keep: false,
        };
        windlass_schema::check_name(&self.name)
            .and_then(|()| windlass_schema::check(&shape))
            .map_err(|problem| DescribeError::Unfit {
                tool: tool(),
                problem,
            })?;
        Ok(ToolDescription {
            name: self.name.clone(),
            summary: self.summary.clone().or(described.summary),
            description: self.description.clone().or(described.description),
            examples: self.examples.clone(),
            parameters: described.parameters,
            spawn: self.spawn.clone(),
            format_arguments: self.format.is_some(),
        })
    }

    fn action_set(&self) -> ActionSet {
        match &self.spawn {
            Some(SpawnDescription {
                stateful: true,
                actions: Some(actions),
                ..
            }) => actions.iter().copied().collect(),
            Some(SpawnDescription {
                stateful: true,
                actions: None,
                ..
            }) => ActionSet::all(),
            _ => ActionSet::NONE,
        }
    }
}

fn read<A: DeserializeOwned + JsonSchema>(call: &Call) -> Result<A, Error> {
    let entries = || derive_arguments::<A>().unwrap_or_default().parameters;
    explain::read(call.arguments().clone(), entries)
}

/// Text unchanged, everything else as JSON.
fn to_text(result: &impl Serialize) -> Result<String, Error> {
    Ok(match serde_json::to_value(result)? {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    })
}

/// The parameter that chooses among these commands.
fn choice(commands: &[(String, String, bool)]) -> Parameter {
    let line = |(name, summary, input): &(String, String, bool)| {
        let input = if *input { " Takes input." } else { "" };
        format!("- {name}: {summary}{input}")
    };
    let names = commands.iter().map(|(name, ..)| Value::from(name.as_str()));
    let lines: Vec<String> = commands.iter().map(line).collect();
    Parameter {
        kind: Some(ParameterType::One("string".to_owned())),
        summary: Some("What to do.".to_owned()),
        description: Some(lines.join("\n")),
        options: Some(names.collect()),
        ..Parameter::default()
    }
}
