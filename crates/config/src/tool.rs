//! One tool: its table, and the resolved tool.

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
use crate::place::SourceLocation;
use crate::read::{self, ConfigReader, Table};
use crate::settings::ToolSettings;

/// A tool of the configuration, with all settings of its execution.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolConfig {
    /// Its name, as the model calls it.
    pub name: String,
    /// Whether it is offered. Disabled tools stay in the list, so that whoever
    /// registers built-in tools can omit them.
    pub enabled: bool,
    /// Its source.
    pub source: ToolSource,
    /// The tool as configured, with defaults filled in. For built-in tools, MCP
    /// tools and self-describing programs, merge the configuration over their
    /// description with [`ToolConfig::overlay`].
    pub definition: ToolDefinition,
    /// The settings as written, without defaults.
    pub settings: ToolSettings,
    /// Parameters that override those in the description of a program, a server
    /// or a built-in tool.
    pub overrides: IndexMap<String, Parameter>,
    /// The tool is local and its program must describe the parameters.
    pub asks_program: bool,
    /// The command of a local tool; always set for local tools.
    pub command: Option<CommandConfig>,
    /// The program's I/O mode.
    pub io: IoMode,
    /// Passed on to the program as `options`.
    pub options: Arguments,
    /// The recipient of the program's requests for secrets.
    pub secrets: SecretTarget,
    /// Its terminal is recorded.
    pub record: bool,
    /// Rows of its terminal, if configured.
    pub rows: Option<u16>,
    /// Columns of its terminal, if configured.
    pub cols: Option<u16>,
    /// The maximum size of a handle's log, in bytes.
    pub log_limit: u64,
    /// The location of its table.
    pub place: Option<SourceLocation>,
}

impl ToolConfig {
    /// The default maximum size of a log.
    pub const LOG_LIMIT: u64 = 1 << 30;
    /// The default time limit for a program's description of its tools.
    pub const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(10);

    /// Whether the program gets call data: arguments, or the request to
    /// describe itself. A command without a template then gets the context and
    /// the tool as its last two arguments.
    pub fn takes_call(&self) -> bool {
        self.asks_program || !self.definition.shape.parameters.properties.is_empty()
    }

    /// The tool's name in its source: the built-in tool, the server's tool, or
    /// the entry of a program that describes several.
    pub fn source_name(&self) -> &str {
        match &self.source {
            ToolSource::Local { tool }
            | ToolSource::Builtin { tool }
            | ToolSource::Mcp { tool, .. } => tool.as_deref().unwrap_or(&self.name),
        }
    }
}

/// The source of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolSource {
    /// A program of this machine.
    Local {
        /// The program's name for it, if different.
        tool: Option<String>,
    },
    /// Windlass itself.
    Builtin {
        /// The name of the built-in tool, if different.
        tool: Option<String>,
    },
    /// An MCP server.
    Mcp {
        /// The server; default: any server that has the tool.
        server: Option<String>,
        /// The server's name for it, if different.
        tool: Option<String>,
    },
}

/// The recipient of a program's requests for secrets.
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
    pub(crate) source: Option<ToolSource>,
    pub(crate) command: Option<CommandConfig>,
    pub(crate) summary: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) examples: Option<Examples>,
    pub(crate) parameters: Option<IndexMap<String, Parameter>>,
    pub(crate) settings: ToolSettings,
}

impl ToolTable {
    pub(crate) fn read(reader: &mut ConfigReader, table: &Table<'_>) -> Self {
        check_keys(reader, table);
        Self {
            source: ToolSource::read(reader, table),
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
pub(crate) fn read_every_tool(reader: &mut ConfigReader, table: &Table<'_>) -> ToolSettings {
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

fn check_keys(reader: &mut ConfigReader, table: &Table<'_>) {
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

impl ToolSource {
    fn read(reader: &mut ConfigReader, parent: &Table<'_>) -> Option<Self> {
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
