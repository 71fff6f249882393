//! Creates a runtime from the command line.

use std::sync::Arc;

use anyhow::Context as _;
use windlass::config::{Config, LoadOptions, ProjectState};
use windlass::{Builder, TrustStore, Windlass};
use windlass_runtime::Session;

use crate::args::Global;
use crate::stdout::errln;
use crate::trust;

/// Loads the configuration and creates the runtime. Warnings go to stderr.
/// Leftovers of dead runtimes are ended in the background.
pub(crate) async fn windlass(global: &Global) -> anyhow::Result<Windlass> {
    build(builder(global)?).await
}

/// Creates the runtime, and prints its warnings.
pub(crate) async fn build(builder: Builder) -> anyhow::Result<Windlass> {
    Ok(print_warnings(builder.build().await?))
}

/// A builder with the configuration of the command line.
pub(crate) fn builder(global: &Global) -> anyhow::Result<Builder> {
    Ok(Windlass::builder(config(global)?))
}

/// Prints the runtime's warnings.
fn print_warnings(windlass: Windlass) -> Windlass {
    for warning in windlass.warnings() {
        errln!("windlass: {warning}");
    }
    for tool in windlass.runtime().tools().offered() {
        let tool = tool.definition();
        tracing::debug!(
            tool = tool.name,
            defined_by = tool.origin,
            "a tool is offered"
        );
    }
    tokio::task::spawn_blocking(windlass.sweep());
    windlass
}

/// Reports how much of an ended session was not recorded.
pub(crate) fn tell_unrecorded(session: &Session) {
    let Some(trouble) = session.record_trouble() else {
        return;
    };
    if trouble.waiting == 0 && trouble.error.is_some() {
        // The record was never opened, which was reported.
        return;
    }
    let why = trouble
        .error
        .map_or_else(String::new, |error| format!(" ({error})"));
    let count = trouble.waiting + trouble.lost;
    errln!("windlass: {count} changes of this session's record could not be written{why}");
}

/// Makes the sessions of an unattended runtime ask whether the project is
/// trusted, and loads its tools once it is.
pub(crate) fn await_trust(windlass: &Arc<Windlass>, global: &Global) -> anyhow::Result<()> {
    let report = |problem: &str| errln!("windlass: {problem}");
    windlass.await_trust(load_options(global)?, TrustStore::of_user(), report);
    Ok(())
}

/// Warns if sessions will not be recorded.
pub(crate) fn warn_of_record(windlass: &Windlass) {
    if windlass.config().record
        && let Err(error) = windlass.record()
    {
        let causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| {
            error.source()
        });
        let causes: Vec<String> = causes.map(ToString::to_string).collect();
        errln!(
            "windlass: the session is not recorded: {}",
            causes.join(": ")
        );
    }
}

/// Loads only the configuration. Reports project files without effect.
pub(crate) fn config(global: &Global) -> anyhow::Result<Config> {
    let config = load(global)?;
    if let Some(notice) = trust::notice(&config) {
        errln!("windlass: {notice}");
    }
    Ok(config)
}

/// Loads the configuration without messages.
pub(crate) fn load(global: &Global) -> anyhow::Result<Config> {
    let config = windlass::config::load(&load_options(global)?);
    if let Ok(config) = &config {
        let trusted = matches!(config.project, ProjectState::Trusted(_));
        let root = config.root.display();
        tracing::debug!(%root, trusted, files = ?config.files, "the configuration is loaded");
    }
    // The error lists every mistake.
    config.map_err(|error| anyhow::anyhow!("the configuration is invalid\n{error}"))
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
        trust: TrustStore::of_user().decides(),
        ..LoadOptions::for_process(cwd)
    })
}
