//! One tool: what its table says, and what comes of it.

use std::time::Duration;

use indexmap::IndexMap;
use windlass_protocol::{Arguments, Examples, IoMode, Parameter};
use windlass_runtime::ToolDefinition;

use crate::command::CommandConfig;
use crate::error::ProblemKind;
use crate::expected::ExpectedValue;
use crate::keys;
use crate::node::{Node, Value};
use crate::parameter::{examples, read_parameters};
use crate::place::Place;
use crate::read::{self, Reader, Table};
use crate::settings::ToolSettings;

/// One tool of the configuration, with everything that decides how it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolConfig {
    /// Its name, as the model calls it.
    pub name: String,
    /// It is offered. A tool that is not stays here, so that a built-in one
    /// can be left out by whoever registers it.
    pub enabled: bool,
    /// Where it comes from.
    pub source: Source,
    /// The tool as far as the configuration tells it, defaults filled in. For
    /// built-in tools, MCP tools and programs that must be asked, lay the
    /// configuration over what they say with [`ToolConfig::overlay`].
    pub definition: ToolDefinition,
    /// What the person said, and nothing else.
    pub settings: ToolSettings,
    /// Parameters that change what a program, a server or a built-in tool
    /// says of its own.
    pub overrides: IndexMap<String, Parameter>,
    /// The tool is local and its program must be asked for its parameters.
    pub asks_program: bool,
    /// What a local tool runs; every local tool has one.
    pub command: Option<CommandConfig>,
    /// How the program is talked to.
    pub io: IoMode,
    /// What is passed on to the program as `options`.
    pub options: Arguments,
    /// Who answers when the program asks for a secret.
    pub secrets: SecretTarget,
    /// Its terminal is recorded.
    pub record: bool,
    /// Rows of its terminal, where said.
    pub rows: Option<u16>,
    /// Columns of its terminal, where said.
    pub cols: Option<u16>,
    /// How many bytes of output the log of a handle keeps.
    pub log_limit: u64,
    /// Where its table stands.
    pub place: Option<Place>,
}

impl ToolConfig {
    /// How long a log grows unless the configuration says otherwise.
    pub const LOG_LIMIT: u64 = 1 << 30;
    /// How long a program may take to describe its tools unless the
    /// configuration says otherwise.
    pub const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(10);

    /// Calls have something to tell its program: parameters, or the question
    /// for them. A command without a template then gets the context and the
    /// tool as its last two arguments.
    pub fn takes_call(&self) -> bool {
        self.asks_program || !self.definition.shape.parameters.properties.is_empty()
    }

    /// The name by which the tool's source knows it: the built-in tool, the
    /// server's tool, or the entry of a program that describes several.
    pub fn source_name(&self) -> &str {
        match &self.source {
            Source::Local { tool } | Source::Builtin { tool } | Source::Mcp { tool, .. } => {
                tool.as_deref().unwrap_or(&self.name)
            }
        }
    }
}

/// Where a tool comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A program of this machine.
    Local {
        /// What the program calls it, where that differs.
        tool: Option<String>,
    },
    /// Windlass itself.
    Builtin {
        /// The built-in tool, where its name differs.
        tool: Option<String>,
    },
    /// An MCP server.
    Mcp {
        /// The server; any that has the tool unless said.
        server: Option<String>,
        /// What the server calls it, where that differs.
        tool: Option<String>,
    },
}

/// Who answers when a program asks for a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SecretTarget {
    /// The person, past the model.
    #[default]
    Person,
    /// The assistant, which then knows the secret.
    Assistant,
}

/// A tool's table as it was read.
#[derive(Debug)]
pub(crate) struct ToolTable {
    pub(crate) source: Option<Source>,
    pub(crate) command: Option<CommandConfig>,
    pub(crate) summary: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) examples: Option<Examples>,
    pub(crate) parameters: Option<IndexMap<String, Parameter>>,
    pub(crate) settings: ToolSettings,
}

impl ToolTable {
    pub(crate) fn read(reader: &mut Reader, table: &Table<'_>) -> Self {
        check_keys(reader, table);
        Self {
            source: Source::read(reader, table),
            command: CommandConfig::read(reader, table, "command"),
            summary: reader.get(table, "summary", read::string),
            description: reader.get(table, "description", read::string),
            examples: reader.get(table, "examples", examples),
            parameters: read_parameters(reader, table, "parameters"),
            settings: ToolSettings::read(reader, table),
        }
    }
}

/// Reads the table that holds for every tool.
pub(crate) fn read_every_tool(reader: &mut Reader, table: &Table<'_>) -> ToolSettings {
    for (key, entry) in table.entries {
        let word = key.as_str();
        if keys::IDENTITY.contains(&word) {
            let hint = "it belongs to one tool; write it in that tool's own table".to_owned();
            reader.unknown(&entry.key, key, table, hint);
        } else if !keys::SETTINGS.contains(&word) && !keys::UNUSED.contains(&word) {
            reader.unknown(&entry.key, key, table, keys::hint(key, keys::SETTINGS));
        }
    }
    reader.note_unused(table, keys::UNUSED);
    ToolSettings::read(reader, table)
}

fn check_keys(reader: &mut Reader, table: &Table<'_>) {
    let known = [keys::IDENTITY, keys::SETTINGS].concat();
    for (key, entry) in table.entries {
        let word = key.as_str();
        if known.contains(&word) || keys::UNUSED.contains(&word) {
            continue;
        }
        let hint = if keys::SPAWN.contains(&word) {
            format!("it belongs in `{}`", table.path_of("spawn"))
        } else {
            keys::hint(key, &known)
        };
        reader.unknown(&entry.key, key, table, hint);
    }
    reader.note_unused(table, keys::UNUSED);
}

impl Source {
    fn read(reader: &mut Reader, parent: &Table<'_>) -> Option<Self> {
        let node = parent.node("source")?;
        if !matches!(node.value, Value::Table(_)) {
            return reader.get(parent, "source", |node| {
                read::string(node)
                    .ok()
                    .and_then(|text| Self::parse(&text))
                    .ok_or(ExpectedValue::Source)
            });
        }
        let table = reader.table(parent, "source")?;
        reader.check_keys(&table, keys::SOURCE);
        let tool = reader.get(&table, "tool", read::string);
        let server = reader.get(&table, "server", read::string);
        let kind = |node: &Node| read::word(node, &[("local", 0), ("builtin", 1), ("mcp", 2)]);
        match reader.get(&table, "type", kind) {
            Some(0) => Some(Self::Local { tool }),
            Some(1) => Some(Self::Builtin { tool }),
            Some(_) => Some(Self::Mcp { server, tool }),
            None => {
                if table.node("type").is_none() {
                    let kind = ProblemKind::WrongValue {
                        key: table.path.clone(),
                        wanted: ExpectedValue::SourceTable,
                        got: "one without".to_owned(),
                    };
                    reader.problem(&node.span, kind);
                }
                None
            }
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = match text.split_once('.') {
            Some((_, "")) => return None,
            Some((kind, rest)) => (kind, Some(rest)),
            None => (text, None),
        };
        let tool = rest.map(str::to_owned);
        match kind {
            "local" => Some(Self::Local { tool }),
            "builtin" => Some(Self::Builtin { tool }),
            "mcp" => {
                let (server, tool) = match rest.map(|rest| rest.split_once('.').ok_or(rest)) {
                    None => (None, None),
                    Some(Err(server)) => (Some(server), None),
                    Some(Ok((server, tool))) if !server.is_empty() && !tool.is_empty() => {
                        (Some(server), Some(tool))
                    }
                    Some(Ok(_)) => return None,
                };
                Some(Self::Mcp {
                    server: server.map(str::to_owned),
                    tool: tool.map(str::to_owned),
                })
            }
            _ => None,
        }
    }
}
