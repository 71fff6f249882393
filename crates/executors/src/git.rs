//! The built-in tool `git`: common commands, on a terminal if they ask for
//! input.

mod editor;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_process::{Command, Launcher};
use windlass_protocol::{ActionSet, Arguments, DigestPolicy, Parameters, ToolError, ToolShape};
use windlass_runtime::{
    AdoptError, Executor, Job, JobDescription, Reporter, Start, Subject, SubjectPattern,
    ToolDefinition,
};

use crate::commands::{folder_outside, quoted};
use crate::confined;
use crate::held;
use crate::kept::Kept;
use crate::terminal::TerminalPlan;
use crate::text::{ProgramPlan, TextPlan};

/// Runs git.
pub struct Git {
    launcher: Launcher,
    kept: Kept,
}

/// The arguments of `git`.
#[derive(Deserialize)]
struct GitArgs {
    command: GitCommand,
    #[serde(default)]
    args: Vec<String>,
    cwd: Option<PathBuf>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum GitCommand {
    Stage,
    Rebase,
    Commit,
    Log,
    Diff,
    Status,
}

impl GitCommand {
    /// The words after `git`.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Stage => &["add", "--patch"],
            Self::Rebase => &["rebase", "--interactive"],
            Self::Commit => &["commit"],
            Self::Log => &["log"],
            Self::Diff => &["diff"],
            Self::Status => &["status"],
        }
    }

    /// Whether the command may prompt, and should get a terminal if a person is
    /// available.
    fn asks(self) -> bool {
        matches!(self, Self::Stage | Self::Rebase | Self::Commit)
    }
}

impl Git {
    /// The name it is called by.
    pub const NAME: &str = "git";

    /// Runs the `git` that is in the `PATH`.
    pub fn new(launcher: Launcher) -> Self {
        Self {
            launcher,
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
            (
                "command",
                json!({"type": "string", "enum": ["stage", "rebase", "commit", "log", "diff", "status"]}),
            ),
            (
                "args",
                json!({"type": "array", "items": {"type": "string"}}),
            ),
            ("cwd", json!({"type": "string"})),
        ];
        ToolDefinition {
            summary: Some(
                "Run git. stage (add --patch), rebase (--interactive) and commit can be spawned on a terminal."
                    .to_owned(),
            ),
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
}

fn read(args: Arguments) -> Result<GitArgs, ToolError> {
    serde_json::from_value(Value::Object(args)).map_err(|error| ToolError::new(error.to_string()))
}

/// Disables pagers: git's pager would wait for a key, and pagers run commands.
fn command(args: &GitArgs, root: &Path) -> Command {
    let cwd = args
        .cwd
        .as_ref()
        .map_or_else(|| root.to_owned(), |cwd| root.join(cwd));
    Command::new("git")
        .args(args.command.words())
        .args(&args.args)
        .env("GIT_PAGER", "cat")
        .env("PAGER", "cat")
        .env("LESSSECURE", "1")
        .env("PAGERSECURE", "1")
        .cwd(cwd)
}

impl Git {
    fn plan(&self, start: Start) -> Result<ProgramPlan, ToolError> {
        let launcher = confined::launcher(&self.launcher, &start);
        let args = read(start.args)?;
        let keep = start.keep;
        let command = command(&args, &start.root);
        let grace = start.tool.limits.grace;
        if start.handle.is_some() && args.command.asks() {
            return Ok(ProgramPlan::Terminal(Box::new(TerminalPlan {
                launcher,
                command: editor::restrict(command),
                log: start.log.map(Into::into),
                grace,
                kept: self.kept,
                runs_typed: true,
                keep,
            })));
        }
        // There is no user for an editor or a prompt, so commands that need one fail.
        let command = command
            .env("GIT_EDITOR", "true")
            .env("GIT_SEQUENCE_EDITOR", "true")
            .env("GIT_TERMINAL_PROMPT", "0");
        Ok(ProgramPlan::Text(Box::new(TextPlan {
            launcher,
            command: Box::new(move |_| Ok(command.clone())),
            root: start.root.into(),
            log: start.log.map(Into::into),
            grace,
            takes_input: start.handle.is_some(),
            speaks_protocol: false,
            kept: self.kept,
            runs_typed: false,
            keep,
        })))
    }
}

#[async_trait]
impl Executor for Git {
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
        let word = args.get("command").and_then(Value::as_str).unwrap_or("");
        let rest = args.get("args").and_then(Value::as_array);
        let rest = rest.into_iter().flatten().filter_map(Value::as_str);
        let command = quoted(std::iter::once(word).chain(rest));
        // Only this command neither runs programs nor writes files, whatever
        // its arguments are.
        let always = match word {
            "status" => "status *".to_owned(),
            _ => command.clone(),
        };
        let mut patterns = vec![SubjectPattern::from(command)];
        let mut always = vec![always];
        if let Some(folder) = folder_outside(args, root, &self.launcher) {
            always.push(folder.text.clone());
            patterns.push(folder);
        }
        let is_literal = |pattern: &String| pattern == "status *" || !pattern.contains(['*', '?']);
        always.retain(is_literal);
        Subject::new(&tool.name, patterns).remembering(always)
    }
}
