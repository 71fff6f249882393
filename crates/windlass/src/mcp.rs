//! The tools of MCP servers, and the problems of servers and tools.
//!
//! Start at [`Servers::ask`], which starts every server with a requested tool;
//! [`Servers::offer`] then returns the tools and the problems.

use std::sync::Arc;

use futures_util::future::join_all;
use windlass_config::{
    Config, McpServerConfig, McpTools, McpTransport, ToolConfig, ToolSource, nearest,
};
use windlass_executors::Launcher;
use windlass_mcp_client::{McpTool, Reach, ServerError, ServerSpec, ToolListing, UpstreamServer};
use windlass_runtime::{Announcer, Executor, LateTools, ToolDefinition};

use crate::builder::LateReport;
use crate::environment::Environment;
use crate::registering::permit;
use crate::sandboxes::Sandboxes;

/// The requested servers, and their listings.
#[derive(Default)]
pub(crate) struct Servers(Vec<ServerListing>);

struct ServerListing {
    config: McpServerConfig,
    server: UpstreamServer,
    tools: Result<Vec<ToolListing>, ServerError>,
}

/// The servers' tools, and their problems.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) tools: Vec<Offered>,
    pub(crate) missing: Vec<MissingTool>,
    /// Servers without a listing whose tools are all requested.
    pub(crate) unreached: Vec<String>,
}

/// A tool that can be offered.
pub(crate) struct Offered {
    pub(crate) tool: ToolConfig,
    pub(crate) definition: ToolDefinition,
    pub(crate) executor: McpTool,
    /// Messages about keys of its table without effect.
    pub(crate) problems: Vec<String>,
}

/// A tool that is configured and not there.
pub(crate) struct MissingTool {
    pub(crate) tool: ToolConfig,
    pub(crate) why: String,
    /// The person should know.
    pub(crate) is_told: bool,
}

impl Servers {
    /// Lists the tools of every requested server, in parallel. An unreachable
    /// server delays this by at most its time limit.
    pub(crate) async fn ask(set_up: &ServerSetup<'_>) -> Self {
        let config = set_up.config;
        let wanted = config.mcp_servers.iter().filter(|it| is_wanted(config, it));
        let asking = wanted.map(|server| ask(server, set_up.begin(server)));
        Self(join_all(asking).await)
    }

    /// The servers themselves.
    pub(crate) fn all(&self) -> Vec<UpstreamServer> {
        self.0.iter().map(|asked| asked.server.clone()).collect()
    }

    /// The tools with a table, and all tools of servers that offer them whole.
    pub(crate) fn offer(&self, config: &Config) -> Found {
        let mut found = Found::default();
        let tables = config.offered();
        for tool in tables.filter(|tool| matches!(tool.source, ToolSource::Mcp { .. })) {
            self.offer_table(tool, &mut found);
        }
        for asked in &self.0 {
            asked.offer_untold(config, &mut found);
        }
        found
    }

    fn offer_table(&self, tool: &ToolConfig, found: &mut Found) {
        let server = match &tool.source {
            ToolSource::Mcp { server, .. } => server.as_deref(),
            _ => None,
        };
        let name = tool.source_name();
        let of_server =
            |asked: &&ServerListing| server.is_none_or(|server| server == asked.config.name);
        let candidates: Vec<_> = self.0.iter().filter(of_server).collect();
        let listed = candidates
            .iter()
            .find_map(|asked| Some((*asked, asked.listed(name)?)));
        match listed {
            Some((asked, listed)) => {
                let base = listed.definition(&asked.config.name);
                let unknown = tool.unknown_overrides(&base);
                let server = &asked.config.name;
                let unknown = unknown.iter().map(|name| {
                    format!("it overrides `{name}`, which does not exist in MCP server `{server}`")
                });
                found.tools.push(Offered {
                    problems: unknown.collect(),
                    ..asked.offered(tool.clone(), listed)
                });
            }
            None => found.missing.push(MissingTool {
                tool: tool.clone(),
                why: match server {
                    Some(server) if candidates.is_empty() => format!(
                        "the MCP server `{server}` is not configured; add a table [providers.mcp.{server}]"
                    ),
                    _ => why_missing(name, &candidates),
                },
                is_told: candidates.iter().any(|asked| asked.is_told()) || candidates.is_empty(),
            }),
        }
    }
}

/// Everything that a server is begun with.
pub(crate) struct ServerSetup<'a> {
    pub(crate) config: &'a Config,
    pub(crate) launcher: &'a Launcher,
    pub(crate) environment: &'a Environment,
    pub(crate) sandboxes: &'a Sandboxes,
    pub(crate) announcer: &'a Announcer,
    /// Sessions have clients that may lend servers their model.
    pub(crate) lends_clients: bool,
}

/// Servers that are not waited for.
pub(crate) struct Coming<'a> {
    pub(crate) set_up: ServerSetup<'a>,
    pub(crate) report: &'a LateReport,
}

impl Coming<'_> {
    /// Lists the tools of every requested server, each in a task of its own,
    /// which fills a place in the catalogue.
    pub(crate) fn begin(&self, mut place: impl FnMut() -> LateTools) -> Vec<UpstreamServer> {
        let config = self.set_up.config;
        let wanted = |server: &&McpServerConfig| is_wanted(config, server);
        let mut servers = Vec::new();
        for server in config.mcp_servers.iter().filter(wanted) {
            let place = place();
            let begun = self.set_up.begin(server);
            let (config, server) = (config.clone(), server.clone());
            servers.push(begun.clone());
            let report = Arc::clone(self.report);
            windlass_task::spawn(async move {
                let asked = ask(&server, begun).await;
                let found = Servers(vec![asked]).offer(&config);
                for problem in found.fill(place, &server.name) {
                    report(&problem);
                }
            });
        }
        servers
    }
}

impl Found {
    /// Offers the tools of one server from now on. Returns the problems.
    fn fill(self, place: LateTools, server: &str) -> Vec<String> {
        let mut problems = self.unreached;
        let tools = self.tools.into_iter().map(|offered| {
            let mut definition = offered.definition;
            permit(&offered.tool, &mut definition);
            for problem in offered.problems {
                problems.push(format!("tool `{}`: {problem}", definition.name));
            }
            (definition, Arc::new(offered.executor) as Arc<dyn Executor>)
        });
        let tools: Vec<_> = tools.collect();
        for (name, error) in place.fill(tools) {
            problems.push(format!("tool `{name}` is not offered: {error}"));
        }
        // A table that names no server may mean another one.
        let names_it = |missing: &&MissingTool| match &missing.tool.source {
            ToolSource::Mcp { server: named, .. } => named.as_deref() == Some(server),
            _ => false,
        };
        for missing in self.missing.iter().filter(names_it) {
            if missing.is_told {
                let (name, why) = (&missing.tool.name, &missing.why);
                problems.push(format!("tool `{name}` is not offered: {why}"));
            }
        }
        problems
    }
}

impl ServerSetup<'_> {
    /// A server that is started on its first request.
    fn begin(&self, server: &McpServerConfig) -> UpstreamServer {
        let launcher = match &server.transport {
            McpTransport::Stdio { variables, .. } => {
                self.environment.launcher(self.launcher, variables)
            }
            McpTransport::Http { .. } => self.launcher.clone(),
        };
        let (transport, every_tool) = (&server.transport, &self.config.defaults);
        let launcher = self
            .sandboxes
            .confine_server(launcher, transport, every_tool);
        let spec = ServerSpec {
            lends_clients: self.lends_clients,
            ..spec(self.config, server)
        };
        UpstreamServer::new(spec, launcher, self.announcer.clone())
    }
}

async fn ask(config: &McpServerConfig, server: UpstreamServer) -> ServerListing {
    let tools = server.tools().await;
    ServerListing {
        config: config.clone(),
        server,
        tools,
    }
}

impl ServerListing {
    fn listed(&self, name: &str) -> Option<&ToolListing> {
        let tools = self.tools.as_ref().ok()?;
        tools.iter().find(|tool| tool.name == name)
    }

    /// Whether its problems are reported to a person.
    fn is_told(&self) -> bool {
        !self.config.optional || self.tools.is_ok()
    }

    fn offered(&self, tool: ToolConfig, listed: &ToolListing) -> Offered {
        let mut definition = tool.overlay(listed.definition(&self.config.name));
        if definition.summary != listed.description && definition.description.is_none() {
            // What the server says is still there for who asks.
            definition.description.clone_from(&listed.description);
        }
        if tool.place.is_none() {
            definition.origin = format!("MCP server `{}`", self.config.name);
        }
        let executor = McpTool {
            server: self.server.clone(),
            tool: listed.name.clone(),
            log_limit: tool.log_limit,
        };
        Offered {
            tool,
            definition,
            executor,
            problems: Vec::new(),
        }
    }

    /// The tools without a table in the configuration.
    fn offer_untold(&self, config: &Config, found: &mut Found) {
        let server = &self.config.name;
        let wanted = &self.config.tools;
        if let McpTools::Listed(names) = wanted {
            for name in names.iter().filter(|name| self.listed(name).is_none()) {
                found.missing.push(MissingTool {
                    tool: ToolConfig {
                        place: Some(self.config.place.clone()),
                        ..config.mcp_tool(server, name)
                    },
                    why: why_missing(name, &[self]),
                    is_told: self.is_told(),
                });
            }
        }
        let tools = match &self.tools {
            Ok(tools) => tools.as_slice(),
            Err(error) => {
                if *wanted == McpTools::All && self.is_told() {
                    let place = &self.config.place;
                    found.unreached.push(format!("{error} ({place})"));
                }
                return;
            }
        };
        let has_table = |listed: &&ToolListing| {
            let mut tables = config.tools.iter();
            tables.any(|tool| is_about(tool, server, &listed.name))
        };
        for listed in tools.iter().filter(|listed| !has_table(listed)) {
            let is_wanted = match wanted {
                McpTools::None => false,
                McpTools::All => true,
                McpTools::Listed(names) => names.contains(&listed.name),
            };
            if is_wanted {
                let tool = config.mcp_tool(server, &listed.name);
                found.tools.push(self.offered(tool, listed));
            }
        }
    }
}

fn is_wanted(config: &Config, server: &McpServerConfig) -> bool {
    server.tools != McpTools::None
        || config.offered().any(|tool| match &tool.source {
            ToolSource::Mcp { server: named, .. } => {
                named.as_ref().is_none_or(|named| *named == server.name)
            }
            _ => false,
        })
}

/// Whether the table refers to this tool of this server.
fn is_about(table: &ToolConfig, server: &str, tool: &str) -> bool {
    match &table.source {
        ToolSource::Mcp { server: named, .. } => {
            named.as_deref().is_none_or(|named| named == server) && table.source_name() == tool
        }
        _ => false,
    }
}

fn spec(config: &Config, server: &McpServerConfig) -> ServerSpec {
    let reach = match &server.transport {
        McpTransport::Stdio { command, env, .. } => {
            let (program, args) = if command.shell {
                let line = std::iter::once(&command.program).chain(&command.args);
                let line = line.cloned().collect::<Vec<_>>().join(" ");
                ("/bin/sh".to_owned(), vec!["-c".to_owned(), line])
            } else {
                (command.program.clone(), command.args.clone())
            };
            Reach::Program {
                program,
                args,
                env: pairs(env),
                cwd: config.root.clone(),
            }
        }
        McpTransport::Http { url, headers } => Reach::Address {
            url: url.clone(),
            headers: pairs(headers),
        },
    };
    ServerSpec {
        name: server.name.clone(),
        reach,
        startup_timeout: server.startup_timeout,
        lends_clients: false,
    }
}

fn pairs<'a>(table: impl IntoIterator<Item = (&'a String, &'a String)>) -> Vec<(String, String)> {
    let pairs = table.into_iter();
    pairs
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn why_missing(name: &str, candidates: &[&ServerListing]) -> String {
    let reasons = candidates.iter().map(|asked| match &asked.tools {
        Ok(tools) => has_no(&asked.config.name, name, tools),
        Err(error) => error.to_string(),
    });
    let reasons: Vec<_> = reasons.collect();
    if reasons.is_empty() {
        "no MCP server is configured; add a table [providers.mcp.NAME]".to_owned()
    } else {
        reasons.join("; ")
    }
}

fn has_no(server: &str, tool: &str, tools: &[ToolListing]) -> String {
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let hint = match nearest(tool, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "it has none".to_owned(),
        None => format!("it has `{}`", names.join("`, `")),
    };
    format!("MCP server `{server}` has no tool `{tool}`; {hint}")
}
