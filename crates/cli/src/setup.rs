//! From the command line to a runtime.

use anyhow::Context as _;
use windlass::config::{Config, LoadOptions};
use windlass::{Builder, Windlass};
use windlass_runtime::Session;

use crate::args::Global;
use crate::stdout::errln;

/// Loads the configuration and sets the runtime up. What a person should know
/// goes to stderr. Leftovers of runtimes that died are ended on the side.
pub(crate) async fn windlass(global: &Global) -> anyhow::Result<Windlass> {
    build(builder(global)?).await
}

/// Sets the runtime up as the builder says, and tells its warnings.
pub(crate) async fn build(builder: Builder) -> anyhow::Result<Windlass> {
    Ok(told(builder.build().await?))
}

/// A builder with the configuration that the command line chooses.
pub(crate) fn builder(global: &Global) -> anyhow::Result<Builder> {
    Ok(Windlass::builder(config(global)?))
}

/// What a person should know is said.
fn told(windlass: Windlass) -> Windlass {
    for warning in windlass.warnings() {
        errln!("windlass: {warning}");
    }
    tokio::task::spawn_blocking(windlass.sweep());
    windlass
}

/// Says how much of a session that has ended is not recorded.
pub(crate) fn tell_unrecorded(session: &Session) {
    let Some(trouble) = session.record_trouble() else {
        return;
    };
    if trouble.waiting == 0 && trouble.error.is_some() {
        // The record was never opened, which has been said.
        return;
    }
    let why = trouble
        .error
        .map_or_else(String::new, |error| format!(" ({error})"));
    let count = trouble.waiting + trouble.lost;
    errln!("windlass: {count} changes of this session's record could not be written{why}");
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
        errln!("windlass: nothing is recorded: {}", causes.join(": "));
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
