//! The top-level tables of a configuration, and the merge of a tool's table
//! with the one for every tool.
//!
//! Start at [`Tables::read`]. The keys of a tool's table are read in `tool` and
//! `settings`, and validated in `resolve`.

use indexmap::IndexMap;
use windlass_runtime::RecordFailure;
use windlass_sandbox::ResourceLimits;

use crate::assistant::AssistantConfig;
use crate::error::ProblemKind;
use crate::host::HostConfig;
use crate::keys;
use crate::mcp::{McpServerConfig, McpTable};
use crate::node::{Node, Value};
use crate::read::{self, ConfigReader, Table};
use crate::resolve;
use crate::sandbox::read_session_limits;
use crate::serving::McpServing;
use crate::settings::{RunSettings, ToolSettings};
use crate::tool::{ToolConfig, ToolSource, ToolTable, read_every_tool};

/// The default maximum number of kept handles.
const KEPT_MAX: usize = 8;

/// The tables of one layer, or of all layers merged.
#[derive(Debug, Default)]
pub(crate) struct Tables<'a> {
    assistant: AssistantConfig,
    defaults: ToolSettings,
    record: Option<bool>,
    record_failure: Option<RecordFailure>,
    session_limits: ResourceLimits,
    mcp: McpServing,
    kept_max: Option<usize>,
    hosts: Vec<HostConfig>,
    tools: Vec<(&'a str, Table<'a>, ToolTable)>,
    servers: Vec<(&'a str, Table<'a>, McpTable)>,
    /// The table of all tools, to find places by.
    parent: Option<Table<'a>>,
    /// The table of all servers, to find places by.
    providers: Option<Table<'a>>,
}

/// The resolved tables.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) assistant: AssistantConfig,
    pub(crate) tools: Vec<ToolConfig>,
    pub(crate) defaults: ToolSettings,
    pub(crate) record: bool,
    pub(crate) record_failure: RecordFailure,
    pub(crate) session_limits: ResourceLimits,
    pub(crate) mcp: McpServing,
    pub(crate) kept_max: usize,
    pub(crate) mcp_servers: Vec<McpServerConfig>,
    pub(crate) hosts: Vec<HostConfig>,
    /// The settings of every tool with a table, including undefined tools.
    pub(crate) told: IndexMap<String, ToolSettings>,
    /// The tools and servers that the user's own file defines.
    pub(crate) defined: DefinedNames,
}

/// Names of tools and servers.
#[derive(Debug, Default)]
pub(crate) struct DefinedNames {
    pub(crate) tools: Vec<String>,
    pub(crate) servers: Vec<String>,
    pub(crate) hosts: Vec<String>,
}

impl<'a> Tables<'a> {
    pub(crate) fn read(reader: &mut ConfigReader, node: &'a Node) -> Self {
        let mut tables = Self::default();
        let Some(top) = reader.as_table(node, String::new()) else {
            return tables;
        };
        reader.check_keys(&top, keys::TOP);
        if let Some(assistant) = reader.table(&top, "assistant") {
            tables.assistant.read(reader, &assistant);
        }
        if let Some(conversation) = reader.table(&top, "conversation") {
            reader.check_keys(&conversation, keys::CONVERSATION);
            if let Some(inquiry) = reader.table(&conversation, "inquiry") {
                tables.assistant.read_inquiry(reader, &inquiry);
            }
            tables.record = reader.get(&conversation, "record", read::boolean);
            tables.record_failure = reader.get(&conversation, "record_failure", |node| {
                let words = [
                    ("go_on", RecordFailure::GoOn),
                    ("stop", RecordFailure::Stop),
                ];
                read::word(node, &words)
            });
            tables.session_limits = read_session_limits(reader, &conversation);
            if let Some(parent) = reader.table(&conversation, "tools") {
                tables.read_tools(reader, parent);
            }
        }
        if let Some(parent) = reader.table(&top, "hosts") {
            for (name, entry) in parent.entries {
                if !resolve::is_tool_name(name) {
                    let name = name.clone();
                    reader.problem(&entry.key, ProblemKind::HostName { name });
                } else if let Some(table) = reader.table(&parent, name) {
                    let host = HostConfig::read(reader, &table, name, &entry.key);
                    tables.hosts.extend(host);
                }
            }
        }
        if let Some(kept) = reader.table(&top, "kept") {
            reader.check_keys(&kept, keys::KEPT);
            tables.kept_max = reader.get(&kept, "max", read::count);
        }
        if let Some(mcp) = reader.table(&top, "mcp") {
            tables.mcp = McpServing::read(reader, &mcp);
        }
        if let Some(providers) = reader.table(&top, "providers") {
            reader.check_keys(&providers, keys::PROVIDERS);
            if let Some(parent) = reader.table(&providers, "llm") {
                tables.assistant.read_providers(reader, &parent);
            }
            if let Some(parent) = reader.table(&providers, "mcp") {
                for name in parent.entries.keys() {
                    if let Some(table) = reader.table(&parent, name) {
                        let server = McpTable::read(reader, &table);
                        tables.servers.push((name, table, server));
                    }
                }
                tables.providers = Some(parent);
            }
        }
        tables
    }

    fn read_tools(&mut self, reader: &mut ConfigReader, parent: Table<'a>) {
        if let Some(table) = reader.table(&parent, keys::EVERY_TOOL) {
            self.defaults = read_every_tool(reader, &table);
        }
        for (name, entry) in parent.entries {
            if name == keys::EVERY_TOOL {
                continue;
            }
            if !resolve::is_tool_name(name) {
                let name = name.clone();
                reader.problem(&entry.key, ProblemKind::ToolName { name });
                continue;
            }
            if let Some(table) = reader.table(&parent, name) {
                let tool = ToolTable::read(reader, &table);
                self.tools.push((name, table, tool));
            }
        }
        self.parent = Some(parent);
    }

    /// Resolves the tables and reports missing required keys to the reader.
    pub(crate) fn resolve(self, reader: &mut ConfigReader) -> Resolved {
        let every_tool = self
            .parent
            .as_ref()
            .and_then(|parent| parent.node(keys::EVERY_TOOL));
        let mut mcp_servers = Vec::new();
        for (name, _, server) in self.servers {
            let parent = self.providers.as_ref().expect("it held the server");
            let span = &parent.entries[name].key;
            mcp_servers.extend(server.resolve(reader, name, span));
        }
        let mut tools = Vec::new();
        let mut settings = IndexMap::new();
        for (name, table, mut tool) in self.tools {
            let parent = self.parent.as_ref().expect("it held the tool");
            let key = &parent.entries[name].key;
            let own = (tool.settings.run, tool.settings.enable);
            tool.settings = with_defaults(reader, every_tool, &table, tool.settings);
            if keys::START_NOTHING.contains(&name) {
                (tool.settings.run, tool.settings.enable) = own;
            }
            settings.insert(name.to_owned(), tool.settings.clone());
            let told = resolve::Told {
                name,
                key,
                table: &table,
            };
            tools.extend(resolve::tool(
                reader,
                &told,
                tool,
                (&mcp_servers, &self.hosts),
            ));
        }
        Resolved {
            assistant: self.assistant,
            tools,
            defaults: self.defaults,
            record: self.record.unwrap_or(true),
            record_failure: self.record_failure.unwrap_or_default(),
            session_limits: self.session_limits,
            mcp: self.mcp,
            kept_max: self.kept_max.unwrap_or(KEPT_MAX),
            mcp_servers,
            hosts: self.hosts,
            told: settings,
            defined: DefinedNames::default(),
        }
    }
}

impl Resolved {
    /// The names of the servers and of the tools that are not built in.
    pub(crate) fn names(&self) -> DefinedNames {
        let tools = self.tools.iter();
        let tools = tools.filter(|tool| !matches!(tool.source, ToolSource::Builtin { .. }));
        let servers = self.mcp_servers.iter();
        DefinedNames {
            tools: tools.map(|tool| tool.name.clone()).collect(),
            servers: servers.map(|server| server.name.clone()).collect(),
            hosts: self.hosts.iter().map(|host| host.name.clone()).collect(),
        }
    }
}

/// Merges the settings of a tool over those of every tool, like layers. Only
/// `run` differs, because its short form stands for a table.
fn with_defaults(
    reader: &mut ConfigReader,
    every_tool: Option<&Node>,
    table: &Table<'_>,
    own: ToolSettings,
) -> ToolSettings {
    let Some(mut merged) = every_tool.cloned() else {
        return own;
    };
    let default_run = reader
        .as_table(&merged, String::new())
        .map(|table| RunSettings::read(reader, &table))
        .unwrap_or_default();
    merged.merge(Node {
        span: table.span.clone(),
        value: Value::Table(table.entries.clone()),
    });
    let Some(table) = reader.as_table(&merged, table.path.clone()) else {
        return own;
    };
    let mut settings = ToolSettings::read(reader, &table);
    settings.run = own.run.or(default_run);
    settings
}
