//! Locates the workspace, and runs cargo in it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

/// The directory of the workspace's manifest.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in a folder of the workspace")
}

/// A command for the current cargo, in the workspace.
pub(crate) fn cargo_command() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.current_dir(root());
    // Otherwise build scripts that read them run again, and everything that
    // depends on those is rebuilt.
    forget_own_package(&mut command);
    command
}

/// The running program, to be started again. Cargo may have replaced its file meanwhile.
pub(crate) fn own_program() -> anyhow::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        return Ok(PathBuf::from(format!("/proc/{}/exe", std::process::id())));
    }
    std::env::current_exe().context("cannot find the program of this chore")
}

/// Removes the variables by which cargo tells a program its package: they are those of `xtask`.
pub(crate) fn forget_own_package(command: &mut Command) {
    let ours = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(ours) {
            command.env_remove(name);
        }
    }
}

/// The folder that cargo builds in.
pub(crate) fn target_folder() -> anyhow::Result<PathBuf> {
    let metadata = cargo_metadata::MetadataCommand::new()
        .current_dir(root())
        .no_deps()
        .exec()
        .context("cannot ask cargo where it builds")?;
    Ok(metadata.target_directory.into_std_path_buf())
}

/// Runs cargo and shows its output; fails if its exit code is not 0.
pub(crate) fn cargo<I, S>(arguments: I) -> anyhow::Result<()>
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let mut command = cargo_command();
    command.args(arguments);
    let said = shown(&command);
    println!("$ {said}");
    let status = command
        .status()
        .with_context(|| format!("cannot run `{said}`"))?;
    ensure!(status.success(), "`{said}` failed");
    Ok(())
}

/// Builds the `windlass` command for a trial, and returns its path.
pub(crate) fn build_windlass() -> anyhow::Result<PathBuf> {
    cargo(["build", "--package", "windlass-cli"])?;
    built("windlass")
}

/// The path of a program that cargo has built for a trial.
pub(crate) fn built(name: &str) -> anyhow::Result<PathBuf> {
    let path = target_folder()?.join("debug").join(name);
    ensure!(path.is_file(), "cargo has not built `{}`", path.display());
    Ok(path)
}

/// A command as a user would type it.
pub(crate) fn shown(command: &Command) -> String {
    let mut words = vec!["cargo".to_owned()];
    words.extend(
        command
            .get_args()
            .map(|word| word.to_string_lossy().into_owned()),
    );
    words.join(" ")
}

/// Every `.rs` file below `folder`, in a stable order; empty if the directory
/// does not exist.
pub(crate) fn rust_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if folder.is_dir() {
        collect(folder, &mut files)?;
    }
    files.sort();
    Ok(files)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("cannot list `{}`", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
