//! Enforces the user's own configuration in a trusted project.
//!
//! Start at [`uphold`]. A project may tighten the user's rules but never
//! override them; its sandbox and limits apply in addition to the user's. Some
//! settings belong to the user alone: the addresses and keys of providers, the
//! record, the recipient of requests for secrets, and the credentials that
//! programs get. So do the tools and MCP servers that the user's own
//! configuration defines, because their commands and options may contain keys.
//! A project's values for these have no effect and are reported.

use std::time::Duration;

use windlass_protocol::{RuleAction, RunMode};

use crate::host::HostConfig;
use crate::keys;
use crate::mcp::{McpServerConfig, McpTransport};
use crate::node::{Node, Value};
use crate::overlay::lay_over;
use crate::permissions::PermissionSettings;
use crate::place::TextSpan;
use crate::sandbox::is_laxer;
use crate::settings::{LifecycleSettings, RunSettings, ToolSettings};
use crate::tables::Resolved;
use crate::tool::{SecretTarget, ToolConfig, ToolSource};

/// Enforces the user's configuration on `with`, which includes the project.
/// Returns the keys of `said`, the project's tables, that have no effect.
pub(crate) fn uphold(said: Option<&Node>, user: &Resolved, with: &mut Resolved) -> Vec<String> {
    let mut ignored = Ignored::default();
    if let Some(said) = said {
        ignored.note_tables(said, user);
        ignored.note_tools(said, user, with);
    }
    with.assistant
        .providers
        .clone_from(&user.assistant.providers);
    with.record = user.record;
    with.record_failure = user.record_failure;
    with.kept_max = user.kept_max;
    with.session_limits = with.session_limits.within(user.session_limits);
    for server in &mut with.mcp_servers {
        if let Some(own) = defined_server(user, &server.name) {
            server.clone_from(own);
        } else if let McpTransport::Stdio {
            variables,
            confined,
            ..
        } = &mut server.transport
        {
            variables.pass.clear();
            confined.floor.clone_from(&user.defaults.sandbox);
            confined.limits = confined.limits.within(user.defaults.limits);
        }
    }
    for host in &mut with.hosts {
        if let Some(own) = defined_host(user, &host.name) {
            host.clone_from(own);
        }
    }
    hold(&mut with.defaults, &user.defaults);
    for tool in &mut with.tools {
        hold_tool(tool, user);
    }
    ignored.0
}

/// The user's settings of a tool: from its own table, from the built-in or
/// server's tool that it renames, or from every tool.
pub(crate) fn settings_for<'a>(user: &'a Resolved, tool: &ToolConfig) -> &'a ToolSettings {
    let own = user.told.get(&tool.name);
    let alias = || match &tool.source {
        ToolSource::Builtin { .. } => user.told.get(tool.source_name()),
        ToolSource::Mcp { server, .. } => {
            let mut tools = user.tools.iter();
            let same = tools.find(|own| match &own.source {
                ToolSource::Mcp { server: of, .. } => {
                    let same_server = of.is_none() || server.is_none() || of == server;
                    same_server && own.source_name() == tool.source_name()
                }
                _ => false,
            });
            same.map(|own| &own.settings)
        }
        ToolSource::Local { .. } => None,
    };
    own.or_else(alias).unwrap_or(&user.defaults)
}

/// The tool that the user's own configuration defines under that name.
pub(crate) fn defined<'a>(user: &'a Resolved, name: &str) -> Option<&'a ToolConfig> {
    let is_own = user.defined.tools.iter().any(|own| own == name);
    let mut tools = user.tools.iter();
    tools.find(|tool| is_own && tool.name == name)
}

/// The server that the user's own configuration defines under that name.
pub(crate) fn defined_server<'a>(user: &'a Resolved, name: &str) -> Option<&'a McpServerConfig> {
    let is_own = user.defined.servers.iter().any(|own| own == name);
    let mut servers = user.mcp_servers.iter();
    servers.find(|server| is_own && server.name == name)
}

/// The host that the user's own configuration defines under that name.
pub(crate) fn defined_host<'a>(user: &'a Resolved, name: &str) -> Option<&'a HostConfig> {
    let is_own = user.defined.hosts.iter().any(|own| own == name);
    let mut hosts = user.hosts.iter();
    hosts.find(|host| is_own && host.name == name)
}

fn hold_tool(tool: &mut ToolConfig, user: &Resolved) {
    let mut own = settings_for(user, tool).clone();
    if keys::START_NOTHING.contains(&tool.source_name()) && !user.told.contains_key(&tool.name) {
        (own.run, own.enable) = (RunSettings::default(), None);
    }
    let mut settings = tool.settings.clone();
    if let Some(defined) = defined(user, &tool.name) {
        *tool = defined.clone();
        // The rules are the project's too, so that it may tighten them.
        let permissions = settings.permissions;
        let (run, enable) = (settings.run, settings.enable);
        settings = defined.settings.clone();
        settings.permissions = permissions;
        settings.run = run;
        settings.enable = enable;
    }
    hold(&mut settings, &own);
    tool.enabled = settings.enable.unwrap_or(true);
    tool.secrets = settings.secrets.unwrap_or_default();
    tool.record = settings.spawn.record.unwrap_or(false);
    tool.definition = lay_over(&settings, tool.definition.clone());
    tool.settings = settings;
}

fn hold(settings: &mut ToolSettings, own: &ToolSettings) {
    settings.run = settings.run.at_least(own.run);
    settings.floor = own.permissions.clone();
    if own.enable == Some(false) {
        settings.enable = Some(false);
    }
    if settings.secrets == Some(SecretTarget::Assistant) {
        settings.secrets = own.secrets;
    }
    settings.spawn.lifecycle = settings.spawn.lifecycle.at_most(own.spawn.lifecycle);
    if own.spawn.record == Some(true) {
        settings.spawn.record = own.spawn.record;
    }
    if own.has_hosts() {
        settings.host.clone_from(&own.host);
        settings.hosts.clone_from(&own.hosts);
    }
    settings.sandbox_floor.clone_from(&own.sandbox);
    settings.limits = settings.limits.within(own.limits);
    settings.variables.pass.clone_from(&own.variables.pass);
    for hidden in &own.variables.hide {
        if !settings.variables.hide.contains(hidden) {
            settings.variables.hide.push(hidden.clone());
        }
    }
    for (id, question) in &own.questions {
        settings.questions.insert(id.clone(), question.clone());
    }
}

impl LifecycleSettings {
    /// These settings, with no lease longer than in `own`.
    fn at_most(self, own: Self) -> Self {
        let bounded =
            |said: Option<Duration>, own: Option<Duration>, other: Option<Duration>| match (
                said,
                own.or(other),
            ) {
                (Some(said), Some(most)) => Some(said.min(most)),
                (said, _) => said.or(own),
            };
        Self {
            keep: bounded(self.keep, own.keep, own.keepable),
            keepable: bounded(self.keepable, own.keepable, own.keep),
            ..self
        }
    }
}

impl RunSettings {
    /// These, but nowhere laxer than those.
    fn at_least(self, own: Self) -> Self {
        let stricter = |said: Option<RunMode>, own: Option<RunMode>| match (said, own) {
            (Some(said), Some(own)) if strictness(said) < strictness(own) => Some(own),
            (said, own) => said.or(own),
        };
        Self {
            one_shot: stricter(self.one_shot, own.one_shot),
            spawn: stricter(self.spawn, own.spawn),
            fetch: stricter(self.fetch, own.fetch),
            apply: stricter(self.apply, own.apply),
            abort: stricter(self.abort, own.abort),
        }
    }
}

fn strictness(mode: RunMode) -> u8 {
    match mode {
        RunMode::Unattended => 0,
        RunMode::Ask => 1,
        RunMode::Edit => 2,
        RunMode::Skip => 3,
    }
}

/// Keys of the project without effect, one line each.
#[derive(Default)]
struct Ignored(Vec<String>);

impl Ignored {
    fn note(&mut self, key: &str, why: &str, span: &TextSpan) {
        let place = span.place();
        self.0.push(format!(
            "`{key}` of the project has no effect: {why} ({place})"
        ));
    }

    fn note_tables(&mut self, said: &Node, user: &Resolved) {
        for key in ["record", "record_failure"] {
            let Some(record) = said.get("conversation").and_then(|it| it.get(key)) else {
                continue;
            };
            let why = "only your own configuration decides whether sessions are recorded";
            self.note(&format!("conversation.{key}"), why, &record.span);
        }
        if let Some(max) = said.get("kept").and_then(|it| it.get("max")) {
            let why = "only your own configuration decides how many handles are kept";
            self.note("kept.max", why, &max.span);
        }
        for (name, entry) in entries(said.get("hosts")) {
            if defined_host(user, name).is_some() {
                let why = "your own configuration defines this host";
                self.note(&format!("hosts.{name}"), why, &entry.key);
            }
        }
        let providers = said.get("providers");
        for (name, entry) in entries(providers.and_then(|it| it.get("llm"))) {
            let why = "only your own configuration sets the addresses and keys of model providers";
            self.note(&format!("providers.llm.{name}"), why, &entry.key);
        }
        for (name, entry) in entries(providers.and_then(|it| it.get("mcp"))) {
            let path = format!("providers.mcp.{name}");
            if defined_server(user, name).is_some() {
                let why = "your own configuration defines this MCP server";
                self.note(&path, why, &entry.key);
            } else {
                self.note_variables(&path, &entry.node);
            }
        }
    }

    fn note_tools(&mut self, said: &Node, user: &Resolved, with: &Resolved) {
        for (name, entry) in entries(tools(said)) {
            let path = format!("conversation.tools.{}", quoted(name));
            let table = &entry.node;
            let tool = with.tools.iter().find(|tool| tool.name == *name);
            let own = match tool {
                Some(tool) => settings_for(user, tool),
                None => user.told.get(name).unwrap_or(&user.defaults),
            };
            let settings = tool.map_or(&with.defaults, |tool| &tool.settings);
            self.note_variables(&path, table);
            if settings.secrets == Some(SecretTarget::Assistant)
                && own.secrets != Some(SecretTarget::Assistant)
                && let Some(node) = table.get("secrets")
            {
                let why = "only your own configuration decides who answers secrets";
                self.note(&format!("{path}.secrets"), why, &node.span);
            }
            if defined(user, name).is_some() {
                for key in keys::IDENTITY.iter().chain(&["options", "questions"]) {
                    if let Some(node) = table.get(key) {
                        let why = "your own configuration defines this tool";
                        self.note(&format!("{path}.{key}"), why, &node.span);
                    }
                }
            }
            let stricter = "your own configuration is stricter";
            if let Some(node) = table.get("run")
                && settings.run.at_least(own.run) != settings.run
            {
                self.note(&format!("{path}.run"), stricter, &node.span);
            }
            self.note_hosts(&path, table, settings, own);
            let said = settings.spawn.lifecycle;
            let lifecycle = table.get("spawn").and_then(|it| it.get("lifecycle"));
            let held = said.at_most(own.spawn.lifecycle);
            for (key, is_held) in [
                ("keep_secs", held.keep != said.keep),
                ("keepable_secs", held.keepable != said.keepable),
            ] {
                if let Some(node) = lifecycle.and_then(|it| it.get(key)).filter(|_| is_held) {
                    let key = format!("{path}.spawn.lifecycle.{key}");
                    self.note(&key, stricter, &node.span);
                }
            }
            if let Some(node) = table.get("enable")
                && own.enable == Some(false)
                && settings.enable == Some(true)
            {
                self.note(&format!("{path}.enable"), stricter, &node.span);
            }
            if let (Some(said), Some(bound)) = (&settings.sandbox, &own.sandbox)
                && is_laxer(said, bound)
                && let Some(node) = table.get("sandbox")
            {
                let why = "your own configuration is stricter, and both apply";
                self.note(&format!("{path}.sandbox"), why, &node.span);
            }
            if let Some(node) = table.get("limits")
                && settings.limits.within(own.limits) != settings.limits
            {
                self.note(&format!("{path}.limits"), stricter, &node.span);
            }
            self.note_rules(&path, table, &settings.permissions, &own.permissions);
        }
    }

    fn note_hosts(&mut self, path: &str, table: &Node, said: &ToolSettings, own: &ToolSettings) {
        let keys = [
            ("host", said.host != own.host),
            ("hosts", said.hosts != own.hosts),
        ];
        for (key, is_other) in keys {
            if let Some(node) = table.get(key).filter(|_| is_other && own.has_hosts()) {
                let why = "your own configuration decides where the tool runs";
                self.note(&format!("{path}.{key}"), why, &node.span);
            }
        }
    }

    fn note_variables(&mut self, path: &str, table: &Node) {
        if let Some(node) = table.get("pass_env") {
            let why = "only your own configuration decides which credentials programs get";
            self.note(&format!("{path}.pass_env"), why, &node.span);
        }
    }

    /// Reports patterns for which the user's configuration is stricter. Other
    /// patterns that would override a rule are outweighed when a call is
    /// judged.
    fn note_rules(
        &mut self,
        path: &str,
        table: &Node,
        said: &PermissionSettings,
        own: &PermissionSettings,
    ) {
        let Some(node) = table.get("permissions") else {
            return;
        };
        for (pattern, action) in &said.start {
            let held = own.start.get(pattern);
            if held.is_some_and(|held| rank(*held) > rank(*action))
                && let Some(rule) = node.get(pattern)
            {
                let key = format!("{path}.permissions.{}", quoted(pattern));
                let why = "your own configuration is stricter";
                self.note(&key, why, &rule.span);
            }
        }
    }
}

fn rank(action: RuleAction) -> u8 {
    match action {
        RuleAction::Allow => 0,
        RuleAction::Ask => 1,
        RuleAction::Deny => 2,
    }
}

/// The table of all tools.
pub(crate) fn tools(said: &Node) -> Option<&Node> {
    said.get("conversation")?.get("tools")
}

/// The entries of a table, if it is one.
pub(crate) fn entries(
    node: Option<&Node>,
) -> impl Iterator<Item = (&String, &crate::node::NodeEntry)> {
    let entries = node.and_then(|node| match &node.value {
        Value::Table(entries) => Some(entries),
        _ => None,
    });
    entries.into_iter().flatten()
}

/// A part of a dotted key.
fn quoted(name: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !name.is_empty() && name.bytes().all(bare) {
        name.to_owned()
    } else {
        format!("\"{}\"", windlass_protocol::visible_line(name))
    }
}
