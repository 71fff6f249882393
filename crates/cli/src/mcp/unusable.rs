//! The MCP server of a configuration that does not load.
//!
//! Agents show their user little about a server that does not start. So this
//! one starts and offers a single tool, which reports the errors and their
//! locations.

use std::sync::Arc;

use windlass::config::{Config, ProjectState};
use windlass::executors::Function;
use windlass::runtime::{Catalogue, RunMode, RunPolicy, Runtime, ToolDefinition};
use windlass_protocol::ToolError;
use windlass_serve_mcp::{McpOptions, McpServer};

use crate::args::Global;
use crate::setup;

/// The name of the only tool.
const NAME: &str = "windlass_config_error";

/// A server whose only tool reports `error`. A call of the tool loads the
/// configuration again, so that it reports the mistakes that are left.
pub(crate) fn server(global: &Global, error: &anyhow::Error) -> McpServer {
    let mut definition = ToolDefinition::new(NAME);
    definition.summary = Some(format!(
        "No Windlass tool is available: {}. Call this for the details, and tell the user.",
        first_line(error)
    ));
    definition.shape.one_shot = true;
    // It only reports, so it needs no permission.
    definition.only_reads = true;
    definition.run = RunPolicy::starting(RunMode::Unattended);
    let (global, before) = (global.clone(), format!("{error:#}"));
    let report = move || match setup::load(&global) {
        Err(error) => ToolError::new(format!(
            "{error:#}\nFix this, then reconnect the MCP server `windlass`."
        )),
        Ok(Config {
            project: ProjectState::Untrusted(question),
            ..
        }) if question.broken.is_some() => ToolError::new(format!(
            "{}\nFix this, then reconnect the MCP server `windlass`.",
            question.broken.unwrap_or_default()
        )),
        Ok(_) => ToolError::new(format!(
            "the configuration is valid now; reconnect the MCP server `windlass` to get its \
             tools. The error at start was: {before}"
        )),
    };
    let function = Function::new(move |_| {
        let report = report();
        async move { Err(report) }
    });
    let mut catalogue = Catalogue::new();
    catalogue
        .register(definition, Arc::new(function))
        .expect("the tool is the only one, and its name is fit");
    let runtime = Runtime::new(catalogue);
    let sessions = runtime.clone();
    let factory = Arc::new(move |options| sessions.session(options));
    McpServer::new(runtime, factory, McpOptions::default())
}

fn first_line(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let place = lines.next().map(|line| format!(": {}", line.trim()));
    format!("{first}{}", place.unwrap_or_default())
}
