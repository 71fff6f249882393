//! `cargo xtask bench`: the benchmarks, with what the part `page` needs.

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

/// How much a browser is needed.
#[derive(Debug, PartialEq, Eq)]
enum Need {
    /// Other parts were chosen.
    Nothing,
    /// Everything runs, as far as it can.
    Welcome,
    /// The part was chosen by name.
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

/// Installs the browser's driver unless it is there.
fn provide() -> anyhow::Result<()> {
    ensure!(
        Path::new(BROWSER).exists(),
        "`{BROWSER}` is not there; install the Debian package `chromium`"
    );
    clients::provide().context("the driver of the browser cannot be installed")?;
    Ok(())
}

#[cfg(test)]
#[path = "bench_tests.rs"]
mod tests;
