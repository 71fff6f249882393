//! Agents from npm, in a cache directory.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use super::agent::{Package, Program};
use crate::packages;

/// The paths of an installed agent.
pub(super) struct Installed {
    /// Contains all files of the agent.
    pub(super) folder: PathBuf,
    pub(super) program: PathBuf,
}

/// Installs the newest version of an agent.
pub(super) fn provide(package: Package) -> anyhow::Result<Installed> {
    let folder = folder()?.join(package.name.replace(['@', '/'], "_"));
    let newest = format!("{}@latest", package.name);
    let program = match package.program {
        Program::Linked(name) => {
            install(&folder, &newest)?;
            folder.join("node_modules/.bin").join(name)
        }
        Program::Bundle(script) => unpack(&folder, &newest, script)?,
    };
    ensure!(
        program.is_file(),
        "npm has not brought `{}`",
        program.display()
    );
    Ok(Installed {
        folder: folder.join("node_modules"),
        program,
    })
}

/// The version number in an agent's `--version` output.
pub(super) fn version(program: &Path, node: &Path) -> anyhow::Result<String> {
    let home = folder()?.join("home");
    std::fs::create_dir_all(&home)?;
    let output = Command::new(program)
        .arg("--version")
        .env("PATH", packages::path_with(node)?)
        .env("HOME", home)
        .output()
        .with_context(|| format!("cannot run `{}`", program.display()))?;
    // Some agents print it to stderr.
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let mut words = said.split_whitespace().map(|word| word.trim_matches('.'));
    let number = words
        .find(|word| word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.'));
    Ok(number.unwrap_or("?").to_owned())
}

/// The directory of agents and their homes.
pub(super) fn folder() -> anyhow::Result<PathBuf> {
    packages::folder("windlass-agents")
}

fn install(folder: &Path, package: &str) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create `{}`", folder.display()))?;
    std::fs::write(folder.join("package.json"), r#"{"private": true}"#)?;
    let install = ["install", "--no-audit", "--no-fund", "--loglevel=error"];
    npm(folder, &[&install[..], &[package]].concat())?;
    Ok(())
}

/// Unpacks a package and makes its script executable.
fn unpack(folder: &Path, package: &str, script: &str) -> anyhow::Result<PathBuf> {
    let unpacked = folder.join("node_modules");
    std::fs::create_dir_all(&unpacked)
        .with_context(|| format!("cannot create `{}`", unpacked.display()))?;
    let packed = npm(folder, &["pack", "--silent", package])?;
    let archive = packed.lines().last().unwrap_or_default();
    let status = Command::new("tar")
        .arg("xzf")
        .arg(folder.join(archive))
        .arg("-C")
        .arg(&unpacked)
        .status()
        .context("`tar` is not installed")?;
    ensure!(status.success(), "`{archive}` cannot be unpacked");
    let script = unpacked.join("package").join(script);
    let program = folder.join("program");
    let text = format!("#!/bin/sh\nexec node '{}' \"$@\"\n", script.display());
    std::fs::write(&program, text)?;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    Ok(program)
}

/// Runs npm, and returns its output.
fn npm(folder: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let written = arguments.join(" ");
    println!("$ npm {written}");
    let output = Command::new("npm")
        .args(arguments)
        .current_dir(folder)
        .output()
        .context("`npm` is not installed")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "`npm {written}` failed: {}",
        said.lines()
            .find(|line| !line.contains("npm warn"))
            .unwrap_or("it does not say why")
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
