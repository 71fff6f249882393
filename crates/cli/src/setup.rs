//! From the command line to a runtime.

use std::sync::Arc;

use anyhow::Context as _;
use windlass::Windlass;
use windlass::config::{BUILTINS, Config, LoadOptions, Source};
use windlass_runtime::{Executor, ToolDefinition};

use crate::args::Global;

/// Loads the configuration and sets the runtime up. What a person should know
/// goes to stderr. Leftovers of runtimes that died are ended on the side.
pub(crate) async fn windlass(global: &Global) -> anyhow::Result<Windlass> {
    ready(config(global)?).await
}

/// The same, with a tool that runs here.
pub(crate) async fn windlass_having(
    config: Config,
    tool: Option<(ToolDefinition, Arc<dyn Executor>)>,
) -> anyhow::Result<Windlass> {
    let mut builder = Windlass::builder(config);
    if let Some((definition, executor)) = tool {
        builder = builder.tool(definition, executor);
    }
    Ok(told(builder.build().await?))
}

/// The same for somebody who is interested in this tool alone, or in none: no
/// program is asked and no server started for the sake of others.
pub(crate) async fn windlass_with(global: &Global, tool: Option<&str>) -> anyhow::Result<Windlass> {
    let mut config = config(global)?;
    let may_be_a_servers = tool.is_some_and(|name| match config.tool(name) {
        Some(tool) => matches!(tool.source, Source::Mcp { .. }),
        None => !BUILTINS.contains(&name),
    });
    if !may_be_a_servers {
        config.mcp_servers.clear();
        config.tools.retain(|it| Some(it.name.as_str()) == tool);
    }
    ready(config).await
}

async fn ready(config: Config) -> anyhow::Result<Windlass> {
    Ok(told(Windlass::new(config).await?))
}

/// What a person should know is said.
fn told(windlass: Windlass) -> Windlass {
    for warning in windlass.warnings() {
        eprintln!("windlass: {warning}");
    }
    tokio::task::spawn_blocking(windlass.sweep());
    windlass
}

/// Says when sessions will not be recorded, and why. They run all the same.
pub(crate) fn warn_of_record(windlass: &Windlass) {
    if windlass.config().record
        && let Err(error) = windlass.record()
    {
        let causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| {
            error.source()
        });
        let causes: Vec<String> = causes.map(ToString::to_string).collect();
        eprintln!("windlass: nothing is recorded: {}", causes.join(": "));
    }
}

/// Loads the configuration alone.
pub(crate) fn config(global: &Global) -> anyhow::Result<Config> {
    let config = windlass::config::load(&load_options(global)?);
    // It names every mistake by itself.
    config.map_err(|error| anyhow::anyhow!("the configuration is wrong\n{error}"))
}

pub(crate) fn load_options(global: &Global) -> anyhow::Result<LoadOptions> {
    let cwd = match &global.directory {
        Some(directory) => directory
            .canonicalize()
            .with_context(|| format!("cannot work in `{}`", directory.display()))?,
        None => std::env::current_dir().context("the current folder cannot be read")?,
    };
    Ok(LoadOptions {
        explicit: global.config.clone(),
        overrides: global.set.clone(),
        ..LoadOptions::for_process(cwd)
    })
}
