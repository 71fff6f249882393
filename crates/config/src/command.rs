//! The commands of local tools and MCP servers.

use windlass_template::{CommandTemplate, SplitError, split_line};

use crate::error::ProblemKind;
use crate::expected::ExpectedValue;
use crate::keys;
use crate::node::{Node, Value};
use crate::read::{self, ConfigReader, Table};

/// A program and its arguments. Any of its words may hold templates such as
/// `{{tool}}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandConfig {
    /// The program by name or path; with `shell`, a whole line for the shell.
    pub program: String,
    /// Its arguments, one word each.
    pub args: Vec<String>,
    /// A shell runs it.
    pub shell: bool,
}

/// A command that cannot be read as words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// There is nothing to run.
    #[error("names no program; write one, such as \"my-program {{{{context}}}} {{{{tool}}}}\"")]
    Empty,
    /// A quote is opened and not closed.
    #[error("has a quote that is not closed; close it, or give {{ program, args }} instead")]
    OpenQuote,
    /// A template is opened and not closed.
    #[error(
        "has a `{{{{` or a `{{%` that is not closed; close it with `}}}}`, `%}}` or its end tag"
    )]
    OpenTemplate,
    /// It holds a zero byte, which no argument can.
    #[error("contains a NUL byte; remove it")]
    ZeroByte,
}

impl From<SplitError> for CommandError {
    fn from(error: SplitError) -> Self {
        match error {
            SplitError::OpenQuote => Self::OpenQuote,
            SplitError::OpenTemplate => Self::OpenTemplate,
            SplitError::ZeroByte => Self::ZeroByte,
        }
    }
}

impl CommandConfig {
    /// Splits a line into words like a shell. Quotes and backslashes group;
    /// variables and globs are not expanded. Templates stay whole, as do blocks
    /// such as `{% if … %}…{% endif %}`.
    pub fn split(line: &str) -> Result<Self, CommandError> {
        let mut words = split_line(line)?.into_iter();
        let program = words.next().ok_or(CommandError::Empty)?;
        if program.is_empty() {
            return Err(CommandError::Empty);
        }
        Ok(Self {
            program,
            args: words.collect(),
            shell: false,
        })
    }

    /// Whether any word contains a template.
    pub fn has_template(&self) -> bool {
        self.template().has_template()
    }

    /// The command for checks and for rendering.
    pub fn template(&self) -> CommandTemplate<'_> {
        CommandTemplate {
            program: &self.program,
            args: &self.args,
            shell: self.shell,
        }
    }

    /// Reads a command: a line of words, or a table. The program may be
    /// missing, because another layer may set it.
    pub(crate) fn read(reader: &mut ConfigReader, parent: &Table<'_>, key: &str) -> Option<Self> {
        let node = parent.node(key)?;
        match &node.value {
            Value::String(line) => match Self::split(line) {
                Ok(command) => Some(command),
                Err(error) => {
                    let key = parent.path_of(key);
                    reader.problem(&node.span, ProblemKind::Command { key, error });
                    None
                }
            },
            Value::Table(_) => Self::read_table(reader, node, parent.path_of(key)),
            _ => {
                reader.wrong(node, parent.path_of(key), ExpectedValue::Command);
                None
            }
        }
    }

    fn read_table(reader: &mut ConfigReader, node: &Node, path: String) -> Option<Self> {
        let table = reader.as_table(node, path.clone())?;
        reader.check_keys(&table, keys::COMMAND);
        let program = reader.get(&table, "program", read::string);
        let args = reader.get(&table, "args", read::strings);
        let shell = reader.get(&table, "shell", read::boolean);
        let words = program.iter().chain(args.iter().flatten());
        if words.into_iter().any(|word| word.contains('\0')) {
            let error = CommandError::ZeroByte;
            reader.problem(&node.span, ProblemKind::Command { key: path, error });
            return None;
        }
        Some(Self {
            program: program.unwrap_or_default(),
            args: args.unwrap_or_default(),
            shell: shell.unwrap_or(false),
        })
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
