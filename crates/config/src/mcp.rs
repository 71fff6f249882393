//! MCP servers whose tools are offered.

use std::time::Duration;

use indexmap::IndexMap;
use windlass_sandbox::{ResourceLimits, SandboxSettings};

use crate::command::CommandConfig;
use crate::error::ProblemKind;
use crate::expected::ExpectedValue;
use crate::keys;
use crate::node::Node;
use crate::place::{SourceLocation, TextSpan};
use crate::read::{self, ConfigReader, Table};
use crate::sandbox::{read_limits, read_sandbox};
use crate::units;
use crate::variables::VariableSettings;

/// One server of `[providers.mcp]`.
#[derive(Debug, Clone, PartialEq)]
pub struct McpServerConfig {
    /// Its name, as tools refer to it.
    pub name: String,
    /// The transport.
    pub transport: McpTransport,
    /// No notice is given if it cannot be reached.
    pub optional: bool,
    /// The tools that are offered without a table of their own.
    pub tools: McpTools,
    /// The time limit for its start; `None`: no limit.
    pub startup_timeout: Option<Duration>,
    /// The location of its table.
    pub place: SourceLocation,
}

/// The tools of a server that are offered without a table of their own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum McpTools {
    /// None: a tool is offered only if it has a table.
    #[default]
    None,
    All,
    /// Those that it calls so.
    Listed(Vec<String>),
}

/// The transport of a server.
#[derive(Debug, Clone, PartialEq)]
pub enum McpTransport {
    /// A child process; messages are exchanged through its pipes.
    Stdio {
        /// The command.
        command: CommandConfig,
        /// Variables to add to its environment.
        env: IndexMap<String, String>,
        /// The variables of this process that it inherits.
        variables: VariableSettings,
        /// Its sandbox and limits; default: those of every tool.
        confined: Box<ServerConfinement>,
    },
    /// A server that is running already.
    Http {
        /// Its address.
        url: String,
        /// Headers to send with every request.
        headers: IndexMap<String, String>,
    },
}

/// The sandbox and the limits of a server's program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerConfinement {
    pub sandbox: Option<SandboxSettings>,
    /// The sandbox of the user's own configuration, which a project cannot
    /// weaken.
    pub floor: Option<SandboxSettings>,
    /// Its resource limits.
    pub limits: ResourceLimits,
}

/// A server's table as it was read.
#[derive(Debug)]
pub(crate) struct McpTable {
    command: Option<CommandConfig>,
    args: Vec<String>,
    env: IndexMap<String, String>,
    variables: VariableSettings,
    confined: ServerConfinement,
    url: Option<String>,
    headers: IndexMap<String, String>,
    optional: Option<bool>,
    tools: Option<McpTools>,
    startup_timeout: Option<Duration>,
}

impl McpTable {
    const STARTUP_TIMEOUT: Duration = Duration::from_mins(1);

    pub(crate) fn read(reader: &mut ConfigReader, table: &Table<'_>) -> Self {
        for (key, entry) in table.entries {
            let word = key.as_str();
            if !keys::MCP.contains(&word) && !keys::MCP_UNUSED.contains(&word) {
                reader.unknown(&entry.key, key, table, keys::hint(key, keys::MCP));
            }
        }
        reader.note_unused(table, keys::MCP_UNUSED);
        reader.get(table, "type", |node| {
            read::word(node, &[("stdio", ()), ("http", ())])
        });
        // JP says `arguments`, everybody else says `args`.
        let args = reader.get(table, "args", read::strings);
        let arguments = reader.get(table, "arguments", read::strings);
        Self {
            command: CommandConfig::read(reader, table, "command"),
            args: args.or(arguments).unwrap_or_default(),
            env: reader
                .get(table, "env", read::string_map)
                .unwrap_or_default(),
            variables: VariableSettings::read(reader, table),
            confined: ServerConfinement {
                sandbox: read_sandbox(reader, table),
                floor: None,
                limits: read_limits(reader, table),
            },
            url: reader.get(table, "url", |node| {
                let url = read::string(node)?;
                if url.starts_with("http://") || url.starts_with("https://") {
                    Ok(url)
                } else {
                    Err(ExpectedValue::Address)
                }
            }),
            headers: reader
                .get(table, "headers", read::string_map)
                .unwrap_or_default(),
            optional: reader.get(table, "optional", read::boolean),
            tools: reader.get(table, "tools", read_tools),
            startup_timeout: reader.get(table, "startup_timeout_secs", units::seconds),
        }
    }

    /// Resolves the server; requires exactly one transport.
    pub(crate) fn resolve(
        self,
        reader: &mut ConfigReader,
        name: &str,
        span: &TextSpan,
    ) -> Option<McpServerConfig> {
        let transport = match (self.command, self.url) {
            (Some(mut command), None) if !command.program.is_empty() => {
                command.args.extend(self.args);
                McpTransport::Stdio {
                    command,
                    env: self.env,
                    variables: self.variables,
                    confined: Box::new(self.confined),
                }
            }
            (None, Some(url)) => McpTransport::Http {
                url,
                headers: self.headers,
            },
            (command, url) => {
                let got = match (command, url) {
                    (Some(_), Some(_)) => "not both",
                    (Some(_), None) => "and its `command` names no `program`",
                    _ => "and has neither",
                };
                let server = name.to_owned();
                reader.problem(span, ProblemKind::Transport { server, got });
                return None;
            }
        };
        Some(McpServerConfig {
            name: name.to_owned(),
            transport,
            optional: self.optional.unwrap_or(false),
            tools: self.tools.unwrap_or_default(),
            startup_timeout: Some(self.startup_timeout.unwrap_or(Self::STARTUP_TIMEOUT))
                .filter(|timeout| !timeout.is_zero()),
            place: span.place(),
        })
    }
}

fn read_tools(node: &Node) -> Result<McpTools, ExpectedValue> {
    read::word(node, &[("all", ())])
        .map(|()| McpTools::All)
        .or_else(|_| read::strings(node).map(McpTools::Listed))
        .map_err(|_| ExpectedValue::McpTools)
}
