//! Local tools without configured parameters: their programs describe them.
//!
//! Start at [`Answers::gather`], which runs every program once, in parallel,
//! unless its answer is cached. [`Answers::describe`] then finds one tool and
//! merges the configuration over it. The execution itself is in
//! `windlass-executors`.

use std::time::Duration;

use futures_util::future::join_all;
use indexmap::IndexMap;
use windlass_config::{ToolConfig, nearest};
use windlass_executors::{
    Describer, Launcher, LocalCommand, SchemaAnswer, SchemaError, SchemaQuestion,
    SelfDescriptionError, check_shape,
};
use windlass_runtime::ToolDefinition;
use windlass_runtime::protocol::{IoMode, Parameters};
use windlass_template::{KnownNames, TemplateFault};

use crate::build::ToolProblem;
use crate::cache::Cache;

/// The maximum size of a tool's parameters, which a model must be able to read.
const MOST_SCHEMA: usize = 1 << 20;

/// Whether programs' descriptions may come from the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DescriptionCaching {
    /// Uses a cached answer, as long as nothing that it depends on has changed.
    #[default]
    Remembering,
    /// Runs every program.
    Anew,
}

/// A tool described by its program, with the configuration merged in.
pub(crate) struct Described {
    pub(crate) definition: ToolDefinition,
    pub(crate) io: IoMode,
    pub(crate) formats_arguments: bool,
    /// Messages about overrides without a matching parameter.
    pub(crate) problems: Vec<String>,
}

/// The answers of programs, by question.
pub(crate) struct Answers {
    describer: Describer,
    answers: IndexMap<SchemaQuestion, Result<SchemaAnswer, SelfDescriptionError>>,
}

impl Answers {
    /// Asks for these tools.
    pub(crate) async fn gather(
        describer: Describer,
        tools: impl Iterator<Item = &ToolConfig>,
        asking: DescriptionCaching,
        cache: &Cache,
        confine: impl Fn(Launcher, &ToolConfig) -> Launcher,
    ) -> Self {
        let mut questions: IndexMap<SchemaQuestion, (Duration, Describer)> = IndexMap::new();
        for tool in tools {
            // A program that cannot be run is reported when the tool is looked up.
            if let Ok(question) = describer.question(&command(tool)) {
                let limit = tool.settings.describe_timeout;
                let limit = limit.unwrap_or(ToolConfig::DESCRIBE_TIMEOUT);
                // One program is asked once for all of its tools, in the sandbox of the first.
                let confined = || Describer {
                    launcher: confine(describer.launcher.clone(), tool),
                    ..describer.clone()
                };
                let asked = questions.entry(question);
                let (most, _) = asked.or_insert_with(|| (limit, confined()));
                *most = limit.max(*most);
            }
        }
        let answers = questions
            .into_iter()
            .map(|(question, (limit, describer))| async move {
                let answer = described_schema(&describer, &question, limit, asking, cache).await;
                (question, answer)
            });
        let answers = join_all(answers).await.into_iter().collect();
        Self { describer, answers }
    }

    /// The tool as its program describes it. The error names the problem and
    /// two ways to fix it.
    pub(crate) fn describe(&self, tool: &ToolConfig) -> Result<Described, Undescribed<'_>> {
        let question = self.describer.question(&command(tool))?;
        let answer = self.answers[&question].as_ref();
        let answer = answer.map_err(Undescribed::Answer)?;
        let description = answer.find(tool.source_name())?;
        let base = ToolDefinition::described(&description);
        let mut problems = unknown_overrides(tool, &base);
        problems.extend(answer.mistakes(tool.source_name()));
        let io = tool.io_over(description.spawn.and_then(|spawn| spawn.io));
        let mut definition = tool.overlay(base);
        definition.origin = format!("{} ({})", question.program(), definition.origin);
        check(&definition, question.program())?;
        check_templates(tool, &definition)?;
        Ok(Described {
            definition,
            io,
            formats_arguments: tool
                .settings
                .format_arguments
                .unwrap_or(description.format_arguments),
            problems,
        })
    }
}

/// Why a tool is not described by its program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Undescribed<'a> {
    /// The program cannot be run, or does not know the tool.
    #[error("{}{WAYS_OUT}", chain(.0))]
    Tool(#[from] SelfDescriptionError),
    /// The program was asked and gave no answer.
    #[error("{}{WAYS_OUT}", chain(*.0))]
    Answer(&'a SelfDescriptionError),
    /// The answer has parameters of a wrong form.
    #[error("`{program}` describes parameters that no provider accepts: {error}{WAYS_OUT}")]
    Schema {
        /// The program.
        program: String,
        /// The fault.
        error: SchemaError,
    },
    /// The command uses a name that the description does not have.
    #[error("its `command` {0}")]
    Template(TemplateFault),
    /// The answer has parameters that take too many bytes.
    #[error(
        "`{program}` describes parameters that no provider accepts: their schema has {} KiB, and \
         the limit is {}{WAYS_OUT}",
        .size >> 10, MOST_SCHEMA >> 10
    )]
    TooLarge {
        /// The program.
        program: String,
        /// Their size in bytes.
        size: usize,
    },
}

const WAYS_OUT: &str = "; add `parameters` to its table, or update the program so that its answer \
                        to the action `schema` lists this tool";

async fn described_schema(
    describer: &Describer,
    question: &SchemaQuestion,
    limit: Duration,
    asking: DescriptionCaching,
    cache: &Cache,
) -> Result<SchemaAnswer, SelfDescriptionError> {
    // Before the program is asked: should it be changed meanwhile, it is asked
    // again the next time.
    let seal = describer.seal(question);
    if asking == DescriptionCaching::Remembering
        && let Some(remembered) = seal.as_ref().and_then(|seal| cache.find(seal))
        && let Ok(answer) = SchemaAnswer::from_value(question.program(), remembered)
    {
        return Ok(answer);
    }
    let answer = describer.ask(question, limit).await?;
    if let Some(seal) = seal {
        cache.remember(&seal, answer.as_value());
    }
    Ok(answer)
}

/// The command of a local tool; the configuration rejects one without a
/// command.
pub(crate) fn command(tool: &ToolConfig) -> LocalCommand {
    let command = tool.command.as_ref().expect("a local tool has a command");
    LocalCommand {
        program: command.program.clone(),
        args: command.args.clone(),
        shell: command.shell,
    }
}

/// Checks the templates, once the parameters are known.
fn check_templates(
    tool: &ToolConfig,
    definition: &ToolDefinition,
) -> Result<(), Undescribed<'static>> {
    let Some(command) = &tool.command else {
        return Ok(());
    };
    let known = KnownNames {
        parameters: Some(&definition.shape.parameters),
        options: &tool.options,
    };
    match command.template().check(&known).into_iter().next() {
        Some(fault) => Err(Undescribed::Template(fault)),
        None => Ok(()),
    }
}

/// Weaknesses of the tool's command.
pub(crate) fn advice(tool: &ToolConfig, parameters: &Parameters) -> Vec<ToolProblem> {
    let known = KnownNames {
        parameters: Some(parameters),
        options: &tool.options,
    };
    let advice = tool
        .command
        .iter()
        .flat_map(|command| command.template().advice(&known));
    advice
        .map(|advice| ToolProblem {
            tool: tool.name.clone(),
            place: tool.place.clone(),
            problem: advice.to_string(),
            offered: true,
        })
        .collect()
}

/// Rejects definitions that no provider accepts.
fn check(definition: &ToolDefinition, program: &str) -> Result<(), Undescribed<'static>> {
    let program = program.to_owned();
    if let Err(error) = check_shape(&definition.shape) {
        return Err(Undescribed::Schema { program, error });
    }
    let size = definition
        .shape
        .parameters
        .to_object_schema()
        .to_string()
        .len();
    if size > MOST_SCHEMA {
        return Err(Undescribed::TooLarge { program, size });
    }
    Ok(())
}

fn unknown_overrides(tool: &ToolConfig, base: &ToolDefinition) -> Vec<String> {
    let known = &base.shape.parameters.properties;
    tool.unknown_overrides(base)
        .into_iter()
        .map(|name| {
            let hint = match nearest(&name, known.keys().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "remove it, or give all entries a `type`".to_owned(),
            };
            format!("`parameters.{name}` has no effect: the tool has no such parameter; {hint}")
        })
        .collect()
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        // Some messages hold their cause already.
        if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = error.source();
    }
    text
}
