//! Agents from npm, by name, in a cache folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use super::agent::Agent;
use crate::clients;

/// Installs the newest version of an agent, and gives its program.
pub(super) fn provide(agent: &Agent) -> anyhow::Result<PathBuf> {
    let folder = folder()?.join(agent.client);
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make `{}`", folder.display()))?;
    std::fs::write(folder.join("package.json"), r#"{"private": true}"#)?;
    let wanted = format!("{}@latest", agent.package);
    println!("$ npm install {wanted}");
    let output = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
        .arg(&wanted)
        .current_dir(&folder)
        .output()
        .context("there is no npm to install it with")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "`npm install {wanted}` failed: {}",
        said.lines().next().unwrap_or("it does not say why")
    );
    let program = folder.join("node_modules/.bin").join(agent.program);
    ensure!(
        program.is_file(),
        "npm has not brought `{}`",
        program.display()
    );
    Ok(program)
}

/// The number in what an agent says of its version.
pub(super) fn version(program: &Path) -> anyhow::Result<String> {
    let output = Command::new(program)
        .arg("--version")
        .output()
        .with_context(|| format!("cannot run `{}`", program.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let number = said
        .split_whitespace()
        .find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
    Ok(number.unwrap_or("?").to_owned())
}

/// Where agents and their homes are kept.
pub(super) fn folder() -> anyhow::Result<PathBuf> {
    Ok(clients::folder()?.with_file_name("windlass-agents"))
}
