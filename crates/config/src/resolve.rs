//! Resolves a tool's merged tables: required keys, conflicts and defaults.

use indexmap::IndexMap;
use windlass_protocol::{ActionSet, HandleAction, IoMode, Parameter, Parameters, ToolShape};
use windlass_runtime::ToolDefinition;
use windlass_template::KnownNames;

use crate::command::CommandConfig;
use crate::error::ProblemKind;
use crate::host::HostConfig;
use crate::keys::{self, BUILTINS};
use crate::mcp::McpServerConfig;
use crate::overlay::lay_over;
use crate::place::TextSpan;
use crate::read::{ConfigReader, Table};
use crate::settings::ToolSettings;
use crate::tool::{ToolConfig, ToolSource, ToolTable};

/// A tool's name, and its location.
#[derive(Debug)]
pub(crate) struct Told<'a> {
    pub(crate) name: &'a str,
    pub(crate) key: &'a TextSpan,
    pub(crate) table: &'a Table<'a>,
}

impl Told<'_> {
    fn tool(&self) -> String {
        self.name.to_owned()
    }

    /// The span of a value of the table, or of the table's name.
    fn span(&self, path: &[&str]) -> &TextSpan {
        let mut steps = path.iter();
        let first = steps.next().and_then(|key| self.table.node(key));
        steps
            .fold(first, |node, key| node.and_then(|node| node.get(key)))
            .map_or(self.key, |node| &node.span)
    }

    fn parameter(&self, name: &str) -> &TextSpan {
        let parameters = self.table.node("parameters").map(|node| &node.value);
        match parameters {
            Some(crate::node::Value::Table(entries)) => {
                entries.get(name).map_or(self.key, |entry| &entry.key)
            }
            _ => self.key,
        }
    }
}

/// `^[A-Za-z_][A-Za-z0-9_-]{0,47}$`
pub(crate) fn is_tool_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=48).contains(&bytes.len())
        && (bytes[0].is_ascii_alphabetic() || bytes[0] == b'_')
        && bytes.iter().all(word)
}

/// Resolves one tool, or reports its problems.
pub(crate) fn tool(
    reader: &mut ConfigReader,
    told: &Told<'_>,
    table: ToolTable,
    (servers, hosts): (&[McpServerConfig], &[HostConfig]),
) -> Option<ToolConfig> {
    let before = reader.problems.len();
    let source = source(reader, told, &table)?;
    check_source(reader, told, &source, servers);
    check_command(reader, told, &source, &table);
    check_actions(reader, told, &table.settings);
    check_hosts(reader, told, &table.settings, hosts);

    let (defined, overrides, asks_program) = parameters(reader, told, &source, table.parameters);
    let mut definition = base_definition(told.name, &table.settings);
    definition.summary = table.summary;
    definition.description = table.description;
    definition.examples = table.examples;
    definition.shape.parameters = Parameters::from_entries(&defined);
    definition.origin = told.key.place().to_string();
    check_reserved(reader, told, &definition.shape, &defined);
    if !table.settings.hosts.is_empty() && defined.contains_key("host") {
        let tool = told.tool();
        reader.problem(told.parameter("host"), ProblemKind::OwnHost { tool });
    }
    if let Some(command) = &table.command
        && matches!(source, ToolSource::Local { .. })
    {
        let known = KnownNames {
            parameters: (!asks_program).then_some(&definition.shape.parameters),
            options: &table.settings.options,
        };
        check_templates(reader, told, command, &known);
    }
    if reader.problems.len() > before {
        return None;
    }
    Some(ToolConfig {
        overrides,
        asks_program,
        command: table.command,
        place: Some(told.key.place()),
        ..with_settings(definition, source, table.settings)
    })
}

/// A built-in tool that no table mentions.
pub(crate) fn untold_builtin(name: &str, settings: ToolSettings) -> ToolConfig {
    untold(name, ToolSource::Builtin { tool: None }, settings)
}

/// A tool that no table mentions.
pub(crate) fn untold(name: &str, source: ToolSource, settings: ToolSettings) -> ToolConfig {
    let definition = base_definition(name, &settings);
    with_settings(definition, source, settings)
}

fn base_definition(name: &str, settings: &ToolSettings) -> ToolDefinition {
    let mut definition = ToolDefinition::new(name);
    definition.shape.one_shot = settings
        .spawn
        .said_actions()
        .is_none_or(ActionSet::is_empty);
    lay_over(settings, definition)
}

fn with_settings(
    definition: ToolDefinition,
    source: ToolSource,
    settings: ToolSettings,
) -> ToolConfig {
    ToolConfig {
        name: definition.name.clone(),
        enabled: settings.enable.unwrap_or(true),
        source,
        definition,
        overrides: IndexMap::new(),
        asks_program: false,
        command: None,
        io: settings.spawn.io.unwrap_or(IoMode::Text),
        options: settings.options.clone(),
        secrets: settings.secrets.unwrap_or_default(),
        record: settings.spawn.record.unwrap_or(false),
        rows: settings.spawn.rows,
        cols: settings.spawn.cols,
        log_limit: settings.log_limit.unwrap_or(ToolConfig::LOG_LIMIT),
        place: None,
        settings,
    }
}

/// The configured source. Default: built-in for the name of a built-in tool,
/// local with a command.
fn source(reader: &mut ConfigReader, told: &Told<'_>, table: &ToolTable) -> Option<ToolSource> {
    if let Some(source) = &table.source {
        return Some(source.clone());
    }
    if BUILTINS.contains(&told.name) {
        return Some(ToolSource::Builtin { tool: None });
    }
    if table.command.is_some() {
        return Some(ToolSource::Local { tool: None });
    }
    let tool = told.tool();
    reader.problem(told.key, ProblemKind::NoSource { tool });
    None
}

fn check_source(
    reader: &mut ConfigReader,
    told: &Told<'_>,
    source: &ToolSource,
    servers: &[McpServerConfig],
) {
    match source {
        ToolSource::Builtin { tool } => {
            let builtin = tool.as_deref().unwrap_or(told.name);
            if !BUILTINS.contains(&builtin) {
                let kind = ProblemKind::NoBuiltin {
                    tool: told.tool(),
                    builtin: builtin.to_owned(),
                    known: keys::listed(&BUILTINS),
                };
                reader.problem(told.span(&["source"]), kind);
            }
        }
        ToolSource::Mcp {
            server: Some(server),
            ..
        } if servers.iter().all(|known| known.name != *server) => {
            let names = servers.iter().map(|server| server.name.as_str());
            // A server that is like none of them is one that this project does
            // not have. Its tools are not offered, and everything else works.
            let Some(near) = keys::nearest(server, names) else {
                return;
            };
            let hint = format!("did you mean `{near}`?");
            let kind = ProblemKind::NoServer {
                tool: told.tool(),
                server: server.clone(),
                hint,
            };
            reader.problem(told.span(&["source"]), kind);
        }
        _ => {}
    }
}

fn check_command(
    reader: &mut ConfigReader,
    told: &Told<'_>,
    source: &ToolSource,
    table: &ToolTable,
) {
    let local = matches!(source, ToolSource::Local { .. });
    let tool = told.tool();
    let command = told.span(&["command"]);
    match &table.command {
        None if local => reader.problem(told.key, ProblemKind::NoCommand { tool }),
        Some(_) if !local => reader.problem(command, ProblemKind::CommandUnused { tool }),
        Some(given) if given.program.trim().is_empty() => {
            let key = told.table.path_of("command");
            reader.problem(command, ProblemKind::NoProgram { key });
        }
        _ => {}
    }
}

/// Checks the templates. The parameters of a program that describes itself are
/// not known yet; their names are checked after it has answered.
fn check_templates(
    reader: &mut ConfigReader,
    told: &Told<'_>,
    command: &CommandConfig,
    known: &KnownNames<'_>,
) {
    let template = command.template();
    let mut faults = template.check(known);
    let takes_call = known
        .parameters
        .is_none_or(|parameters| !parameters.properties.is_empty());
    if takes_call && !template.has_template() {
        faults.extend(template.check_room().err());
    }
    for fault in faults {
        let key = told.table.path_of("command");
        reader.problem(
            told.span(&["command"]),
            ProblemKind::Template { key, fault },
        );
    }
}

/// Checks that the tool's hosts exist, and that it has either a host or a
/// choice of hosts.
fn check_hosts(
    reader: &mut ConfigReader,
    told: &Told<'_>,
    settings: &ToolSettings,
    hosts: &[HostConfig],
) {
    let tool = told.tool();
    if settings.host.is_some() && !settings.hosts.is_empty() {
        let kind = ProblemKind::HostAndHosts { tool: tool.clone() };
        reader.problem(told.span(&["hosts"]), kind);
    }
    let named = settings.host.iter().map(|host| (host, "host"));
    let choices = settings.hosts.iter().map(|host| (host, "hosts"));
    for (host, key) in named.chain(choices) {
        if hosts.iter().all(|known| known.name != *host) {
            let kind = ProblemKind::NoHost {
                tool: tool.clone(),
                host: host.clone(),
            };
            reader.problem(told.span(&[key]), kind);
        }
    }
}

fn check_actions(reader: &mut ConfigReader, told: &Told<'_>, settings: &ToolSettings) {
    let spawn = &settings.spawn;
    let missing = |actions: &Vec<_>| !actions.contains(&HandleAction::Spawn);
    if spawn.stateful != Some(false) && spawn.actions.as_ref().is_some_and(missing) {
        let tool = told.tool();
        let listed = told.span(&["spawn", "actions"]);
        reader.problem(listed, ProblemKind::NoSpawn { tool });
    }
}

fn check_reserved(
    reader: &mut ConfigReader,
    told: &Told<'_>,
    shape: &ToolShape,
    parameters: &IndexMap<String, Parameter>,
) {
    if shape.actions.is_empty() {
        return;
    }
    for name in ToolShape::RESERVED {
        if parameters.contains_key(name) {
            let kind = ProblemKind::Reserved {
                tool: told.tool(),
                parameter: name.to_owned(),
            };
            reader.problem(told.parameter(name), kind);
        }
    }
}

type Entries = IndexMap<String, Parameter>;

/// The defined parameters, the overrides, and whether the program must describe
/// itself.
///
/// An empty table defines that there are no parameters.
fn parameters(
    reader: &mut ConfigReader,
    told: &Told<'_>,
    source: &ToolSource,
    entries: Option<Entries>,
) -> (Entries, Entries, bool) {
    let local = matches!(source, ToolSource::Local { .. });
    let Some(mut entries) = entries else {
        return (Entries::new(), Entries::new(), local);
    };
    if !local {
        return (Entries::new(), entries, false);
    }
    let typed = |parameter: &Parameter| parameter.kind.is_some();
    if !entries.is_empty() && !entries.values().any(typed) {
        return (Entries::new(), entries, true);
    }
    for (name, _) in entries.iter().filter(|(_, entry)| !typed(entry)) {
        let kind = ProblemKind::NoType {
            tool: told.tool(),
            parameter: name.clone(),
        };
        reader.problem(told.parameter(name), kind);
    }
    entries.values_mut().for_each(state_required);
    (entries, Entries::new(), false)
}

/// A parameter in the configuration is optional unless its table says
/// otherwise, at any depth. Only a program's own description infers it.
fn state_required(parameter: &mut Parameter) {
    parameter.required.get_or_insert(false);
    if let Some(items) = &mut parameter.items {
        state_required(items);
    }
    for property in parameter
        .properties
        .iter_mut()
        .flat_map(IndexMap::values_mut)
    {
        state_required(property);
    }
}
