//! A configured local program as a tool.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;
use windlass_output::{Output, OutputOptions, Stream};
use windlass_process::{Command, Launcher};
use windlass_protocol::{
    Action, Arguments, Context, HandleAction, IoMode, ToolAnswer, ToolError, ToolState,
};
use windlass_runtime::{
    AdoptError, Executor, Job, JobDescription, Reporter, Start, Subject, ToolDefinition,
};
use windlass_template::RenderError;

use crate::ask::{AskLimits, ask, bytes_of};
use crate::command::{LocalCommand, Trailing, of_words};
use crate::confined;
use crate::held;
use crate::kept::Kept;
use crate::state::{StateJob, StatePlan};
use crate::terminal::TerminalPlan;
use crate::text::{ProgramPlan, TextPlan};

/// The time limit for a program that formats arguments. A person is waiting for
/// the request.
const FORMAT_TIME: Duration = Duration::from_secs(3);

/// The maximum size of formatted arguments.
const FORMAT_BYTES: usize = 16 << 10;

/// Runs a configured program.
#[derive(Clone)]
pub struct LocalTool {
    pub launcher: Launcher,
    pub command: LocalCommand,
    /// The name of the tool in the program.
    pub tool: String,
    /// The protocol of its input and output.
    pub io: IoMode,
    /// The options that the configuration sets.
    pub options: Arguments,
    /// The program takes arguments. It gets the context and the tool as its
    /// last two arguments if its command has no template.
    pub takes_call: bool,
    /// The program can format arguments for people.
    pub formats_arguments: bool,
    /// The id of the project.
    pub workspace_id: Option<String>,
    pub kept: Kept,
}

/// A borrowed [`ToolInvocation`](windlass_protocol::ToolInvocation), for serialisation without
/// copies.
#[derive(Serialize)]
struct ToolRef<'a> {
    name: &'a str,
    arguments: &'a Arguments,
    answers: &'a Arguments,
    options: &'a Arguments,
}

impl LocalTool {
    /// The plan of a text or terminal program; `None` for a state program.
    fn plan(&self, start: &Start) -> Result<Option<ProgramPlan>, ToolError> {
        let grace = start.tool.limits.grace;
        let takes_input =
            start.handle.is_some() && start.tool.shape.actions.contains(HandleAction::Apply);
        let launcher = confined::launcher(&self.launcher, start);
        let kept = self.kept;
        let keep = start.keep.clone();
        let log = start.log.clone().map(Into::into);
        Ok(Some(match self.io {
            IoMode::Text => {
                let local = self.clone();
                let root = start.root.local.clone();
                let start = start.clone();
                let command = move |answers: &Arguments| local.command(&start, answers);
                ProgramPlan::Text(Box::new(TextPlan {
                    launcher,
                    command: Box::new(command),
                    root,
                    log,
                    grace,
                    takes_input,
                    speaks_protocol: true,
                    runs_typed: false,
                    kept,
                    keep,
                }))
            }
            IoMode::State => return Ok(None),
            IoMode::Terminal => ProgramPlan::Terminal(Box::new(TerminalPlan {
                launcher,
                command: self.command(start, &Arguments::new())?,
                log,
                grace,
                kept,
                runs_typed: false,
                keep,
            })),
        }))
    }
}

#[async_trait]
impl Executor for LocalTool {
    async fn start(&self, start: Start, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError> {
        if let Some(plan) = self.plan(&start)? {
            return plan.start(reporter).await;
        }
        let plan = StatePlan {
            launcher: confined::launcher(&self.launcher, &start),
            command: self.command(&start, &Arguments::new())?,
            log_limit: self.kept.log_limit,
            grace: start.tool.limits.grace,
            log: start.log.map(Into::into),
        };
        Ok(StateJob::start(plan, reporter).await?)
    }

    async fn adopt(
        &self,
        running: JobDescription,
        reporter: Reporter,
    ) -> Result<Arc<dyn Job>, AdoptError> {
        let plan = self.plan(&running.start).map_err(held::unplanned)?;
        let plan = plan.ok_or(AdoptError::Unsupported)?;
        plan.adopt(&running, reporter).await
    }

    fn keeps(&self) -> bool {
        // A state tool has separate stdout and stderr, and its stdout is a protocol, not a stream of bytes.
        self.io != IoMode::State && self.launcher.keeps_programs()
    }

    async fn format_arguments(&self, start: Start) -> Option<String> {
        // A program that is not told what it is run for would do its work.
        if !self.formats_arguments || !self.command.tells_context(self.trailing()) {
            return None;
        }
        let command = self.command_for(Action::FormatArguments, &start, &Arguments::new());
        let limits = AskLimits {
            time: FORMAT_TIME,
            bytes: ToolAnswer::MAX_BYTES,
        };
        match ask(&self.launcher, command.ok()?, limits).await {
            Ok(output) => display(&output),
            Err(error) => {
                let tool = &self.tool;
                tracing::debug!(%tool, ?error, "the arguments are shown as they are");
                None
            }
        }
    }

    fn subject(&self, tool: &ToolDefinition, args: &Arguments, _: &Path) -> Subject {
        let pattern = serde_json::to_string(args).unwrap_or_default();
        Subject::new(&tool.name, [pattern]).remembering(["*"])
    }
}

impl LocalTool {
    fn command(&self, start: &Start, answers: &Arguments) -> Result<Command, ToolError> {
        self.command_for(Action::Run, start, answers)
            .map_err(|error| ToolError::new(error.to_string()))
    }

    fn command_for(
        &self,
        action: Action,
        start: &Start,
        answers: &Arguments,
    ) -> Result<Command, RenderError> {
        let tool = ToolRef {
            name: &self.tool,
            arguments: &start.args,
            answers,
            options: &self.options,
        };
        let context = Context {
            action,
            root: start.root.local.clone(),
            workspace_id: self.workspace_id.clone(),
            conversation_id: Some(start.session.to_string()),
            handle_id: start.handle.as_ref().map(ToString::to_string),
        };
        let words = self.command.words(&tool, &context, self.trailing())?;
        Ok(of_words(&words).cwd(&start.root))
    }

    fn trailing(&self) -> Trailing {
        if self.takes_call {
            Trailing::ContextAndTool
        } else {
            Trailing::Nothing
        }
    }
}

/// The formatted arguments that a program printed: plain text, or a text reply
/// of the protocol.
fn display(output: &Output) -> Option<String> {
    let printed = String::from_utf8_lossy(&bytes_of(output)).into_owned();
    let text = match ToolAnswer::read(&printed) {
        None => printed,
        Some(Ok(ToolAnswer::State(ToolState::Stopped { result: Ok(text) }))) => text,
        Some(_) => return None,
    };
    // A person's terminal is no place for a program's control sequences.
    let shown = Output::new(OutputOptions::default());
    shown.push(Stream::Stdout, text.as_bytes());
    shown.finish();
    let text = shown.read_all(FORMAT_BYTES).text;
    Some(text.trim_end().to_owned()).filter(|text| !text.is_empty())
}
