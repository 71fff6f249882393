//! Programs and libraries from npm and `PyPI`, in cache directories.
//!
//! A directory is filled once, and again when the list of its packages changes.
//! Packages without a version are installed in the newest one; delete the
//! directory to update them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::clients;

/// The Node that runs npm programs; the system's may be too old.
const NODE: &str = "node@22";

/// A cache directory with this name.
pub(crate) fn folder(name: &str) -> anyhow::Result<PathBuf> {
    Ok(clients::folder()?.with_file_name(name))
}

/// Installs npm packages; returns the directory that contains `node_modules`.
pub(crate) fn npm(folder: &Path, packages: &[&str]) -> anyhow::Result<PathBuf> {
    fill(folder, packages, || {
        std::fs::write(folder.join("package.json"), r#"{"private": true}"#)?;
        let install = ["install", "--no-audit", "--no-fund", "--loglevel=error"];
        run(Command::new("npm")
            .args(install)
            .args(packages)
            .current_dir(folder))
    })?;
    Ok(folder.to_owned())
}

/// Installs `PyPI` packages; returns the Python that has them.
pub(crate) fn pypi(folder: &Path, packages: &[&str]) -> anyhow::Result<PathBuf> {
    let python = folder.join("bin/python3");
    fill(folder, packages, || {
        run(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
        let pip = ["-m", "pip", "install", "--quiet", "--upgrade"];
        run(Command::new(&python).args(pip).args(packages))
    })?;
    Ok(python)
}

/// Installs Node; returns the directory to put into `PATH`.
pub(crate) fn node() -> anyhow::Result<PathBuf> {
    let folder = npm(&folder("windlass-node")?, &[NODE])?;
    Ok(folder.join("node_modules/node/bin"))
}

/// `PATH` with this directory first.
pub(crate) fn path_with(folder: &Path) -> anyhow::Result<std::ffi::OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
    Ok(std::env::join_paths(folders)?)
}

fn fill(
    folder: &Path,
    packages: &[&str],
    install: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    // Written last: it marks the installation as complete.
    let list = folder.join("installed");
    let wanted = packages.join("\n");
    if std::fs::read_to_string(&list).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create `{}`", folder.display()))?;
    println!("$ install {}", packages.join(" "));
    install()?;
    std::fs::write(list, wanted)?;
    Ok(())
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("cannot run `{program}`"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let mut lines = said.lines();
    let complaint = lines.find(|line| line.to_lowercase().contains("error"));
    ensure!(
        output.status.success(),
        "`{program}` cannot install it: {}",
        complaint.unwrap_or("it does not say why")
    );
    Ok(())
}
