//! What can be wrong with a configuration, said so that it can be put right.

use std::fmt;
use std::io;
use std::path::PathBuf;

use windlass_template::TemplateFault;

use crate::command::CommandError;
use crate::expected::ExpectedValue;
use crate::place::{Place, Span};
use crate::plain_file::FileFault;

/// The configuration could not be loaded. It holds every problem that was
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
    /// Where it stands, unless it is a whole file.
    pub place: Option<Box<Place>>,
    /// What it is.
    pub kind: ProblemKind,
}

/// What is wrong.
#[derive(Debug, thiserror::Error)]
pub enum ProblemKind {
    /// A file is there, or was asked for, and cannot be read.
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
        /// What the parser says.
        message: String,
    },
    /// A flag or a variable does not assign anything.
    #[error(
        "`{assignment}` assigns nothing; write key=value, such as conversation.tools.shell.run=ask"
    )]
    NoAssignment {
        /// What was given.
        assignment: String,
    },
    /// A key means nothing where it stands.
    #[error("unknown key `{key}` in {}; {hint}", table_name(.table))]
    UnknownKey {
        /// The key.
        key: String,
        /// The dotted path of its table, empty at the top.
        table: String,
        /// The nearest known key, or all of them.
        hint: String,
    },
    /// A value is of the wrong type, or not one of those that work.
    #[error("`{key}` must be {wanted}, not {got}{}", wanted.hint(got))]
    WrongValue {
        /// The dotted path of the key.
        key: String,
        /// The value that would work.
        wanted: ExpectedValue,
        /// What stands there.
        got: String,
    },
    /// A tool's name cannot be one.
    #[error(
        "`{name}` cannot be a tool's name; begin with a letter or `_` and use at most 48 of A-Z a-z 0-9 _ -"
    )]
    ToolName {
        /// The name.
        name: String,
    },
    /// A tool does not say where it comes from.
    #[error(
        "tool `{tool}` has no `source`; add source = \"local\" and a `command`, or source = \"mcp.SERVER\""
    )]
    NoSource {
        /// The tool.
        tool: String,
    },
    /// A local tool does not say what to run.
    #[error(
        "tool `{tool}` is local and has no `command`; add one, such as command = \"my-program {{{{context}}}} {{{{tool}}}}\""
    )]
    NoCommand {
        /// The tool.
        tool: String,
    },
    /// A tool that is not local says what to run.
    #[error(
        "tool `{tool}` is not local, so its `command` would never run; remove it, or set source = \"local\""
    )]
    CommandUnused {
        /// The tool.
        tool: String,
    },
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
        /// The fault.
        fault: TemplateFault,
    },
    /// There is no built-in tool of that name.
    #[error(
        "tool `{tool}` wants the built-in tool `{builtin}`, and there is none; there are {known}"
    )]
    NoBuiltin {
        /// The tool.
        tool: String,
        /// What it wants.
        builtin: String,
        /// What there is.
        known: String,
    },
    /// A tool comes from an MCP server whose name is like that of another.
    #[error("tool `{tool}` comes from the MCP server `{server}`, which is not configured; {hint}")]
    NoServer {
        /// The tool.
        tool: String,
        /// The server.
        server: String,
        /// The nearest one.
        hint: String,
    },
    /// A tool runs on a host that is not configured.
    #[error(
        "tool `{tool}` runs on the host `{host}`, which is not configured; add [hosts.{host}] with `via`"
    )]
    NoHost {
        /// The tool.
        tool: String,
        /// The host.
        host: String,
    },
    /// A tool names one host and a choice of hosts.
    #[error(
        "tool `{tool}` has both `host` and `hosts`; `host` fixes one, `hosts` lets the assistant choose"
    )]
    HostAndHosts {
        /// The tool.
        tool: String,
    },
    /// A host has no command.
    #[error(
        "host `{host}` has no `via`; write the words that run `windlass host` there, or `nats` and `pool`"
    )]
    NoVia {
        /// The host.
        host: String,
    },
    /// A pool is not whole, or is a host too.
    #[error(
        "host `{host}` is either a machine with `via`, or a pool with `nats` and `pool`; `cert` and `key` belong together"
    )]
    HalfPool {
        /// The host.
        host: String,
    },
    /// A host cannot be called so.
    #[error(
        "a host cannot be called {name:?}; use letters, digits, `_` and `-`, at most 48, and begin with a letter"
    )]
    HostName {
        /// The name.
        name: String,
    },
    /// A tool has actions, but none that starts a handle.
    #[error(
        "tool `{tool}` lists actions without \"spawn\", so that no handle of it could ever be started; add \"spawn\", or remove `actions`"
    )]
    NoSpawn {
        /// The tool.
        tool: String,
    },
    /// A parameter of a stateful tool has a name that its actions need.
    #[error(
        "`{parameter}` cannot be a parameter of `{tool}`: its handles' actions use that name; rename it, or remove `spawn.stateful`"
    )]
    Reserved {
        /// The tool.
        tool: String,
        /// The parameter.
        parameter: String,
    },
    /// A JSON Schema stands where a table of parameters belongs.
    #[error(
        "`{key}` is a JSON Schema, and a table for each parameter is wanted; write its `properties` as `{key}.NAME = {{ type = … }}`, with `required = true` in those that must be given"
    )]
    SchemaParameters {
        /// The dotted path of the table.
        key: String,
    },
    /// A parameter has no type, while others of the tool define it.
    #[error(
        "parameter `{parameter}` of `{tool}` has no `type`, while others have one; give it a type, or remove theirs so that the program is asked"
    )]
    NoType {
        /// The tool.
        tool: String,
        /// The parameter.
        parameter: String,
    },
    /// A server is given by command and by address, or by neither.
    #[error("MCP server `{server}` needs either a `command` or a `url`, {got}")]
    Transport {
        /// The server.
        server: String,
        /// What it has.
        got: &'static str,
    },
}

impl Problem {
    pub(crate) fn at(span: &Span, kind: ProblemKind) -> Self {
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
