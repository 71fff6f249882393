//! Third-party clients and checkers for our servers, from npm and `PyPI`, in a
//! cache directory.
//!
//! [`provide`] installs what is missing. The directory that it returns contains
//! `mcp-node` and `mcp-python`, which find their packages on their own, and
//! `page-driver`, a Node with a browser driver.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

/// The npm packages, with the versions that the tests were written for.
const NPM: &str = include_str!("../clients/npm");
/// The `PyPI` packages: clients of MCP and gRPC, a validator of JSON Schemas,
/// a fuzzer for interfaces with a description, and prompts of terminals.
const PYPI: &str = include_str!("../clients/pypi");

/// The names by which tests require them.
pub(crate) const PROGRAMS: [&str; 3] = ["mcp-node", "mcp-python", "page-driver"];

/// Installs the clients if they are missing, and returns the directory to add
/// to `PATH`.
pub(crate) fn provide() -> anyhow::Result<PathBuf> {
    let folder = folder()?;
    let programs = folder.join("bin");
    // Written last: it marks the installation as complete for these lists.
    let list = folder.join("installed");
    let wanted = [NPM, PYPI].concat();
    let are_there = PROGRAMS
        .iter()
        .all(|program| programs.join(program).exists());
    if are_there && std::fs::read_to_string(&list).is_ok_and(|there| there == wanted) {
        return Ok(programs);
    }
    std::fs::create_dir_all(&programs)
        .with_context(|| format!("cannot create `{}`", programs.display()))?;
    let manifest = folder.join("package.json");
    // Keep an existing list.
    if !manifest.exists() {
        std::fs::write(&manifest, r#"{"private": true}"#)?;
    }
    let mut npm = Command::new("npm");
    run(npm
        .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
        .args(NPM.lines())
        .current_dir(&folder))?;
    let python = folder.join("python");
    run(Command::new("python3").args(["-m", "venv"]).arg(&python))?;
    let pip = python.join("bin/python3");
    run(Command::new(&pip)
        .args(["-m", "pip", "install", "--quiet"])
        .args(PYPI.lines()))?;
    for name in ["mcp-node", "page-driver"] {
        link(
            &folder.join("node_modules/node/bin/node"),
            &programs.join(name),
        )?;
    }
    std::fs::write(
        programs.join("mcp-python"),
        format!("#!/bin/sh\nexec '{}' \"$@\"\n", pip.display()),
    )?;
    run(Command::new("chmod")
        .arg("+x")
        .arg(programs.join("mcp-python")))?;
    std::fs::write(list, wanted)?;
    Ok(programs)
}

/// The directory of the clients.
pub(crate) fn folder() -> anyhow::Result<PathBuf> {
    Ok(cache()?.join("windlass-mcp-clients"))
}

/// The user's cache directory.
pub(crate) fn cache() -> anyhow::Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let cache = cache.filter(|cache| cache.is_absolute()).or(home);
    cache.context("there is no folder for a cache; set XDG_CACHE_HOME or HOME")
}

fn link(original: &Path, link: &Path) -> anyhow::Result<()> {
    ensure!(
        original.is_file(),
        "npm has not brought `{}`",
        original.display()
    );
    let _ = std::fs::remove_file(link);
    symlink(original, link).with_context(|| format!("cannot create `{}`", link.display()))
}

pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    println!("$ {program} …");
    let status = command
        .status()
        .with_context(|| format!("cannot run `{program}`"))?;
    ensure!(status.success(), "`{program}` failed");
    Ok(())
}
