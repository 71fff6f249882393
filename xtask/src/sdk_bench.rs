//! `cargo xtask sdk-bench`: the overhead of the packages for Python and TypeScript over raw `drive`.
//!
//! Raw calls and calls of a package alternate in one run, so that both have the same conditions. The argument is the
//! `windlass` program to measure; default: a release build.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::{sdks, workspace};

pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let windlass = match arguments {
        [] => {
            workspace::cargo(["build", "--release", "--package", "windlass-cli"])?;
            workspace::built("windlass")?.with_file_name("../release/windlass")
        }
        [program] => PathBuf::from(program),
        _ => anyhow::bail!("the only argument is a `windlass` program"),
    };
    let windlass = std::fs::canonicalize(&windlass)
        .with_context(|| format!("there is no program `{}`", windlass.display()))?;
    let place = tempfile::tempdir()?;
    let mut python = Command::new("python3");
    python
        .arg(workspace::root().join("xtask/sdk/bench.py"))
        .env("PYTHONPATH", workspace::root().join("python/src"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let package = sdks::build_typescript()?;
    let mut node = sdks::node_command("node")?;
    node.arg(workspace::root().join("xtask/sdk/bench.mjs"))
        .arg(package.join("dist/index.js"));
    println!(
        "{:<12} {:>9} {:>9} {:>9} {:>12} {:>7}",
        "package", "raw ms", "with it", "more", "events/s", "missed"
    );
    for (title, command) in [("Python", python), ("TypeScript", node)] {
        let measured = measure(command, &windlass, place.path())?;
        let number = |key: &str| measured[key].as_f64().unwrap_or(f64::NAN);
        let (raw, packaged) = (number("raw_ms"), number("package_ms"));
        println!(
            "{title:<12} {raw:>9.3} {packaged:>9.3} {:>9.3} {:>12.0} {:>7}",
            packaged - raw,
            number("events_per_second"),
            measured["missed"]
        );
    }
    Ok(())
}

fn measure(mut command: Command, windlass: &Path, place: &Path) -> anyhow::Result<Value> {
    let output = command
        .current_dir(place)
        .env("HOME", place)
        .env("WINDLASS_BIN", windlass)
        .output()
        .context("cannot run the benchmark")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the benchmark failed: {complaint}");
    serde_json::from_slice(&output.stdout).context("the benchmark does not say what it measured")
}
