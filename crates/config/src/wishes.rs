//! The effects that a project would have if it were trusted, for the question
//! to the person.
//!
//! Start at [`Wishes::of`]. Every line is made safe to print, because the
//! project's author wrote its content.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use windlass_protocol::{RuleAction, RunMode, visible_line};

use crate::command::CommandConfig;
use crate::keys::{self, BUILTINS};
use crate::mcp::{McpServerConfig, McpTransport};
use crate::node::{Node, Value};
use crate::permissions::PermissionSettings;
use crate::plain_file::FileFault;
use crate::programs::ProgramFinder;
use crate::settings::{RunSettings, ToolSettings};
use crate::tables::Resolved;
use crate::tool::{ToolConfig, ToolSource};
use crate::trust::ProjectProgram;
use crate::user_word::{defined, defined_host, defined_server, entries, settings_for, tools};

/// The effects that a project would have, one line each.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    pub(crate) starts: Vec<String>,
    pub(crate) wants: Vec<String>,
    pub(crate) offers: Vec<String>,
    pub(crate) ignored: Vec<String>,
}

impl Wishes {
    /// `said` are the project's tables. `user` is the configuration without
    /// them, and `with` the one with them after
    /// [`uphold`](crate::user_word::uphold).
    pub(crate) fn of(said: Option<&Node>, user: &Resolved, with: &Resolved) -> Self {
        let mut wishes = Self::default();
        let Some(said) = said else {
            return wishes;
        };
        for server in own_servers(said, user, with) {
            let name = &server.name;
            wishes.start(&match &server.transport {
                McpTransport::Stdio { command, .. } => {
                    format!("`{}` as the MCP server `{name}`", line(command))
                }
                McpTransport::Http { url, .. } => {
                    format!("a connection to {url} as the MCP server `{name}`")
                }
            });
        }
        for (name, _) in entries(said.get("hosts")) {
            let host = with.hosts.iter().find(|host| host.name == *name);
            if let Some(host) = host.filter(|_| defined_host(user, name).is_none()) {
                wishes.start(&format!("`{}` as the host `{name}`", host.way()));
            }
        }
        for (name, entry) in entries(tools(said)) {
            if name == keys::EVERY_TOOL {
                let (run, own) = (with.defaults.run, user.defaults.run);
                wishes.run(&entry.node, "every tool", run, own);
                let rules = (&with.defaults.permissions, &user.defaults.permissions);
                wishes.rules(&entry.node, "every tool", rules);
                wishes.hosts("every tool", &with.defaults, &user.defaults);
            } else if let Some(tool) = with.tools.iter().find(|tool| tool.name == *name) {
                wishes.tool(&entry.node, tool, user);
            }
        }
        wishes.assistant(said);
        wishes
    }

    fn start(&mut self, line: &str) {
        self.starts.push(visible_line(line));
    }

    fn want(&mut self, line: &str) {
        self.wants.push(visible_line(line));
    }

    fn tool(&mut self, table: &Node, tool: &ToolConfig, user: &Resolved) {
        let name = &tool.name;
        let own = settings_for(user, tool);
        if defined(user, name).is_none() {
            self.source(tool);
        }
        if !tool.enabled && own.enable != Some(false) {
            self.want(&format!("leave out the tool `{name}`"));
        }
        let shown = format!("`{name}`");
        self.run(table, &shown, tool.settings.run, own.run);
        self.rules(
            table,
            &shown,
            (&tool.settings.permissions, &own.permissions),
        );
        self.hosts(&shown, &tool.settings, own);
        for (id, question) in &tool.settings.questions {
            if question.answer.is_some() && !own.questions.contains_key(id) {
                self.want(&format!(
                    "answer the question `{id}` of {shown} automatically"
                ));
            }
        }
    }

    /// The tool's source, and the program that it starts.
    fn source(&mut self, tool: &ToolConfig) {
        let name = &tool.name;
        let is_builtin = BUILTINS.contains(&name.as_str());
        let from = match (&tool.source, &tool.command) {
            (ToolSource::Builtin { .. }, _) if tool.source_name() == name => return,
            (ToolSource::Builtin { .. }, _) => {
                format!("the built-in tool `{}`", tool.source_name())
            }
            (ToolSource::Mcp { server, .. }, _) => match server {
                Some(server) => format!("the MCP server `{server}`"),
                None => "an MCP server".to_owned(),
            },
            (ToolSource::Local { .. }, command) => {
                let command = command.as_ref().map(line).unwrap_or_default();
                if tool.asks_program && tool.enabled {
                    self.start(&format!("`{command}` to describe the tool `{name}`"));
                }
                format!("`{command}`")
            }
        };
        if is_builtin {
            self.want(&format!("replace the built-in tool `{name}` by {from}"));
        } else {
            self.offers.push(visible_line(&format!("`{name}`: {from}")));
        }
    }

    fn run(&mut self, table: &Node, tool: &str, run: RunSettings, own: RunSettings) {
        if table.get("run").is_none() {
            return;
        }
        let unasked = Some(RunMode::Unattended);
        let starts = [(run.one_shot, own.one_shot), (run.spawn, own.spawn)];
        if starts
            .iter()
            .any(|(run, own)| *run == unasked && *own != unasked)
        {
            self.want(&format!("run {tool} without asking"));
        }
    }

    /// The machines that the tool would run on.
    fn hosts(&mut self, tool: &str, said: &ToolSettings, own: &ToolSettings) {
        if let Some(host) = said
            .host
            .iter()
            .find(|host| own.host.as_ref() != Some(host))
        {
            self.want(&format!("run {tool} on the host `{host}`"));
        }
        for host in said.hosts.iter().filter(|host| !own.hosts.contains(host)) {
            let choice = format!("let the assistant choose the host `{host}` for {tool}");
            self.want(&choice);
        }
    }

    fn rules(
        &mut self,
        table: &Node,
        tool: &str,
        (said, own): (&PermissionSettings, &PermissionSettings),
    ) {
        let Some(node) = table.get("permissions") else {
            return;
        };
        for (pattern, action) in &said.start {
            if *action == RuleAction::Allow
                && node.get(pattern).is_some()
                && !own.start.contains_key(pattern)
            {
                self.want(&format!("allow {tool} `{pattern}` without asking"));
            }
        }
        for (pattern, action) in &said.apply {
            let is_said = node.get("apply").and_then(|it| it.get(pattern)).is_some();
            if *action == RuleAction::Allow && is_said && !own.apply.contains_key(pattern) {
                self.want(&format!(
                    "allow typing `{pattern}` into {tool} without asking"
                ));
            }
        }
    }

    fn assistant(&mut self, said: &Node) {
        for (key, entry) in entries(said.get("assistant")) {
            let value = match (&entry.node.value, entry.node.get("id")) {
                (Value::Table(_), Some(id)) => id.brief(),
                _ => entry.node.brief(),
            };
            self.want(&format!("set `assistant.{key}` to {value}"));
        }
        if said
            .get("conversation")
            .is_some_and(|it| it.get("inquiry").is_some())
        {
            self.want("choose the model that answers inquiries");
        }
    }
}

/// The servers that the project defines.
fn own_servers<'a>(
    said: &Node,
    user: &Resolved,
    with: &'a Resolved,
) -> impl Iterator<Item = &'a McpServerConfig> {
    let names = said.get("providers").and_then(|it| it.get("mcp"));
    let names: Vec<&String> = entries(names).map(|(name, _)| name).collect();
    with.mcp_servers.iter().filter(move |server| {
        names.contains(&&server.name) && defined_server(user, &server.name).is_none()
    })
}

/// The command as one line.
fn line(command: &CommandConfig) -> String {
    let words = std::iter::once(&command.program).chain(&command.args);
    words.map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// The files of the project that would run without a call. `alone` is the
/// result of the project's tables alone, so that explicit options do not change
/// the content.
pub(crate) fn programs(
    root: &Path,
    path: Option<&str>,
    alone: &Resolved,
) -> Result<Vec<ProjectProgram>, (PathBuf, FileFault)> {
    let mut finder = ProgramFinder::new(root, path);
    for tool in &alone.tools {
        let formats = tool.settings.format_arguments == Some(true);
        if let Some(command) = tool.command.as_ref()
            && (tool.asks_program || formats)
        {
            finder.find(command, &IndexMap::new());
        }
    }
    for server in &alone.mcp_servers {
        if let McpTransport::Stdio { command, env, .. } = &server.transport {
            finder.find(command, env);
        }
    }
    for host in alone.hosts.iter().filter(|host| host.pool.is_none()) {
        finder.find(&host.command(), &IndexMap::new());
    }
    finder.finish()
}
