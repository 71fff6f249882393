//! A configured local program as a tool.

use std::sync::Arc;

use async_trait::async_trait;
use windlass_process::{Command, Launcher, TerminalSize};
use windlass_protocol::{Action, Arguments, Context, HandleAction, IoMode, Tool, ToolError};
use windlass_runtime::{Executor, Job, Reporter, Start, Subject, ToolDefinition};

use crate::state::{StateJob, StatePlan};
use crate::template::{Quoting, Renderer, TemplateError};
use crate::terminal::{TerminalJob, TerminalPlan};
use crate::text::{TextJob, TextPlan};

/// How a configured program is called. Every part may be a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalCommand {
    /// The program, or under a shell the whole line.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The program is a line for `sh`; values are quoted.
    pub shell: bool,
}

impl LocalCommand {
    /// No part of it is a template.
    fn is_plain(&self) -> bool {
        let mut parts = std::iter::once(&self.program).chain(&self.args);
        !parts.any(|part| part.contains("{{") || part.contains("{%"))
    }
}

/// Runs a configured program.
#[derive(Clone)]
pub struct LocalTool {
    /// What starts it.
    pub launcher: Launcher,
    /// How it is called.
    pub command: LocalCommand,
    /// The name it knows the tool by.
    pub tool: String,
    /// How it is talked to.
    pub io: IoMode,
    /// What the config sets for it.
    pub options: Arguments,
    /// It describes itself, and so gets the context and the tool as its last
    /// arguments where its command has no place for them.
    pub describes_itself: bool,
    /// Names the project.
    pub workspace_id: Option<String>,
    /// How large its log may grow.
    pub log_limit: u64,
    /// How large its terminal is, where it has one.
    pub size: TerminalSize,
    /// Its terminal is recorded.
    pub record: bool,
}

#[async_trait]
impl Executor for LocalTool {
    async fn start(&self, start: Start, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError> {
        let grace = start.tool.limits.grace;
        let takes_input =
            start.handle.is_some() && start.tool.shape.actions.contains(HandleAction::Apply);
        let launcher = self.launcher.clone();
        let log_limit = self.log_limit;
        match self.io {
            IoMode::Text => {
                let local = self.clone();
                let root = start.root.clone();
                let log = start.log.clone();
                let command = move |answers: &Arguments| local.command(&start, answers);
                let plan = TextPlan {
                    launcher,
                    command: Box::new(command),
                    root,
                    log,
                    log_limit,
                    grace,
                    takes_input,
                    speaks_protocol: true,
                    size: self.size,
                    record: self.record,
                };
                Ok(TextJob::start(plan, reporter).await?)
            }
            IoMode::State => {
                let plan = StatePlan {
                    launcher,
                    command: self.command(&start, &Arguments::new())?,
                    log: start.log,
                    log_limit,
                    grace,
                };
                Ok(StateJob::start(plan, reporter).await?)
            }
            IoMode::Terminal => {
                let plan = TerminalPlan {
                    launcher,
                    command: self.command(&start, &Arguments::new())?,
                    size: self.size,
                    log: start.log,
                    log_limit,
                    grace,
                    record: self.record,
                };
                Ok(TerminalJob::start(plan, reporter).await?)
            }
        }
    }

    fn subject(&self, tool: &ToolDefinition, args: &Arguments) -> Subject {
        let pattern = serde_json::to_string(args).unwrap_or_default();
        Subject {
            permission: tool.name.clone(),
            patterns: vec![pattern],
            always: vec!["*".to_owned()],
            exact: false,
        }
    }
}

impl LocalTool {
    fn command(&self, start: &Start, answers: &Arguments) -> Result<Command, ToolError> {
        let tool = Tool {
            name: self.tool.clone(),
            arguments: start.args.clone(),
            answers: answers.clone(),
            options: self.options.clone(),
        };
        let context = Context {
            action: Action::Run,
            root: start.root.clone(),
            workspace_id: self.workspace_id.clone(),
            conversation_id: Some(start.session.to_string()),
            handle_id: start.handle.as_ref().map(ToString::to_string),
        };
        let command = self
            .render(&tool, &context)
            .map_err(|error| ToolError::new(error.to_string()))?;
        Ok(command.cwd(&start.root))
    }

    fn render(&self, tool: &Tool, context: &Context) -> Result<Command, TemplateError> {
        if self.command.shell {
            let renderer = Renderer::new(tool, context, Quoting::Shell);
            let line = renderer.render(&self.command.program)?;
            let args: Vec<String> = self
                .command
                .args
                .iter()
                .map(|arg| renderer.render(arg))
                .collect::<Result<_, _>>()?;
            let line = std::iter::once(line).chain(args).collect::<Vec<_>>();
            return Ok(Command::new("/bin/sh").arg("-c").arg(line.join(" ")));
        }
        let renderer = Renderer::new(tool, context, Quoting::Bare);
        let program = renderer.render(&self.command.program)?;
        let mut command = Command::new(program);
        for arg in &self.command.args {
            command = command.arg(renderer.render(arg)?);
        }
        if self.describes_itself && self.command.is_plain() {
            command = command
                .arg(renderer.render("{{context}}")?)
                .arg(renderer.render("{{tool}}")?);
        }
        Ok(command)
    }
}
