//! `cargo xtask bench`: the benchmarks, with the setup for the parts `page`, `hosts` and `pool`.

use std::path::Path;

use anyhow::{Context as _, ensure};

use crate::test::programs;
use crate::{clients, nats, workspace};

/// The part that drives a browser.
const PAGE: &str = "page";
/// The browser that it drives.
const BROWSER: &str = "/usr/bin/chromium";

/// The part that connects over ssh, and its programs.
const HOSTS: &str = "hosts";
const SSH: &[&str] = &["sshd", "ssh", "ssh-keygen"];

/// The part that needs a broker.
const POOL: &str = "pool";

/// Runs the benchmarks with these arguments.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    set_up(arguments, PAGE, provide_browser)?;
    set_up(arguments, HOSTS, || programs::require(SSH))?;
    let path = set_up(arguments, POOL, nats::path)?;
    let cargo = ["run", "--release", "--package", "windlass-benches", "--"];
    let mut command = workspace::cargo_command();
    if let Some(path) = path {
        command.env("PATH", path);
    }
    let status = command.args(cargo).args(arguments).status()?;
    ensure!(status.success(), "the benchmarks failed");
    Ok(())
}

/// Installs what a part needs, if it may run.
fn set_up<T>(
    arguments: &[String],
    part: &str,
    provide: fn() -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    match need(arguments, part) {
        Need::Nothing => Ok(None),
        Need::Wanted => {
            let provided = provide();
            let provided = provided.with_context(|| format!("the benchmark `{part}` cannot run"));
            provided.map(Some)
        }
        Need::Welcome => Ok(provide()
            .inspect_err(|error| eprintln!("`{part}` will be left out: {error:#}"))
            .ok()),
    }
}

/// Whether the programs that a part uses are needed.
#[derive(Debug, PartialEq, Eq)]
enum Need {
    /// Not needed: other parts were selected.
    Nothing,
    /// Used if available: all parts run.
    Welcome,
    /// Required: the part was selected by name.
    Wanted,
}

fn need(arguments: &[String], part: &str) -> Need {
    let mut chosen = arguments
        .windows(2)
        .filter(|pair| pair[0] == "--only")
        .map(|pair| pair[1].as_str())
        .peekable();
    if chosen.peek().is_none() {
        Need::Welcome
    } else if chosen.any(|name| name == part) {
        Need::Wanted
    } else {
        Need::Nothing
    }
}

/// Installs the browser driver if it is missing.
fn provide_browser() -> anyhow::Result<()> {
    ensure!(
        Path::new(BROWSER).exists(),
        "`{BROWSER}` is not installed; install the Debian package `chromium`"
    );
    clients::provide().context("the driver of the browser cannot be installed")?;
    Ok(())
}

#[cfg(test)]
#[path = "bench_tests.rs"]
mod tests;
