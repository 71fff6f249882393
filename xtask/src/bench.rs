//! `cargo xtask bench`: the benchmarks, with the setup for the part `page`.

use std::path::Path;

use anyhow::{Context as _, ensure};

use crate::{clients, workspace};

/// The part that drives a browser.
const PAGE: &str = "page";
/// The browser that it drives.
const BROWSER: &str = "/usr/bin/chromium";

/// Runs the benchmarks with these arguments.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    match need(arguments) {
        Need::Nothing => {}
        Need::Wanted => {
            provide().context("the benchmark `page` cannot run")?;
        }
        Need::Welcome => {
            if let Err(error) = provide() {
                eprintln!("`page` will be left out: {error:#}");
            }
        }
    }
    let cargo = ["run", "--release", "--package", "windlass-benches", "--"];
    let arguments = arguments.iter().map(String::as_str);
    workspace::cargo(cargo.into_iter().chain(arguments))
}

/// Whether a browser is needed.
#[derive(Debug, PartialEq, Eq)]
enum Need {
    /// Not needed: other parts were selected.
    Nothing,
    /// Used if available: all parts run.
    Welcome,
    /// Required: the part was selected by name.
    Wanted,
}

fn need(arguments: &[String]) -> Need {
    let mut chosen = arguments
        .windows(2)
        .filter(|pair| pair[0] == "--only")
        .map(|pair| pair[1].as_str())
        .peekable();
    if chosen.peek().is_none() {
        Need::Welcome
    } else if chosen.any(|name| name == PAGE) {
        Need::Wanted
    } else {
        Need::Nothing
    }
}

/// Installs the browser driver if it is missing.
fn provide() -> anyhow::Result<()> {
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
