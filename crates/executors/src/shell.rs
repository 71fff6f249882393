//! The built-in tool `shell`: runs a command line in the user's shell.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_process::{Command, Launcher, TerminalSize};
use windlass_protocol::{ActionSet, Arguments, DigestPolicy, Parameters, ToolError, ToolShape};
use windlass_runtime::{
    AdoptError, Executor, Job, JobDescription, Reporter, Start, Subject, ToolDefinition,
};

use crate::commands::{
    CommandLine, ShellLanguage, distinct, folder_outside, set_variable, suggestion,
};
use crate::confined;
use crate::held;
use crate::kept::Kept;
use crate::terminal::TerminalPlan;
use crate::text::{ProgramPlan, TextPlan};

/// The longest time limit that a call may set: a year.
const LONGEST_TIMEOUT_SECS: u32 = 31_536_000;

const SUMMARY: &str = "Run a command line with the user's shell.";
/// Keeps models from piping through `head` and `tail`.
const OF_DIGEST: &str = "Long output is shown in part; markers name the lines to fetch.";

/// Runs command lines.
pub struct Shell {
    launcher: Launcher,
    program: PathBuf,
    kept: Kept,
}

/// The arguments of `shell`.
#[derive(Deserialize)]
struct ShellArgs {
    command: String,
    cwd: Option<PathBuf>,
    #[serde(default)]
    env: Arguments,
    #[serde(default)]
    terminal: bool,
    rows: Option<u16>,
    cols: Option<u16>,
}

impl Shell {
    /// The name it is called by.
    pub const NAME: &str = "shell";

    /// Runs lines with the shell that `$SHELL` names, or `sh`.
    pub fn new(launcher: Launcher) -> Self {
        let shell = std::env::var_os("SHELL")
            .map(PathBuf::from)
            .filter(|shell| shell.is_absolute() && shell.is_file());
        Self {
            launcher,
            program: shell.unwrap_or_else(|| "/bin/sh".into()),
            kept: Kept::default(),
        }
    }

    /// Sets the storage of its output.
    pub fn keeping(mut self, kept: Kept) -> Self {
        self.kept = kept;
        self
    }

    /// The tool's definition.
    pub fn definition() -> ToolDefinition {
        let properties = [
            ("command", json!({"type": "string"})),
            ("cwd", json!({"type": "string"})),
            (
                "env",
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
            ),
            (
                "timeout_secs",
                json!({
                    "type": "number",
                    "description": "One-shot only; 600 by default",
                    "minimum": 0,
                    "maximum": LONGEST_TIMEOUT_SECS,
                }),
            ),
            (
                "terminal",
                json!({"type": "boolean", "description": "For interactive programs"}),
            ),
            (
                "rows",
                json!({"type": "integer", "minimum": 1, "maximum": 512}),
            ),
            (
                "cols",
                json!({"type": "integer", "minimum": 2, "maximum": 1024}),
            ),
        ];
        ToolDefinition {
            summary: Some(format!("{SUMMARY} {OF_DIGEST}")),
            shape: ToolShape {
                parameters: Parameters::exactly(properties, &["command"]),
                actions: ActionSet::all(),
                one_shot: true,
                typing: true,
                lines: true,
                keep: false,
            },
            digest: DigestPolicy::on(),
            ..ToolDefinition::new(Self::NAME)
        }
    }

    /// Removes the sentence on digests from a definition without a digest.
    pub fn describe_digest(definition: &mut ToolDefinition) {
        if !definition.is_digested()
            && let Some(summary) = &mut definition.summary
            && let Some(rest) = summary.strip_suffix(OF_DIGEST)
        {
            *summary = rest.trim_end().to_owned();
        }
    }

    fn plan(&self, start: Start) -> Result<ProgramPlan, ToolError> {
        let launcher = confined::launcher(&self.launcher, &start);
        let args: ShellArgs = serde_json::from_value(Value::Object(start.args))
            .map_err(|error| ToolError::new(error.to_string()))?;
        let cwd = match &args.cwd {
            Some(cwd) => start.root.join(cwd),
            None => start.root.local.clone(),
        };
        let mut command = Command::new(&self.program)
            .user_shell()
            .arg("-c")
            .arg(&args.command)
            .cwd(cwd);
        for (name, value) in &args.env {
            if let Value::String(value) = value {
                command = command.env(name, value);
            }
        }
        let keep = start.keep;
        if args.terminal {
            return Ok(ProgramPlan::Terminal(Box::new(TerminalPlan {
                launcher,
                command,
                log: start.log.map(Into::into),
                grace: start.tool.limits.grace,
                kept: Kept {
                    size: TerminalSize {
                        rows: args.rows.unwrap_or(self.kept.size.rows),
                        cols: args.cols.unwrap_or(self.kept.size.cols),
                    },
                    ..self.kept
                },
                runs_typed: true,
                keep,
            })));
        }
        Ok(ProgramPlan::Text(Box::new(TextPlan {
            launcher,
            command: Box::new(move |_| Ok(command.clone())),
            root: start.root.into(),
            log: start.log.map(Into::into),
            grace: start.tool.limits.grace,
            takes_input: start.handle.is_some(),
            speaks_protocol: false,
            kept: self.kept,
            runs_typed: true,
            keep,
        })))
    }
}

#[async_trait]
impl Executor for Shell {
    async fn start(&self, start: Start, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError> {
        self.plan(start)?.start(reporter).await
    }

    async fn adopt(
        &self,
        running: JobDescription,
        reporter: Reporter,
    ) -> Result<Arc<dyn Job>, AdoptError> {
        let plan = self.plan(running.start.clone()).map_err(held::unplanned)?;
        plan.adopt(&running, reporter).await
    }

    fn keeps(&self) -> bool {
        self.launcher.keeps_programs()
    }

    fn subject(&self, tool: &ToolDefinition, args: &Arguments, root: &Path) -> Subject {
        let line = args.get("command").and_then(Value::as_str).unwrap_or("");
        let mut patterns = CommandLine::read(line, ShellLanguage::of(&self.program)).commands;
        let variables = args.get("env").and_then(Value::as_object);
        for (name, value) in variables.into_iter().flatten() {
            let value = value.as_str().unwrap_or_default();
            for pattern in &mut patterns {
                set_variable(pattern, name, value);
            }
        }
        patterns.extend(folder_outside(args, root, &self.launcher));
        let always: Option<Vec<String>> = patterns.iter().map(suggestion).collect();
        Subject {
            permission: tool.name.clone(),
            patterns,
            always: distinct(always.unwrap_or_default()),
        }
    }

    fn title(&self, _: &ToolDefinition, args: &Arguments, _: &Path) -> String {
        let line = args.get("command").and_then(Value::as_str).unwrap_or("");
        line.trim().to_owned()
    }

    fn timeout(&self, args: &Arguments) -> Option<Duration> {
        let seconds = args.get("timeout_secs")?.as_f64()?;
        let limit = Duration::try_from_secs_f64(seconds).ok()?;
        // Callers that must fill every field write 0 when they mean nothing.
        (!limit.is_zero()).then_some(limit)
    }
}
