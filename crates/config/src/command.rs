//! What a local tool or an MCP server runs.

use std::fmt::Write as _;

use crate::error::ProblemKind;
use crate::expected::ExpectedValue;
use crate::keys;
use crate::node::{Node, Value};
use crate::read::{self, Reader, Table};

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
    #[error("has a `{{{{` that is not closed; close it with `}}}}`")]
    OpenTemplate,
    /// It holds a zero byte, which no argument can.
    #[error("holds a zero byte; remove it")]
    ZeroByte,
}

impl CommandConfig {
    /// Splits a line into words as a shell would, without being one: quotes
    /// and backslashes group, variables and globs mean nothing, and what is
    /// between `{{` and `}}` stays together.
    pub fn split(line: &str) -> Result<Self, CommandError> {
        let mut words = split_words(line)?.into_iter();
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

    /// Some word of it holds a template.
    pub fn has_template(&self) -> bool {
        std::iter::once(&self.program)
            .chain(&self.args)
            .any(|word| word.contains("{{"))
    }

    /// Reads a command: a line of words, or a table. The program may be
    /// missing, since another layer may give it.
    pub(crate) fn read(reader: &mut Reader, parent: &Table<'_>, key: &str) -> Option<Self> {
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

    fn read_table(reader: &mut Reader, node: &Node, path: String) -> Option<Self> {
        let table = reader.as_table(node, path)?;
        reader.check_keys(&table, keys::COMMAND);
        let program = reader.get(&table, "program", read::string);
        let args = reader.get(&table, "args", read::strings);
        let shell = reader.get(&table, "shell", read::boolean);
        Some(Self {
            program: program.unwrap_or_default(),
            args: args.unwrap_or_default(),
            shell: shell.unwrap_or(false),
        })
    }
}

/// Templates are put aside while the line is split, so that spaces and quotes
/// in them mean nothing. Zero bytes mark their places, since no word of a
/// command can hold one.
fn split_words(line: &str) -> Result<Vec<String>, CommandError> {
    if line.contains('\0') {
        return Err(CommandError::ZeroByte);
    }
    let mut templates = Vec::new();
    let mut masked = String::new();
    let mut rest = line;
    while let Some(start) = rest.find("{{") {
        let end = rest[start..].find("}}").ok_or(CommandError::OpenTemplate)? + start + 2;
        masked.push_str(&rest[..start]);
        let _ = write!(masked, "\0{}\0", templates.len());
        templates.push(&rest[start..end]);
        rest = &rest[end..];
    }
    masked.push_str(rest);

    let words = shlex::split(&masked).ok_or(CommandError::OpenQuote)?;
    Ok(words.iter().map(|word| restore(word, &templates)).collect())
}

/// Every second piece between zero bytes is the number of a template.
fn restore(word: &str, templates: &[&str]) -> String {
    word.split('\0')
        .enumerate()
        .map(|(place, piece)| {
            let number = piece.parse::<usize>().ok().filter(|_| place % 2 == 1);
            number.map_or(piece, |number| templates[number])
        })
        .collect()
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
