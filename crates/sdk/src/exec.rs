//! Tools that answer a spawn with a program to run.

use std::path::PathBuf;

use windlass_protocol::{ExecAnswer, IoMode};

use crate::{Call, Error};

/// A program to run as the handle, in place of the tool.
///
/// Windlass runs it: its output is the handle's content, applied input is typed
/// into it, and the handle ends with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exec(ExecAnswer);

impl Exec {
    /// A program that is talked to through pipes.
    pub fn new(program: impl Into<String>) -> Self {
        Self(ExecAnswer {
            program: program.into(),
            args: Vec::new(),
            io: IoMode::Text,
            cwd: None,
            env: indexmap::IndexMap::new(),
        })
    }

    /// A program that needs a terminal.
    pub fn terminal(program: impl Into<String>) -> Self {
        let mut exec = Self::new(program);
        exec.0.io = IoMode::Terminal;
        exec
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.0.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.0.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// The working folder, relative to the project's folder; default: the
    /// project's folder.
    pub fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        self.0.cwd = Some(folder.into());
        self
    }

    /// Adds a variable to its environment.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.env.insert(name.into(), value.into());
        self
    }

    pub(crate) fn into_answer(self) -> ExecAnswer {
        self.0
    }
}

/// A command of an interactive tool: a name for the model to choose, and its
/// program.
pub struct InteractiveCommand<A> {
    pub(crate) name: String,
    pub(crate) summary: String,
    pub(crate) takes_input: bool,
    pub(crate) exec: ExecOf<A>,
}

pub(crate) type ExecOf<A> = Box<dyn Fn(A, &Call) -> Result<Exec, Error>>;

impl<A> InteractiveCommand<A> {
    /// A command that is watched and not talked to.
    pub fn new(
        name: impl Into<String>,
        summary: impl Into<String>,
        exec: impl Fn(A, &Call) -> Result<Exec, Error> + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            summary: summary.into(),
            takes_input: false,
            exec: Box::new(exec),
        }
    }

    /// Declares that the program reads input. A tool with such a command has
    /// the action `apply`.
    pub fn takes_input(mut self) -> Self {
        self.takes_input = true;
        self
    }
}
