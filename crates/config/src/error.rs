//! Errors in a configuration, with messages that say how to fix them.

use std::fmt;
use std::io;
use std::path::PathBuf;

use windlass_template::TemplateFault;

use crate::command::CommandError;
use crate::expected::ExpectedValue;
use crate::place::{SourceLocation, TextSpan};
use crate::plain_file::FileFault;

/// The configuration could not be loaded. Contains every problem that was
/// found, in the order of the layers.
#[derive(Debug, thiserror::Error)]
#[error("{}", joined(.problems))]
pub struct ConfigError {
    /// At least one.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Debug)]
pub struct Problem {
    /// The location, unless the problem concerns a whole file.
    pub place: Option<Box<SourceLocation>>,
    /// The kind of problem.
    pub kind: ProblemKind,
}

/// A kind of problem.
#[derive(Debug, thiserror::Error)]
pub enum ProblemKind {
    /// A file exists or was requested, and cannot be read.
    #[error("cannot read `{}`: {error}", .file.display())]
    Unreadable {
        /// The file or folder.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file must not be read.
    #[error("`{}` is refused: {fault}", .file.display())]
    Refused {
        /// The file or folder.
        file: PathBuf,
        /// Why.
        fault: FileFault,
    },
    /// A text is not TOML.
    #[error("{message}")]
    Syntax {
        /// The parser's message.
        message: String,
    },
    /// A flag or a variable does not assign anything.
    #[error(
        "`{assignment}` is not an assignment; write key=value, such as \
         conversation.tools.shell.run=ask"
    )]
    NoAssignment {
        /// The given assignment.
        assignment: String,
    },
    /// A key is unknown in its table.
    #[error("unknown key `{key}` in {}; {hint}", table_name(.table))]
    UnknownKey {
        key: String,
        /// The dotted path of its table, empty at the top.
        table: String,
        /// The nearest known key, or all of them.
        hint: String,
    },
    /// A value has the wrong type, or is not one of the valid values.
    #[error("`{key}` must be {wanted}, not {got}{}", wanted.hint(got))]
    WrongValue {
        /// The dotted path of the key.
        key: String,
        /// The value that would work.
        wanted: ExpectedValue,
        /// The given value.
        got: String,
    },
    #[error(
        "`{name}` cannot be a tool's name; begin with a letter or `_` and use at most 48 of A-Z a-z 0-9 _ -"
    )]
    ToolName { name: String },
    /// A tool has no source.
    #[error(
        "tool `{tool}` has no `source`; add source = \"local\" and a `command`, or source = \"mcp.SERVER\""
    )]
    NoSource { tool: String },
    /// A local tool has no command.
    #[error(
        "tool `{tool}` is local and has no `command`; add one, such as command = \"my-program {{{{context}}}} {{{{tool}}}}\""
    )]
    NoCommand { tool: String },
    /// A tool that is not local has a command.
    #[error(
        "tool `{tool}` is not local, so its `command` would never run; remove it, or set source = \"local\""
    )]
    CommandUnused { tool: String },
    /// A command table does not name its program.
    #[error("`{key}` has no `program`; add one, such as program = \"my-program\"")]
    NoProgram {
        /// The dotted path of the command.
        key: String,
    },
    /// A command cannot be read as words.
    #[error("`{key}` {error}")]
    Command {
        /// The dotted path of the command.
        key: String,
        /// Why.
        error: CommandError,
    },
    /// A command has a template that could not work.
    #[error("`{key}` {fault}")]
    Template {
        /// The dotted path of the command.
        key: String,
        fault: TemplateFault,
    },
    /// There is no built-in tool of that name.
    #[error(
        "tool `{tool}` uses the built-in tool `{builtin}`, which does not exist; the built-in \
         tools are {known}"
    )]
    NoBuiltin {
        tool: String,
        /// The requested name.
        builtin: String,
        /// The existing names.
        known: String,
    },
    /// A tool names an unknown MCP server, with a name similar to a known one.
    #[error("tool `{tool}` comes from the MCP server `{server}`, which is not configured; {hint}")]
    NoServer {
        tool: String,
        server: String,
        /// The nearest one.
        hint: String,
    },
    /// A tool runs on a host that is not configured.
    #[error(
        "tool `{tool}` runs on the host `{host}`, which is not configured; add [hosts.{host}] with `via`"
    )]
    NoHost { tool: String, host: String },
    /// A tool has both a fixed host and a choice of hosts.
    #[error(
        "tool `{tool}` has both `host` and `hosts`; `host` fixes one, `hosts` lets the assistant choose"
    )]
    HostAndHosts { tool: String },
    /// The choice of a host would be a second parameter of that name.
    #[error(
        "tool `{tool}` has its own parameter `host`, so `hosts` cannot add one; rename it, or \
         choose the host with `host`"
    )]
    OwnHost { tool: String },
    /// A host has no command.
    #[error(
        "host `{host}` has no `via`; add the command that runs `windlass host` there, or `nats` \
         and `pool`"
    )]
    NoVia { host: String },
    /// A pool is incomplete, or is also a host.
    #[error(
        "host `{host}` must be either a machine with `via`, or a pool with `nats` and `pool`; \
         `cert` and `key` must be given together"
    )]
    HalfPool { host: String },
    /// A host cannot be called so.
    #[error(
        "{name:?} cannot be a host's name; begin with a letter and use at most 48 letters, \
         digits, `_` and `-`"
    )]
    HostName { name: String },
    /// A tool has actions, but none that starts a handle.
    #[error(
        "tool `{tool}` lists actions without \"spawn\", so no handle of it could be started; add \
         \"spawn\", or remove `actions`"
    )]
    NoSpawn { tool: String },
    /// A parameter of a stateful tool has a reserved name.
    #[error(
        "`{parameter}` cannot be a parameter of `{tool}`: its handles' actions use that name; rename it, or remove `spawn.stateful`"
    )]
    Reserved { tool: String, parameter: String },
    /// A JSON Schema is given instead of a table of parameters.
    #[error(
        "`{key}` is a JSON Schema, but must be a table for each parameter; write its `properties` \
         as `{key}.NAME = {{ type = … }}`, with `required = true` in the required ones"
    )]
    SchemaParameters {
        /// The dotted path of the table.
        key: String,
    },
    /// A parameter has no type, while other parameters of the tool have one.
    #[error(
        "parameter `{parameter}` of `{tool}` has no `type`, while others have one; give it a \
         type, or remove the others' types so that the program describes its parameters"
    )]
    NoType { tool: String, parameter: String },
    /// A server has both a command and an address, or neither.
    #[error("MCP server `{server}` needs either a `command` or a `url`, {got}")]
    Transport {
        server: String,
        /// The given keys.
        got: &'static str,
    },
}

impl Problem {
    pub(crate) fn at(span: &TextSpan, kind: ProblemKind) -> Self {
        Self {
            place: Some(Box::new(span.place())),
            kind,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(formatter, "{place}: {}\n{}", self.kind, place.caret()),
            None => write!(formatter, "{}", self.kind),
        }
    }
}

fn joined(problems: &[Problem]) -> String {
    problems
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn table_name(path: &str) -> String {
    if path.is_empty() {
        "the top level".to_owned()
    } else {
        format!("`{path}`")
    }
}
